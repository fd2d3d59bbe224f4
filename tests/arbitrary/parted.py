"""Arbitrary small tables with one sensitive attribute, parted into arbitrary groups.

A `Parted` holds the same rows twice: as plain lists for the oracles, and coded for the product.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa

from arbitrary.hierarchies import nested_labels
from sfumato.models.counting import group_statistics, table_totals
from sfumato.models.statistics import GroupStatistics, Total
from sfumato.schema import Attribute, Hierarchy, Kind, Role, Schema
from sfumato.table import Groups, Table, encode

ATTRIBUTE = "illness"


@dataclass(frozen=True)
class Parted:
    """Rows in groups; `people` says whose row each is, None where each row is a person."""

    values: list[Any]
    groups: list[int]
    people: list[int] | None
    order: tuple[Any, ...] | None = None
    hierarchy: tuple[tuple[str, ...], ...] | None = None

    @cached_property
    def table(self) -> Table:
        """The rows, coded."""
        is_text = any(isinstance(value, str) for value in self.values)
        is_text = is_text or self.order is not None or self.hierarchy is not None
        columns = {
            "age": pa.array(range(len(self.values))),
            ATTRIBUTE: pa.array(self.values, pa.string() if is_text else pa.int64()),
        }
        attributes = [
            Attribute("age", Role.QUASI_IDENTIFIER),
            Attribute(
                ATTRIBUTE,
                Role.SENSITIVE,
                kind=Kind.ORDINAL if self.order else None,
                order=self.order,
                hierarchy=Hierarchy.from_rows(self.hierarchy, ATTRIBUTE)
                if self.hierarchy
                else None,
            ),
        ]
        if self.people is not None:
            columns["person"] = pa.array(self.people)
            attributes.append(Attribute("person", Role.IDENTIFIER))
        unit = "person" if self.people is not None else None
        return encode(pa.table(columns), Schema(tuple(attributes), unit))

    @cached_property
    def totals(self) -> dict[str, Total]:
        """The totals of the whole table."""
        return table_totals(self.table, [ATTRIBUTE])

    @cached_property
    def partition(self) -> Groups:
        """The groups, as the product has them."""
        return Groups(np.array(self.groups, np.int32), max(self.groups) + 1)

    def statistics(self, groups: Groups | None = None) -> GroupStatistics:
        """Return the statistics of the groups."""
        return group_statistics(self.table, groups or self.partition, [ATTRIBUTE])

    def rows_of(self, *groups: int) -> list[dict[str, Any]]:
        """Return the rows of some groups as an oracle reads them."""
        return _rows(self, [i for i, group in enumerate(self.groups) if group in groups])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """All rows as an oracle reads them."""
        return _rows(self, range(len(self.values)))


def _rows(parted: Parted, places: Any) -> list[dict[str, Any]]:
    """Return rows without the empty ones of people who have a value in another of them.

    A person misses a value only if none of their rows has one.
    """
    people = parted.people or range(len(parted.values))
    known = {people[i] for i in places if parted.values[i] is not None}
    return [
        {ATTRIBUTE: parted.values[i], "person": people[i]}
        for i in places
        if parted.values[i] is not None or people[i] not in known
    ]


@st.composite
def parted_tables(draw, *, ordered: bool | None = None, with_people: bool = True) -> Parted:
    """Return a table of 1 to 14 rows; `ordered` asks for values with an order, or without."""
    rows = draw(st.integers(1, 14))
    numbers, texts = [0, 1, 2, 5, 9], ["a", "b", "c", "d", "e"]
    shape = draw(
        st.sampled_from(
            [
                *(["numbers", "order"] if ordered is not False else []),
                *(["texts", "hierarchy"] if not ordered else []),
            ]
        )
    )
    pool = draw(st.integers(1, 5))
    chosen = (numbers if shape == "numbers" else texts)[:pool]
    cells = st.none() | st.sampled_from(chosen) if draw(st.booleans()) else st.sampled_from(chosen)
    values = draw(st.lists(cells, min_size=rows, max_size=rows))
    people = None
    if with_people and draw(st.booleans()):
        people = draw(st.lists(st.integers(0, rows - 1), min_size=rows, max_size=rows))
    ids = draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows))
    dense = {group: i for i, group in enumerate(dict.fromkeys(ids))}
    return Parted(
        values,
        [dense[group] for group in ids],
        people,
        order=tuple(draw(st.permutations(texts))) if shape == "order" else None,
        hierarchy=draw(nested_labels(tuple(texts))) if shape == "hierarchy" else None,
    )
