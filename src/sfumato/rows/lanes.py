"""Spans of the codes of eight attributes at a time, one machine instruction for all of them.

A span of eight attributes is sixteen numbers in a row: the complements of the least codes (`~code`,
the larger the smaller the code), then the largest codes. So one maximum widens both ends, and the
least number there is stands for nothing. Codes below 32,767 are kept in sixteen bits: a span then
is one register. LLVM would take such short loops apart into single numbers; so the few instructions
are written down for it.
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

Spans = npt.NDArray[np.signedinteger[Any]]


def words(attributes: int) -> int:
    """Return how many spans of eight cover so many attributes.

    >>> words(8), words(9)
    (1, 2)
    """
    return max(1, -(-attributes // LANES))


def span_type(largest: int) -> type[np.signedinteger[Any]]:
    """Return the numbers that hold spans of codes up to the `largest`.

    >>> span_type(32_766).__name__, span_type(32_767).__name__
    ('int16', 'int32')
    """
    return np.int16 if largest < np.iinfo(np.int16).max else np.int32


def nothing(spans: type[np.signedinteger[Any]]) -> int:
    """Return the number of which an empty span is made."""
    return int(np.iinfo(spans).min)


class _Lanes:
    """So many numbers of an array, from a place on."""

    def __init__(
        self, context: Any, builder: Any, kind: Any, array: Any, place: Any, count: int
    ) -> None:
        data = context.make_array(kind)(context, builder, array).data
        self.vector = ir.VectorType(ir.IntType(kind.dtype.bitwidth), count)
        self._align = kind.dtype.bitwidth // 8
        self._builder = builder
        self._pointer = builder.bitcast(builder.gep(data, [place]), self.vector.as_pointer())

    def load(self) -> Any:
        loaded = self._builder.load(self._pointer)
        loaded.align = self._align
        return loaded

    def store(self, lanes: Any) -> None:
        self._builder.store(lanes, self._pointer).align = self._align

    def narrowed(self, lanes: Any) -> Any:
        """Return lanes of 32 bits as such of this array."""
        own = ir.VectorType(self.vector.element, LANES)
        return lanes if lanes.type == own else self._builder.trunc(lanes, own)


def _all(vector: Any, number: int) -> Any:
    return ir.Constant(vector, [number] * vector.count)


def _span_of(context: Any, builder: Any, kinds: Any, arguments: Any) -> tuple[_Lanes, Any]:
    """Return the place of a span, and the span of eight codes; see `_spread`."""
    span = _Lanes(context, builder, kinds[0], arguments[0], arguments[1], SPAN)
    codes = _Lanes(context, builder, kinds[2], arguments[2], arguments[3], LANES).load()
    missing = _Lanes(context, builder, kinds[4], arguments[4], arguments[5], LANES).load()
    is_missing = builder.icmp_signed("==", codes, missing)
    low = span.narrowed(codes)
    least = _all(low.type, -1 << low.type.element.width - 1)
    high = builder.select(is_missing, least, low)
    places = ir.Constant(ir.VectorType(ir.IntType(32), SPAN), list(range(SPAN)))
    return span, builder.shuffle_vector(builder.not_(low), high, places)


def _spread(
    typing: Any, spans: Any, at: Any, codes: Any, first: Any, missing: Any, own: Any
) -> Any:
    """Leave at `at` the span of the eight codes at `first`.

    A code that is equal to the one of eight at `own` in `missing` is no largest code.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        span, codes = _span_of(context, builder, signature.args, arguments)
        span.store(codes)
        return context.get_dummy_value()

    place = types.intp
    return types.void(spans, place, codes, place, missing, place), generate


def _take_in(
    typing: Any, spans: Any, at: Any, codes: Any, first: Any, missing: Any, own: Any
) -> Any:
    """Make the span at `at` hold the eight codes at `first`; see `_spread`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        span, codes = _span_of(context, builder, signature.args, arguments)
        held = span.load()
        span.store(builder.select(builder.icmp_signed(">", codes, held), codes, held))
        return context.get_dummy_value()

    place = types.intp
    return types.void(spans, place, codes, place, missing, place), generate


def _unite(typing: Any, spans: Any, at: Any, ones: Any, one: Any, others: Any, other: Any) -> Any:
    """Leave at `at` the span that holds both the one of `ones` at `one` and that of `others`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        own, more, target = (
            _Lanes(context, builder, signature.args[i], arguments[i], arguments[i + 1], SPAN)
            for i in (2, 4, 0)
        )
        held, further = own.load(), more.load()
        target.store(builder.select(builder.icmp_signed(">", further, held), further, held))
        return context.get_dummy_value()

    place = types.intp
    return types.void(spans, place, ones, place, others, place), generate


def _mark(typing: Any, bits: Any, at: Any, numbers: Any, first: Any) -> Any:
    """Set, in each of the eight at `at`, the bit that the number at `first` says, if below 16."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        marked = _Lanes(context, builder, kinds[0], arguments[0], arguments[1], LANES)
        number = _Lanes(context, builder, kinds[2], arguments[2], arguments[3], LANES).load()
        is_there = builder.icmp_unsigned("<", number, _all(number.type, 16))
        shifted = builder.shl(_all(number.type, 1), builder.and_(number, _all(number.type, 15)))
        bit = builder.select(is_there, shifted, _all(number.type, 0))
        marked.store(builder.or_(marked.load(), marked.narrowed(bit)))
        return context.get_dummy_value()

    return types.void(bits, types.intp, numbers, types.intp), generate


def _swap(typing: Any, codes: Any, one: Any, other: Any) -> Any:
    """Let the eight codes at `one` and at `other` change places."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, second = (
            _Lanes(context, builder, signature.args[0], arguments[0], arguments[i], LANES)
            for i in (1, 2)
        )
        moved, back = first.load(), second.load()
        first.store(back)
        second.store(moved)
        return context.get_dummy_value()

    return types.void(codes, types.intp, types.intp), generate


# As compiled loops call them: without the first argument.
spread: Any = intrinsic(_spread)
take_in: Any = intrinsic(_take_in)
unite: Any = intrinsic(_unite)
mark: Any = intrinsic(_mark)
swap: Any = intrinsic(_swap)
