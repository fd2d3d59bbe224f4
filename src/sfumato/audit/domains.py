"""Whether the cells of an attribute say what its entry in the manifest allows.

Exact values lie in the stated domain (and among the leaves of a published hierarchy), ranges have
both ends there and in order, labels are those of the hierarchy. Only quasi-identifiers may be
generalised.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.audit.coded import Coded, comparable
from sfumato.audit.number_line import Point, bounds_of, lie_within, read_values
from sfumato.audit.spelling import NamedValues, exact_texts, named_values
from sfumato.errors import ReleaseDamaged
from sfumato.release import AttributeEntry, Bounds
from sfumato.release.dtypes import is_text
from sfumato.schema.attribute import Kind, Role
from sfumato.schema.hierarchy import ROOT, Hierarchy
from sfumato.schema.kinds import is_number
from sfumato.schema.text import to_texts


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """What the cells of one attribute may hold.

    `listed` are the texts of its values in the manifest's order, `ends` those of a numeric domain;
    both are None where the manifest states nothing.
    """

    entry: AttributeEntry
    listed: pa.Array | None
    ends: tuple[Point, Point] | None
    hierarchy: Hierarchy | None

    @classmethod
    def of(cls, entry: AttributeEntry, hierarchy: Hierarchy | None) -> Domain:
        """Return the domain that the manifest states; ReleaseDamaged where it makes no sense."""
        numeric = entry.kind is Kind.NUMERIC
        if numeric and not (is_number(entry.dtype) or pa.types.is_null(entry.dtype)):
            raise _damage(entry, "is numeric, and its type is not")
        listed = ends = None
        if isinstance(entry.domain, Bounds):
            ends = bounds_of(entry.domain, entry.dtype) if numeric else None
            if ends is None:
                raise _damage(entry, "has a domain whose ends make no sense")
        elif entry.domain is not None:
            listed = pa.array(entry.domain, pa.string())
            if numeric or len(pc.unique(listed)) < len(listed):
                raise _damage(entry, "has a domain whose values make no sense")
            if read_values(listed, entry.dtype) is None:
                raise _damage(entry, "has a domain with values that are not of its type")
        domain = cls(entry, listed, ends, hierarchy)
        domain._check_hierarchy()
        return domain

    @property
    def has_order(self) -> bool:
        """Whether one value can be more than another."""
        is_ranked = self.entry.kind is Kind.ORDINAL and self.listed is not None
        return is_ranked or self.entry.kind is Kind.NUMERIC

    def check(self, column: Coded) -> pa.Array:
        """Refuse (ReleaseDamaged) cells that do not fit; return the distinct values or cells.

        Values where the attribute must be exact, and else the cells as they are spelt.
        """
        if self.entry.role is Role.QUASI_IDENTIFIER:
            self.check_generalized(column)
            return column.cells
        return self.check_values(column)

    def check_values(self, column: Coded) -> pa.Array:
        """Return the distinct values; ReleaseDamaged unless all are exact and in the domain."""
        if is_text(column.cells.type) and not is_text(self.entry.dtype) and len(column.cells):
            raise _damage(self.entry, "has cells that are not of its type")
        return self.exact_values(column)

    def check_generalized(self, column: Coded) -> None:
        """Refuse (ReleaseDamaged) cells that are neither values of the domain nor sets of them."""
        if not is_text(column.cells.type):
            self.check_exact(column.cells)
            return
        try:
            named = named_values(column.cells, self._labels())
        except ReleaseDamaged:
            raise _damage(self.entry, "has a cell that does not follow the cell grammar") from None
        self._check_named(named)

    def exact_values(self, column: Coded) -> pa.Array:
        """Return the value of each distinct cell; ReleaseDamaged unless all are exact and known."""
        values = column.cells
        if is_text(values.type):
            try:
                texts = exact_texts(values)
            except ReleaseDamaged:
                raise _damage(
                    self.entry, "has a cell that does not follow the cell grammar"
                ) from None
            if texts is None:
                raise _damage(self.entry, f"is {self.entry.role}, and has cells that are not exact")
            values = self._read(texts)
        self.check_exact(values)
        return values

    def _check_named(self, named: NamedValues) -> None:
        exact, lows, highs = (self._read(part) for part in (named.exact, named.lows, named.highs))
        self.check_exact(exact)
        if not len(lows):
            return
        if self.hierarchy is not None:
            raise _damage(self.entry, "has a hierarchy, and ranges that are no nodes of it")
        if self.entry.kind is Kind.NUMERIC:
            self._check_ends(lows)
            self._check_ends(highs)
            ascending = pc.less(comparable(lows), comparable(highs))
        else:
            if not self.has_order:
                raise _damage(self.entry, "has ranges, and no order")
            places = [pc.index_in(to_texts(part), self.listed) for part in (lows, highs)]
            if any(place.null_count for place in places):
                raise _damage(self.entry, "has a range that ends outside its domain")
            ascending = pc.less(*places)
        if not pc.all(ascending).as_py():
            raise _damage(self.entry, "has a range whose ends are in disorder")

    def check_exact(self, values: pa.Array) -> None:
        """Refuse (ReleaseDamaged) values outside the domain, or not leaves of the hierarchy."""
        if pa.types.is_floating(values.type) and len(values):
            plain = comparable(values)
            numeric = self.entry.kind is Kind.NUMERIC
            if not pc.all(pc.is_finite(plain) if numeric else pc.invert(pc.is_nan(plain))).as_py():
                raise _damage(self.entry, "has values that are not finite numbers")
        self._check_ends(values)
        known = [] if self.listed is None else [self.listed]
        if self.hierarchy is not None:
            known.append(pa.array(self.hierarchy.leaves, pa.string()))
        for texts in known:
            if not pc.all(pc.is_in(to_texts(values), texts), min_count=0).as_py():
                raise _damage(self.entry, "has values outside its domain")

    def _check_ends(self, values: pa.Array) -> None:
        if self.ends is not None and not lie_within(values, self.ends):
            raise _damage(self.entry, "has values outside its domain")

    def _read(self, texts: pa.Array) -> pa.Array:
        values = read_values(texts, self.entry.dtype)
        if values is None:
            raise _damage(self.entry, "has cells that do not read as values of its type")
        return values

    def _labels(self) -> frozenset[str]:
        """Return the labels that a cell may have; a pruned node is a leaf under its own label."""
        paths = () if self.hierarchy is None else self.hierarchy.paths
        return frozenset(label for path in paths for label in path) - {ROOT}

    def _check_hierarchy(self) -> None:
        """Refuse a hierarchy of something else, and values that stand for more than themselves.

        Some leaves may be no values of the type: a file may list more than the column can hold.
        """
        if self.hierarchy is None:
            return
        rows = zip(self.hierarchy.leaves, self.hierarchy.paths, strict=True)
        plain = pa.array([leaf for leaf, path in rows if path[0] != leaf], pa.string())
        dtype = self.entry.dtype
        if read_values(plain, dtype) is None and all(
            read_values(plain[i : i + 1], dtype) is None for i in range(len(plain))
        ):
            raise _damage(self.entry, "has a hierarchy whose leaves are not values of its type")
        inner = self._labels().difference(self.hierarchy.leaves)
        if self.listed is not None and not inner.isdisjoint(self.listed.to_pylist()):
            raise _damage(self.entry, "has a domain that contradicts its hierarchy")


def _damage(entry: AttributeEntry, problem: str) -> ReleaseDamaged:
    return ReleaseDamaged(f"attribute '{entry.name}' {problem}")
