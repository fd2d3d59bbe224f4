"""Which values a label may stand for that no published hierarchy lists.

A hierarchy that was built from the data is published without the values that only generalised
cells have. Its labels can be read all the same: `479**` is a mask, `2026-Q1` a quarter.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Bools = npt.NDArray[np.bool_]

_QUARTER = re.compile(r"(-?\d{4,})-Q([1-4])")
_DATE = re.compile(r"-?\d{4,}(-\d\d){0,2}")
_MASKED_RIGHT = re.compile(r"(.*?)([^\w\s])\2*", re.DOTALL)
_MASKED_LEFT = re.compile(r"([^\w\s])\1*(.*)", re.DOTALL)


def may_be_below(label: str, texts: pa.Array, line: pa.DataType | None) -> Bools:
    """Return which values may lie below a label: all that it does not exclude.

    `line` is the type of numbers or times that the values are compared as, None for texts.

    >>> may_be_below("479**", pa.array(["47905", "47305", "479"]), None).tolist()
    [True, False, False]
    >>> may_be_below("2026-Q1", pa.array(["2026-02-11", "2026-11-02"]), pa.date32()).tolist()
    [True, False]
    >>> may_be_below("Europe", pa.array(["Peru"]), None).tolist()
    [True]
    """
    if line is not None and pa.types.is_temporal(line):
        return _in_date(label, texts)
    if line is not None:  # numbers are filled up with zeros before they are masked
        texts = pc.utf8_lpad(texts, len(label), "0")
    right, left = _MASKED_RIGHT.fullmatch(label), _MASKED_LEFT.fullmatch(label)
    if right is not None:
        return _masked(texts, pc.starts_with(texts, right[1]), len(right[1]), len(label))
    if left is not None:
        return _masked(texts, pc.ends_with(texts, left[2]), len(left[2]), len(label))
    return np.ones(len(texts), np.bool_)


def _masked(texts: pa.Array, fits: pa.Array, shown: int, width: int) -> Bools:
    length = pc.utf8_length(texts).to_numpy(zero_copy_only=False)
    # a mask has the length of the longest value, and hides at least a character of each
    return np.asarray(fits.to_numpy(zero_copy_only=False) & (length > shown) & (length <= width))


def _in_date(label: str, texts: pa.Array) -> Bools:
    quarter = _QUARTER.fullmatch(label)
    if quarter is not None:
        year, number = quarter[1], int(quarter[2])
        months = [f"{year}-{month:02d}-" for month in range(3 * number - 2, 3 * number + 1)]
    elif _DATE.fullmatch(label) is not None:
        months = [label]
    else:
        return np.ones(len(texts), np.bool_)
    found = [pc.starts_with(texts, each).to_numpy(zero_copy_only=False) for each in months]
    return np.asarray(np.logical_or.reduce(found))
