"""A part of a table decides like the whole: what it needs to know is in the counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from contracts.questions import equal_releases
from hypothesis import given
from hypothesis import strategies as st

from sfumato.datasets import census
from sfumato.datasets.schemas import census_schema
from sfumato.methods import ARP, LGB, SLPPA, Anatomy, Merging, Method, Mondrian, SensitiveQID
from sfumato.models import TCloseness
from sfumato.randomness import Randomness
from sfumato.schema import Role, Schema
from sfumato.table import Table, encode
from sfumato.table.whole import (
    codes_of,
    flag_name,
    frame_of,
    joint_of,
    part_of,
    visible_name,
    whole_of,
)

KNOWN = ("age", "sex", "birthplace", "marital_status", "hours_per_week")


@pytest.fixture(scope="module")
def people() -> Table:
    schema = census_schema(quasi_identifiers=KNOWN, sensitive=("occupation",))
    data = census(1_500, seed=2).select([*KNOWN, "occupation"])
    return encode(data, Schema(tuple(a for a in schema if a.name in data.column_names)))


def with_role(table: Table, role: Role, *names: str, **also: Any) -> Table:
    columns = tuple(
        replace(c, attribute=replace(c.attribute, role=role, **also)) if c.name in names else c
        for c in table.columns
    )
    return replace(table, columns=columns, schema=Schema(tuple(c.attribute for c in columns)))


METHODS: list[Method] = [
    Mondrian(k=3, models=(TCloseness("occupation", 0.5),)),
    Anatomy(l=3),
    ARP(l=3),
    ARP(l=3, publish_by="slice"),
    SLPPA(beta=0.2),
    SLPPA(beta=0.25, delta=0.05, tables=3, cap=None),
    Merging(l=2),
    Merging(l=2, columns=3, expected=2.0, collapse=None),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: str(method)[:40])
def test_the_whole_of_a_table_changes_nothing_in_it(people: Table, method: Method) -> None:
    assert equal_releases(
        method.release(people, Randomness.test(3)),
        method.release(replace(people, whole=_whole(people, method)), Randomness.test(3)),
    )


def test_flags_and_sets_are_those_of_the_whole_too(people: Table) -> None:
    flags = {"age": np.arange(people.rows) % 3 == 0}
    semi = replace(with_role(people, Role.SEMI_SENSITIVE, "age", flag="secret"), flags=flags)
    sets = with_role(people, Role.SENSITIVE_QUASI_IDENTIFIER, "age", "sex")
    cases: list[tuple[Table, Method]] = [
        (semi, LGB(k=4, l=3)),
        (semi, LGB(k=4, t=0.3)),
        (sets, SensitiveQID(t=0.4, prior="data")),
        (sets, SensitiveQID(t=0.4, prior="data", bins=7, joint=[["sex", "age"]])),
    ]
    for table, method in cases:
        assert equal_releases(
            method.release(table, Randomness.test(3)),
            method.release(replace(table, whole=_whole(table, method)), Randomness.test(3)),
        )


def _whole(table: Table, method: Method) -> Any:
    joints = method.joints(frame_of(table))
    frame = frame_of(table, whole_of(table, joints))
    return whole_of(table, joints, method.splitting(frame).commonest)


def test_what_a_part_decides_is_what_the_whole_decides(people: Table) -> None:
    """A skewed half of the table would choose other blocks, tables and probabilities."""
    half = np.flatnonzero(people["age"].codes < 20)
    for method in (ARP(l=2, publish_by="slice", columns=3), SLPPA(beta=0.34, alpha=1.0, tables=3)):
        whole = method.release(people, Randomness.test(1)).manifest
        part = part_of(people, half, _whole(people, method))
        manifest = method.release(part, Randomness.test(1)).manifest
        assert manifest.parameters == whole.parameters
        assert [entry.attributes for entry in manifest.tables] == [
            entry.attributes for entry in whole.tables
        ]
        assert manifest.attributes == whole.attributes


ROW = st.tuples(st.sampled_from([None, 1, 2, 3]), st.sampled_from("ab"), st.booleans())


@given(st.lists(ROW, min_size=1))
def test_counts_are_those_of_the_rows(rows: list[tuple[int | None, str, bool]]) -> None:
    data = pa.table(
        {
            "n": pa.array([row[0] for row in rows], pa.int64()),
            "t": pa.array([row[1] for row in rows], pa.string()),
        }
    )
    table = encode(data, Schema.of(n="quasi-identifier", t="sensitive"))
    flags = {"n": np.array([row[2] for row in rows], np.bool_)}
    table = replace(table, flags=flags)
    names = ("t", "n", flag_name("n"))
    whole = whole_of(table, [names], [("n", "t")])
    assert whole.rows == len(rows)
    numbers = [*table["n"].values.to_pylist(), None]
    texts = table["t"].values.to_pylist()
    expected = Counter(row[0] for row in rows)
    assert dict(zip(numbers, whole.counts["n"].tolist(), strict=True)) == {
        number: expected[number] for number in numbers
    }
    assert whole.flagged["n"].sum() == sum(row[2] for row in rows)
    joint = whole.joint("n", "t", flag_name("n"))  # in another order than it was counted
    lines = zip(*(each.tolist() for each in (*joint.codes, joint.counts)), strict=True)
    assert {(numbers[n], texts[t], bool(f)): count for n, t, f, count in lines} == Counter(rows)
    pairs = Counter(row[:2] for row in rows)
    assert whole.commonest["n", "t"] == max(pairs.values(), default=0)
    shown = codes_of(table, visible_name("n")).tolist()
    assert [numbers[code] for code in shown] == [None if row[2] else row[0] for row in rows]


def test_rows_of_a_part_stand_in_the_order_of_what_they_hold(people: Table) -> None:
    rows = np.random.default_rng(3).permutation(people.rows)[:700]
    one, other = (part_of(people, each, None) for each in (rows, np.sort(rows)))
    for name in KNOWN:
        assert np.array_equal(one[name].codes, other[name].codes)
        assert one[name].values.equals(people[name].values)
    held = list(zip(*(column.codes.tolist() for column in one.columns), strict=True))
    assert held == sorted(held)


def test_a_line_is_found_for_every_row(people: Table) -> None:
    joint = joint_of(people, ("sex", "age"))
    lines = joint.lines_of([people["sex"].codes, people["age"].codes], people.rows)
    assert np.array_equal(joint.codes[1][lines], people["age"].codes)
    assert np.array_equal(np.bincount(lines), joint.counts)
