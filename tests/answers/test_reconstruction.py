"""Cross tables from randomised sets: equal to dense matrices, unbiased, and as good as claimed."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from answers.hand_made_sets import attribute, coded_release, drawn, release
from hypothesis import given
from hypothesis import strategies as st
from oracles import reconstruction as oracle

from sfumato.answers import reconstruct, set_estimators
from sfumato.answers.reconstruction import OF_SETS
from sfumato.answers.set_axes import read_axis
from sfumato.answers.set_counts import containing
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.methods import SensitiveQID
from sfumato.schema import Kind, Schema

# --- against the oracle --------------------------------------------------------------------------

SHARES = [Fraction(1), Fraction(1, 2), Fraction(1, 5)]


@st.composite
def cases(draw):
    """Attributes (d, p, eta), true records and published ones; at most 24 cells in all."""
    number = draw(st.integers(1, 3))
    largest = {1: 7, 2: 4, 3: 3}[number]
    attributes = []
    for _ in range(number):
        d = draw(st.integers(1, largest))
        # a set of all values tells nothing, save where there is only one
        attributes.append((d, draw(st.sampled_from(SHARES)), draw(st.integers(1, max(d - 1, 1)))))
    record = st.tuples(*(st.integers(0, d - 1) for d, _, _ in attributes))
    truth = draw(st.lists(record, min_size=1, max_size=12))
    rng = Random(draw(st.integers(0, 10**6)))
    published = [
        tuple(oracle.randomised(v, a, rng) for v, a in zip(each, attributes, strict=True))
        for each in truth
    ]
    return attributes, truth, published


def as_release(attributes, published):
    members = [
        np.array([sorted(record[place]) for record in published])
        for place in range(len(attributes))
    ]
    made = [(float(p), eta) for _, p, eta in attributes]
    return coded_release(members, [d for d, _, _ in attributes], made)


def names(attributes):
    return list("abc"[: len(attributes)])


@given(cases())
def test_the_inverse_is_that_of_the_dense_matrix(case):
    attributes, _, published = case
    found = reconstruct(as_release(attributes, published), names(attributes), "inverse")
    assert found.counts.shape == tuple(d for d, _, _ in attributes)
    wanted = [float(x) for x in oracle.inverse(published, attributes)]
    assert found.counts.ravel() == pytest.approx(wanted, abs=1e-8)


@given(cases())
def test_bayes_goes_the_steps_of_equation_26(case):
    attributes, _, published = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(set_estimators, "_AHEAD", 0.0)  # no extrapolation
        patch.setattr(set_estimators, "MOST_VISITS", 30)
        found = reconstruct(as_release(attributes, published), names(attributes))
    wanted = oracle.bayes(published, attributes, 0.0, found.steps)
    assert found.counts.ravel() == pytest.approx(wanted, rel=1e-7, abs=1e-9)
    assert found.counts.sum() == pytest.approx(len(published))
    assert (found.counts >= 0).all()
    assert 1 <= found.steps <= 31


@given(cases())
def test_extrapolated_bayes_is_as_likely_as_the_steps_that_it_leaves_out(case):
    attributes, _, published = case
    found = reconstruct(as_release(attributes, published), names(attributes))
    steps = oracle.bayes(published, attributes, set_estimators.TOLERANCE, 2_000)
    own, theirs = (
        oracle.log_likelihood(published, attributes, each)
        for each in (found.counts.ravel().tolist(), steps)
    )
    assert own >= theirs - 1e-3 * len(published)
    assert found.counts.sum() == pytest.approx(len(published))
    assert (found.counts >= 0).all()


@given(cases())
def test_value_adding_is_equation_18(case):
    attributes, _, published = case
    found = reconstruct(as_release(attributes, published), names(attributes), "value-adding")
    wanted = [float(x) for x in oracle.value_adding(published, attributes)]
    assert found.counts.ravel() == pytest.approx(wanted, abs=1e-9)
    assert found.counts.sum() == pytest.approx(len(published))


@given(cases(), st.data())
def test_axes_come_in_the_order_asked_for(case, data):
    attributes, _, published = case
    asked = data.draw(st.permutations(names(attributes)))
    made = as_release(attributes, published)
    straight = reconstruct(made, names(attributes), "inverse").counts
    turned = reconstruct(made, asked, "inverse").counts
    order = [names(attributes).index(name) for name in asked]
    assert turned == pytest.approx(straight.transpose(order), abs=1e-9)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_any_number_of_threads_counts_the_same(monkeypatch, threads):
    rng = np.random.default_rng(2)
    attributes = [(6, Fraction(1), 2), (5, Fraction(1), 4), (4, Fraction(1), 2)]
    members = [drawn(rng, rng.integers(0, d, 37), d, 1.0, eta) for d, _, eta in attributes]
    made = coded_release(members, [6, 5, 4], [(1.0, 2), (1.0, 4), (1.0, 2)])
    monkeypatch.setattr("sfumato.answers.set_counts._LEAST_STEPS", 1)
    monkeypatch.setattr("os.cpu_count", lambda: threads)
    counts = containing([read_axis(made, name) for name in "abc"])
    published = [tuple(frozenset(m[row].tolist()) for m in members) for row in range(37)]
    assert counts.ravel().tolist() == oracle.contained(published, attributes)


def test_a_vanishing_p_is_inverted_as_exactly_as_can_be():
    attributes = [(5, Fraction(1, 10**12), 2)]
    published = [(frozenset({0, 1}),), (frozenset({0, 3}),), (frozenset({2, 4}),)]
    found = reconstruct(as_release(attributes, published), ["a"], "inverse")
    wanted = [float(x) for x in oracle.inverse(published, attributes)]
    assert found.counts == pytest.approx(wanted, rel=1e-12)


def test_sets_of_all_values_tell_nothing():
    members = [np.tile(np.arange(3), (6, 1)), np.array([[0], [0], [0], [1], [1], [1]])]
    made = coded_release(members, [3, 2], [(1.0, 3), (1.0, 1)])
    for method in ("bayes", "value-adding"):
        assert reconstruct(made, ["a", "b"], method).counts == pytest.approx(np.ones((3, 2)))
    with pytest.raises(ParameterError, match="the sets of 'a' do not depend on the value"):
        reconstruct(made, ["a", "b"], "inverse")


# --- standard errors -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attributes",
    [
        [(4, Fraction(1), 2)],
        [(4, Fraction(1, 3), 3)],
        [(3, Fraction(1), 2), (2, Fraction(1, 2), 1)],
        [(3, Fraction(1, 2), 1), (3, Fraction(1), 1)],
    ],
)
def test_the_variance_is_estimated_without_bias(attributes):
    """Over *all* releases that one record could have become, weighted by their probability."""
    record = tuple(d - 1 for d, _, _ in attributes)
    drawn_sets = [oracle.chances(v, a) for v, a in zip(record, attributes, strict=True)]
    size = len(oracle.cells(attributes))
    mean, mean_variance = np.zeros(size), np.zeros(size)
    for sets in oracle.product(*drawn_sets):
        chance = float(np.prod([by[each] for by, each in zip(drawn_sets, sets, strict=True)]))
        made = as_release(attributes, [sets])
        axes = [read_axis(made, name) for name in names(attributes)]
        # not the standard errors, which are cut at 0
        table, variance = set_estimators.inverse(axes, containing(axes).astype(float))
        mean += chance * table.ravel()
        mean_variance += chance * variance.ravel()
    assert mean == pytest.approx([float(cell == record) for cell in oracle.cells(attributes)])
    assert mean_variance == pytest.approx(
        [float(v) for v in oracle.variances([record], attributes)]
    )


SIZES, MADE = (5, 4, 3), ((1.0, 3), (0.5, 2), (0.3, 1))
RUNS, ROWS = 400, 600


@pytest.fixture(scope="module")
def runs():
    """One skewed table of three attributes, randomised and reconstructed 400 times."""
    rng = np.random.default_rng(11)
    shares = rng.dirichlet(np.full(np.prod(SIZES), 0.3))
    cells = rng.choice(len(shares), ROWS, p=shares)
    values = np.unravel_index(cells, SIZES)
    truth = np.bincount(cells, minlength=len(shares)).reshape(SIZES)
    found = []
    for _ in range(RUNS):
        members = [
            drawn(rng, own, size, p, eta)
            for own, size, (p, eta) in zip(values, SIZES, MADE, strict=True)
        ]
        found.append(reconstruct(coded_release(members, SIZES, MADE), "abc", "inverse"))
    return truth, np.array([x.counts for x in found]), np.array([x.se for x in found])


def test_the_inverse_is_unbiased(runs):
    """The mean of 400 runs: of 60 cells, none is 4.5 standard errors of the mean off."""
    truth, counts, _ = runs
    error = counts.std(axis=0, ddof=1) / np.sqrt(RUNS)
    assert (np.abs(counts.mean(axis=0) - truth) < 4.5 * error).all()


def test_the_standard_errors_are_those_of_the_runs(runs):
    """A spread of 400 runs is within 3.5 % of the true one at two in three, within 17 % always."""
    _, counts, se = runs
    ratio = np.sqrt((se**2).mean(axis=0)) / counts.std(axis=0, ddof=1)
    assert ((ratio > 0.83) & (ratio < 1.17)).all()
    assert abs(ratio.mean() - 1) < 0.02


def test_intervals_cover_the_truth_as_often_as_they_should(runs):
    truth, counts, se = runs
    covered = (np.abs(counts - truth) <= 1.96 * se).mean()
    assert 0.94 < covered < 0.96


# --- quality -------------------------------------------------------------------------------------


@pytest.mark.parametrize("q", [1, 2, 3])
@pytest.mark.parametrize(("p", "eta"), [(1.0, 2), (1.0, 5), (0.4, 3)])
def test_bayes_comes_closer_than_value_adding_on_skewed_tables(q, p, eta):
    rng = np.random.default_rng(q)
    d, rows = 8, 20_000
    common = rng.gamma(1.0, size=rows)
    values = [np.minimum((common * rng.gamma(1.5, size=rows)).astype(int), d - 1) for _ in range(q)]
    truth = np.zeros((d,) * q)
    np.add.at(truth, tuple(values), 1)
    members = [drawn(rng, own, d, p, eta) for own in values]
    made = coded_release(members, [d] * q, [(p, eta)] * q)
    off = {
        method: np.linalg.norm(reconstruct(made, "abc"[:q], method, rng).counts - truth)
        for method in OF_SETS
    }
    assert off["bayes"] < 0.5 * off["value-adding"]
    assert off["bayes"] < 0.5 * off["random"]


def test_sets_of_one_sure_value_give_the_truth():
    rng = np.random.default_rng(3)
    values = [rng.integers(0, d, 500) for d in (4, 3)]
    truth = np.zeros((4, 3))
    np.add.at(truth, tuple(values), 1)
    made = coded_release([v.reshape(-1, 1) for v in values], [4, 3], [(1.0, 1)] * 2)
    for method in ("bayes", "inverse", "value-adding"):
        assert (reconstruct(made, "ab", method).counts == truth).all()
    assert (reconstruct(made, "ab", "inverse").se == 0).all()


def test_random_has_the_right_total_and_needs_a_generator():
    made = coded_release([np.array([[0, 1], [1, 2]])], [3], [(1.0, 2)])
    first, again = (
        reconstruct(made, "a", "random", np.random.default_rng(5)).counts for _ in range(2)
    )
    assert (first == again).all()
    assert first.sum() == pytest.approx(2)
    assert len(set(first)) == 3
    with pytest.raises(ParameterError, match="needs a generator"):
        reconstruct(made, "a", "random")


# --- what a release may hold ---------------------------------------------------------------------


def mixed(**changes):
    """A release with a randomised text, an exact number and an exact text, missing ones among."""
    fields = {
        "entries": [
            attribute("disease", "string", ["Flu", "a, b", None]),
            attribute("age", "int32", None, Kind.NUMERIC),
            attribute("ward", "string", ["West", "{x}", "empty"]),
        ],
        "columns": {
            "disease": [["Flu", None], ["Flu", "a, b"], ["a, b", None], ["Flu", None]],
            "age": pa.array([30, 20, None, 30], pa.int32()),
            "ward": ["West", '"{x}"', "West", "West"],
        },
        "sets": {"disease": {"p": 1.0, "eta": 2}},
    }
    return release(**(fields | changes))


def test_exact_and_missing_values_have_their_places():
    found = reconstruct(mixed(), ["ward", "age", "disease"], "inverse")
    assert found.labels == (
        ("West", "{x}", "empty"),
        ("20", "30", None),
        ("Flu", "a, b", None),
    )
    assert [values.type for values in found.values] == [pa.string(), pa.int32(), pa.string()]
    # of three values two are named: 1 is added for each of them, and 1 taken off for the third
    assert found.counts[0, 1].tolist() == [2, -2, 2]
    assert found.counts[1, 0].tolist() == [1, 1, -1]
    assert found.counts[0, 2].tolist() == [-1, 1, 1]
    assert (found.counts[2] == 0).all()
    assert found.counts.sum() == 4
    assert reconstruct(mixed(), ["age"], "bayes").counts.tolist() == [1, 2, 1]
    assert reconstruct(mixed(), ["ward"], "inverse").se.tolist() == [0, 0, 0]


def test_the_table_has_a_row_a_combination():
    found = reconstruct(mixed(), ["age", "disease"], "inverse")
    table = found.to_table()
    assert table.column_names == ["age", "disease", "count", "se"]
    assert table.num_rows == 9
    assert table.slice(3, 3).to_pylist() == [
        {"age": 30, "disease": "Flu", "count": 2.0, "se": pytest.approx(found.se[1, 0])},
        {"age": 30, "disease": "a, b", "count": -2.0, "se": pytest.approx(found.se[1, 1])},
        {"age": 30, "disease": None, "count": 2.0, "se": pytest.approx(found.se[1, 2])},
    ]
    assert reconstruct(mixed(), ["age"]).to_table().column_names == ["age", "count"]
    (largest,) = found.largest(1)
    assert largest[:2] == (("30", "Flu"), 2.0)


def test_an_attribute_may_be_called_like_a_standard_error():
    made = release([attribute("se", "bool", ["false", "true"])], {"se": [True, False]}, {})
    table = reconstruct(made, ["se"], "inverse").to_table()
    assert table.column_names == ["se", "count", "count se"]
    assert table["count"].to_pylist() == [1, 1]


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_files_give_what_memory_gives(tmp_path, format):
    made = mixed()
    made.save(tmp_path / "release", format=format)
    loaded = made.load(tmp_path / "release")
    asked = ["disease", "age", "ward"]
    assert (reconstruct(loaded, asked).counts == reconstruct(made, asked).counts).all()


def test_a_release_without_records_has_counts_of_nought():
    columns = {"a": pa.array([], pa.list_(pa.int32()))}
    made = release([attribute("a", "int32", ["1", "2", "3"])], columns, {"a": {"p": 1, "eta": 2}})
    for method in OF_SETS:
        found = reconstruct(made, ["a"], method, np.random.default_rng(1))
        assert found.counts.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("asked", "options", "message"),
    [
        (["diseases"], {}, "no attribute 'diseases'; did you mean 'disease'?"),
        (["zip"], {}, "known are disease, age, ward"),
        ([], {}, "at least one attribute"),
        (["age", "age"], {}, "named twice"),
        (["age"], {"method": "bays"}, "there is no method `bays`; there are: bayes, inverse"),
    ],
)
def test_questions_that_make_no_sense_are_refused(asked, options, message):
    with pytest.raises(ParameterError) as refusal:
        reconstruct(mixed(), asked, **options)
    assert message in str(refusal.value)


def test_each_layout_has_its_methods():
    made = release(
        [attribute("a", "int32", None, Kind.NUMERIC)],
        {"a": pa.array([1], pa.int32())},
        {},
        "generalized",
    )
    for method in OF_SETS:
        with pytest.raises(ParameterError, match=r"for the layout sets.*has generalized; use `pl"):
            reconstruct(made, ["a"], method, np.random.default_rng(1))
    with pytest.raises(ParameterError, match="for other layouts than sets"):
        reconstruct(mixed(), ["age"], "plausible", np.random.default_rng(1))
    with pytest.raises(ParameterError, match="`plausible` needs a generator"):
        reconstruct(made, ["a"])


@pytest.mark.parametrize("method", ["bayes", "inverse"])
def test_sets_that_are_not_random_are_not_taken_for_such(method):
    made = mixed()
    manifest = made.manifest.model_copy(update={"method": "rating"})
    rated = type(made)(manifest, made.tables)
    with pytest.raises(ParameterError, match="were not drawn at random"):
        reconstruct(rated, ["disease"], method)
    assert reconstruct(rated, ["disease"], "value-adding").counts.sum() == pytest.approx(4)


def test_cross_tables_that_do_not_fit_are_refused():
    made = coded_release([np.array([[1, 2]])] * 3, [400] * 3, [(1.0, 2)] * 3)
    assert reconstruct(made, "ab").counts.shape == (400, 400)
    with pytest.raises(ParameterError, match="more than 50000000 cells"):
        reconstruct(made, "abc")


def test_products_that_take_too_long_are_refused(monkeypatch):
    monkeypatch.setattr("sfumato.answers.set_counts.MOST_STEPS", 3)
    with pytest.raises(ParameterError, match="2 records have 2 combinations each, too many"):
        reconstruct(coded_release([np.array([[0, 1], [1, 2]])], [4], [(1.0, 2)]), "a")


DAMAGES = {
    "another size": {"sets": {"disease": {"p": 1.0, "eta": 1}}},
    "no p": {"sets": {"disease": {"eta": 2}}},
    "p above 1": {"sets": {"disease": {"p": 1.5, "eta": 2}}},
    "p in words": {"sets": {"disease": {"p": "one", "eta": 2}}},
    "eta above d": {"sets": {"disease": {"p": 1.0, "eta": 4}}},
    "no parameters": {"sets": {"disease": None}},
    "unexplained sets": {"sets": {}},
    "exact, said to be sets": {"sets": {"disease": {"p": 1, "eta": 2}, "ward": {"p": 1, "eta": 1}}},
}


@pytest.mark.parametrize("case", DAMAGES)
def test_manifests_that_do_not_fit_the_cells_are_refused(case):
    with pytest.raises(ReleaseDamaged) as refusal:
        reconstruct(mixed(**DAMAGES[case]), ["disease", "ward"])
    assert not any(value in str(refusal.value) for value in ("Flu", "a, b", "West"))


@pytest.mark.parametrize(
    "cells",
    [
        [["Flu", None], ["Flu"]],
        [["Flu", "Flu"]],
        [["Flu", "Cold"]],
        [["Flu", None], None],
        [[]],
    ],
    ids=["sizes", "twice", "unknown", "missing", "empty"],
)
def test_sets_that_are_none_are_refused(cells):
    entry = attribute("disease", "string", ["Flu", "a, b", None])
    column = pa.array(cells, pa.list_(pa.string()))
    with pytest.raises(ReleaseDamaged) as refusal:
        made = release([entry], {"disease": column}, {"disease": {"p": 1.0, "eta": 2}})
        reconstruct(made, ["disease"])
    assert "Flu" not in str(refusal.value)


@pytest.mark.parametrize("cell", ["North", "*", "{West, empty}"])
def test_exact_cells_that_are_none_are_refused(cell):
    made = release([attribute("ward", "string", ["West", "empty"])], {"ward": ["West", cell]}, {})
    with pytest.raises(ReleaseDamaged, match="attribute 'ward'"):
        reconstruct(made, ["ward"])


def test_a_column_without_any_value_has_one_missing_value():
    people = pa.table({"job": ["a", "b", "c"] * 4, "note": pa.nulls(12)})
    schema = Schema.of(job="sensitive", note="quasi-identifier")
    made = SensitiveQID(l=2).publish(people, schema)
    found = reconstruct(made, ["note", "job"], "inverse")
    assert found.counts.shape == (1, 3)
    assert found.counts.sum() == pytest.approx(12)
