"""Spans of the codes of eight attributes at a time, one machine instruction for all of them.

A span of eight attributes is sixteen numbers in a row: the least codes, then the largest. -1 stands
for nothing: as a number without a sign it is the largest of all, as one with a sign less than any
code, so that an empty span is sixteen times -1. LLVM would take such short loops apart into single
numbers; so the few instructions are written down for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

LANES = 8
SPAN = 2 * LANES  # numbers
_VECTOR = ir.VectorType(ir.IntType(32), LANES)
_NOTHING = ir.Constant(_VECTOR, [-1] * LANES)

Codes = npt.NDArray[np.int32]


def words(attributes: int) -> int:
    """Return how many spans of eight cover so many attributes.

    >>> words(8), words(9)
    (1, 2)
    """
    return max(1, -(-attributes // LANES))


class _Lanes:
    """Eight numbers of an array, from a place on."""

    def __init__(self, context: Any, builder: Any, kind: Any, array: Any, place: Any) -> None:
        data = context.make_array(kind)(context, builder, array).data
        self._builder = builder
        self._pointer = builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())

    def load(self) -> Any:
        loaded = self._builder.load(self._pointer)
        loaded.align = 4
        return loaded

    def store(self, lanes: Any) -> None:
        self._builder.store(lanes, self._pointer).align = 4


def _widen(builder: Any, span: tuple[_Lanes, _Lanes], low: Any, high: Any) -> None:
    least, largest = span[0].load(), span[1].load()
    is_less = builder.icmp_unsigned("<", low, least)
    span[0].store(builder.select(is_less, low, least))
    is_more = builder.icmp_signed(">", high, largest)
    span[1].store(builder.select(is_more, high, largest))


def _halves(context: Any, builder: Any, kind: Any, spans: Any, place: Any) -> tuple[_Lanes, _Lanes]:
    second = builder.add(place, ir.Constant(place.type, LANES))
    return (
        _Lanes(context, builder, kind, spans, place),
        _Lanes(context, builder, kind, spans, second),
    )


def _take_in(
    typing: Any, spans: Any, at: Any, codes: Any, first: Any, missing: Any, own: Any
) -> Any:
    """Make the span at `at` hold the eight codes at `first`.

    A code that is equal to the one of eight at `own` in `missing` is no largest code.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        codes = _Lanes(context, builder, kinds[2], arguments[2], arguments[3]).load()
        missing = _Lanes(context, builder, kinds[4], arguments[4], arguments[5]).load()
        is_missing = builder.icmp_signed("==", codes, missing)
        known = builder.select(is_missing, _NOTHING, codes)
        span = _halves(context, builder, kinds[0], arguments[0], arguments[1])
        _widen(builder, span, codes, known)
        return context.get_dummy_value()

    place = types.intp
    return types.void(spans, place, codes, place, missing, place), generate


def _unite(typing: Any, spans: Any, at: Any, others: Any, place: Any) -> Any:
    """Make the span at `at` hold the one of `others` at `place`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        other = _halves(context, builder, kinds[2], arguments[2], arguments[3])
        span = _halves(context, builder, kinds[0], arguments[0], arguments[1])
        _widen(builder, span, other[0].load(), other[1].load())
        return context.get_dummy_value()

    return types.void(spans, types.intp, others, types.intp), generate


def _mark(typing: Any, bits: Any, at: Any, numbers: Any, first: Any) -> Any:
    """Set, in each of the eight at `at`, the bit that the number at `first` says, if below 32."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        number = _Lanes(context, builder, kinds[2], arguments[2], arguments[3]).load()
        marked = _Lanes(context, builder, kinds[0], arguments[0], arguments[1])
        ones, width = (ir.Constant(_VECTOR, [n] * LANES) for n in (1, 32))
        is_there = builder.icmp_unsigned("<", number, width)
        shifted = builder.shl(ones, builder.and_(number, ir.Constant(_VECTOR, [31] * LANES)))
        bit = builder.select(is_there, shifted, ir.Constant(_VECTOR, [0] * LANES))
        marked.store(builder.or_(marked.load(), bit))
        return context.get_dummy_value()

    return types.void(bits, types.intp, numbers, types.intp), generate


# As compiled loops call them: without the first argument.
take_in: Any = intrinsic(_take_in)
unite: Any = intrinsic(_unite)
mark: Any = intrinsic(_mark)
