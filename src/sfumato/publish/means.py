"""Means of groups: numbers as 64-bit floats, dates and times rounded to the unit of their type."""

from __future__ import annotations

import math
from decimal import Context
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.release import AttributeEntry, Bounds
from sfumato.release.dtypes import dtype_name
from sfumato.schema.kinds import stated_values
from sfumato.table import Column, Groups

Ints = npt.NDArray[np.int64]

# Enough digits for any 256-bit decimal.
_EXACT = Context(prec=400)
_SAFE = 2**62  # sums of whole numbers up to here do not overflow


def mean_type(dtype: pa.DataType) -> pa.DataType:
    """Return the type of means of values of this type.

    >>> mean_type(pa.int8()), mean_type(pa.date32())
    (DataType(double), DataType(date32[day]))
    """
    return dtype if pa.types.is_temporal(dtype) else pa.float64()


def group_means(column: Column, groups: Groups) -> pa.Array:
    """Return the mean of each group, null where its cells are missing.

    A group's rows all have a value, or none has. Sums are of values in their order, so that no
    mean depends on the order of the input. A mean of floats lies between the group's ends, one of
    whole numbers is the float nearest to it, one of dates or times is rounded to even.
    """
    dtype = column.values.type
    rows = groups.order[np.lexsort((column.codes[groups.order], groups.ids[groups.order]))]
    codes, starts = column.codes[rows], groups.offsets[:-1]
    is_missing = codes[starts] == column.null_code
    if column.cardinality == 0:
        return pa.nulls(groups.count, mean_type(dtype))
    codes = np.minimum(codes, column.cardinality - 1)
    if pa.types.is_floating(dtype):
        return pa.array(_float_means(column, codes, groups), mask=is_missing)
    whole, unit = _whole_numbers(column.values)
    sums = _sums(whole, codes, groups)
    if pa.types.is_temporal(dtype):
        ticks = _rounded(sums, groups.sizes, int(whole[0]))
        return pa.array(ticks.astype(np.int64), mask=is_missing).cast(_ticks(dtype)).cast(dtype)
    if unit == 1 and sums.dtype != object:
        low = int(whole[0])
        exact = sums + low * groups.sizes if abs(low) * int(groups.sizes.max()) < _SAFE else None
        if exact is not None and int(np.abs(exact).max(initial=0)) <= 2**53:
            return pa.array(exact / groups.sizes, mask=is_missing)
    means = [
        float(Fraction(int(total), int(size) * unit) + Fraction(int(whole[0]), unit))
        for total, size in zip(sums.tolist(), groups.sizes.tolist(), strict=True)
    ]  # a loop over groups, for numbers that floats do not hold
    return pa.array(np.array(means), mask=is_missing)


def describe_means(column: Column) -> AttributeEntry:
    """Return the manifest's entry of means: a domain only where the policy states one.

    Means do not tell what the data reach; and what they do reach must not be told.
    """
    dtype = mean_type(column.values.type)
    domain = None
    if column.attribute.domain is not None:
        low, high = column.attribute.domain
        if not pa.types.is_temporal(dtype):
            low, high = _float_ends(column)
        domain = Bounds(min=low, max=high)
    return AttributeEntry(
        name=column.name,
        role=column.attribute.role,
        kind=column.kind,
        type=dtype_name(dtype),
        domain=domain,
    )


def _float_ends(column: Column) -> tuple[float, float]:
    """Return the stated ends as floats, none of them nearer than stated."""
    assert column.attribute.domain is not None
    found = []
    for stated, towards in zip(column.attribute.domain, (-math.inf, math.inf), strict=True):
        value = stated
        if isinstance(stated, str):
            value = stated_values((stated,), column.values.type)[0].as_py()
        end = float(value)
        is_inside = (
            Fraction(end) > Fraction(value) if towards < 0 else Fraction(end) < Fraction(value)
        )
        found.append(math.nextafter(end, towards) if is_inside else end)
    return found[0], found[1]


def _float_means(column: Column, codes: npt.NDArray[np.int32], groups: Groups) -> Any:
    values = column.values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    own, starts = values[codes], groups.offsets[:-1]
    sizes = groups.sizes.astype(np.float64)
    # divided first, where a sum could be beyond all floats
    is_huge = float(np.abs(values).max()) > 1e300
    means = (
        np.add.reduceat(own / np.repeat(sizes, groups.sizes), starts)
        if is_huge
        else np.add.reduceat(own, starts) / sizes
    )
    return np.clip(means, own[starts], own[groups.offsets[1:] - 1]) + 0.0


def _whole_numbers(values: pa.Array) -> tuple[npt.NDArray[Any], int]:
    """Return ascending values as whole numbers, and how many of these make one."""
    dtype = values.type
    if pa.types.is_decimal(dtype):
        scale = 10**dtype.scale
        exact = [int(each.scaleb(dtype.scale, _EXACT)) for each in values.to_pylist()]
        return np.array(exact, object), scale
    if pa.types.is_temporal(dtype):
        values = values.cast(_ticks(dtype))
    whole = values.to_numpy(zero_copy_only=False)
    if int(whole[-1]) > 2**63 - 1 or int(whole[-1]) - int(whole[0]) > 2**63 - 1:
        return whole.astype(object), 1
    return whole.astype(np.int64), 1


def _sums(whole: npt.NDArray[Any], codes: npt.NDArray[np.int32], groups: Groups) -> Any:
    """Return by group the sum of what its numbers are above the least of all."""
    above = whole - whole[0]
    if int(above[-1]) * int(groups.sizes.max(initial=1)) >= _SAFE:
        above = above.astype(object)
    return np.add.reduceat(above[codes], groups.offsets[:-1])


def _rounded(sums: Any, sizes: Ints, above: int) -> Any:
    """Return quotients, and so much more, rounded to the nearest whole number, halves to even."""
    quotient, rest = sums // sizes + above, sums % sizes
    up = (2 * rest > sizes) | ((2 * rest == sizes) & (quotient % 2 == 1))
    return quotient + up


def _ticks(dtype: pa.DataType) -> pa.DataType:
    """Return the whole numbers that Arrow holds dates or times of a type as."""
    narrow = pa.types.is_date32(dtype) or pa.types.is_time32(dtype)
    return pa.int32() if narrow else pa.int64()
