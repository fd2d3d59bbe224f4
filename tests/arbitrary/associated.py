"""Arbitrary small tables whose quasi-identifiers are divided into tables, and rows into groups."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
from oracles import association as oracle

from sfumato.models.counting import group_statistics
from sfumato.models.statistics import GroupStatistics
from sfumato.schema import Schema
from sfumato.table import Column, Groups, Table, encode

QUASI = ("age", "job", "place")
SECRETS = ("illness", "pay")
TYPES = {"age": pa.int64(), "job": pa.string(), "place": pa.string()}
TYPES |= {"illness": pa.string(), "pay": pa.int64()}


@dataclass(frozen=True)
class Associated:
    """Rows with one or two sensitive attributes, each row in a group; and the tables' columns."""

    rows: list[dict[str, Any]]
    ids: list[int]
    divided: tuple[tuple[str, ...], ...]
    sensitive: tuple[str, ...] = ("illness",)

    @property
    def schema(self) -> Schema:
        """The schema of the table."""
        roles = {name: "quasi-identifier" for part in self.divided for name in part}
        return Schema.of(roles | dict.fromkeys(self.sensitive, "sensitive"))

    @property
    def frame(self) -> pa.Table:
        """The rows as a data frame."""
        names = [*(name for part in self.divided for name in part), *self.sensitive]
        return pa.table({n: pa.array([row[n] for row in self.rows], TYPES[n]) for n in names})

    @cached_property
    def table(self) -> Table:
        """The rows, coded."""
        return encode(self.frame, self.schema)

    @property
    def columns(self) -> list[list[Column]]:
        """The tables as the product has them."""
        return [[self.table[name] for name in part] for part in self.divided]

    @cached_property
    def groups(self) -> Groups:
        """The groups as the product has them."""
        return Groups(np.array(self.ids, np.int32), max(self.ids) + 1)

    @property
    def repeats(self) -> np.ndarray:
        """How many people of each group share the commonest combination of each table."""
        counts: list[list[Counter[Any]]] = [
            [Counter() for _ in range(self.groups.count)] for _ in self.divided
        ]
        for row, group in zip(self.rows, self.ids, strict=True):
            for t, part in enumerate(self.divided):
                counts[t][group][tuple(row[name] for name in part)] += 1
        return np.array([[max(seen.values()) for seen in t] for t in counts], np.int64)

    @property
    def statistics(self) -> GroupStatistics:
        """What a model is given."""
        return group_statistics(self.table, self.groups, self.sensitive, self.repeats)

    def reached(self, attribute: str = "illness") -> list[oracle.Reached | None]:
        """Return what each group reaches by the literal definitions."""
        return list(oracle.of_rows(self.rows, self.ids, self.divided, attribute).values())

    def whole(self, attribute: str = "illness") -> oracle.Reached | None:
        """Return what all rows reach as one group."""
        return oracle.of_rows(self.rows, [0] * len(self.rows), self.divided, attribute)[0]


@st.composite
def associated(
    draw: Any,
    *,
    max_rows: int = 16,
    max_groups: int = 4,
    missing: bool | None = None,
    secrets: int = 1,
) -> Associated:
    """Return a table of up to `max_rows` rows, with repeated and, if asked, missing values."""
    count = draw(st.integers(1, max_rows))
    some_missing = draw(st.booleans()) if missing is None else missing
    spread = draw(st.integers(1, 8))
    cells = {
        "age": st.integers(0, spread),
        "job": st.none() | st.sampled_from("vwxyz"[: max(1, spread // 2)]),
        "place": st.sampled_from("pqrstuvw"),
    }
    values = {
        "illness": st.sampled_from("abcdef"[: draw(st.integers(1, 6))]),
        "pay": st.integers(0, 7),
    }
    names = SECRETS[:secrets]
    hidden = {name: st.none() | values[name] if some_missing else values[name] for name in names}
    quasi = draw(st.permutations(QUASI))[: draw(st.integers(1, 3))]
    row = {name: cells[name] for name in quasi} | hidden
    rows = draw(st.lists(st.fixed_dictionaries(row), min_size=count, max_size=count))
    parts: dict[int, list[str]] = {}
    for name in quasi:
        parts.setdefault(draw(st.integers(0, 2)), []).append(name)
    ids = draw(st.lists(st.integers(0, max_groups - 1), min_size=count, max_size=count))
    dense = {group: i for i, group in enumerate(dict.fromkeys(ids))}
    return Associated(
        rows,
        [dense[group] for group in ids],
        tuple(tuple(part) for part in parts.values()),
        names,
    )
