"""Predicates that say the same get the same answer; one cell has one value wherever it is read."""

from __future__ import annotations

from datetime import date

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from answers.consistent import aggregate, originals
from answers.every_deal import outcomes
from answers.questions import any_predicates
from answers.test_every_deal import people, sliced
from answers.test_set_answers import ranges
from hypothesis import given, settings

from sfumato.answers import Answerer, Average, Count, Sum
from sfumato.predicates import And, IsMissing, Not, Or, parse
from sfumato.release import AttributeEntry, Bounds, Manifest, Release, TableEntry

ENTRIES = tuple(
    AttributeEntry(name=name, role=role, kind=kind, type=type_, domain=domain)
    for name, role, kind, type_, domain in [
        ("age", "quasi-identifier", "numeric", "int64", Bounds(min=20, max=23)),
        ("sex", "quasi-identifier", "categorical", "string", ("F", "M")),
        ("pay", "sensitive", "numeric", "int64", Bounds(min=-2, max=3)),
    ]
)
AGES = st.sampled_from(["20", "22", None, "[20, 21]", "[21, 23]", "{20, 22}", "{null, 21}"])
SEXES = st.sampled_from(["F", "M", "{F, M}", "{null, F}"])
SUMMED = st.sampled_from([None, "age", "pay"])


def records(ages, sexes, pays, buckets=None) -> Release:
    """Return generalised records; with buckets, a local release."""
    cells = {"group": [1] * len(ages), "age": ages, "sex": sexes, "pay": pays}
    if buckets is not None:
        cells["pay.bucket"] = buckets
    manifest = Manifest(
        method="test",
        layout="generalized" if buckets is None else "local",
        software="test",
        created=date(2026, 1, 31),
        rows=len(ages),
        attributes=ENTRIES,
        tables=(TableEntry(name="records", attributes=("age", "sex", "pay"), group="group"),),
    )
    types = {"age": pa.string(), "sex": pa.string(), "pay": pa.int64()}
    columns = {name: pa.array(own, types.get(name, pa.int32())) for name, own in cells.items()}
    return Release(manifest, {"records": pa.table(columns)})


@st.composite
def releases(draw, with_buckets: bool) -> Release:
    rows = draw(st.integers(2, 4))

    def column(cells):
        return draw(st.lists(cells, min_size=rows, max_size=rows))

    buckets = None
    if with_buckets:
        drawn = column(st.integers(1, 2))
        buckets = [sorted(set(drawn)).index(each) + 1 for each in drawn]
    pays = column(st.none() | st.integers(-2, 3))
    return records(column(AGES), column(SEXES), pays, buckets)


def rewritten(draw, predicate):
    """Return a predicate that is true of the same rows."""
    kind = draw(st.integers(0, 6))
    match predicate:
        case And(parts) | Or(parts) if kind < 3:
            own, other = (And, Or) if isinstance(predicate, And) else (Or, And)
            parts = [rewritten(draw, part) for part in parts]
            if kind == 0:
                return Not(other(tuple(Not(part) for part in parts)))
            inner = next((part for part in parts if isinstance(part, other)), None)
            if kind == 1 and inner is not None:
                rest = tuple(part for part in parts if part is not inner)
                return other(tuple(own((*rest, each)) for each in inner.parts))
            return own(tuple(reversed(parts)))
    other = draw(any_predicates)
    match kind:
        case 3:
            return And((predicate, predicate))
        case 4:
            return Or((predicate, And((other, predicate))))
        case 5:
            return And((Or((other, predicate)), predicate))
        case 6:
            # true, false or unknown for a missing cell
            missing = tuple(IsMissing(name) for name in sorted(other.attributes))
            return Or(tuple(And((predicate, each)) for each in (other, Not(other), *missing)))
    return predicate


def same(release: Release, one, other, summed) -> None:
    answerer = Answerer(release)
    asked = Sum(summed) if summed else Count()
    first, second = (answerer.answer(asked, each) for each in (one, other))
    assert second.value == pytest.approx(first.value)
    assert (second.low, second.high) == (first.low, first.high)
    if first.se is None or second.se is None:
        assert first.se == second.se
    else:
        assert second.se == pytest.approx(first.se, abs=1e-6)


@settings(max_examples=150)
@given(
    releases(with_buckets=False) | releases(with_buckets=True), any_predicates, SUMMED, st.data()
)
def test_records_answer_the_same_to_what_says_the_same(release, predicate, summed, data):
    same(release, predicate, rewritten(data.draw, predicate), summed)


CELLS = st.lists(
    st.sampled_from(["20", "[20, 21]", "[21, 23]", "{20, 22}"]), min_size=1, max_size=4
)
TOGETHER = st.sampled_from(
    [(("age", "sex", "pay"),), (("age", "sex"), ("pay",)), (("age",), ("sex", "pay"))]
)


@settings(max_examples=150)
@given(people(most=3), TOGETHER, CELLS, any_predicates, st.sampled_from([None, "pay"]), st.data())
def test_blocks_answer_the_same_to_what_says_the_same(
    groups, together, cells, predicate, summed, data
):
    release = sliced(groups, together, cells)
    same(release, predicate, rewritten(data.draw, predicate), summed)


@settings(max_examples=100)
@given(people(most=3), TOGETHER, CELLS, any_predicates, st.sampled_from([None, "pay"]))
def test_blocks_answer_what_all_originals_give_on_average(
    groups, together, cells, predicate, summed
):
    """Bounds and means are those of every value of a cell, and every deal."""
    release = sliced([groups[0]], together, cells)
    found = Answerer(release).answer(Sum(summed) if summed else Count(), predicate)
    true = outcomes(release, predicate, summed)
    assert (found.low, found.high) == (true.low, true.high)
    assert found.value == pytest.approx(float(true.mean), abs=1e-9)


@settings(max_examples=150)
@given(releases(with_buckets=False) | releases(with_buckets=True), any_predicates, SUMMED)
def test_records_answer_what_all_originals_give_on_average(release, predicate, summed):
    """Bounds are exact without buckets, and valid with them; the value is the mean in any case."""
    found = Answerer(release).answer(Sum(summed) if summed else Count(), predicate)
    names = sorted(predicate.attributes | ({summed} if summed else set()))
    results = [aggregate(rows, predicate, summed) for rows in originals(release, names)]
    assert found.value == pytest.approx(sum(results) / len(results), abs=1e-9)
    assert found.low <= min(results) <= max(results) <= found.high
    if release.manifest.layout == "generalized":
        assert (found.low, found.high) == (min(results), max(results))


PAIRS = [
    ("(age = 21 OR sex = 'F') AND age = 22", "age = 22 AND sex = 'F'"),
    ("(age < 21 OR sex = 'F') AND (age >= 21 OR sex = 'F')", "sex = 'F'"),
    ("(age = 21 AND pay > 0) OR (age = 22 AND pay > 0)", "age IN (21, 22) AND pay > 0"),
    ("(pay = 1 OR age < 22) AND pay = 2", "age < 22 AND pay = 2"),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
@pytest.mark.parametrize("buckets", [None, [1, 1, 2, 2]])
@pytest.mark.parametrize("asked", [Count(), Sum("age"), Sum("pay"), Average("age")])
def test_pairs(one, other, buckets, asked):
    release = records(
        ["[20, 23]"] * 2 + ["[21, 22]"] * 2, ["F", "M", "F", "M"], [1, 2, 0, 2], buckets
    )
    answerer = Answerer(release)
    first, second = answerer.answer(asked, one), answerer.answer(asked, other)
    # how closely an average is followed depends on how the predicate is put
    for name in ("value",) if asked == Average("age") else ("value", "low", "high", "se"):
        known = getattr(second, name)
        assert getattr(first, name) == (
            None if known is None else pytest.approx(known, nan_ok=True)
        )


def in_ranges(predicate, summed) -> list[tuple[float, float, float]]:
    """Return what each value of the domain of `ranges` adds: on average, least and greatest."""
    found = []
    for low, high in [(20, 29), (30, 39), (40, 44), (None, None)]:
        values = [None] if low is None else list(range(low, high + 1))
        results = [aggregate([{"age": value}], predicate, summed) for value in values]
        found.append((sum(results) / len(results), min(results), max(results)))
    return found


@pytest.mark.parametrize("summed", [None, "age"])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("(age = 33 OR age < 25) AND age > 22", "age = 33 OR age IN (23, 24)"),
        ("NOT (age < 35) AND (age < 42 OR age IS NULL)", "age BETWEEN 35 AND 41"),
    ],
)
def test_ranges_in_sets(one, other, summed):
    """One part, however it is spelled, is read as a whole: so it was, and stays."""
    answerer, asked = Answerer(ranges()), Sum(summed) if summed else Count()
    first, second = answerer.answer(asked, one), answerer.answer(asked, other)
    assert first.value == pytest.approx(second.value)
    adds = in_ranges(parse(one), summed)
    domain = sum(mean for mean, _, _ in adds)
    value = sum((adds[a][0] + adds[b][0] - domain / 3) * 1.5 for a, b in ((0, 1), (1, 2), (2, 3)))
    low = sum(min(adds[a][1], adds[b][1]) for a, b in ((0, 1), (1, 2), (2, 3)))
    high = sum(max(adds[a][2], adds[b][2]) for a, b in ((0, 1), (1, 2), (2, 3)))
    assert (first.low, first.high) == (low, high)
    assert first.value == pytest.approx(min(max(value, low), high))


def two_columns() -> Release:
    """Return sets of two ranges of ages each, and exact words."""
    made = ranges()
    sex = AttributeEntry(name="sex", role="quasi-identifier", kind="categorical", type="string")
    table = made.tables["records"].append_column("sex", pa.array(["F", "M", "F"]))
    entry = TableEntry(name="records", attributes=("age", "sex"))
    manifest = made.manifest.model_copy(
        update={"attributes": (*made.manifest.attributes, sex), "tables": (entry,)}
    )
    return Release(manifest, {"records": table})


@pytest.mark.parametrize("summed", [None, "age"])
@pytest.mark.parametrize(
    "question",
    [
        "(age = 33 OR sex = 'F') AND age > 31",
        "(age < 25 AND sex = 'F') OR (age > 22 AND sex = 'M')",
        "(age < 25 AND sex = 'F') OR (age < 25 AND sex = 'M')",
        "(age > 34 OR sex = 'F') AND (age <= 34 OR age IS NULL OR sex = 'F')",
    ],
)
def test_ranges_in_sets_beside_others(question, summed):
    """A range is read in two places, with another column between: all its numbers are tried."""
    found = Answerer(two_columns()).answer(Sum(summed) if summed else Count(), question)
    predicate, low, high, value = parse(question), 0.0, 0.0, 0.0
    spans = [range(20, 30), range(30, 40), range(40, 45), [None]]
    for chosen, sex in zip(((0, 1), (1, 2), (2, 3)), "FMF", strict=True):
        adds = [
            [aggregate([{"age": age, "sex": sex}], predicate, summed) for age in span]
            for span in spans
        ]
        means = [sum(each) / len(each) for each in adds]
        value += (sum(means[i] for i in chosen) - sum(means) / 3) * 1.5
        low += min(min(adds[i]) for i in chosen)
        high += max(max(adds[i]) for i in chosen)
    assert (found.low, found.high) == (low, high)
    assert found.value == pytest.approx(min(max(value, low), high))
    if question.endswith("IS NULL OR sex = 'F')") and summed is None:
        assert found.se is not None  # where in its range an age lies does not matter


def test_bounds_of_sums_know_what_is_in_a_bucket():
    """Two values of a bucket of four satisfy the predicate: just two of the numbers count."""
    release = records(["20", "20", "22", "22"], ["F"] * 4, [1, 2, 1, 2], [1, 1, 1, 1])
    answerer = Answerer(release)
    found = answerer.answer(Sum("age"), "pay = 1")
    assert (found.low, found.value, found.high) == (40, 42, 44)
    assert answerer.answer(Average("age"), "pay = 1").low == 20
    split = records(["20", "20", "22", "22"], ["F"] * 4, [1, 2, 1, 2], [1, 1, 2, 2])
    found = Answerer(split).answer(Sum("age"), "pay = 1")
    assert (found.low, found.high) == (42, 42)


@settings(max_examples=150)
@given(releases(with_buckets=True), st.sampled_from([And, Or]), st.data())
def test_bounds_of_sums_are_exact_where_one_bucket_decides(release, joined, data):
    texts = ["pay > 0", "pay = 1", "pay IS NULL", "pay IN (0, 2)", "pay != -1"]
    others = ["age > 20", "age = 21", "sex = 'F'", "sex != 'M' OR age < 22", "age IS NULL"]
    own, other = (parse(data.draw(st.sampled_from(each))) for each in (texts, others))
    predicate = data.draw(st.sampled_from([own, joined((own, other))]))
    found = Answerer(release).answer(Sum("age"), predicate)
    names = sorted(predicate.attributes | {"age"})
    results = {aggregate(rows, predicate, "age") for rows in originals(release, names)}
    assert (found.low, found.high) == (min(results), max(results))


def test_a_large_bucket_is_brought_in_order():
    """More rows than are sorted by inserting; the 30 least and greatest numbers count."""
    ages = [str(20 + (7 * row) % 4) for row in range(90)]
    pays = [1] * 30 + [2] * 60
    found = Answerer(records(ages, ["F"] * 90, pays, [1] * 90)).answer(Sum("age"), "pay = 1")
    ordered = sorted(map(int, ages))
    assert (found.low, found.high) == (sum(ordered[:30]), sum(ordered[-30:]))
