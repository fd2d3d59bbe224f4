"""Answers from replaced cells: unbiased, with the right variance, within bounds that hold."""

from __future__ import annotations

from itertools import product
from math import prod, sqrt

import numpy as np
import pyarrow as pa
import pytest

from sfumato.answers import Answerer, Average, Count, Sum, to_microdata
from sfumato.answers.reconstruction import reconstruct
from sfumato.answers.transitions import TransitionAnswers
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.methods.pram import PRAM
from sfumato.predicates import parse
from sfumato.randomness import Randomness, repeatable
from sfumato.release import AttributeEntry, Bounds, Manifest, Release, TableEntry
from sfumato.schema import Attribute, Role, Schema

# Means over so many releases lie within so many standard errors of the truth; seeds are fixed.
RELEASES = 200
STANDARD_ERRORS = 4.0

MATRICES = {
    "sex": (["F", "M", None], [[0.7, 0.2, 0.1], [0.25, 0.7, 0.05], [0.1, 0.3, 0.6]]),
    "age": (["1", "2", "5"], [[0.8, 0.2, 0.0], [0.1, 0.6, 0.3], [0.0, 0.25, 0.75]]),
}
PREDICATES = [
    "sex = 'F'",
    "sex is null",
    "not sex = 'F'",
    "sex = 'F' and age > 1",
    "sex = 'M' or age = 5",
    "(sex = 'F' and age = 1) or (sex = 'M' and age > 1 and ward = 'a')",
    "ward = 'a' and not (age = 2 or sex is null)",
]


def hand_made(rows):
    """Return a release that shows these rows: sex and age are replaced, ward is exact."""
    sex, age, ward = zip(*rows, strict=True)
    stated = {n: {"values": v, "matrix": m} for n, (v, m) in MATRICES.items()}
    role = {"sex": "quasi-identifier", "age": "sensitive", "ward": "insensitive"}
    manifest = Manifest(
        method="pram",
        layout="generalized",
        software="by hand",
        created="2026-01-31",
        rows=len(rows),
        attributes=(
            AttributeEntry(
                name="sex", role=role["sex"], kind="categorical", type="string", domain=("F", "M")
            ),
            AttributeEntry(
                name="age",
                role=role["age"],
                kind="numeric",
                type="int64",
                domain=Bounds(min=0, max=9),
            ),
            AttributeEntry(
                name="ward", role=role["ward"], kind="categorical", type="string", domain=("a", "b")
            ),
        ),
        tables=(TableEntry(name="records", attributes=("sex", "age", "ward")),),
        parameters={"transitions": stated},
    )
    columns = {"sex": pa.array(sex, pa.string()), "age": age, "ward": ward}
    return Release(manifest, {"records": pa.table(columns)})


TRUTH = [("F", 1, "a"), ("M", 5, "b"), (None, 2, "a")]


def every_release():
    """Yield all rows that could be published of the truth, and how likely each release is."""
    options = []
    for sex, age, ward in TRUTH:
        own = []
        for (i, y), (j, z) in product(enumerate(("F", "M", None)), enumerate((1, 2, 5))):
            p = MATRICES["sex"][1][["F", "M", None].index(sex)][i]
            p *= MATRICES["age"][1][[1, 2, 5].index(age)][j]
            if p > 0:
                own.append(((y, z, ward), p))
        options.append(own)
    for chosen in product(*options):
        yield [row for row, _ in chosen], prod(p for _, p in chosen)


def truth_of(text, numbers=False):
    """Return the count, or the sum of ages, over the true rows; predicates in plain Python."""
    tests = {
        PREDICATES[0]: lambda s, a, w: s == "F",
        PREDICATES[1]: lambda s, a, w: s is None,
        PREDICATES[2]: lambda s, a, w: s is not None and s != "F",
        PREDICATES[3]: lambda s, a, w: s == "F" and a > 1,
        PREDICATES[4]: lambda s, a, w: s == "M" or a == 5,
        PREDICATES[5]: lambda s, a, w: (s == "F" and a == 1) or (s == "M" and a > 1 and w == "a"),
        # the negation of what is unknown is unknown, but IS NULL is known
        PREDICATES[6]: lambda s, a, w: w == "a" and a != 2 and s is not None,
    }
    return lambda rows: sum((a if numbers else 1) for s, a, w in rows if tests[text](s, a, w))


def test_means_and_variances_are_exact_over_all_releases():
    """Every release that the truth can give, with its chance: no simulation, no tolerance of it."""
    releases = [(TransitionAnswers(hand_made(rows)), p) for rows, p in every_release()]
    assert sum(p for _, p in releases) == pytest.approx(1)
    for text in PREDICATES:
        for numbers in (False, True):
            found = []
            for engine, p in releases:
                question = engine.question(["age"] if numbers else [], parse(text))
                own = question.moments(engine.numbers("age")[0]) if numbers else question.counted()
                found.append((*own, p))
            value, variance, chance = map(np.array, zip(*found, strict=True))
            assert chance @ value == pytest.approx(truth_of(text, numbers)(TRUTH)), text
            spread = chance @ value**2 - (chance @ value) ** 2
            assert chance @ variance == pytest.approx(spread, abs=1e-9), text


def test_bounds_are_those_of_all_originals_that_may_be_behind():
    """Brute force over all true values that the zeros of the matrices leave."""
    shown = [("F", 1, "a"), ("M", 5, "b"), (None, 1, "a"), ("F", 2, "b")]
    answerer = Answerer(hand_made(shown))
    options = []
    for sex, age, ward in shown:
        j = [1, 2, 5].index(age)
        ages = [v for v, line in zip((1, 2, 5), MATRICES["age"][1], strict=True) if line[j] > 0]
        options.append([(s, a, ward) for s in ("F", "M", None) for a in ages])
        assert sex in ("F", "M", None)
    originals = list(product(*options))
    for text in [*PREDICATES, "age > 1", "age = 5 and ward = 'b'"]:
        if text in PREDICATES:
            counts = [truth_of(text)(rows) for rows in originals]
            sums = [truth_of(text, numbers=True)(rows) for rows in originals]
        else:
            ward = ("b",) if "ward" in text else ("a", "b")
            least = 5 if "= 5" in text else 2
            held = [[a for _, a, w in rows if a >= least and w in ward] for rows in originals]
            counts, sums = [len(each) for each in held], [sum(each) for each in held]
        found = answerer.answer(Count(), text)
        assert (found.low, found.high) == (min(counts), max(counts)), text
        found = answerer.answer(Sum("age"), text)
        assert (found.low, found.high) == (min(sums), max(sums)), text
        assert found.low <= found.value <= found.high


def people(rows=400):
    rng = repeatable(8)
    sex = rng.choice(["F", "M", "?"], rows, p=[0.5, 0.4, 0.1])
    disease = np.where(rng.random(rows) < 0.5, sex, rng.choice(["Flu", "Cold", "HIV"], rows))
    data = {
        "sex": [None if s == "?" else s for s in sex],
        "age": rng.integers(20, 40, rows),
        "disease": [{"F": "Flu", "M": "Cold", "?": "HIV"}.get(d, d) for d in disease],
        "ward": rng.choice(["a", "b"], rows),
    }
    schema = Schema(
        (
            Attribute("sex", Role.QUASI_IDENTIFIER),
            Attribute("age", Role.QUASI_IDENTIFIER),
            Attribute("disease", Role.SENSITIVE),
            Attribute("ward", Role.INSENSITIVE, keep=True),
        )
    )
    return pa.table(data), schema


QUESTIONS = [
    (Count(), "sex = 'F' and disease = 'Flu'"),
    (Count(), "(disease = 'Flu' and ward = 'a') or (sex is null and age > 30)"),
    (Sum("age"), "disease in ('Flu', 'Cold') and age > 24"),
    (Average("age"), "disease = 'Flu'"),
]


def true_answers(data):
    table = data.to_pandas()
    flu, null = table.disease == "Flu", table.sex.isna()
    ages = table.age[table.disease.isin(["Flu", "Cold"]) & (table.age > 24)]
    return [
        ((table.sex == "F") & flu).sum(),
        ((flu & (table.ward == "a")) | (null & (table.age > 30))).sum(),
        ages.sum(),
        table.age[flu].mean(),
    ]


@pytest.mark.parametrize("kind", ["uniform", "proportional", "invariant"])
def test_answers_are_right_on_average_and_within_two_standard_errors_95_times_of_100(kind):
    data, schema = people()
    truths = np.array(true_answers(data), float)
    found = np.empty((RELEASES, len(QUESTIONS), 2))
    for seed in range(RELEASES):
        method = PRAM(keep=0.75, kind=kind)
        release = method.publish(data, schema, randomness=Randomness.test(seed))
        answerer = Answerer(release)
        for place, (aggregate, text) in enumerate(QUESTIONS):
            answer = answerer.answer(aggregate, text)
            assert answer.low <= truths[place] <= answer.high
            found[seed, place] = answer.value, answer.se
    mean, spread = found[:, :, 0].mean(axis=0), found[:, :, 0].std(axis=0, ddof=1)
    assert (np.abs(mean - truths) < STANDARD_ERRORS * spread / sqrt(RELEASES)).all()
    covered = (np.abs(found[:, :, 0] - truths) <= 2 * found[:, :, 1]).mean(axis=0)
    assert (covered > 0.90).all() and (covered < 0.995).all(), covered
    assert np.sqrt((found[:, :, 1] ** 2).mean(axis=0)) == pytest.approx(spread, rel=0.2)


def test_what_is_exact_is_answered_exactly_and_groups_are_those_of_the_domain():
    data, schema = people(120)
    release = PRAM(keep=0.6).publish(data, schema, randomness=Randomness.test(1))
    ward = data["ward"].to_pylist().count("a")
    found = release.count("ward = 'a'")
    assert (found.value, found.low, found.high, found.se) == (ward, ward, ward, 0.0)
    result = release.query("SELECT sex, COUNT(*) GROUP BY sex")
    assert [row.group for row in result.rows] == [("F",), ("M",), (None,)]
    assert any("replaced at random" in note for note in result.notes)
    assert any("no matrix rules out any value" in note for note in result.notes)
    assert not release.query("SELECT COUNT(*) WHERE ward = 'a'").notes
    assert sum(row.estimate.value for row in result.rows) == pytest.approx(120, abs=25)


def test_many_columns_are_answered_by_levels_as_by_all_combinations(monkeypatch):
    data, schema = people()
    release = PRAM(keep=0.6, kind="invariant").publish(data, schema)
    by_table = [Answerer(release).answer(*question) for question in QUESTIONS]
    monkeypatch.setattr("sfumato.answers.transitions._SMALL", 0)
    by_levels = [Answerer(release).answer(*question) for question in QUESTIONS]
    for one, other in zip(by_table, by_levels, strict=True):
        assert (one.value, one.se) == pytest.approx((other.value, other.se), rel=1e-6)
        assert (one.low, one.high) == pytest.approx((other.low, other.high))
    monkeypatch.setattr("sfumato.answers.transition_axes._DENSE", 0)
    assert Answerer(release).answer(*QUESTIONS[1]).value == pytest.approx(by_table[1].value)


def test_cross_tables_are_the_inverse_of_the_published_counts():
    data, schema = people()
    release = PRAM(keep=0.7).publish(data, schema, randomness=Randomness.test(3))
    found = reconstruct(release, ["sex", "disease"])
    assert found.method == "inverse"
    shown = release.tables["records"].to_pandas()
    stated = release.manifest.parameters["transitions"]
    sexes, diseases = (stated[name]["values"] for name in ("sex", "disease"))
    counts = np.array(
        [
            [((shown.sex == s) if s else shown.sex.isna()).where(shown.disease == d, False).sum()
             for d in diseases]
            for s in sexes
        ],
        float,
    )  # fmt: skip
    inverses = [np.linalg.inv(stated[name]["matrix"]) for name in ("sex", "disease")]
    assert found.counts == pytest.approx(inverses[0].T @ counts @ inverses[1])
    flu = release.count("sex = 'F' and disease = 'Flu'")
    place = sexes.index("F"), diseases.index("Flu")
    assert (found.counts[place], found.se[place]) == pytest.approx((flu.value, flu.se))
    by_draws = reconstruct(release, ["sex"], "plausible", repeatable(1))
    assert by_draws.se is None and "replaced" in by_draws.notes[0]
    with pytest.raises(ParameterError, match="use `inverse` or `plausible`"):
        reconstruct(release, ["sex"], "bayes")


def test_plausible_rows_have_the_estimated_shares():
    data, schema = people(5_000)
    release = PRAM(keep=0.6).publish(data, schema, randomness=Randomness.test(5))
    rows = to_microdata(release, repeatable(2))
    assert rows.schema.types == data.schema.types
    assert rows["ward"].equals(release.tables["records"]["ward"].cast(pa.string()))
    estimated = reconstruct(release, ["disease"])
    for (label,), count, _ in estimated.largest(3):
        drawn = rows["disease"].to_pylist().count(label)
        assert abs(drawn - count) < 4 * sqrt(count)  # 4 standard deviations of a draw, at most


def test_a_sum_of_what_are_no_numbers_and_unknown_columns_are_refused():
    data, schema = people(50)
    release = PRAM().publish(data, schema)
    with pytest.raises(ParameterError, match="numbers"):
        release.sum("sex")
    with pytest.raises(ParameterError, match="no column 'illness'"):
        release.count("illness = 'Flu'")


def test_a_cell_that_the_matrix_does_not_list_is_damage():
    release = hand_made([("F", 1, "a"), ("M", 9, "b")])
    with pytest.raises(ReleaseDamaged, match="does not list"):
        release.count("age > 1")
