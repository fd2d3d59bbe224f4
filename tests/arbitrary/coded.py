"""Arbitrary small tables for partitioners, with a quasi-identifier of every kind.

A `Sample` holds the rows as an oracle reads them and, coded, as the product does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import hypothesis.strategies as st
import pyarrow as pa
from oracles import models as oracle

from arbitrary.hierarchies import nested_labels
from sfumato.models import Model
from sfumato.schema import Attribute, Hierarchy, Role, Schema
from sfumato.table import Groups, Table, encode

SIZES = ("small", "medium", "large", "huge")
PLACES = tuple(f"p{i}" for i in range(8))
ILLNESSES = ("flu", "cold", "cough", "gout", "mumps")
TYPES = {"age": pa.int64(), "size": pa.string(), "job": pa.string(), "place": pa.string()}
TYPES |= {"illness": pa.string(), "pay": pa.int64(), "person": pa.int64()}


@dataclass(frozen=True)
class Sample:
    """Rows: quasi-identifiers, a categorical and a numeric sensitive value, and whose row it is."""

    rows: list[dict[str, Any]]
    quasi: tuple[str, ...]
    paths: tuple[tuple[str, ...], ...]
    people: bool

    @property
    def schema(self) -> Schema:
        """The schema of the table."""
        place = Hierarchy.from_rows(self.paths, "place")
        known = {
            "age": Attribute("age", Role.QUASI_IDENTIFIER),
            "size": Attribute("size", Role.QUASI_IDENTIFIER, order=SIZES),
            "job": Attribute("job", Role.QUASI_IDENTIFIER),
            "place": Attribute("place", Role.QUASI_IDENTIFIER, hierarchy=place),
        }
        attributes = [known[name] for name in self.quasi]
        attributes += [Attribute("illness", Role.SENSITIVE), Attribute("pay", Role.SENSITIVE)]
        attributes.append(Attribute("person", Role.IDENTIFIER))
        return Schema(tuple(attributes), "person" if self.people else None)

    @property
    def frame(self) -> pa.Table:
        """The rows as a data frame."""
        names = (*self.quasi, "illness", "pay", "person")
        return pa.table({n: pa.array([row[n] for row in self.rows], TYPES[n]) for n in names})

    @cached_property
    def table(self) -> Table:
        """The rows, coded."""
        return encode(self.frame, self.schema)

    def reordered(self, order: Sequence[int]) -> Sample:
        """Return the sample with its rows in another order."""
        return Sample([self.rows[i] for i in order], self.quasi, self.paths, self.people)

    def key(self, row: int) -> tuple[Any, ...]:
        """Return the quasi-identifier values of a row."""
        return tuple(self.rows[row][name] for name in self.quasi)

    def satisfies(self, groups: Groups, model: Model) -> bool:
        """Whether every group satisfies the model by its literal definition."""
        everywhere = told_rows(self.rows)
        return all(
            oracle.holds(model.claim(), told_rows(self.members(groups, g)), everywhere, **self._how)
            for g in range(groups.count)
        )

    def members(self, groups: Groups, group: int) -> list[dict[str, Any]]:
        """Return the rows of a group."""
        return [self.rows[i] for i in groups.members(group)]

    @property
    def _how(self) -> dict[str, Any]:
        return {"unit": "person" if self.people else None}


def told_rows(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows without the values that a person misses in one row and has in another.

    A person misses a value only if none of their rows has one.
    """
    told = [dict(row) for row in rows]
    for name in ("illness", "pay"):
        some = {row["person"]: row[name] for row in rows if row[name] is not None}
        for row in told:
            if row[name] is None:
                row[name] = some.get(row["person"])
    return told


@st.composite
def samples(
    draw: Any,
    *,
    quasi: tuple[str, ...] | None = None,
    people: bool | None = None,
    max_rows: int = 24,
) -> Sample:
    """Return a table of up to `max_rows` rows, often with repeated and missing values."""
    count = draw(st.integers(1, max_rows))
    names = quasi or tuple(
        draw(
            st.lists(
                st.sampled_from(["age", "size", "job", "place"]),
                min_size=1,
                max_size=3,
                unique=True,
            )
        )
    )
    several = draw(st.booleans()) if people is None else people
    spread = draw(st.integers(1, 12))
    cells = {
        "age": st.integers(0, spread),
        "size": st.sampled_from(SIZES),
        "job": st.sampled_from("vwxyz"[: max(1, spread // 2)]),
        "place": st.sampled_from(PLACES),
        "illness": st.sampled_from(ILLNESSES),
        "pay": st.integers(0, 9),
    }
    missing = draw(st.booleans())
    row = {
        name: (st.none() | cells[name]) if missing else cells[name]
        for name in (*names, "illness", "pay")
    }
    rows = draw(st.lists(st.fixed_dictionaries(row), min_size=count, max_size=count))
    owners = list(range(count))
    if several:
        owners = draw(st.lists(st.integers(0, count - 1), min_size=count, max_size=count))
    rows = [row | {"person": owner} for row, owner in zip(rows, owners, strict=True)]
    paths = draw(nested_labels(PLACES)) if "place" in names else ((PLACES[0], "*"),)
    return Sample(rows, names, paths, several)


def partition(groups: Groups) -> set[frozenset[int]]:
    """Return the groups as sets of rows."""
    return {frozenset(groups.members(g).tolist()) for g in range(groups.count)}
