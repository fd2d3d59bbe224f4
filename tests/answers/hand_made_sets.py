"""Releases of randomised sets, put together by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.release import AttributeEntry, Manifest, Release, TableEntry
from sfumato.schema import Kind, Role


def attribute(
    name: str, type_: str, domain: Sequence[str | None] | None, kind: Kind = Kind.CATEGORICAL
) -> AttributeEntry:
    listed = None if domain is None else tuple(domain)
    return AttributeEntry(
        name=name, role=Role.SENSITIVE_QUASI_IDENTIFIER, kind=kind, type=type_, domain=listed
    )


def release(
    entries: Sequence[AttributeEntry],
    columns: Mapping[str, Any],
    sets: Mapping[str, Any],
    layout: Any = "sets",
) -> Release:
    """Return a release; lists stand for sets."""
    table = pa.table(dict(columns))
    manifest = Manifest(
        method="sensitive-qid",
        layout=layout,
        software="by hand",
        created=date(2026, 1, 31),
        rows=table.num_rows,
        attributes=tuple(entries),
        tables=(TableEntry(name="records", attributes=tuple(columns)),),
        parameters={"sets": dict(sets)},
    )
    return Release(manifest, {"records": table})


def coded_release(
    members: Sequence[np.ndarray[Any, Any]], sizes: Sequence[int], made: Sequence[tuple[float, int]]
) -> Release:
    """Return a release of attributes a, b, … with values 0 to size - 1, from codes of sets."""
    names = "abcdefgh"[: len(members)]
    entries = [
        attribute(name, "int32", [str(v) for v in range(size)])
        for name, size in zip(names, sizes, strict=True)
    ]
    columns = {
        name: pa.ListArray.from_arrays(
            np.arange(len(codes) + 1, dtype=np.int32) * codes.shape[1],
            pa.array(codes.ravel().astype(np.int32)),
        )
        for name, codes in zip(names, members, strict=True)
    }
    sets = {name: {"p": p, "eta": eta} for name, (p, eta) in zip(names, made, strict=True)}
    return release(entries, columns, sets)


def drawn(
    rng: np.random.Generator, values: np.ndarray[Any, Any], size: int, p: float, eta: int
) -> np.ndarray[Any, Any]:
    """Return sets drawn for all values at once: the own value first in a random order, by p."""
    order = rng.random((len(values), size))
    kept = np.flatnonzero(rng.random(len(values)) < p)
    order[kept, values[kept]] = -1
    return np.sort(np.argsort(order, axis=1)[:, :eta], axis=1)
