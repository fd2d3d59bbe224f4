"""Coarse cuts: parts are small, satisfy the models, and follow from counts alone."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.methods import LGB, Mondrian
from sfumato.models import LDiversity
from sfumato.rows.coarse_cuts import CutTree, TableCounts, plan_cuts
from sfumato.rows.shard_conditions import HasValues
from sfumato.schema import Attribute, Hierarchy, Role, Schema
from sfumato.table import Table, encode
from sfumato.table.whole import Joint, codes_of, counted, flag_name, frame_of, part_of, whole_of

TOWNS = Hierarchy.from_rows([("Ulm", "South"), ("Bern", "South"), ("Kiel", "North")], "town")
SCHEMA = Schema(
    (
        Attribute("age", Role.QUASI_IDENTIFIER),
        Attribute("town", Role.QUASI_IDENTIFIER, hierarchy=TOWNS),
        Attribute("job", Role.QUASI_IDENTIFIER),
        Attribute("illness", Role.SENSITIVE),
    )
)
PERSON = st.tuples(
    st.none() | st.integers(20, 60),
    st.sampled_from([None, "Ulm", "Bern", "Kiel"]),
    st.sampled_from(["cook", "nurse", "pilot"]),
    st.sampled_from([None, *"abcd"]),
)
PEOPLE = st.lists(PERSON, min_size=2, max_size=50)


def table_of(people: list[tuple[object, ...]]) -> Table:
    columns = zip(SCHEMA.names, zip(*people, strict=True), strict=True)
    types = [pa.int64(), pa.string(), pa.string(), pa.string()]
    arrays = {
        name: pa.array(cells, dtype) for (name, cells), dtype in zip(columns, types, strict=True)
    }
    return encode(pa.table(arrays), SCHEMA)


def parts_of(tree: CutTree, table: Table) -> list[list[int]]:
    """Return the rows of each part."""
    codes = {name: codes_of(table, name) for name in tree.columns}
    part = tree.part_of(codes, table.rows)
    assert set(part.tolist()) <= set(tree.parts)
    return [np.flatnonzero(part == number).tolist() for number in tree.parts]


class InPieces:
    """Counts that are added up from pieces of a table, in another order."""

    def __init__(self, table: Table, pieces: int) -> None:
        rows = [np.arange(start, table.rows, pieces) for start in range(pieces)]
        self.pieces = [part_of(table, own, None) for own in reversed(rows)]

    def joints(
        self, tree: CutTree, parts: Sequence[int], asked: Sequence[tuple[str, ...]]
    ) -> Sequence[Joint]:
        found = [TableCounts(piece).joints(tree, parts, asked) for piece in self.pieces]
        return [
            counted(
                [np.concatenate(each) for each in zip(*(j.codes for j in several), strict=True)],
                np.concatenate([j.counts for j in several]),
            )
            for several in zip(*found, strict=True)
        ]


@given(PEOPLE, st.integers(1, 4), st.integers(1, 3), st.integers(1, 20))
@settings(max_examples=60)
def test_every_part_satisfies_what_the_method_asks(
    people: list[tuple[object, ...]],
    k: int,
    l: int,  # noqa: E741
    most: int,
) -> None:
    table = table_of(people)
    method = Mondrian(k=k, models=(LDiversity("illness", l),))
    frame = frame_of(table, whole_of(table))
    tree = method.splitting(frame).cuts(frame, TableCounts(table), most_rows=most)
    parts = parts_of(tree, table)
    assert sorted(row for part in parts for row in part) == list(range(table.rows))
    if len(parts) == 1:
        return
    for part in parts:
        ills = [people[row][3] for row in part if people[row][3] is not None]
        assert len(part) >= k
        assert all(ills.count(ill) * l <= len(ills) for ill in ills)


@given(PEOPLE, st.integers(1, 5))
@settings(max_examples=40)
def test_a_plan_follows_from_counts_however_they_come(
    people: list[tuple[object, ...]], pieces: int
) -> None:
    table = table_of(people)
    frame = frame_of(table, whole_of(table))
    splitting = Mondrian(k=2).splitting(frame)
    one = splitting.cuts(frame, TableCounts(table), most_rows=6)
    other = splitting.cuts(frame, InPieces(table, pieces), most_rows=6)
    assert parts_of(one, table) == parts_of(other, table)
    assert parts_of(pickle.loads(pickle.dumps(one)), table) == parts_of(one, table)


def test_parts_are_no_larger_than_asked_where_cuts_allow() -> None:
    table = table_of([(age, "Ulm", "cook", "a") for age in range(20, 60)] * 10)
    frame = frame_of(table, whole_of(table))
    tree = Mondrian(k=2).splitting(frame).cuts(frame, TableCounts(table), most_rows=100)
    sizes = [len(part) for part in parts_of(tree, table)]
    assert max(sizes) <= 100
    assert min(sizes) >= 25


def test_cuts_follow_the_hierarchy() -> None:
    towns = ["Ulm", "Bern", "Kiel"] * 20
    table = table_of([(30, town, "cook", "a") for town in towns])
    frame = frame_of(table, whole_of(table))
    tree = plan_cuts(frame, ["town"], [], TableCounts(table), most_rows=40)
    found = {frozenset(towns[row] for row in part) for part in parts_of(tree, table)}
    assert found == {frozenset({"Ulm", "Bern"}), frozenset({"Kiel"})}


def test_the_first_column_is_cut_first_where_order_counts() -> None:
    table = table_of([(20 + i % 40, "Ulm", ["cook", "pilot"][i % 2], "a") for i in range(80)])
    frame = frame_of(table, whole_of(table))
    tree = plan_cuts(frame, ["job", "age"], [], TableCounts(table), most_rows=40, in_order=True)
    assert tree.columns == ("job",)


def test_a_part_without_a_solution_joins_its_neighbour() -> None:
    table = table_of([(age, "Ulm", "cook", "a") for age in range(20, 60)])
    frame = frame_of(table, whole_of(table))
    tree = plan_cuts(frame, ["age"], [], TableCounts(table), most_rows=10)
    while len(tree.parts) > 1:
        joined = tree.joined(tree.parts[-1])
        before, after = parts_of(tree, table), parts_of(joined, table)
        assert len(after) < len(before)
        assert all(any(set(part) <= set(other) for other in after) for part in before)
        tree = joined
    assert tree.parts == (0,)


def test_flag_patterns_are_set_apart_and_only_large_ones_cut() -> None:
    rng = np.random.default_rng(2)
    data = pa.table(
        {
            "age": rng.integers(20, 60, 600),
            "secret": rng.random(600) < 0.25,
            "illness": np.array(list("abcd"))[rng.integers(0, 4, 600)],
        }
    )
    schema = Schema(
        (
            Attribute("age", Role.SEMI_SENSITIVE, flag="secret"),
            Attribute("illness", Role.SENSITIVE),
        )
    )
    secret = data["secret"].to_numpy()
    table = encode(data, schema)
    table = Table(table.schema, table.columns, table.rows, flags={"age": secret.copy()})
    frame = frame_of(table, whole_of(table, [(flag_name("age"),)]))
    tree = LGB(k=5, l=2).splitting(frame).cuts(frame, TableCounts(table), most_rows=200)
    parts = parts_of(tree, table)
    assert len(parts) >= 4
    assert all(len({bool(secret[row]) for row in part}) == 1 for part in parts)
    ages = data["age"].to_numpy()
    for part in parts:  # where nobody's age is secret, parts are ranges of it
        others = [ages[row] for p in parts if p != part for row in p if not secret[row]]
        if not secret[part[0]]:
            assert not any(ages[part].min() < age < ages[part].max() for age in others)


def test_sensitive_cells_never_decide_on_a_part() -> None:
    """Two tables that differ in flagged ages alone are cut alike."""
    rng = np.random.default_rng(5)
    secret = rng.random(400) < 0.5
    ages = rng.integers(20, 60, 400)
    found = []
    for own in (ages, np.where(secret, 79 - ages, ages)):
        data = pa.table({"age": own, "illness": ["a", "b"] * 200})
        schema = Schema(
            (
                Attribute("age", Role.SEMI_SENSITIVE, density=0.5),
                Attribute("illness", Role.SENSITIVE),
            )
        )
        table = encode(data, schema)
        table = Table(table.schema, table.columns, table.rows, flags={"age": secret.copy()})
        frame = frame_of(table, whole_of(table, [(flag_name("age"),)]))
        tree = LGB(k=5, l=1).splitting(frame).cuts(frame, TableCounts(table), most_rows=50)
        assert len(tree.parts) > 4
        found.append(parts_of(tree, table))
    assert found[0] == found[1]


@pytest.mark.parametrize("most", [Fraction(1, 2), Fraction(2, 3)])
def test_eligibility_is_asked_of_every_side(most: Fraction) -> None:
    people = [(20 + i, "Ulm", "cook", "ab"[i % 2]) for i in range(30)]
    people += [(70 + i, "Ulm", "cook", "a" if i % 3 else "b") for i in range(30)]
    table = table_of(people)
    frame = frame_of(table, whole_of(table))
    condition = HasValues("illness", frame["illness"].null_code, most)
    tree = plan_cuts(frame, ["age"], [condition], TableCounts(table), most_rows=20)
    for part in parts_of(tree, table):
        ills = [people[row][3] for row in part]
        assert len(tree.parts) == 1 or Fraction(ills.count("a"), len(ills)) <= most
    assert (len(tree.parts) > 1) == (most > Fraction(1, 2))
