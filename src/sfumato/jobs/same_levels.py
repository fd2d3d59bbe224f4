"""The levels of an earlier full-domain release on other data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import Infeasible, ParameterError, ReleaseDamaged
from sfumato.methods import FullDomain
from sfumato.models import KAnonymity, MinimumWidth, Model
from sfumato.publish.generalize import recode
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import EqualWidth, Quantiles
from sfumato.schema.schema import Schema
from sfumato.table import Groups, Table

Ints = npt.NDArray[np.int64]

_NAMED = 12  # groups in a message


def at_same_levels(
    earlier: Release,
    table: Table,
    schema: Schema,
    models: Sequence[Model],
    suppression: float,
    randomness: Randomness,
) -> tuple[Release, Ints]:
    """Return a release of the table at the levels of an earlier one, and the rows it withholds.

    Refuses (ParameterError) hierarchies that follow the data, whose levels mean something else now;
    (Infeasible) too many records in groups that would break a model, the groups being named.
    """
    levels = _levels(earlier)
    _refuse_following(schema, levels)
    k = next(model.k for model in models if isinstance(model, KAnonymity))
    others = [m for m in models if not isinstance(m, KAnonymity | MinimumWidth)]
    method = FullDomain(k=k, models=tuple(others), suppression=suppression, levels=levels)
    try:
        return method.release(table, randomness), method.withheld(table)
    except Infeasible as error:
        small = _small_groups(earlier, table, levels, k)
        if not small:
            raise
        raise Infeasible(
            f"the levels of the earlier release do not do for these data: {listed(small)} would "
            f"have fewer than {k} records, more than `suppression` allows; publish anew, or allow "
            "more"
        ) from error


def _refuse_following(schema: Schema, levels: Mapping[str, int]) -> None:
    """Refuse (ParameterError) levels of intervals that are placed where the data are."""
    for name in levels:
        hierarchy = schema[name].hierarchy
        follows = isinstance(hierarchy, EqualWidth) and hierarchy.width is None
        if follows or isinstance(hierarchy, Quantiles):
            raise ParameterError(
                f"the intervals of '{name}' follow the data, so those of the earlier release are "
                "others; state `bins` or a `width`, and publish anew"
            )


def listed(groups: Sequence[str]) -> str:
    """Return how many groups there are, and the names of the first."""
    more = f" and {len(groups) - _NAMED} more" if len(groups) > _NAMED else ""
    return f"{len(groups)} groups: {', '.join(groups[:_NAMED])}{more}"


def _levels(earlier: Release) -> dict[str, int]:
    stated = earlier.manifest.parameters.get("levels")
    if not isinstance(stated, dict) or not all(isinstance(each, int) for each in stated.values()):
        raise ReleaseDamaged("the parameter 'levels' does not give attributes a level each")
    return {name: level for name, level in stated.items() if isinstance(level, int)}


def _small_groups(earlier: Release, table: Table, levels: Mapping[str, int], k: int) -> list[str]:
    """Return the groups of fewer than k records, by their numbers in the earlier release."""
    kinds = Groups.of_equal([column.codes for column in table.quasi_identifiers])
    cells = []
    for column in table.quasi_identifiers:
        found = recode(column, kinds, levels[column.name])
        first = kinds.order[kinds.offsets[:-1]]
        texts = found.of_rows(np.arange(kinds.count, dtype=np.int32), column.codes, first)
        cells.append(texts.cast(pa.string()).to_pylist())
    numbers = _numbers(earlier, [column.name for column in table.quasi_identifiers])
    keys = list(zip(*cells, strict=True))
    known = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    of_row = np.array([known[key] for key in keys])[kinds.ids]
    sizes = np.bincount(of_row)
    return [
        f"{numbers.get(key, 'a new one')} ({sizes[place]} records)"
        for key, place in known.items()
        if sizes[place] < k
    ]


def _numbers(earlier: Release, names: Sequence[str]) -> dict[tuple[str | None, ...], int]:
    """Return the public number of every group by its cells."""
    records = earlier.tables["records"]
    groups, first = np.unique(records["group"].to_numpy(), return_index=True)
    cells = [records[name].take(pa.array(first)).cast(pa.string()).to_pylist() for name in names]
    return dict(zip(zip(*cells, strict=True), groups.tolist(), strict=True))
