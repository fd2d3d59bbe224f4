"""Numbers in a hierarchy file, spelled as the column's own values are.

Other programs write `6.0` where the text of the value is `6`.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import pyarrow as pa

from sfumato.schema.hierarchy import Hierarchy
from sfumato.schema.intervals import read_number
from sfumato.schema.text import to_texts

_DIGITS = 20  # of the longest whole number that a column can hold


def spelled_as(hierarchy: Hierarchy, dtype: pa.DataType) -> Hierarchy:
    """Return the hierarchy with its decimal numbers in the text form of values of the type.

    Only numbers with a point or an exponent: `007` may be a code that is not the number 7. Where
    two leaves would become one, both stay as they are.

    >>> charges = Hierarchy.from_rows([("6.0", "low"), ("99.80", "high")], "charges")
    >>> spelled_as(charges, pa.float64()).leaves, spelled_as(charges, pa.int64()).leaves
    (('6', '99.8'), ('6', '99.80'))
    """
    texts = {leaf: _text(leaf, dtype) for leaf in hierarchy.leaves}
    uses = Counter(texts.values())
    leaves = tuple(texts[leaf] if uses[texts[leaf]] == 1 else leaf for leaf in hierarchy.leaves)
    labels = {label for path in hierarchy.paths for label in path}
    changed = {new for old, new in zip(hierarchy.leaves, leaves, strict=True) if new != old}
    # a new text that is already the name of an inner node would change what that name means
    if not changed or changed & labels:
        return hierarchy
    return replace(hierarchy, leaves=leaves)


def _text(leaf: str, dtype: pa.DataType) -> str:
    number = read_number(leaf) if any(mark in leaf for mark in ".eE") else None
    if number is None:
        return leaf
    if pa.types.is_integer(dtype):
        # 1e999999 is no value of a column, and its digits would fill the memory
        is_whole = number.adjusted() < _DIGITS and number == number.to_integral_value()
        return str(int(number)) if is_whole else leaf
    if pa.types.is_floating(dtype) and math.isfinite(float(number)):
        return str(to_texts(pa.array([float(number)]).cast(dtype))[0])
    return leaf
