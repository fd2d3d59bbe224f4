"""Sliced records: each block keeps its combinations within each group, and nothing else is told."""

from __future__ import annotations

import tempfile
from collections import Counter
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from arbitrary.coded import samples
from arbitrary.frames import DROPPED_CANARY, IDENTIFIER_CANARY, frames
from contracts.questions import rank_correlation, unexplained_domain_values
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles.release import read_release
from oracles.sliced import sliced_from
from oracles.verdict import verdict

from sfumato.audit import audit
from sfumato.errors import ParameterError, SfumatoError
from sfumato.models import KAnonymity
from sfumato.publish.assemble import Published, assemble
from sfumato.publish.slice import block_names, sliced_records
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import Column, Groups, Table, encode

# A fair shuffler exceeds this in one of a million tests of 215 degrees of freedom. Seeds are
# fixed, so a test that passes once always does.
CHI_SQUARE_215 = 328
RUNS = 2160
STANDARD_DEVIATIONS = 4.0


def parted(draw, things: list) -> list[list]:
    """Return the things in blocks, in any order."""
    places = draw(st.lists(st.integers(0, 2), min_size=len(things), max_size=len(things)))
    blocks = [[t for t, p in zip(things, places, strict=True) if p == i] for i in range(3)]
    return draw(st.permutations([block for block in blocks if block]))


def grouped(draw, rows: int) -> Groups:
    ids = draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows))
    dense = {group: i for i, group in enumerate(dict.fromkeys(ids))}
    return Groups(np.array([dense[group] for group in ids], np.int32), len(dense))


def slice_of(table: Table, groups: Groups, blocks: list[list[Column]], seed: int = 0) -> Published:
    return sliced_records(table, groups, blocks, rng=Randomness.test(seed).generator("slice"))


# --- any table ------------------------------------------------------------------------------------


def contents(blocks, groups):
    """Return how often each block's combinations occur, group by group, groups in any order."""
    return Counter(
        tuple(
            frozenset(Counter(tuple(row[name] for name in block) for row in rows).items())
            for block in blocks
        )
        for rows in groups
    )


@settings(max_examples=100)
@given(samples(people=False), st.data(), st.integers(0, 3))
def test_each_block_keeps_its_combinations_in_every_group(sample, data, seed):
    table = sample.table
    groups = grouped(data.draw, table.rows)
    blocks = parted(data.draw, list(table.quasi_identifiers))
    names = block_names(table, blocks)
    published = slice_of(table, groups, blocks, seed)
    records = published.tables["records"].to_pylist()
    assert len(records) == table.rows
    by_group = {}
    for row in records:
        by_group.setdefault(row["group"], []).append(row)
    assert sorted(by_group) == list(range(1, groups.count + 1))
    before = [sample.members(groups, g) for g in range(groups.count)]
    assert contents(names, by_group.values()) == contents(names, before)
    assert published.tables["records"].column_names == ["group", *(c.name for c in table.columns)]


def saved(table: Table, groups: Groups, blocks, home: Path, file_format: str) -> Path:
    release = assemble(
        slice_of(table, groups, blocks),
        method="arp",
        rows=table.rows,
        models=[KAnonymity(1)],
        parameters={"columns": block_names(table, blocks)},
        is_test=False,
    )
    release.save(home / "release", format=file_format)
    return home / "release"


@settings(max_examples=60)
@given(frames(), st.data(), st.sampled_from(["parquet", "csv"]))
def test_any_table_can_be_behind_its_release(frame, data, file_format):
    """Values of every type and spelling, judged by the literal reader and by the audit."""
    schema = Schema(tuple(frame.schema), None)
    try:
        table = encode(frame.data, schema)
    except SfumatoError:
        assume(False)
    groups = grouped(data.draw, table.rows)
    blocks = parted(data.draw, list(table.quasi_identifiers))
    with tempfile.TemporaryDirectory() as home:
        folder = saved(table, groups, blocks, Path(home), file_format)
        assert verdict(folder) == 0
        assert audit(folder).ok
        published = read_release(folder)
        assert sliced_from(frame.data.to_pylist(), published)
        assert not holds_a_canary(folder)
        assert unexplained_domain_values(published, schema) == []


def holds_a_canary(folder: Path) -> bool:
    texts = [file.read_bytes() for file in folder.rglob("*") if file.suffix in (".csv", ".json")]
    canaries = (IDENTIFIER_CANARY.encode(), DROPPED_CANARY.encode())
    return any(canary in text for text in texts for canary in canaries)


# --- what is random -------------------------------------------------------------------------------


def test_every_way_to_join_the_blocks_is_equally_likely():
    """Three people in a group: six orders for each of three blocks, all 216 alike."""
    data = pa.table({"age": [1, 2, 3], "job": ["a", "b", "c"], "illness": ["x", "y", "z"]})
    table = encode(
        data, Schema.of(age="quasi-identifier", job="quasi-identifier", illness="sensitive")
    )
    blocks = [[table["age"]], [table["job"]]]
    groups = Groups(np.zeros(3, np.int32), 1)
    seen: Counter[tuple] = Counter()
    for seed in range(RUNS):
        records = slice_of(table, groups, blocks, seed).tables["records"]
        seen[tuple(tuple(records[name].to_pylist()) for name in data.column_names)] += 1
    orders = [permutations(data[name].to_pylist()) for name in data.column_names]
    expected = RUNS / 216
    assert (
        sum((seen[each] - expected) ** 2 / expected for each in product(*orders)) < CHI_SQUARE_215
    )
    assert len(seen) > 200


def test_attributes_of_a_block_stay_together():
    rows = 300
    data = pa.table({"age": range(rows), "twin": range(rows), "other": range(rows)})
    table = encode(data, Schema.of(dict.fromkeys(data.column_names, "quasi-identifier")))
    groups = Groups(np.arange(rows, dtype=np.int32) % 10, 10)
    records = slice_of(table, groups, [[table["other"]], [table["age"], table["twin"]]]).tables[
        "records"
    ]
    age, twin, other = (records[name].to_numpy() for name in data.column_names)
    assert (age == twin).all()
    assert (age != other).mean() > 0.9
    assert (age % 10 == other % 10).all()  # they are of the same group


@pytest.fixture(scope="module")
def some_size() -> tuple[Table, Release]:
    """A table whose row i is told by each of its cells, in groups of three neighbours."""
    rows = 900
    data = pa.table({"age": range(rows), "height": range(rows), "pay": range(rows)})
    attributes = (
        Attribute("age", Role.QUASI_IDENTIFIER),
        Attribute("height", Role.QUASI_IDENTIFIER),
        Attribute("pay", Role.SENSITIVE),
    )
    table = encode(data, Schema(attributes))
    groups = Groups((np.arange(rows) // 3).astype(np.int32), rows // 3)
    blocks = [[table["age"]], [table["height"]]]
    release = assemble(
        slice_of(table, groups, blocks),
        method="arp",
        rows=rows,
        models=[KAnonymity(1)],
        parameters={"columns": block_names(table, blocks)},
        is_test=False,
    )
    return table, release


@pytest.mark.parametrize("name", ["age", "height", "pay"])
def test_neither_order_nor_group_numbers_tell_the_order_of_the_input(name, some_size):
    records = some_size[1].tables["records"]
    place_in_input = records[name].to_numpy()
    places = np.arange(records.num_rows)
    assert abs(rank_correlation(place_in_input, places)) < STANDARD_DEVIATIONS / np.sqrt(900)
    groups = records["group"].to_numpy()
    firsts = [place_in_input[groups == g].min() for g in range(1, 301)]
    assert abs(rank_correlation(firsts, range(300))) < STANDARD_DEVIATIONS / np.sqrt(300)
    # nor do neighbours in the release come from one group more often than by chance (2 of 899)
    assert np.count_nonzero(groups[1:] == groups[:-1]) < 12


@pytest.mark.parametrize("pair", [("age", "pay"), ("height", "pay"), ("age", "height")])
def test_the_place_within_a_group_tells_nothing_of_another_block(pair, some_size):
    """Of three values dealt at random one is where it was, on average and with variance 1."""
    records = some_size[1].tables["records"]
    one, other = (records[name].to_numpy() for name in pair)
    assert (one // 3 == other // 3).all()
    assert abs((one == other).mean() - 1 / 3) < STANDARD_DEVIATIONS * np.sqrt(300) / 900


def test_another_seed_gives_another_release():
    table = encode(pa.table({"age": range(50)}), Schema.of(age="quasi-identifier"))
    groups = Groups(np.arange(50, dtype=np.int32) // 5, 10)
    one, same, other = (
        slice_of(table, groups, [[table["age"]]], seed).tables["records"] for seed in (1, 1, 2)
    )
    assert one.equals(same)
    assert not one.equals(other)


# --- blocks ---------------------------------------------------------------------------------------


def four_columns() -> Table:
    data = pa.table({"ward": ["w", "w"], "pay": [1, 2], "age": [3, 4], "job": ["x", "y"]})
    attributes = (
        Attribute("ward", Role.INSENSITIVE, keep=True),
        Attribute("pay", Role.SENSITIVE),
        Attribute("age", Role.QUASI_IDENTIFIER),
        Attribute("job", Role.QUASI_IDENTIFIER),
    )
    return encode(data, Schema(attributes))


def test_sensitive_and_kept_columns_are_blocks_of_their_own():
    table = four_columns()
    age, job = table["age"], table["job"]
    assert block_names(table, [[job, age]]) == [["job", "age"], ["pay"], ["ward"]]
    assert block_names(table, [[job], [age]]) == [["job"], ["age"], ["pay"], ["ward"]]


def test_blocks_that_do_not_hold_each_quasi_identifier_once_are_refused():
    table = four_columns()
    age, job, pay, ward = (table[name] for name in ("age", "job", "pay", "ward"))
    groups = Groups(np.zeros(2, np.int32), 1)
    for blocks in (
        [],
        [[age]],
        [[age, job], []],
        [[age, job], [age]],
        [[age, job, job]],
        [[age, job], [pay]],
        [[age, job, ward]],
    ):
        with pytest.raises(ParameterError, match="each quasi-identifier exactly once"):
            slice_of(table, groups, blocks)
