"""Where a predicate on one attribute may change: between such places all values are told the same.

Numbers and texts are ordered, and every leaf is true from some place to another. So a piece, from
where it starts to where the next one does, has one truth, and its first value stands for all.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers.number_line import NumberLine
from sfumato.answers.slots import Slots
from sfumato.predicates.evaluate import mask_of_values
from sfumato.predicates.expression import (
    And,
    Between,
    Comparison,
    Not,
    OneOf,
    Or,
    Predicate,
    Prefix,
    Value,
)

Bools = npt.NDArray[np.bool_]

# No text is between another and that with this after it.
NEXT = "\0"
# Halves of pairs, which are code points and in no text.
_BEFORE_SURROGATES, _AFTER_SURROGATES = 0xD7FF, 0xE000


def piece_starts(
    slots: Slots, line: NumberLine, predicates: Iterable[Predicate | None], low: int, high: int
) -> list[int]:
    """Return the ticks from low to high where a piece starts: all predicates are constant on it."""
    starts = {low}
    for predicate in predicates:
        for literal in literals_of(predicate):
            starts.update(line.place(literal, low, high, slots.entry.name))
    return sorted(tick for tick in starts if tick <= high)


def text_starts(predicates: Iterable[Predicate | None]) -> list[str]:
    """Return the texts where a piece starts, by code point as texts compare; the first is empty.

    >>> from sfumato.predicates import parse
    >>> text_starts([parse("job > 'Cook'"), parse("job like 'N%'")])
    ['', 'Cook', 'Cook\\x00', 'N', 'O']
    """
    starts = {""}
    for predicate in predicates:
        for literal in literals_of(predicate):
            if isinstance(literal, str):  # others do not compare with texts, and are refused
                starts |= {literal, literal + NEXT}
        for prefix in _prefixes(predicate):
            beyond = _beyond(prefix)
            starts |= {prefix} if beyond is None else {prefix, beyond}
    return sorted(starts)


def _beyond(prefix: str) -> str | None:
    """Return the first text after all that start with the prefix; None where they are the last."""
    stem = prefix.rstrip(chr(sys.maxunicode))
    if not stem:
        return None
    last = ord(stem[-1])
    after = _AFTER_SURROGATES if last == _BEFORE_SURROGATES else last + 1
    return stem[:-1] + chr(after)


def holds_at(predicate: Predicate | None, values: pa.Array, slots: Slots) -> Bools:
    """Return whether a predicate is true of each value, none of them missing."""
    match predicate:
        case None:
            return np.ones(len(values), np.bool_)
        case And(parts):
            return reduce(np.logical_and, (holds_at(part, values, slots) for part in parts))
        case Or(parts):
            return reduce(np.logical_or, (holds_at(part, values, slots) for part in parts))
        case Not(part):
            return ~holds_at(part, values, slots)
    return mask_of_values(predicate, values, slots.entry.kind, slots.order)


def literals_of(predicate: Predicate | None) -> list[Value]:
    """Return all literals of a predicate but those of LIKE."""
    match predicate:
        case And(parts) | Or(parts):
            return [literal for part in parts for literal in literals_of(part)]
        case Not(part):
            return literals_of(part)
        case Comparison(_, _, value):
            return [value]
        case Between(_, low, high):
            return [low, high]
        case OneOf(_, values):
            return list(values)
    return []


def _prefixes(predicate: Predicate | None) -> list[str]:
    match predicate:
        case And(parts) | Or(parts):
            return [prefix for part in parts for prefix in _prefixes(part)]
        case Not(part):
            return _prefixes(part)
        case Prefix(_, prefix):
            return [prefix]
    return []
