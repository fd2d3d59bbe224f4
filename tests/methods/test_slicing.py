"""Slicing: blocks of columns permuted within groups of Mondrian, l-diverse by frequency."""

from __future__ import annotations

import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from arbitrary.coded import Sample, samples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.refining import eligible
from oracles.release import Published, group_values, groups, read_release
from oracles.sliced import sliced_from
from oracles.verdict import verdict

from sfumato.audit import audit
from sfumato.columns.k_medoids import column_blocks
from sfumato.errors import Infeasible, ParameterError
from sfumato.methods.slicing import Slicing
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import encode

SCHEMA = Schema(
    (
        Attribute("age", Role.QUASI_IDENTIFIER),
        Attribute("birth year", Role.QUASI_IDENTIFIER),
        Attribute("job", Role.QUASI_IDENTIFIER),
        Attribute("title", Role.QUASI_IDENTIFIER),
        Attribute("illness", Role.SENSITIVE),
        Attribute("ward", Role.INSENSITIVE, keep=True),
    )
)


def people(rows: int = 300) -> pa.Table:
    """Return people whose age tells their birth year, and whose job tells their title."""
    rng = repeatable(9)
    ages, jobs = rng.integers(20, 30, rows), rng.integers(0, 6, rows)
    return pa.table(
        {
            "age": ages,
            "birth year": 2020 - ages,
            "job": [f"job {i}" for i in jobs],
            "title": [f"title {i // 2}" for i in jobs],
            "illness": [f"illness {i}" for i in rng.integers(0, 9, rows)],
            "ward": [f"ward {i}" for i in rng.integers(0, 3, rows)],
        }
    )


def read(release: Release, hierarchies=None) -> Published:
    with tempfile.TemporaryDirectory() as home:
        release.save(Path(home) / "release", format="csv")
        assert verdict(Path(home) / "release") == 0
        return read_release(Path(home) / "release", hierarchies=hierarchies)


def claims_of(release: Release) -> list[tuple[str, str, str, int]]:
    return [(c["model"], c["attribute"], c["variant"], c["l"]) for c in release.manifest.guarantees]


# --- claim and layout -----------------------------------------------------------------------------


def test_blocks_are_those_that_go_together_and_the_secret_stands_alone():
    release = Slicing(l=3).publish(people(), SCHEMA)
    assert release.manifest.layout == "sliced" and release.manifest.method == "slicing"
    assert list(release.tables) == ["records"]
    blocks = {frozenset(block) for block in release.manifest.parameters["columns"]}
    expected = [("age", "birth year"), ("job", "title"), ("illness",), ("ward",)]
    assert blocks == set(map(frozenset, expected))
    assert claims_of(release) == [("l-diversity", "illness", "frequency", 3)]
    assert audit(release).exit_code == 0


def test_the_bound_on_matching_groups_is_implied():
    """Whoever finds somebody's blocks in some groups: their value has at most 1/l in each."""
    release = Slicing(l=3).publish(people(), SCHEMA)
    published = read(release)
    for values in group_values(published, "illness").values():
        assert Fraction(max(Counter(values).values()), len(values)) <= Fraction(1, 3)
    assert len(groups(published)) > 5


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_the_number_of_blocks(count):
    release = Slicing(l=2, columns=count).publish(people(), SCHEMA)
    table = encode(people(), SCHEMA)
    found = release.manifest.parameters["columns"][:count]
    expected = column_blocks(table.quasi_identifiers, count)
    assert found == [[column.name for column in block] for block in expected]
    assert release.manifest.parameters["columns"][count:] == [["illness"], ["ward"]]


def test_more_blocks_than_columns():
    release = Slicing(l=2, columns=9).publish(people(), SCHEMA)
    assert [len(block) for block in release.manifest.parameters["columns"]] == [1] * 6


def test_blocks_that_are_named():
    named = [["age", "title"], ["job", "birth year"]]
    release = Slicing(l=2, columns=named).publish(people(), SCHEMA)
    assert release.manifest.parameters["columns"][:2] == named
    assert audit(release).ok


def test_blocks_stay_together_and_are_parted_from_each_other():
    """Birth years still follow ages; but of a group one record is right about another block."""
    records = Slicing(l=3).publish(people(), SCHEMA).tables["records"].to_pylist()
    assert all(row["age"] + row["birth year"] == 2020 for row in records)
    assert all(int(row["job"][4:]) // 2 == int(row["title"][6:]) for row in records)
    rows = 300
    data = pa.table({"age": range(rows), "job": range(rows), "illness": range(rows)})
    schema = Schema.of(age="quasi-identifier", job="quasi-identifier", illness="sensitive")
    release = Slicing(l=3).publish(data, schema, randomness=Randomness.test(3))
    records = release.tables["records"].to_pylist()
    expected = len({row["group"] for row in records})
    for one, other in (("age", "illness"), ("job", "illness"), ("age", "job")):
        # of a permuted group one record is right on average, and so is their variance
        right = sum(row[one] == row[other] for row in records)
        assert abs(right - expected) < 4 * expected**0.5


def test_several_sensitive_attributes_are_claimed_each():
    roles = {each.name: each.role for each in SCHEMA} | {"title": Role.SENSITIVE}
    schema = Schema(tuple(Attribute(n, r) for n, r in roles.items() if n != "ward"))
    release = Slicing(l=2).publish(people().drop_columns(["ward"]), schema)
    assert claims_of(release) == [
        ("l-diversity", "title", "frequency", 2),
        ("l-diversity", "illness", "frequency", 2),
    ]
    assert release.manifest.parameters["columns"][-2:] == [["title"], ["illness"]]
    assert audit(release).ok


def test_a_seeded_release_repeats_and_is_marked_a_test():
    one, same, other = (
        Slicing(l=3).publish(people(), SCHEMA, randomness=Randomness.test(n)) for n in (1, 1, 2)
    )
    assert one.tables["records"].equals(same.tables["records"])
    assert not one.tables["records"].equals(other.tables["records"])
    assert audit(one).exit_code == 1


# --- any table ------------------------------------------------------------------------------------


@settings(max_examples=80)
@given(samples(people=False), st.integers(1, 4), st.integers(1, 3))
def test_either_the_release_holds_or_it_is_refused(sample: Sample, ell, columns):
    method = Slicing(l=ell, columns=columns)
    values = {name: [row[name] for row in sample.rows] for name in ("illness", "pay")}
    known = all(any(v is not None for v in each) for each in values.values())
    possible = all(eligible(each, ell) for each in values.values())
    try:
        release = method.publish(sample.frame, sample.schema)
    except (Infeasible, ParameterError):
        assert not possible
        return
    assert possible or not known
    assert claims_of(release) == [
        ("l-diversity", name, "frequency", ell) for name in ("illness", "pay")
    ]
    assert audit(release).exit_code == 0
    published = read(release, {"place": sample.paths} if "place" in sample.quasi else None)
    names = (*sample.quasi, "illness", "pay")
    assert sliced_from([{name: row[name] for name in names} for row in sample.rows], published)


# --- what is refused ------------------------------------------------------------------------------


def test_an_l_above_the_feasible_is_refused_with_advice():
    data = pa.table({"age": range(10), "illness": [*["telltale"] * 4, *"bcdefg"]})
    schema = Schema.of(age="quasi-identifier", illness="sensitive")
    with pytest.raises(Infeasible, match=r"`illness`.*40\.0%.*largest feasible l is 2") as refusal:
        Slicing(l=3).publish(data, schema)
    assert "telltale" not in str(refusal.value)
    assert audit(Slicing(l=2).publish(data, schema)).ok


@pytest.mark.parametrize("ell", [0, -1, 2.5, True, "3", None])
def test_an_l_that_is_no_whole_number(ell):
    with pytest.raises(ParameterError, match="`l` must be a whole number of at least 1"):
        Slicing(l=ell)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, None, "age", [], ["age"], [[1]], [["age"], 2]])
def test_columns_that_are_none(wrong):
    with pytest.raises(ParameterError, match="slicing: `columns`"):
        Slicing(l=2, columns=wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        [["age", "birth year", "job", "title", "illness"]],
        [["age", "birth year", "job", "title", "ward"]],
        [["age", "birth year", "job", "title", "height"]],
        [["age", "birth year", "job"]],
        [["age", "birth year"], ["birth year", "job", "title"]],
        [["age", "birth year", "job", "title"], []],
    ],
    ids=["sensitive", "kept", "unknown", "too few", "twice", "empty"],
)
def test_columns_must_be_each_quasi_identifier_once(wrong):
    with pytest.raises(ParameterError, match="quasi-identifier"):
        Slicing(l=2, columns=wrong).publish(people(), SCHEMA)


@pytest.mark.parametrize(
    ("roles", "unit", "reason"),
    [
        ({"illness": "sensitive"}, None, "at least one quasi-identifier"),
        ({"age": "quasi-identifier"}, None, "at least one sensitive"),
        (
            {"age": "quasi-identifier", "illness": "sensitive", "ward": "identifier"},
            "ward",
            "one row a person",
        ),
    ],
)
def test_tables_of_another_shape_are_refused(roles, unit, reason):
    schema = Schema(tuple(Attribute(name, Role(role)) for name, role in roles.items()), unit)
    with pytest.raises(ParameterError, match=f"slicing needs {reason}"):
        Slicing(l=1).publish(people().select(list(roles)), schema)
