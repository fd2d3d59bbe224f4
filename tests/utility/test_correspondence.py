"""GLP, RE and the mean probability of releases, against their definitions on the original rows."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arbitrary.coded import partition
from arbitrary.frames import Frame, frames
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st
from oracles import refining as oracle
from oracles.points import point_of_value
from oracles.release import group_values, read_release

from sfumato.errors import ParameterError, SfumatoError
from sfumato.methods.aip import AIP
from sfumato.methods.arp import ARP
from sfumato.publish.anatomize import anatomized_tables
from sfumato.publish.assemble import assemble
from sfumato.publish.records import generalized_records
from sfumato.publish.slice import block_names, sliced_records
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.initial import initial_partition
from sfumato.rows.refine import refine
from sfumato.schema import Schema
from sfumato.table import Groups, Table, encode
from sfumato.utility import glp, mean_probability, nlp_of_candidates, reconstruction_error
from sfumato.utility.correspondence import _Known


def released(table: Table, groups: Groups, layout: str, blocks: int = 1) -> Release:
    """Return a release of just these groups."""
    rng = Randomness.test(0).generator("tables")
    parameters: dict[str, Any] = {}
    if layout == "anatomized":
        published = anatomized_tables(table, groups, rng=rng)
    elif layout == "generalized":
        published = generalized_records(table, groups, rng=rng)
    else:
        quasi = list(table.quasi_identifiers)
        together = [quasi] if blocks == 1 else [quasi[:1], quasi[1:]]
        parameters = {"columns": block_names(table, together)}
        published = sliced_records(table, groups, together, rng=rng)
    return assemble(
        published,
        method="test",
        rows=table.rows,
        models=[],
        parameters=parameters,
        is_test=True,
    )


def reread(release: Release, file_format: str) -> Release:
    with tempfile.TemporaryDirectory() as home:
        release.save(Path(home) / "release", format=file_format)
        return Release.load(Path(home) / "release")


def groups_of(ids: list[int]) -> Groups:
    dense = {group: i for i, group in enumerate(dict.fromkeys(ids))}
    return Groups(np.array([dense[group] for group in ids], np.int32), len(dense))


def lists(groups: Groups) -> list[list[int]]:
    return [groups.members(g).tolist() for g in range(groups.count)]


def points(frame: Frame, names: list[str]) -> list[tuple[Any, ...]]:
    """Return the values of some columns, row by row."""
    rows = frame.data.select(names).to_pylist()
    return [tuple(point_of_value(row[name]) for name in names) for row in rows]


@st.composite
def parted_frames(draw: Any) -> tuple[Frame, Table, Groups, str]:
    """Return a table of one row a person in arbitrary groups, and one of its secrets."""
    frame = draw(frames())
    assume(frame.schema.unit is None and frame.schema.quasi_identifiers)
    try:
        table = encode(frame.data, frame.schema)
    except SfumatoError:  # no table that a method could be given
        reject()
    rows = frame.data.num_rows
    ids = draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows))
    name = draw(st.sampled_from([each.name for each in frame.schema.sensitive]))
    return frame, table, groups_of(ids), name


# --- against the oracle ---------------------------------------------------------------------------


@settings(max_examples=120)
@given(
    parted_frames(),
    st.sampled_from(["anatomized", "sliced"]),
    st.sampled_from([None, "csv", "parquet"]),
)
def test_glp_is_the_mean_penalty_of_definition_3(parted, layout, file_format):
    frame, table, groups, name = parted
    release = released(table, groups, layout)
    release = reread(release, file_format) if file_format else release
    kinds = points(frame, [each.name for each in frame.schema.quasi_identifiers])
    values = points(frame, [name])
    expected = oracle.glp(kinds, values, lists(groups))
    assert glp(release, table, name) == pytest.approx(float(expected), abs=1e-9)


@settings(max_examples=120)
@given(
    parted_frames(),
    st.sampled_from(["anatomized", "sliced", "generalized"]),
    st.sampled_from([None, "csv", "parquet"]),
)
def test_probability_and_error_are_those_of_properties_1_and_8(parted, layout, file_format):
    frame, table, groups, name = parted
    release = released(table, groups, layout)
    release = reread(release, file_format) if file_format else release
    values = points(frame, [name])
    probability = oracle.mean_probability(values, lists(groups))
    assert mean_probability(release, name) == pytest.approx(float(probability), abs=1e-9)
    error = oracle.reconstruction_error(values, lists(groups))
    assert reconstruction_error(release, name) == pytest.approx(float(error), abs=1e-9)


@settings(max_examples=60)
@given(parted_frames(), st.integers(1, 4), st.randoms(use_true_random=False))
def test_the_penalty_of_candidates_is_that_of_their_values(parted, width, random):
    frame, table, _, name = parted
    candidates = [[random.randrange(table.rows) for _ in range(width)] for _ in range(table.rows)]
    kinds = points(frame, [each.name for each in frame.schema.quasi_identifiers])
    values = points(frame, [name])
    expected = []
    for row, others in enumerate(candidates):
        of_kind = {s for kind, s in zip(kinds, values, strict=True) if kind == kinds[row]}
        expected.append(sum(values[other] not in of_kind for other in others) / width)
    found = nlp_of_candidates(table, name, np.array(candidates))
    assert found.tolist() == pytest.approx(expected, abs=1e-12)


def test_a_worked_example():
    """Two people who differ and two alike in a group of four values: (3 + 3 + 2 + 2)/4 of 4."""
    data = pa.table({"age": [1, 2, 3, 3], "illness": ["a, b", "[1, 2]", "null", "*"]})
    table = encode(data, Schema.of(age="quasi-identifier", illness="sensitive"))
    whole = released(table, groups_of([0, 0, 0, 0]), "anatomized")
    assert glp(whole, table) == pytest.approx(5 / 8)
    assert mean_probability(whole) == pytest.approx(1 / 4)
    assert reconstruction_error(whole) == pytest.approx(3)
    halves = released(table, groups_of([0, 0, 1, 1]), "anatomized")
    assert glp(halves, table) == pytest.approx(1 / 4)  # the second half loses nothing
    assert mean_probability(halves) == pytest.approx(1 / 2)
    assert reconstruction_error(halves) == pytest.approx(2)


def test_many_people_of_a_kind_count_as_many():
    """Counts in the tables are people, not lines."""
    rows = 90
    data = pa.table({"age": [1] * 60 + [2] * 30, "illness": ["a", "b", "c"] * 30})
    table = encode(data, Schema.of(age="quasi-identifier", illness="sensitive"))
    one = released(table, groups_of([0] * rows), "anatomized")
    assert one.tables["qi_1"].num_rows == 2
    assert mean_probability(one) == pytest.approx(1 / 3)
    assert glp(one, table) == pytest.approx(0, abs=1e-12)
    other = encode(data.set_column(1, "illness", pa.array(["a"] * 60 + ["b"] * 30)), table.schema)
    mixed = released(other, groups_of([0] * rows), "anatomized")
    assert glp(mixed, other) == pytest.approx(2 / 3 * 1 / 3 + 1 / 3 * 2 / 3)
    assert mean_probability(mixed) == pytest.approx(4 / 9 + 1 / 9)


# --- one non-sensitive attribute ------------------------------------------------------------------


@settings(max_examples=60)
@given(
    st.lists(st.text("abcde", min_size=1, max_size=9), min_size=1, max_size=5), st.integers(1, 3)
)
def test_with_one_attribute_of_diverse_values_nothing_is_lost_outside_residues(texts, ell):
    """Every age is l-diverse: AIP keeps all, ARP all but in blocks of what several ages leave."""
    texts = [text for text in texts if oracle.eligible(text, ell)]
    assume(texts)
    ages = [age for age, text in enumerate(texts) for _ in text]
    values = list("".join(texts))
    table = encode(
        pa.table({"age": ages, "illness": values}),
        Schema.of(age="quasi-identifier", illness="sensitive"),
    )
    for initial in ("correlation", "correlation-literal"):
        aip = AIP(ell, initial=initial).release(table, Randomness.test(0))
        assert glp(aip, table) == pytest.approx(0, abs=1e-12)
    rng = Randomness.test(0).generator("blocks")
    before = initial_partition(table, ["illness"], ell, "correlation", rng=rng)
    blocks = refine(table, before, ["illness"], ell, rng=rng)
    penalties = oracle.nlp(ages, values, lists(blocks))
    mixed = [block for block in partition(blocks) if len({ages[row] for row in block}) > 1]
    assert sum(penalties) == sum(penalties[row] for block in mixed for row in block)
    left = sum(len(text) % ell for text in texts)
    assert sum(len(block) for block in mixed) <= left
    release = released(table, blocks, "anatomized")
    assert glp(release, table) == pytest.approx(float(sum(penalties)) / len(values), abs=1e-9)
    if left == 0:
        assert glp(ARP(ell).release(table, Randomness.test(1)), table) == pytest.approx(
            0, abs=1e-12
        )


@settings(max_examples=40)
@given(st.text("abcd", min_size=2, max_size=20), st.data())
def test_refining_shows_in_the_releases(values, data):
    """ARP's tables alone, read literally: a probability of its blocks over its rows."""
    ages = data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values)))
    assume(oracle.eligible(values, 2))
    frame = pa.table({"age": ages, "illness": list(values)})
    schema = Schema.of(age="quasi-identifier", illness="sensitive")
    aip, arp = (kind(2).publish(frame, schema) for kind in (AIP, ARP))
    assert mean_probability(arp) >= mean_probability(aip) - 1e-12
    assert reconstruction_error(arp) <= reconstruction_error(aip) + 1e-9
    with tempfile.TemporaryDirectory() as home:
        arp.save(Path(home) / "release")
        groups = group_values(read_release(Path(home) / "release"), "illness")
    assert mean_probability(arp) == pytest.approx(len(groups) / len(values))
    assert reconstruction_error(arp) == pytest.approx(len(values) - len(groups))


# --- refusals -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_secrets() -> Table:
    data = pa.table(
        {"age": [1, 2, 3, 4], "job": [*"pqpq"], "illness": [*"abab"], "pay": [5, 6, 7, None]}
    )
    return encode(
        data,
        Schema.of(
            age="quasi-identifier", job="quasi-identifier", illness="sensitive", pay="sensitive"
        ),
    )


def test_which_of_several_secrets_must_be_said(two_secrets):
    release = released(two_secrets, groups_of([0, 0, 1, 1]), "anatomized")
    for measure in (mean_probability, reconstruction_error, lambda r: glp(r, two_secrets)):
        with pytest.raises(ParameterError, match="which sensitive attribute: one of illness, pay"):
            measure(release)
    with pytest.raises(ParameterError, match="illness, pay"):
        mean_probability(release, "age")
    assert mean_probability(release, "illness") == pytest.approx(1 / 2)
    assert mean_probability(release, "pay") == pytest.approx(1 / 2)


def test_glp_needs_exact_quasi_identifiers_side_by_side(two_secrets):
    groups = groups_of([0, 0, 1, 1])
    with pytest.raises(ParameterError, match="generalized"):
        glp(released(two_secrets, groups, "generalized"), two_secrets, "illness")
    with pytest.raises(ParameterError, match="one table or block"):
        glp(released(two_secrets, groups, "sliced", blocks=2), two_secrets, "illness")
    in_one = released(two_secrets, groups, "sliced", blocks=1)
    assert glp(in_one, two_secrets, "illness") == pytest.approx(1 / 2)


def test_an_original_of_other_values_is_refused_without_them(two_secrets):
    release = released(two_secrets, groups_of([0, 0, 1, 1]), "anatomized")
    other = encode(
        pa.table(
            {"age": [1, 2, 3, 9], "job": [*"pqpq"], "illness": [*"abab"], "pay": [5, 6, 7, 8]}
        ),
        two_secrets.schema,
    )
    with pytest.raises(ParameterError, match=r"'age'.*original") as refusal:
        glp(release, other, "illness")
    assert "4" not in str(refusal.value)


@pytest.mark.parametrize("span", [10, 1_000, 2**40])
def test_keys_are_found_among_known_ones_whether_few_or_many_may_occur(span):
    rng = np.random.default_rng(2)
    known = rng.integers(0, span, 300)
    known[:100] = known[100:200] % (1 << 8)  # several share their last bits
    keys = np.concatenate([rng.choice(known, 200), rng.integers(0, span, 200), known + (1 << 11)])
    assert _Known(known).has(keys).tolist() == np.isin(keys, known).tolist()
    both = keys[:400].reshape(100, 4)
    assert _Known(known).has(both).tolist() == np.isin(both, known).tolist()
    assert not _Known(np.zeros(0, np.int64)).has(keys).any()
