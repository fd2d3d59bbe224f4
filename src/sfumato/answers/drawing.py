"""A value for every row, drawn from those that its cell may hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers.choices import MISSING, Choices
from sfumato.answers.number_line import NumberLine, Ticks
from sfumato.randomness import random_shares
from sfumato.schema.kinds import is_text

Ints = npt.NDArray[np.int64]
Slots = npt.NDArray[np.signedinteger[Any]]

_LARGEST = 2**63 - 1
_BITS, _PARTS = 62, 6


def draw(
    choices: Choices,
    slots: Slots,
    line: NumberLine | None,
    rng: np.random.Generator,
    *,
    coded: bool = False,
) -> pa.Array:
    """Return a value for each row, given the number of its cell: all that it may hold alike.

    With `coded`, texts are codes of a dictionary, which may have more than occur: millions of texts
    take long to be written, and to be read again.
    """
    counts = np.diff(choices.first)
    is_exact = (counts == 1) & ~choices.is_range & ~choices.is_anything
    if is_exact.all():  # nothing is drawn
        return _taken(choices.values, choices.option[choices.first[:-1]][slots], coded)
    options = choices.option[choices.first[slots] + rng.integers(0, counts[slots])]
    pool = choices.values
    ranged = np.flatnonzero(choices.is_range[slots])
    if line is not None and len(ranged):
        numbers, is_missing = _numbers(choices, slots[ranged], line, rng)
        places = len(pool) + np.arange(len(ranged))
        options[ranged] = np.where(is_missing, MISSING, places)
        pool = pa.concat_arrays([pool, numbers])
    withheld = choices.is_anything[slots]
    told = np.flatnonzero(~withheld)
    if withheld.any() and len(told):
        options[withheld] = options[told[rng.integers(0, len(told), int(withheld.sum()))]]
    return _taken(pool, options, coded)


def _taken(pool: pa.Array, options: Ints, coded: bool) -> pa.Array:
    """Return what each row's option is."""
    if coded and is_text(pool.type):
        codes = options.astype(np.int32)
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes == MISSING), pool)
    return pool.take(pa.array(options, mask=options == MISSING))


def _numbers(
    choices: Choices, slots: Slots, line: NumberLine, rng: np.random.Generator
) -> tuple[pa.Array, npt.NDArray[np.bool_]]:
    """Return a number for each row whose cell is a range, and whether it is missing after all."""
    if not line.is_grid:
        # along the numbers, not along the floats that there are; a missing one has no weight there
        both = choices.low.astype(np.int64), choices.high.astype(np.int64)
        low, high = (line.positions(ticks)[slots] for ticks in both)
        share = random_shares(rng, len(slots))
        reals = np.clip(low * (1.0 - share) + high * share, low, high)
        narrow = pa.array(reals.astype(line.dtype.to_pandas_dtype()))
        return narrow, np.zeros(len(slots), np.bool_)
    step = line.step
    counted = (choices.high - choices.low) // step + 1
    ends = max(counted.max(), choices.high.max(), -choices.low.min())
    width = np.int64 if ends < _LARGEST else object  # numbers of Python where 64 bits do not do
    values = counted.astype(width)[slots]
    offset = _below(values + choices.with_null[slots], rng)
    is_missing = np.asarray(offset == values, np.bool_)
    ticks = choices.low.astype(width)[slots] + np.where(is_missing, 0, offset) * step
    if not pa.types.is_decimal(line.dtype):
        return line.values(ticks), is_missing
    different, place = np.unique(ticks, return_inverse=True)  # each is made by Python
    return line.values(different).take(pa.array(place)), is_missing


def _below(limits: Ticks, rng: np.random.Generator) -> npt.NDArray[Any]:
    """Return for each limit a whole number from 0 to below it, all equally likely.

    Limits beyond 64 bits, which have 256 at most, are met to one part in 2 ** 100.
    """
    if limits.dtype != object:
        return np.asarray(rng.integers(0, limits))
    whole = np.zeros(len(limits), object)
    for _ in range(_PARTS):
        whole = whole * 2**_BITS + rng.integers(0, 2**_BITS, len(limits)).astype(object)
    return np.asarray(whole * limits // 2 ** (_PARTS * _BITS))
