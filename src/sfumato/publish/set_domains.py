"""The domains that random sets are drawn from: listed values, ranges of numbers, combinations.

The values of a domain come from the policy (`order`, `domain`, a supplied hierarchy); where it
says nothing they are the values that occur, all of which the manifest then names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ParameterError
from sfumato.publish.describe import describe
from sfumato.publish.set_records import domain_size
from sfumato.release import Bounds
from sfumato.release.cells import range_cell
from sfumato.release.dtypes import dtype_name
from sfumato.release.joint_values import BETWEEN, spelled_part
from sfumato.schema.attribute import Attribute, Kind, Role
from sfumato.schema.hierarchy import Hierarchy
from sfumato.schema.text import from_texts, readable_texts, to_texts
from sfumato.table import Column
from sfumato.table.stated import StatedColumn, stated_column

# So many combinations still fit in a manifest that people read.
LARGEST_JOINT = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class DomainColumn:
    """A column over its whole domain; `edges` are those of its ranges if numbers became ranges."""

    column: Column
    edges: tuple[Any, ...] | None = None


def over_domain(column: Column, bins: int) -> DomainColumn:
    """Return the column over its whole domain, without a hierarchy.

    A numeric attribute with more than `bins` values in its domain gets that many ranges at most,
    all equally wide: whole numbers, dates and times of as many units each (the last may have
    fewer), fractions from edge to edge, an edge being in the lower range. They divide the domain
    that the policy states, or else the span of the data with its ends rounded outward. No end of
    a range is then chosen by the data, save those two.

    Refuses (ParameterError) a column without any value.
    """
    attribute = column.attribute
    if pa.types.is_null(column.values.type) or column.cardinality == 0:
        raise ParameterError(f"'{column.name}' has no value to put into sets; leave it out")
    if column.kind is Kind.NUMERIC:
        return _numeric(column, bins)
    supplied = isinstance(attribute.hierarchy, Hierarchy) and attribute.hierarchy.supplied
    if attribute.order is not None or attribute.domain is not None or supplied:
        if not supplied:
            column = _without_hierarchy(column)
        column = stated_column(column, bins).column
    return DomainColumn(_without_hierarchy(column))


def joined(columns: Sequence[Column]) -> Column:
    """Return one column of the combinations of values, named `a & b`, that its domain allows.

    All combinations are values, those with a missing value included, whichever occur. Their texts
    are those of the parts, in JSON where a part could be misread.

    Refuses (ParameterError) more than 10,000 combinations.
    """
    name = joint_name([column.name for column in columns])
    sizes = [domain_size(column) for column in columns]
    if prod(sizes) > LARGEST_JOINT:
        raise ParameterError(
            f"'{name}' has {prod(sizes)} combinations of values, and {LARGEST_JOINT} are the most; "
            "state fewer `bins`, or join fewer attributes"
        )
    codes = np.zeros(len(columns[0].codes), dtype=np.int32)
    texts = [""]
    for column, size in zip(columns, sizes, strict=True):
        codes = codes * size + column.codes
        parts = [spelled_part(text) for text in (*to_texts(column.values).to_pylist(), None)][:size]
        texts = [f"{left}{BETWEEN if left else ''}{part}" for left in texts for part in parts]
    is_known = any(column.attribute.role is not Role.SENSITIVE for column in columns)
    role = Role.SENSITIVE_QUASI_IDENTIFIER if is_known else Role.SENSITIVE
    attribute = Attribute(name, role, kind=Kind.CATEGORICAL)
    return Column(attribute, codes, pa.array(texts, pa.string()), pa.string())


def stated_types(columns: Sequence[Column]) -> dict[str, dict[str, str]]:
    """Return what the manifest says of attributes whose values it shows as labels: their types."""
    return {
        column.name: {"type": dtype_name(column.values.type), "kind": str(column.kind)}
        for column in columns
    }


def joint_name(names: Sequence[str]) -> str:
    """Return the name of an attribute whose values are combinations.

    >>> joint_name(["age", "sex"])
    'age & sex'
    """
    return BETWEEN.join(names)


def _numeric(column: Column, bins: int) -> DomainColumn:
    plain, hierarchy = _without_hierarchy(column), column.attribute.hierarchy
    if column.attribute.domain is None:
        if isinstance(hierarchy, Hierarchy) and hierarchy.supplied:
            listed = _numbers_of(hierarchy, plain.values.type)
            if len(listed) <= bins:
                return DomainColumn(_over(plain, listed))
            ends = _ends(listed)
        elif column.cardinality <= bins:
            return DomainColumn(plain)
        else:
            bounds = describe(plain).domain
            assert isinstance(bounds, Bounds)
            ends = (bounds.min, bounds.max)
        own = tuple(_own_form(end, plain.values.type) for end in ends)
        plain = replace(plain, attribute=replace(plain.attribute, domain=own))
    ranges = stated_column(plain, bins, even=True)
    if ranges.is_exact:
        return DomainColumn(ranges.column)
    return DomainColumn(_labelled(ranges), _edges(ranges))


def _numbers_of(hierarchy: Hierarchy, dtype: pa.DataType) -> pa.Array:
    """Return the numbers that a hierarchy lists, ascending."""
    texts = pa.array(readable_texts(hierarchy.leaves, dtype), pa.string())
    values = from_texts(texts, dtype).unique()
    return values.take(pc.sort_indices(values))


def _over(column: Column, listed: pa.Array) -> Column:
    """Return a column over listed values, among which are all that it has."""
    places = pc.index_in(to_texts(column.values), to_texts(listed))
    code_of = np.append(places.to_numpy(zero_copy_only=False), len(listed)).astype(np.int32)
    return replace(column, codes=code_of[column.codes], values=listed)


def _ends(listed: pa.Array) -> tuple[Any, Any]:
    """Return the first and the last value; moments as texts."""
    both = listed.take(pa.array([0, len(listed) - 1]))
    low, high = (to_texts(both) if pa.types.is_temporal(both.type) else both).to_pylist()
    return low, high


def _own_form(end: Any, dtype: pa.DataType) -> Any:
    """Return an end as values of the type are written: moments may be coarser than it is."""
    is_time = pa.types.is_time32(dtype)
    if not is_time and not (pa.types.is_timestamp(dtype) and dtype.unit in ("s", "ms")):
        return end
    fine = pa.time64("us") if is_time else pa.timestamp("us", dtype.tz)
    return to_texts(from_texts(pa.array([str(end)]), fine).cast(dtype, safe=False))[0].as_py()


def _labelled(ranges: StatedColumn) -> Column:
    lows, highs = (to_texts(each).to_pylist() for each in (ranges.column.values, ranges.highs))
    labels = [range_cell(low, high) for low, high in zip(lows, highs, strict=True)]
    column = ranges.column
    attribute = replace(column.attribute, kind=Kind.ORDINAL, domain=None)
    texts = pa.array(labels, pa.string())
    return Column(attribute, column.codes, texts, pa.string(), misses=column.misses)


def _edges(ranges: StatedColumn) -> tuple[Any, ...]:
    """Return where the ranges start, and where the last one ends, as JSON knows them."""
    edges = pa.concat_arrays([ranges.column.values, ranges.highs[-1:]])
    is_plain = pa.types.is_integer(edges.type) or pa.types.is_float64(edges.type)
    return tuple((edges if is_plain else to_texts(edges)).to_pylist())


def _without_hierarchy(column: Column) -> Column:
    return replace(column, attribute=replace(column.attribute, hierarchy=None), tree=None)
