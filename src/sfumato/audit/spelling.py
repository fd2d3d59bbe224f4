"""What the distinct text cells of a column say, sorted into the values that they name.

Cells of the usual simple spellings are read by Arrow, all others by the grammar's own reader: a
release may have hundreds of thousands of different ranges.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ReleaseDamaged
from sfumato.release import cells
from sfumato.release.cells import Exact, Node, Null, Range, Star, ValueSet

# Spellings that mean what they seem to in every context, save for the word `null` and for labels.
_PLAIN = r"^[0-9A-Za-z]([0-9A-Za-z ._+:<>=()/&'-]*[0-9A-Za-z.+])?$"
_PLAIN_RANGE = (
    r"^\[(?P<low>-?[0-9A-Za-z][0-9A-Za-z.:+-]*), (?P<high>-?[0-9A-Za-z][0-9A-Za-z.:+-]*)\]$"
)


@dataclass(frozen=True, slots=True, eq=False)
class NamedValues:
    """The values that a column's cells name: exactly or in sets, and as ends of ranges."""

    exact: pa.Array
    lows: pa.Array
    highs: pa.Array


def exact_texts(spelled: pa.Array) -> pa.Array | None:
    """Return the value of every cell, in order; None unless all are exact.

    >>> exact_texts(pa.array(["Flu", '"x, y"'])).to_pylist(), exact_texts(pa.array(["*"]))
    (['Flu', 'x, y'], None)
    """
    odd = pc.invert(_is_plain(spelled))
    read = [cells.parse(cell) for cell in spelled.filter(odd).to_pylist()]
    texts = [cell.text for cell in read if isinstance(cell, Exact)]
    if len(texts) < len(read):
        return None
    return pc.replace_with_mask(spelled, odd, pa.array(texts, pa.string()))


def named_values(spelled: pa.Array, labels: Container[str]) -> NamedValues:
    """Return the values that generalised cells name; `labels` are those of hierarchy nodes.

    Refuses (ReleaseDamaged) cells that do not follow the grammar.

    >>> found = named_values(pa.array(["[25, 28]", "33", "{null, 41}", "Asia"]), {"Asia"})
    >>> found.exact.to_pylist(), found.lows.to_pylist(), found.highs.to_pylist()
    (['33', '41'], ['25'], ['28'])
    """
    known = np.array([text in labels for text in spelled.to_pylist()], dtype=np.bool_)
    plain = _is_plain(spelled).to_numpy(zero_copy_only=False) & ~known
    ends = pc.extract_regex(spelled, _PLAIN_RANGE)
    ranged = ends.is_valid().to_numpy(zero_copy_only=False) & ~known
    low, high = (pc.struct_field(ends, name) for name in ("low", "high"))
    ranged &= ~pc.fill_null(_is_odd_range(low, high), True).to_numpy(zero_copy_only=False)
    exact: list[str] = []
    lows: list[str] = []
    highs: list[str] = []
    for cell in spelled.filter(pa.array(~(plain | ranged))).to_pylist():
        match cells.parse(cell, labels):
            case Exact(text):
                exact.append(text)
            case ValueSet(texts):
                exact.extend(texts)
            case Range(a, b):
                lows.append(a)
                highs.append(b)
            case Node() | Star():
                pass
            case Null():  # a missing cell is no text at all; the word belongs inside a set
                raise ReleaseDamaged("a cell is the bare word for a missing value")
    chosen = pa.array(ranged)
    return NamedValues(
        pa.concat_arrays([spelled.filter(pa.array(plain)), pa.array(exact, pa.string())]),
        pa.concat_arrays([low.filter(chosen), pa.array(lows, pa.string())]),
        pa.concat_arrays([high.filter(chosen), pa.array(highs, pa.string())]),
    )


def _is_plain(spelled: pa.Array) -> pa.Array:
    return pc.and_(pc.match_substring_regex(spelled, _PLAIN), pc.not_equal(spelled, cells.NULL))


def _is_odd_range(low: pa.Array, high: pa.Array) -> pa.Array:
    """Return which ranges the grammar would spell otherwise: an end `null`, or equal ends."""
    odd = pc.or_(pc.equal(low, cells.NULL), pc.equal(high, cells.NULL))
    return pc.or_(odd, pc.equal(low, high))
