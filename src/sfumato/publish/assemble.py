"""From published tables to a release: what every layout's manifest has in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.models import Model
from sfumato.release import AttributeEntry, Manifest, Release, TableEntry
from sfumato.schema.hierarchy import Hierarchy
from sfumato.table.permutation import permutation
from sfumato.version import __version__

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """Published tables with what the manifest must say of them; a maker's whole output."""

    layout: Literal["generalized", "anatomized", "sliced", "local", "sets"]
    tables: Mapping[str, pa.Table]
    entries: Sequence[TableEntry]
    attributes: Sequence[AttributeEntry]
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)


def random_ids(count: int, rng: np.random.Generator) -> Codes:
    """Return for each group a public number: dense from 1, in random order."""
    return (permutation(rng, count) + 1).astype(np.int32)


def shuffled(table: pa.Table, rng: np.random.Generator) -> pa.Table:
    """Return the rows in random order."""
    return table.take(pa.array(permutation(rng, table.num_rows)))


def assemble(
    published: Published,
    *,
    method: str,
    rows: int,
    models: Sequence[Model],
    parameters: Mapping[str, Any],
    is_test: bool,
    suppressed: int = 0,
    by_value: bool = False,
) -> Release:
    """Return the release of published tables with the guarantees that its makers claim.

    `suppressed` records were withheld, some of them because of their values if `by_value`.
    """
    manifest = Manifest(
        method=method,
        layout=published.layout,
        software=f"sfumato {__version__}",
        created=datetime.now(UTC).date(),
        rows=rows,
        suppressed=suppressed,
        suppressed_by_value=by_value,
        test=is_test,
        attributes=tuple(published.attributes),
        tables=tuple(published.entries),
        guarantees=tuple(model.claim() for model in models),
        parameters=dict(parameters),
    )
    return Release(manifest, dict(published.tables), dict(published.hierarchies))
