"""What people of an original have on the axes of a release of sets: places in listed domains.

A published value may be a value of the original, a range of numbers, or a combination of several
attributes (`parameters.joint`), each with ranges or not.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers.joint_parts import Joint, joints, parts_of_values
from sfumato.attacks.stage import read
from sfumato.attacks.values import Comparison
from sfumato.release import Release
from sfumato.release.cells import Range, parse
from sfumato.schema.kinds import is_number
from sfumato.schema.text import to_texts

Ints = npt.NDArray[np.int64]


def columns_of(release: Release, name: str) -> tuple[str, ...]:
    """Return the columns of the original that an attribute was made of."""
    joint = next((each for each in joints(release.manifest) if each.name == name), None)
    return (name,) if joint is None else joint.parts


def places(release: Release, name: str, texts: Sequence[str | None], original: pa.Table) -> Ints:
    """Return where each person's value stands among the texts of a domain; -1 where it does not.

    Refuses (ParameterError) an original without a column that the attribute was made of.
    """
    columns = columns_of(release, name)
    if len(columns) == 1:
        return _of_column(original, name, texts)
    split = parts_of_values(release.manifest.attribute(name), Joint(name, columns))
    keys, found = np.zeros(len(split), np.int64), np.zeros(original.num_rows, np.int64)
    outside = np.zeros(original.num_rows, np.bool_)
    for place, column in enumerate(columns):
        own: dict[str | None, int] = {}
        codes = [own.setdefault(parts[place], len(own)) for parts in split]
        keys = keys * len(own) + np.array(codes)
        at = _of_column(original, column, list(own))
        outside |= at < 0
        found = found * len(own) + at
    order = np.argsort(keys)
    at = np.minimum(np.searchsorted(keys[order], found), max(len(keys) - 1, 0))
    outside |= keys[order[at]] != found
    return np.where(outside, -1, order[at])


def _of_column(original: pa.Table, name: str, texts: Sequence[str | None]) -> Ints:
    column = read(original, name)
    values = to_texts(column.values).to_pylist()
    place = {text: at for at, text in enumerate(texts)}
    found = [place.get(value, -1) for value in values]
    if is_number(column.values.type) and -1 in found:
        found = _in_ranges(values, texts, column.values.type, found)
    return np.array([*found, place.get(None, -1)], np.int64)[column.codes]


def _in_ranges(
    values: Sequence[str], texts: Sequence[str | None], dtype: pa.DataType, found: list[int]
) -> list[int]:
    """Return the places of values that ranges among the texts hold; an edge is in the lower one."""
    ranges = {at: parse(text) for at, text in enumerate(texts) if text is not None}
    cells = {at: cell for at, cell in ranges.items() if isinstance(cell, Range)}
    compare = Comparison.of([dtype])
    lows = compare.keys([cell.low for cell in cells.values()], dtype)
    highs = compare.keys([cell.high for cell in cells.values()], dtype)
    ends = sorted(
        (high, low, at)
        for at, low, high in zip(cells, lows, highs, strict=True)
        if not isinstance(low, str) and not isinstance(high, str)
    )
    tops = [high for high, _, _ in ends]
    result = list(found)
    for i, key in enumerate(compare.keys(values, dtype)):
        if result[i] >= 0 or isinstance(key, str):
            continue
        spot = bisect_left(tops, key)
        if spot < len(ends) and ends[spot][1] <= key:
            result[i] = ends[spot][2]
    return result
