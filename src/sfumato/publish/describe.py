"""How the manifest describes a published attribute: role, kind, type, and a domain that is safe.

A domain may name only what the policy states or what can be read off the published cells anyway;
numeric ends that come from the data are rounded outward, so that they are nobody's value.
"""

from __future__ import annotations

from collections.abc import Container
from datetime import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.release.domain import round_outward
from sfumato.release.dtypes import dtype_name
from sfumato.release.manifest import AttributeEntry, Bounds
from sfumato.schema.attribute import Kind
from sfumato.schema.hierarchy import Hierarchy
from sfumato.schema.kinds import stated_values
from sfumato.schema.text import readable_texts, to_texts
from sfumato.table import Column

Codes = npt.NDArray[np.int32]


def describe(column: Column, named: Codes | None = None) -> AttributeEntry:
    """Return the manifest's entry; `named` are the codes to be read off cells (None: all)."""
    codes = np.arange(column.cardinality, dtype=np.int32) if named is None else np.sort(named)
    return AttributeEntry(
        name=column.name,
        role=column.attribute.role,
        kind=column.kind,
        type=dtype_name(column.values.type),
        domain=_domain(column, codes),
    )


def published_hierarchy(column: Column, published: Container[str]) -> Hierarchy | None:
    """Return the hierarchy to publish: as the policy gave it, or what the published labels need."""
    hierarchy = column.attribute.hierarchy
    if not isinstance(hierarchy, Hierarchy) or pa.types.is_null(column.values.type):
        return None
    return hierarchy if hierarchy.supplied else hierarchy.pruned(published)


def _domain(column: Column, named: Codes) -> Bounds | tuple[str, ...] | None:
    attribute = column.attribute
    if pa.types.is_null(column.values.type):
        return None  # a column without any value has no domain to speak of
    if column.kind is Kind.NUMERIC:
        if attribute.domain is not None:
            low, high = attribute.domain
            return Bounds(min=low, max=high)
        if len(named) == 0:
            return None
        # not the ends of the whole column: those may stand in withheld cells alone
        low, high = round_outward(*_ends(column.values.take(pa.array(named))))
        if high == time.max:  # times may be finer than Python's
            high = "23:59:59.999999999" if column.values.type.unit == "ns" else high
        return Bounds(min=low, max=high)
    stated = attribute.order or attribute.domain
    if stated is not None:
        return tuple(to_texts(stated_values(stated, column.values.type)).to_pylist())
    if isinstance(attribute.hierarchy, Hierarchy) and attribute.hierarchy.supplied:
        return readable_texts(attribute.hierarchy.leaves, column.values.type)
    texts = to_texts(column.values.take(pa.array(named, type=pa.int32()))).to_pylist()
    # an order that the data type states is kept; any other order is that of the texts
    return tuple(texts if column.kind is Kind.ORDINAL else sorted(texts))


def _ends(values: pa.Array) -> tuple[Any, Any]:
    """Return the first and last of ascending values in a form that can be rounded."""
    ends = values.take(pa.array([0, len(values) - 1]))
    if pa.types.is_duration(ends.type):
        ends = ends.cast(pa.int64())
    if pa.types.is_timestamp(ends.type) or pa.types.is_time64(ends.type):
        ends = _in_microseconds(ends)
    if pa.types.is_floating(ends.type):
        # as they are printed: widened to Python's floats, narrow ones would get other decimals
        low, high = (float(text) for text in to_texts(ends).to_pylist())
        return low, high
    low, high = ends.to_pylist()
    return low, high


def _in_microseconds(ends: pa.Array) -> pa.Array:
    """Return times in the unit that Python knows; finer ones rounded outward."""
    is_time = pa.types.is_time64(ends.type)
    coarse = pa.time64("us") if is_time else pa.timestamp("us", ends.type.tz)
    if ends.type.unit != "ns":
        return ends.cast(coarse)
    low, high = ends.cast(pa.int64()).to_pylist()
    last = 86_400 * 10**6 - 1 if is_time else 2**63 - 1
    return pa.array([low // 1000, min(-(-high // 1000), last)], pa.int64()).cast(coarse)
