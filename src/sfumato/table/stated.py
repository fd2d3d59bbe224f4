"""A column over the domain that the policy states, whichever of its values occur.

Nothing here but `codes` depends on the rows: not the values, not their order, not the kind. What
an attribute's domain is must come from the policy (`order`, `domain`, a supplied hierarchy) and
from the column's type, which is taken to be known.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ParameterError
from sfumato.schema.attribute import Attribute, Kind
from sfumato.schema.hierarchy import Hierarchy
from sfumato.schema.kinds import stated_values
from sfumato.schema.text import from_texts, readable_texts, to_texts
from sfumato.table.column import Column
from sfumato.table.order import arrange

_EXACT = Context(prec=400)  # more digits than any decimal has


@dataclass(frozen=True, slots=True, eq=False)
class StatedColumn:
    """A column whose codes number the atoms of its stated domain; a missing value comes after.

    Atom i holds the values from `column.values[i]` to `highs[i]`: one value, unless the domain is
    a range of numbers with more of them than were asked for. The column's tree has all leaves.
    """

    column: Column
    highs: pa.Array

    @property
    def is_exact(self) -> bool:
        """Whether every atom is a single value."""
        return bool(self.highs.equals(self.column.values))


def stated_column(column: Column, atoms: int, *, even: bool = False) -> StatedColumn:
    """Return the column over its stated domain; a range of numbers has at most so many atoms.

    Atoms of whole numbers differ in width by one at most; `even` ones do not, save the last.

    Refuses (ParameterError) attributes whose domain the policy does not state.
    """
    attribute = column.attribute
    if pa.types.is_null(column.values.type):
        raise ParameterError(f"'{column.name}' has no data type, so its domain cannot be stated")
    if isinstance(attribute.hierarchy, Hierarchy) and not attribute.hierarchy.supplied:
        raise ParameterError(
            f"the hierarchy of '{column.name}' is built from the data, and would tell of them; "
            "supply a file that lists every value that can occur, or drop the hierarchy"
        )
    if column.kind is Kind.NUMERIC and attribute.hierarchy is None:
        return _numeric(column, atoms, even)
    return _listed(column)


def _listed(column: Column) -> StatedColumn:
    """Return the column over values that the policy lists one by one."""
    attribute, dtype = column.attribute, column.values.type
    values = _stated_values(attribute, dtype)
    kind = column.kind
    if pa.types.is_dictionary(column.dtype) and column.dtype.ordered and attribute.order is None:
        kind = Kind.CATEGORICAL  # its order would be that of the entries, which are data
    if attribute.hierarchy is not None and kind is Kind.NUMERIC and attribute.domain is not None:
        low, high = _ends(attribute, dtype)
        inside = [low <= number <= high for number in _numbers(values)]
        values = values.filter(pa.array(inside, pa.bool_()))
    stated = replace(attribute, kind=kind)
    tree = None
    if attribute.hierarchy is not None:
        arranged = arrange(values, pa.chunked_array([values]), stated)
        values, tree = values.take(pa.array(arranged.order)), arranged.tree
    places = pc.index_in(to_texts(column.values), to_texts(values))
    if places.null_count:
        raise ParameterError(
            f"{places.null_count} values of '{column.name}' are not in its stated domain; add them"
        )
    code_of = np.append(places.to_numpy(zero_copy_only=False), len(values)).astype(np.int32)
    whole = Column(stated, code_of[column.codes], values, column.dtype, tree, column.misses)
    return StatedColumn(whole, values)


def _stated_values(attribute: Attribute, dtype: pa.DataType) -> pa.Array:
    listed = attribute.order
    if listed is None and attribute.hierarchy is None:
        listed = attribute.domain
    if listed is not None:
        return stated_values(listed, dtype)
    if isinstance(attribute.hierarchy, Hierarchy):
        return from_texts(
            pa.array(readable_texts(attribute.hierarchy.leaves, dtype), pa.string()), dtype
        )
    raise ParameterError(
        f"the policy does not say which values '{attribute.name}' can have: state its `domain` "
        "or `order`, or supply a hierarchy"
    )


def _numeric(column: Column, atoms: int, even: bool) -> StatedColumn:
    """Return the column over a range of numbers, cut into atoms of equal width."""
    attribute, dtype = column.attribute, column.values.type
    if attribute.domain is None:
        raise ParameterError(
            f"the policy does not say which numbers '{column.name}' can have: state its `domain` "
            "as {min, max}"
        )
    low, high = _ends(attribute, dtype)
    if not low <= high:
        raise ParameterError(f"the stated domain of '{column.name}' is empty")
    if pa.types.is_floating(dtype):
        lows, highs = _float_atoms(low, high, atoms, dtype)
    else:
        count = min(atoms, high - low + 1)
        width = -(-(high - low + 1) // count)
        starts = [low + (high - low + 1) * i // count for i in range(count)]
        if even:
            starts = list(range(low, high + 1, width))
        ends = [*(start - 1 for start in starts[1:]), high]
        lows, highs = _from_numbers(starts, dtype), _from_numbers(ends, dtype)
    tops = _numbers(highs)
    # a loop over distinct values; compared as Python's numbers, which do not round
    places = [bisect_left(tops, number) for number in _numbers(column.values)]
    if any(place == len(tops) for place in places) or any(
        number < low for number in _numbers(column.values[:1])
    ):
        raise ParameterError(f"values of '{column.name}' lie outside its stated domain")
    code_of = np.array([*places, len(tops)], dtype=np.int32)
    codes = code_of[column.codes]
    return StatedColumn(Column(attribute, codes, lows, column.dtype, misses=column.misses), highs)


def _float_atoms(
    low: float, high: float, atoms: int, dtype: pa.DataType
) -> tuple[pa.Array, pa.Array]:
    """Return the ends of atoms; neighbours share one, which belongs to the lower."""
    shares = [i / atoms for i in range(atoms + 1)]
    edges = [low * (1 - share) + high * share for share in shares]
    # in the column's own type, so that they are values that it can hold
    narrow = _numbers(_from_numbers(edges[1:-1], dtype))
    between = sorted({edge for edge in narrow if low < edge < high})
    return _from_numbers([low, *between], dtype), _from_numbers([*between, high], dtype)


def _ends(attribute: Attribute, dtype: pa.DataType) -> tuple[Any, Any]:
    """Return the lowest and highest number of a stated domain that the type can hold."""
    assert attribute.domain is not None
    low, high = attribute.domain
    return _end(attribute.name, low, dtype, True), _end(attribute.name, high, dtype, False)


def _end(name: str, bound: Any, dtype: pa.DataType, is_low: bool) -> Any:
    try:
        number = _numbers(stated_values((bound,), dtype))[0]
    except (ValueError, pa.ArrowException):
        number = bound
    if pa.types.is_floating(dtype):
        largest = float(np.finfo(dtype.to_pandas_dtype()).max)
        return min(max(float(number), -largest), largest)
    if isinstance(number, int):
        whole = number
    elif pa.types.is_integer(dtype) and isinstance(number, float | Decimal):
        whole = math.ceil(number) if is_low else math.floor(number)
    else:
        raise ParameterError(f"'{name}' holds {dtype}, and its `domain` does not read as such")
    if not pa.types.is_integer(dtype):
        return whole
    limits = np.iinfo(dtype.to_pandas_dtype())
    return min(max(whole, int(limits.min)), int(limits.max))


def _numbers(values: pa.Array) -> list[Any]:
    """Return the values as Python's numbers: floats, or whole numbers of the type's own unit."""
    dtype = values.type
    if pa.types.is_decimal(dtype):
        scaled = (_EXACT.scaleb(value, dtype.scale) for value in values.to_pylist())
        return [int(number) for number in scaled]
    if pa.types.is_date(dtype):
        values = values.cast(pa.date32(), safe=False).cast(pa.int32())
    elif pa.types.is_temporal(dtype):
        values = values.cast(pa.int32() if pa.types.is_time32(dtype) else pa.int64())
    return list(values.to_pylist())


def _from_numbers(numbers: list[Any], dtype: pa.DataType) -> pa.Array:
    if pa.types.is_decimal(dtype):
        return pa.array([_EXACT.scaleb(Decimal(n), -dtype.scale) for n in numbers], dtype)
    if pa.types.is_date(dtype):
        return pa.array(numbers, pa.int32()).cast(pa.date32()).cast(dtype)
    if pa.types.is_temporal(dtype):
        return pa.array(numbers, pa.int32() if pa.types.is_time32(dtype) else pa.int64()).cast(
            dtype
        )
    return pa.array(numbers, dtype)
