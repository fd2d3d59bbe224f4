"""The order in which a column's values get their codes, and the kind that gives it a meaning."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import SchemaError
from sfumato.schema.attribute import Attribute, Kind
from sfumato.schema.binning import Quantiles
from sfumato.schema.hierarchy import Hierarchy, Tree
from sfumato.schema.kinds import comparable_type, is_number, kind_of, stated_values
from sfumato.schema.text import from_texts, readable_texts, to_texts


@dataclass(frozen=True, slots=True, eq=False)
class Arrangement:
    """How values become codes: `order[code]` is the position of the code's value."""

    kind: Kind
    order: npt.NDArray[np.int64]
    hierarchy: Hierarchy | None = None
    tree: Tree | None = None


def arrange(
    values: pa.Array,
    cells: pa.ChunkedArray,
    attribute: Attribute,
    counts: npt.NDArray[np.int64] | None = None,
) -> Arrangement:
    """Return the kind and the code order of a column's distinct values.

    A stated order comes first, then that of an ordered dictionary, then the natural one: numbers
    and dates ascending, texts by code point. Under a hierarchy, values stand in leaf order; if
    that contradicts a numeric or ordinal order, an attribute without a stated kind is categorical.
    A supplied hierarchy is judged by all its leaves: the kind is published, so it must not tell
    whether a value occurs that is withheld.

    `counts` says how many rows have each value, for a builder that weighs them.

    Refuses (SchemaError, HierarchyError) a kind that does not fit the type, values without a
    place in a stated order or hierarchy, and a hierarchy that contradicts a stated kind.
    """
    kind = _resolve_kind(values.type, cells.type, attribute)
    order = _order(values, cells, attribute)
    given = attribute.hierarchy
    if given is None:
        return Arrangement(kind, order)
    if isinstance(given, Hierarchy) and kind is not Kind.CATEGORICAL:
        is_stated = attribute.kind is not None or attribute.order is not None
        if not is_stated and not _ascends(given, _ranked_leaves(given, values.type, cells)):
            kind = Kind.CATEGORICAL
    if len(values) == 0:
        if not isinstance(given, Hierarchy):  # a builder has nothing to build from
            return Arrangement(kind, order)
        return Arrangement(kind, order, given, given.bind([]))
    rows = None if counts is None else counts[order]
    return _arrange_by_hierarchy(values.take(pa.array(order)), order, kind, attribute, rows)


def _resolve_kind(value_type: pa.DataType, dtype: pa.DataType, attribute: Attribute) -> Kind:
    if attribute.kind is Kind.NUMERIC and not (is_number(value_type) or pa.types.is_null(dtype)):
        raise SchemaError(
            f"column '{attribute.name}' is stated as numeric and holds {value_type}; "
            "convert it to numbers, or state it as ordinal or categorical"
        )
    if attribute.order is not None:
        return Kind.ORDINAL
    kind = attribute.kind or kind_of(dtype)
    assert kind is not None  # the encoder has refused types without a kind
    return kind


def _order(values: pa.Array, cells: pa.ChunkedArray, attribute: Attribute) -> npt.NDArray[np.int64]:
    if attribute.order is not None:
        return _stated_order(values, attribute)
    if pa.types.is_dictionary(cells.type) and cells.type.ordered:
        _refuse_two_orders(cells, attribute)
        return np.arange(len(values))  # distinct values stand in the order of their dictionary
    sortable = values.cast(comparable_type(values.type))
    return pc.array_sort_indices(sortable).to_numpy().astype(np.int64)  # type: ignore[no-any-return]


def _stated_order(values: pa.Array, attribute: Attribute) -> npt.NDArray[np.int64]:
    assert attribute.order is not None
    try:
        stated = stated_values(attribute.order, values.type)
    except ValueError:
        raise SchemaError(
            f"column '{attribute.name}' holds {values.type}, and its `order` lists values that "
            "do not read as such; list them as they stand in the column"
        ) from None
    # Texts are compared, since Arrow cannot look up values of every type.
    places = pc.index_in(to_texts(values), to_texts(stated))
    if places.null_count:
        raise SchemaError(
            f"column '{attribute.name}': {places.null_count} of its {len(values)} distinct values "
            "are not in its `order`; add them"
        )
    return np.argsort(places.to_numpy(), kind="stable")


def _refuse_two_orders(cells: pa.ChunkedArray, attribute: Attribute) -> None:
    """Refuse parts whose dictionaries do not continue each other: their union has no order."""
    # As texts, since a NaN among the entries would not even equal itself.
    entries = [to_texts(chunk.dictionary) for chunk in cells.chunks]
    longest = max(entries, key=len)
    if any(not longest[: len(shorter)].equals(shorter) for shorter in entries):
        raise SchemaError(
            f"column '{attribute.name}': its parts order their categories differently; "
            "state the `order`"
        )


def _arrange_by_hierarchy(
    values: pa.Array,
    order: npt.NDArray[np.int64],
    kind: Kind,
    attribute: Attribute,
    counts: npt.NDArray[np.int64] | None,
) -> Arrangement:
    """Return the arrangement of values (given in `order`) in the leaf order of the hierarchy."""
    given = attribute.hierarchy
    assert given is not None
    if isinstance(given, Hierarchy):
        hierarchy = given
    elif isinstance(given, Quantiles) and counts is not None:  # shares of rows, not of values
        hierarchy = given.build_weighted(values, counts.tolist(), attribute.name)
    else:
        hierarchy = given.build(values, attribute.name)
    texts = to_texts(values).to_pylist()
    if kind is not Kind.CATEGORICAL:
        tree = _in_row_order(hierarchy, texts).bind(texts)
        if (np.diff(tree.order) > 0).all():
            return Arrangement(kind, order, hierarchy, tree)
        if attribute.kind is not None or attribute.order is not None:
            raise SchemaError(
                f"column '{attribute.name}' is {kind}, and its hierarchy unites values that are "
                "not neighbours; state it as categorical, or mend the hierarchy"
            )
    tree = hierarchy.bind(texts)
    return Arrangement(Kind.CATEGORICAL, order[tree.order], hierarchy, tree)


def _ranked_leaves(
    hierarchy: Hierarchy, value_type: pa.DataType, cells: pa.ChunkedArray
) -> list[str]:
    """Return the leaves that can be values of the column, from low to high."""
    if pa.types.is_dictionary(cells.type):
        known = set(hierarchy.leaves)
        entries = [to_texts(each.dictionary).to_pylist() for each in cells.chunks]
        return [text for text in max(entries, key=len, default=[]) if text in known]
    texts = pa.array(readable_texts(hierarchy.leaves, value_type), pa.string())
    leaves = from_texts(texts, value_type)
    sortable = leaves.cast(comparable_type(value_type))
    if pa.types.is_floating(sortable.type):
        leaves, sortable = (each.filter(pc.is_finite(sortable)) for each in (leaves, sortable))
    ranked: list[str] = to_texts(leaves.take(pc.array_sort_indices(sortable))).to_pylist()
    return ranked


def _ascends(hierarchy: Hierarchy, texts: list[str]) -> bool:
    tree = _in_row_order(hierarchy, texts).bind(texts)
    return bool((np.diff(tree.order) > 0).all())


def _in_row_order(hierarchy: Hierarchy, texts: list[str]) -> Hierarchy:
    """Return the hierarchy with the given values first: leaf order follows the order of rows."""
    place = {text: number for number, text in enumerate(texts)}
    rows = sorted(
        zip(hierarchy.leaves, hierarchy.paths, strict=True),
        key=lambda row: place.get(row[0], len(texts)),
    )
    leaves, paths = zip(*rows, strict=True)
    return replace(hierarchy, leaves=leaves, paths=paths)
