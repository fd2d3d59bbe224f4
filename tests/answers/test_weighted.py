"""Weighted answers: bounds are the ends of all weights that the totals allow, and no wider."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, isnan

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.weighted import of_group, of_groups

import sfumato as sf
from sfumato.answers import Answerer, to_microdata
from sfumato.answers.estimate import Average, Count, Sum
from sfumato.audit import audit
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.release import AttributeEntry, Bounds, Manifest, Release, TableEntry
from sfumato.schema import Attribute, EqualWidth, Schema
from sfumato.table import encode
from sfumato.utility.query_errors import query_errors
from sfumato.utility.workload import workload

# Published means have nine digits.
CLOSE = 1e-8


@dataclass(frozen=True)
class Asked:
    """A predicate in words, and as what it means."""

    text: str | None
    holds: Callable


# Of x in two places each is looked at by itself: bounds are right, and need not be the closest.
TWICE = "x > 2 OR (x < 2 AND y = 'b')"
PREDICATES = [
    Asked(None, lambda row: True),
    Asked("x > 2", lambda row: row["x"] is not None and row["x"] > 2),
    Asked("x IS NULL", lambda row: row["x"] is None),
    Asked("y = 'a'", lambda row: row["y"] == "a"),
    Asked(
        "x > 2 AND y = 'a'", lambda row: row["x"] is not None and row["x"] > 2 and row["y"] == "a"
    ),
    Asked("x <= 1 OR z < 0", lambda row: (row["x"] is not None and row["x"] <= 1) or row["z"] < 0),
    Asked("NOT (x = 2) AND z <> 1", lambda row: row["x"] not in (None, 2) and row["z"] != 1),
    Asked(
        TWICE,
        lambda row: row["x"] is not None and (row["x"] > 2 or (row["x"] < 2 and row["y"] == "b")),
    ),
]
CELLS = {
    "2": [2],
    "[1, 2]": [1, 2],
    "[2, 4]": [2, 3, 4],
    "{null, [3, 4]}": [3, 4, None],
    None: [None],
}


@dataclass(frozen=True)
class Group:
    """A group of records: its cell of x, each record's y and z, and the total weight."""

    x: str | None
    others: tuple[tuple[str, int], ...]
    total: int

    @property
    def records(self):
        return [{"x": CELLS[self.x], "y": [y], "z": [z]} for y, z in self.others]


GROUPS = st.lists(
    st.builds(
        Group,
        st.sampled_from(list(CELLS)),
        st.lists(
            st.tuples(st.sampled_from("ab"), st.sampled_from([-1, 1, 2])), min_size=1, max_size=3
        ).map(tuple),
        st.integers(1, 4),
    ),
    min_size=1,
    max_size=3,
)


def entry(name: str, role: str, kind: str, dtype: str, domain=None) -> AttributeEntry:
    return AttributeEntry(name=name, role=role, kind=kind, type=dtype, domain=domain)


def release_of(groups, **changes) -> Release:
    rows = [
        (number, group.x, y, z, float(f"{group.total / len(group.others):.8e}"))
        for number, group in enumerate(groups, start=1)
        for y, z in group.others
    ]
    names = ("group", "x", "y", "z", "w")
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    columns["x"] = pa.array(columns["x"], pa.string())
    manifest = Manifest(
        method="mondrian",
        layout="generalized",
        software="sfumato 0.1.0",
        created="2026-01-31",
        rows=len(rows),
        attributes=(
            entry("x", "quasi-identifier", "numeric", "int64", Bounds(min=1, max=4)),
            entry("y", "sensitive", "categorical", "string", ("a", "b")),
            entry("z", "sensitive", "numeric", "int64", Bounds(min=-1, max=2)),
        ),
        tables=(TableEntry(name="records", attributes=("x", "y", "z"), group="group", weight="w"),),
        guarantees=({"model": "k-anonymity", "k": 1},),
        **changes,
    )
    return Release(manifest, {"records": pa.table(columns)})


@settings(max_examples=120)
@given(GROUPS, st.sampled_from(PREDICATES), st.sampled_from([None, "x", "z"]))
def test_counts_and_sums_are_bounded_by_all_weights_and_no_wider(groups, asked, attribute):
    found = [of_group(g.records, g.total, asked.holds, attribute) for g in groups]
    low = float(sum(min(total for total, _ in own) for own in found))
    high = float(sum(max(total for total, _ in own) for own in found))
    aggregate = Count() if attribute is None else Sum(attribute)
    told = Answerer(release_of(groups)).answer(aggregate, asked.text)
    assert told.low <= low + 1e-12 and told.high >= high - 1e-12
    assert told.low <= told.value <= told.high
    if asked.text == TWICE:
        return
    size = sum(4 * group.total for group in groups)
    assert told.low == pytest.approx(low, abs=CLOSE * size)
    assert told.high == pytest.approx(high, abs=CLOSE * size)


@settings(max_examples=120)
@given(GROUPS, st.sampled_from(PREDICATES), st.sampled_from(["x", "z"]))
def test_averages_are_bounded_by_all_weights(groups, asked, attribute):
    found = of_groups([of_group(g.records, g.total, asked.holds, attribute) for g in groups])
    averages = [float(total / weight) for total, weight in found if weight]
    told = Answerer(release_of(groups)).answer(Average(attribute), asked.text)
    if not averages:
        assert isnan(told.low) and isnan(told.high)
        return
    low, high = min(averages), max(averages)
    assert told.low <= low + 1e-9 and told.high >= high - 1e-9
    assert isnan(told.value) or told.low <= told.value <= told.high
    numbers = [n for g in groups for r in g.records for n in r[attribute] if n is not None]
    assert told.low >= min(numbers) - 1e-9 and told.high <= max(numbers) + 1e-9
    if asked.text == TWICE:
        return
    # the search for the ends stops once it is close
    assert low - told.low <= 0.05 * (max(numbers) - min(numbers)) + 1e-6
    assert told.high - high <= 0.05 * (max(numbers) - min(numbers)) + 1e-6


@given(GROUPS, st.sampled_from(PREDICATES))
def test_estimates_take_the_mean_of_each_group(groups, asked):
    release = release_of(groups)
    expected = 0.0
    for group in groups:
        mean = group.total / len(group.others)
        for record in group.records:
            values = [
                dict(zip(record, (x, *record["y"], *record["z"]), strict=True)) for x in record["x"]
            ]
            expected += mean * sum(map(asked.holds, values)) / len(values)
    told = Answerer(release).answer(Count(), asked.text)
    if asked.text == TWICE:
        return
    assert told.value == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_without_weights_rows_count_once():
    release = release_of([Group("2", (("a", 1), ("b", 2)), 10)])
    assert release.count(weighted=False).value == 2
    assert release.sum("z", weighted=False).value == 3
    assert release.average("z", weighted=False).value == 1.5
    assert release.query("SELECT COUNT(*)", weighted=False).rows[0].estimate.value == 2
    assert release.query("SELECT COUNT(*)").rows[0].estimate.value == 10
    assert release.count().value == 10
    assert release.sum("z").value == 15


def test_notes_say_what_was_weighted():
    release = release_of([Group("2", (("a", 1), ("b", 2)), 10)])
    (note,) = release.query("SELECT COUNT(*)").notes
    assert note.startswith("answers are weighted by 'w'")
    (note,) = release.query("SELECT COUNT(*)", weighted=False).notes
    assert "leave out their weights" in note


@pytest.mark.parametrize(
    ("query", "character"),
    [
        ("SELECT SUM(w)", 12),
        ("SELECT COUNT(*) WHERE (w > 2)", 24),
        ("SELECT w, COUNT(*) GROUP BY w", 8),
    ],
)
def test_weights_cannot_be_asked_for(query, character):
    release = release_of([Group("2", (("a", 1), ("b", 2)), 10)])
    with pytest.raises(ParameterError, match=f"character {character}: column 'w' holds weights"):
        release.query(query)


def test_groups_of_answers_are_weighted_and_none_is_of_withheld_rows_alone():
    groups = [
        Group("2", (("a", 1), ("a", 2)), 10),
        Group("{null, [3, 4]}", (("b", 1), ("b", 1)), 4),
    ]
    for withheld in (0, 3):
        release = release_of(groups, suppressed=withheld)
        rows = release.query("SELECT y, COUNT(*) GROUP BY y").rows
        assert [row.group for row in rows] == [("a",), ("b",)]
        scale = (4 + withheld) / 4
        assert [row.estimate.value for row in rows] == pytest.approx([10 * scale, 4 * scale])
        assert [row.estimate.low for row in rows] == pytest.approx([10, 4])
        tops = [row.estimate.high for row in rows]
        assert tops == ([inf, inf] if withheld else pytest.approx([10, 4]))
        named = [row.group[0] for row in release.query("SELECT x, COUNT(*) GROUP BY x").rows]
        assert named == [2, 3, 4, None]


def test_of_withheld_rows_nothing_is_known():
    release = release_of([Group("2", (("a", 1), ("b", 2)), 10)], suppressed=2)
    count, total, mean = release.count(), release.sum("z"), release.average("z")
    assert (count.value, count.high) == (20, inf)
    assert count.low == pytest.approx(10)
    assert (total.low, total.high, mean.low, mean.high) == (-inf, inf, -inf, inf)
    assert mean.value == pytest.approx(1.5)
    assert any("no upper bound" in note for note in release.query("SELECT COUNT(*)").notes)


def test_weights_that_differ_within_a_group_are_no_answer_and_no_release():
    release = release_of([Group("2", (("a", 1), ("b", 2)), 10), Group("2", (("a", 1),), 3)])
    records = release.tables["records"]
    spoilt = records.set_column(records.column_names.index("w"), "w", pa.array([5.0, 5.5, 3.0]))
    wrong = Release(release.manifest, {"records": spoilt})
    with pytest.raises(ReleaseDamaged, match="in 1 of 2 groups the records differ in their wei"):
        audit(wrong)
    with pytest.raises(ReleaseDamaged, match="differ within a group"):
        wrong.count()
    assert audit(release).ok
    fine = records.set_column(records.column_names.index("w"), "w", pa.array([5 + 1e-12] * 3))
    with pytest.raises(ReleaseDamaged, match="more than 9 digits"):
        audit(Release(release.manifest, {"records": fine}))


@pytest.mark.parametrize("weight", [0.0, -1.0, inf, float("nan"), None])
def test_weights_are_numbers_above_0(weight):
    release = release_of([Group("2", (("a", 1), ("b", 2)), 10)])
    records = release.tables["records"]
    column = pa.array([weight, weight], pa.float64())
    spoilt = records.set_column(records.column_names.index("w"), "w", column)
    with pytest.raises(ReleaseDamaged, match="column 'w' does not hold values of its type"):
        Release(release.manifest, {"records": spoilt})


@pytest.mark.parametrize(
    "changes", [{"parameters": {"sample": 0.5}}, {"parameters": {"perturb": 0.5}}]
)
def test_weights_have_no_place_beside_records_that_are_nobodys(changes):
    release = release_of([Group("2", (("a", 1), ("b", 2)), 10)], **changes)
    with pytest.raises(ReleaseDamaged, match="weights have no place"):
        audit(release)
    with pytest.raises(ReleaseDamaged, match="weights have no place"):
        release.count()


# Releases that methods make


def people(n: int = 200) -> pa.Table:
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "age": rng.integers(18, 80, n),
            "hours": rng.integers(0, 60, n),
            "pay": pa.array(rng.normal(10, 20, n).round(2), mask=rng.random(n) < 0.1),
            "job": rng.choice(list("abcde"), n),
            "w": rng.lognormal(2, 1.5, n),
        }
    )


def schema() -> Schema:
    return Schema(
        (
            Attribute("age", "quasi-identifier", hierarchy=EqualWidth(width=5)),
            Attribute("hours", "quasi-identifier", hierarchy=EqualWidth(width=5)),
            Attribute("pay", "sensitive"),
            Attribute("job", "insensitive", keep=True),
        ),
        weight="w",
    )


def plain() -> Schema:
    """The same without hierarchies."""
    attributes = tuple(replace(each, hierarchy=None) for each in schema())
    return Schema(attributes, weight="w")


METHODS = [
    (sf.Mondrian(k=5), plain()),
    (sf.TopDown(k=5), plain()),
    (sf.FullDomain(k=5, suppression=0.05), schema()),
    (sf.MDAV(k=5), plain()),
    (sf.LocalSuppression(k=5), plain()),
]


@pytest.mark.parametrize(("method", "asked"), METHODS, ids=lambda each: getattr(each, "name", ""))
def test_methods_publish_means_and_answers_contain_the_truth(method, asked):
    data = people()
    release = method.publish(data, asked, randomness=sf.Randomness.test(5))
    report = audit(release)
    assert all(verdict.holds for verdict in report.guarantees)
    records = release.tables["records"]
    own, published = data["w"].to_numpy(), records["w"].to_numpy()
    assert len(np.unique(published)) <= len(set(records["group"].to_pylist()))
    assert not set(published.tolist()) & set(own.tolist())
    if not release.manifest.suppressed:
        assert published.sum() == pytest.approx(own.sum(), rel=1e-6)
    table = encode(data, asked)
    rng = np.random.default_rng(8)
    answerer = Answerer(release)
    for aggregate in (Count(), Sum("pay"), Average("pay"), Average("age")):
        probes = workload(
            table,
            ["age", "hours", "job", "pay"],
            queries=40,
            dimension=2,
            selectivity=0.2,
            aggregate=aggregate,
            rng=rng,
        )
        assert query_errors(answerer, table, probes).missed == 0
    rows = to_microdata(release, rng)
    assert np.array_equal(rows["w"].to_numpy(), published)


def test_other_methods_refuse_weights():
    for method in (sf.Anatomy(l=2), sf.PRAM(), sf.Hybrid(k=2)):
        with pytest.raises(ParameterError, match="cannot publish the weights of 'w'"):
            method.publish(people(40), plain())


@pytest.mark.parametrize("weight", [1e-320, 1e308])
def test_weights_that_have_no_mean_are_refused(weight):
    data = pa.table({"age": [20] * 4, "w": [weight] * 3 + [5e-324]})
    with pytest.raises(ParameterError, match="too large or too small"):
        sf.Mondrian(k=4).publish(
            data, Schema(Schema.of(age="quasi-identifier").attributes, weight="w")
        )


@pytest.mark.parametrize("weights", ["own", "whole"])
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_files_keep_weights(format, weights, tmp_path):
    data = people()
    if weights == "whole":
        data = data.set_column(4, "w", pa.array([1000] * 199 + [5]))
    release = sf.Mondrian(k=5).publish(data, plain())
    release.save(tmp_path / "release", format=format)
    assert Release.load(tmp_path / "release").tables["records"].equals(release.tables["records"])


def test_adult_by_its_weights(shared):
    """A thousand random queries on Adult, weighted by `fnlwgt`: no truth is out of bounds."""
    names = ["age", "workclass", "education", "sex", "hours-per-week", "occupation", "fnlwgt"]
    data = pq.read_table(shared / "data" / "adult.parquet")
    data = data.select([name for name in names if name in data.column_names]).drop_null()
    attributes = [
        Attribute(name, "sensitive" if name == "occupation" else "quasi-identifier")
        for name in data.column_names
        if name != "fnlwgt"
    ]
    asked = Schema(tuple(attributes), weight="fnlwgt")
    release = sf.Mondrian(k=5).publish(data, asked, randomness=sf.Randomness.test(2))
    table = encode(data, asked)
    assert table.weights is not None
    published = release.tables["records"]["fnlwgt"].to_numpy()
    assert published.sum() == pytest.approx(table.weights.sum(), rel=1e-6)
    answerer, rng = Answerer(release), np.random.default_rng(4)
    asked_in_all = 0
    for aggregate, queries in ((Count(), 600), (Sum("age"), 300), (Average("hours-per-week"), 100)):
        for dimension in (1, 2):
            probes = workload(
                table,
                [attribute.name for attribute in attributes],
                queries=queries // 2,
                dimension=dimension,
                selectivity=0.1,
                aggregate=aggregate,
                rng=rng,
            )
            found = query_errors(answerer, table, probes)
            assert found.missed == 0
            asked_in_all += found.bounded
    assert asked_in_all >= 990
