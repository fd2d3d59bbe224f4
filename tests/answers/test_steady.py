"""Sums of numbers far from 0, and of numbers whose squares are beyond floats."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from math import isfinite, isnan, sqrt

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from answers.every_deal import outcomes
from answers.hand_made_sets import attribute
from answers.hand_made_sets import release as set_release
from answers.questions import any_predicates
from answers.test_every_deal import TOGETHER, anatomized, people, sliced
from answers.test_local_errors import bucketed_releases, true_variances
from hypothesis import given, settings

from sfumato.answers import Answerer, Average, Sum
from sfumato.methods import Anatomy, Mondrian
from sfumato.predicates import evaluate_frame, parse
from sfumato.release import AttributeEntry, Manifest, Release, TableEntry
from sfumato.schema import Kind, Schema

MOVES = st.sampled_from([10**9, -(10**9), 1_700_000_000_000])
CLOSE = 1e-4


def moved(release: Release, by: int, name: str = "pay") -> Release:
    """Return the release with as much added to every number of a column."""
    tables = {}
    for key, own in release.tables.items():
        table = own
        if name in own.column_names:
            cells = [None if v is None else v + by for v in table[name].to_pylist()]
            at = table.column_names.index(name)
            table = table.set_column(at, name, pa.array(cells, pa.int64()))
        tables[key] = table
    entries = tuple(
        entry.model_copy(update={"domain": None}) if entry.name == name else entry
        for entry in release.manifest.attributes
    )
    return Release(release.manifest.model_copy(update={"attributes": entries}), tables)


# --- far from 0: against all deals, in whole numbers ----------------------------------------------


@settings(max_examples=150)
@given(people(), TOGETHER, any_predicates, MOVES)
def test_separate_tables(groups, together, predicate, by):
    release = moved(anatomized(groups, together), by)
    found = Answerer(release).answer(Sum("pay"), predicate)
    true = sqrt(outcomes(release, predicate, "pay", 0, 0).variance)
    assert found.se == pytest.approx(true, rel=CLOSE, abs=CLOSE)


@settings(max_examples=100)
@given(people(most=3), TOGETHER, st.none() | any_predicates, st.integers(0, 3), MOVES)
def test_blocks_with_fakes(groups, together, predicate, fakes, by):
    groups, fakes = groups[:1], min(fakes, len(groups[0]))
    release = moved(sliced(groups, together, fakes=fakes), by)
    found = Answerer(release).answer(Sum("pay"), predicate)
    true = sqrt(outcomes(release, predicate, "pay", fakes, 0).variance)
    assert found.se == pytest.approx(true, rel=CLOSE, abs=CLOSE)


@settings(max_examples=150)
@given(bucketed_releases(), any_predicates, MOVES)
def test_buckets(release, predicate, by):
    release = moved(release, by)
    found = Answerer(release).answer(Sum("pay"), predicate)
    if found.se is not None:
        true = sqrt(true_variances(release, predicate, "pay")[0])
        assert found.se == pytest.approx(true, rel=CLOSE, abs=CLOSE)


@pytest.mark.parametrize("by", [0, 10**9, 1_700_000_000_000])
@pytest.mark.parametrize("where", [None, "sex = 'F'"])
def test_sets(by, where):
    rng = np.random.default_rng(3)
    p, eta = Fraction(3, 4), 2
    domain = [by + each for each in range(5)]
    sets = [sorted(rng.choice(5, eta, replace=False).tolist()) for _ in range(40)]
    sexes = [["F"] if each else ["M"] for each in rng.integers(0, 2, 40)]
    release = set_release(
        [attribute("x", "int64", map(str, domain), Kind.ORDINAL), attribute("sex", "string", "FM")],
        {"x": pa.array([[domain[v] for v in each] for each in sets]), "sex": pa.array(sexes)},
        {"x": {"p": float(p), "eta": eta}, "sex": {"p": 1.0, "eta": 1}},
    )
    own = p + (1 - p) * Fraction(eta, 5)
    other = p * Fraction(eta - 1, 4) + (1 - p) * Fraction(eta, 5)

    def told(shown, numbers):
        return sum(
            n * ((v in shown) - other) / (own - other) for v, n in enumerate(map(Fraction, numbers))
        )

    kept = [each for each, sex in zip(sets, sexes, strict=True) if where is None or sex == ["F"]]
    variance = sum(told(each, domain) ** 2 - told(each, [v * v for v in domain]) for each in kept)
    found = Answerer(release).answer(Sum("x"), where)
    assert found.se == pytest.approx(sqrt(max(variance, 0)), rel=CLOSE)


@pytest.mark.parametrize("by", [0, 10**9, 1_700_000_000_000])
@pytest.mark.parametrize("where", [None, "sex = 'F'"])
def test_replaced_cells(by, where):
    rng = np.random.default_rng(4)
    matrix = {
        "x": [[Fraction(7, 8), Fraction(1, 8)], [Fraction(1, 4), Fraction(3, 4)]],
        "sex": [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 8), Fraction(7, 8)]],
    }
    numbers = [by + 3, by + 8]
    rows = rng.integers(0, 2, (60, 2)).tolist()
    release = Release(
        Manifest(
            method="pram",
            layout="generalized",
            software="by hand",
            created="2026-01-31",
            rows=60,
            attributes=(
                AttributeEntry(name="x", role="sensitive", kind="numeric", type="int64"),
                AttributeEntry(
                    name="sex",
                    role="sensitive",
                    kind="categorical",
                    type="string",
                    domain=("F", "M"),
                ),
            ),
            tables=(TableEntry(name="records", attributes=("x", "sex")),),
            parameters={
                "transitions": {
                    "x": {"values": [str(n) for n in numbers], "matrix": floats(matrix["x"])},
                    "sex": {"values": ["F", "M"], "matrix": floats(matrix["sex"])},
                }
            },
        ),
        {
            "records": pa.table(
                {"x": [numbers[x] for x, _ in rows], "sex": ["FM"[sex] for _, sex in rows]}
            )
        },
    )

    def told(x, sex, values):
        counts = [1, 1] if where is None else [1, 0]
        return back(matrix["x"], values)[x] * back(matrix["sex"], counts)[sex]

    squares = [n * n for n in numbers]
    variance = sum(told(x, sex, numbers) ** 2 - told(x, sex, squares) for x, sex in rows)
    found = Answerer(release).answer(Sum("x"), where)
    assert found.se == pytest.approx(sqrt(max(variance, 0)), rel=CLOSE)


def floats(matrix):
    return [[float(each) for each in row] for row in matrix]


def back(matrix, values):
    """Return what published values tell of true ones: the inverse, times these."""
    (a, b), (c, d) = matrix
    determinant = a * d - b * c
    one, other = values
    return (d * one - b * other) / determinant, (a * other - c * one) / determinant


def test_numbers_of_many_groups():
    """Groups of seven, of whom two are ill: who these are is all that is random."""
    ages = [7 * group + (n * n) % 11 for group in range(60) for n in range(7)]
    rows = [
        [{"age": None, "sex": "FM"[n > 1], "pay": ages[7 * group + n]} for n in range(7)]
        for group in range(60)
    ]
    together = (("age", "pay"), ("sex",))
    near = anatomized(rows, together)
    for where in ("sex = 'F'", "sex = 'F' or sex = 'M'", "sex = 'M' and pay is not null"):
        true = near.sum("pay", where).se
        for by in (10**9, 1_700_000_000_000):
            found = moved(near, by).sum("pay", where)
            assert found.se == pytest.approx(true, rel=CLOSE)
    assert near.sum("pay", "sex = 'F'").se > 10
    fakes = sliced(rows, together, fakes=9)
    true, found = fakes.sum("pay"), moved(fakes, 1_700_000_000_000).sum("pay")
    assert found.se == pytest.approx(true.se, rel=CLOSE)


# --- beyond floats --------------------------------------------------------------------------------

HUGE = {
    "squares": [1e155 * (1 + n % 7) for n in range(40)],
    "both signs": [(-1) ** n * 1e200 for n in range(40)],
    "sums": [(-1) ** (n // 2) * 1.7e308 for n in range(40)],
    "positive sums": [1.7e308 - n % 10 * 1e307 for n in range(40)],
}
WHERES = [None, "ill = 'Flu'", "age < 35", "age < 35 AND ill IN ('Flu', 'HIV')", "pay > 0"]


def huge_releases(pays):
    data = pa.table(
        {
            "age": [20 + n for n in range(40)],
            "pay": pays,
            "ill": ["Flu", "HIV", "Cold", "Gout"] * 10,
            "w": [1.0 + n % 3 for n in range(40)],
        }
    )
    for pay in ("quasi-identifier", "sensitive"):
        plain, unweighted = (
            Schema.of(age="quasi-identifier", pay=pay, ill="sensitive"),
            data.drop("w"),
        )
        yield data, Mondrian(k=4).publish(unweighted, plain)
        if pay == "quasi-identifier":
            yield data, Anatomy(l=2).publish(unweighted, plain)
    roles = {"age": "quasi-identifier", "pay": "sensitive", "ill": "sensitive"}
    yield data, Mondrian(k=4).publish(data, replace(Schema.of(roles), weight="w"))


@pytest.mark.parametrize("name", HUGE)
def test_answers_are_finite_or_none_and_bounds_hold(name):
    for data, release in huge_releases(HUGE[name]):
        answerer = Answerer(release)
        for where in WHERES:
            kept = rows_of(data, where)
            truth = sum(map(Fraction, kept))
            for aggregate in (Sum("pay"), Average("pay")):
                if not kept:
                    continue
                exact = truth if isinstance(aggregate, Sum) else truth / len(kept)
                found = answerer.answer(aggregate, where, weighted=False)
                assert not isnan(found.low) and not isnan(found.high)
                assert found.low == float("-inf") or Fraction(found.low) <= exact
                assert found.high == float("inf") or exact <= Fraction(found.high)
                assert found.se is None or isfinite(found.se)
                assert isnan(found.value) or found.low <= found.value <= found.high
                assert not np.isinf(found.value)
                weighted = answerer.answer(aggregate, where)
                assert not isnan(weighted.low) and not isnan(weighted.high)


def rows_of(data: pa.Table, where: str | None) -> list[float]:
    if where is None:
        return data["pay"].to_pylist()
    chosen = evaluate_frame(
        parse(where), data, Schema.of(age="sensitive", pay="sensitive", ill="sensitive")
    )
    return data.filter(pa.array(chosen))["pay"].to_pylist()


def test_large_numbers_are_told():
    for data, release in huge_releases(HUGE["squares"]):
        for query in ("SELECT SUM(pay) WHERE ill = 'Flu'", "SELECT AVG(pay)"):
            result = release.query(query)
            assert any("'pay' are so large" in note for note in result.notes)
            assert "NaN" not in json.dumps(result.to_dict())
        assert not any("so large" in note for note in release.query("SELECT COUNT(*)").notes)
        assert isfinite(release.sum("pay").value) and data.num_rows == 40
