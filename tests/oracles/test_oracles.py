"""The privacy models' oracles on worked examples.

Two expected values are Li, Li and Venkatasubramanian's (2007, salaries: 0.375 and 0.167), those on
the shared vectors follow the papers there; all others are worked by hand.
"""

from __future__ import annotations

import csv
import math
import random
from fractions import Fraction
from itertools import accumulate
from pathlib import Path

import pytest

from . import models
from .transport import cheapest_transport, transport_by_pot

# Nine salaries in thousands, as in Li, Li and Venkatasubramanian 2007.
SALARIES = [3, 4, 5, 6, 11, 8, 7, 9, 10]
# A hierarchy of diseases of height three, as the rows of a hierarchy file.
DISEASES = [
    ("flu", "respiratory infection", "respiratory", "*"),
    ("pneumonia", "respiratory infection", "respiratory", "*"),
    ("bronchitis", "respiratory infection", "respiratory", "*"),
    ("pulmonary edema", "vascular lung", "respiratory", "*"),
    ("pulmonary embolism", "vascular lung", "respiratory", "*"),
    ("gastric ulcer", "stomach", "digestive", "*"),
    ("stomach cancer", "stomach", "digestive", "*"),
    ("gastritis", "stomach", "digestive", "*"),
    ("colitis", "colon", "digestive", "*"),
    ("colon cancer", "colon", "digestive", "*"),
]
PATIENTS = [
    *("gastric ulcer", "gastritis", "stomach cancer", "gastritis", "flu", "bronchitis"),
    *("bronchitis", "pneumonia", "stomach cancer"),
]
# Groups of four inpatients, after the running example of Machanavajjhala et al. 2006.
HALVES = ["heart disease", "heart disease", "viral infection", "viral infection"]
MIXED = ["cancer", "heart disease", "viral infection", "viral infection"]
ALIKE = ["cancer"] * 4


def read(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


# --- t-closeness ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ([3, 4, 5], Fraction(3, 8)),  # the paper: 0.375
        ([6, 8, 11], Fraction(1, 6)),  # the paper: 0.167
        ([3, 5, 9], Fraction(1, 6)),
        ([4, 7, 10], Fraction(1, 12)),
    ],
)
def test_ordered_distance_of_salaries(group, expected):
    distance = models.ground_distance("ordered", SALARIES)
    assert models.emd(group, SALARIES, distance) == expected
    assert models.emd(group, SALARIES, distance, by_pot=True) == pytest.approx(float(expected))
    assert models.t_closeness(group, SALARIES, expected, distance)
    assert not models.t_closeness(group, SALARIES, expected - Fraction(1, 10**9), distance)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("flu", "bronchitis", Fraction(1, 3)),
        ("flu", "pulmonary embolism", Fraction(2, 3)),
        ("flu", "stomach cancer", Fraction(1)),
        ("flu", "flu", Fraction(0)),
    ],
)
def test_hierarchical_distance_of_diseases(one, other, expected):
    distance = models.hierarchical_distance(DISEASES)
    assert distance(one, other) == distance(other, one) == expected


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        # A ninth of the mass crosses to the other half (1), four ninths move among siblings (1/3).
        (["gastric ulcer", "stomach cancer", "pneumonia"], Fraction(1, 9) + Fraction(4, 27)),
        (["gastritis", "flu", "bronchitis"], Fraction(2, 9) + Fraction(2, 27)),
        (["gastritis", "bronchitis", "stomach cancer"], Fraction(1, 9) + Fraction(2, 27)),
    ],
)
def test_hierarchical_closeness_by_hand(group, expected):
    distance = models.hierarchical_distance(DISEASES)
    assert models.emd(group, PATIENTS, distance) == expected
    assert models.emd(group, PATIENTS, distance, by_pot=True) == pytest.approx(float(expected))


def test_equal_distance_is_total_variation():
    assert models.emd(["a", "a"], ["a", "a", "b", "b"]) == Fraction(1, 2)
    assert models.t_closeness(["a", "a"], ["a", "a", "b", "b"], 0.5)
    assert not models.t_closeness(["a", "a"], ["a", "a", "b", "b"], 0.49)


def test_a_tie_at_a_decimal_limit_holds():
    # EMD 3/10 against t = 0.3, whose binary neighbour is smaller than 3/10.
    table = ["a"] * 7 + ["b"] * 3
    assert models.emd(["a"], table) == Fraction(3, 10)
    assert models.t_closeness(["a"], table, 0.3)


def test_transport_agrees_with_pot_and_with_closed_forms():
    rng = random.Random(20070415)
    for _ in range(60):
        places = range(rng.randint(1, 7))
        table = [rng.choice(places) for _ in range(rng.randint(1, 12))]
        group = rng.sample(table, rng.randint(1, len(table)))
        p, q = models.distribution(group), models.distribution(table)

        equal = sum((abs(p.get(v, 0) - q.get(v, 0)) for v in places), Fraction(0)) / 2
        assert models.emd(group, table) == equal

        ranked = sorted(set(table))
        gaps = accumulate(p.get(v, 0) - q[v] for v in ranked)
        ordered = sum(map(abs, gaps), Fraction(0)) / max(1, len(ranked) - 1)
        assert models.emd(group, table, models.ground_distance("ordered", table)) == ordered

        # Any costs at all, not even symmetric ones.
        costs = {(a, b): Fraction(rng.randint(0, 9), 9) for a in places for b in places}
        exact = cheapest_transport(p, q, lambda a, b, costs=costs: costs[a, b])
        by_pot = transport_by_pot(p, q, lambda a, b, costs=costs: costs[a, b])
        assert float(exact) == pytest.approx(by_pot, abs=1e-12)


def test_transport_takes_an_earlier_shipment_back():
    # The cheapest first step (a to x, 0) is wrong: b can only go to x.
    half = Fraction(1, 2)
    costs = {("a", "x"): 0, ("a", "y"): 1, ("b", "x"): 2, ("b", "y"): 100}
    moved = cheapest_transport(
        {"a": half, "b": half}, {"x": half, "y": half}, lambda a, b: Fraction(costs[a, b])
    )
    assert moved == Fraction(3, 2)


# --- l-diversity ----------------------------------------------------------------------------------


def test_entropy_diversity_of_inpatients():
    assert models.entropy(HALVES) == pytest.approx(math.log(2))
    assert models.entropy_diversity(HALVES, 2)  # a tie, exactly
    assert models.entropy(MIXED) == pytest.approx(1.5 * math.log(2))
    assert models.entropy_diversity(MIXED, 2.82)  # exp of it is the square root of 8
    assert not models.entropy_diversity(MIXED, 2.83)
    assert models.distinct_diversity(MIXED, 3)
    assert not models.entropy_diversity(MIXED, 3)
    assert not models.entropy_diversity(ALIKE, 2)
    assert models.entropy_diversity(ALIKE, 1)


def test_recursive_diversity_by_hand():
    # Counts 2, 1, 1: r1 < c (r2 + r3) is 2 < 2c, and r1 < c r3 is 2 < c.
    assert not models.recursive_diversity(MIXED, 2, 1)
    assert models.recursive_diversity(MIXED, 2, 1.1)
    assert not models.recursive_diversity(MIXED, 3, 2)
    assert models.recursive_diversity(MIXED, 3, 2.5)
    assert not models.recursive_diversity(MIXED, 4, 1000)
    # l = 1: the commonest value is among those summed, so c > 1 is enough.
    assert models.recursive_diversity(ALIKE, 1, 1.5)
    assert not models.recursive_diversity(ALIKE, 1, 1)


def test_frequency_diversity_counts_the_commonest():
    assert models.frequency_diversity(HALVES, 2)
    assert models.frequency_diversity(MIXED, 2)
    assert not models.frequency_diversity(MIXED, 3)
    assert models.frequency_diversity(["a", "b", "c"], 3)


def test_unique_groups():
    assert models.l_unique(["a", "b", "c"], 3)
    assert models.l_unique(["a", "b", None, None], 2)
    assert not models.l_unique(["a", "b", "b"], 2)
    assert not models.l_unique(["a", "b"], 3)
    assert not models.l_unique([None], 1)


# --- missing values and units ---------------------------------------------------------------------


def test_missing_values_do_not_count_unless_they_are_values():
    group = ["a", "b", None, None]
    assert models.frequency_diversity(group, 2)
    assert not models.frequency_diversity(group, 3)
    assert models.frequency_diversity(group, 2, missing="value")
    assert models.distinct_diversity(group, 3, missing="value")
    assert not models.distinct_diversity(group, 3)
    assert not models.frequency_diversity(["a", None], 2)
    assert models.frequency_diversity(["a", float("nan")], 2, missing="value")
    # Half of the non-missing, a quarter of all.
    assert not models.alpha_k_anonymity(group, 0.4, 2)
    # Among non-missing values the group is just like the table.
    assert models.emd(group, ["a", "b"]) == 0
    assert models.emd(group, ["a", "b"] * 2 + [None] * 4, missing="value") == 0
    # A missing value is at distance 1 from everything, whatever the order.
    ordered = models.ground_distance("ordered", [1, 2, 3])
    assert models.emd([None], [1, None], ordered, missing="value") == Fraction(1, 2)


@pytest.mark.parametrize("missing", ["excluded", "value"])
def test_no_values_at_all(missing):
    group, table = ([None, None] if missing == "excluded" else []), ["a", "b"]
    rule = {"missing": missing}
    assert models.frequency_diversity(group, 5, **rule)
    assert models.t_closeness(group, table, 0, **rule)
    assert models.beta_likeness(group, table, 0.1, **rule)
    assert models.alpha_k_anonymity(group, 0.1, 0, **rule)
    assert models.distinct_diversity(group, 1, **rule)
    assert not models.distinct_diversity(group, 2, **rule)
    assert models.entropy_diversity(group, 1, **rule)
    assert not models.entropy_diversity(group, 1.5, **rule)
    assert not models.recursive_diversity(group, 1, 100, **rule)


def test_units_count_once():
    # Ann has two visits for flu, Bob one for flu and one for a cold.
    values, units = ["flu", "flu", "flu", "cold"], ["Ann", "Ann", "Bob", "Bob"]
    assert models.size(values, units=units) == 2
    assert models.counts(values, units=units) == {"flu": 2, "cold": 1}
    assert models.k_anonymity(values, 4)
    assert not models.k_anonymity(values, 3, units=units)
    # Both people have flu, although only three rows in four do.
    assert not models.frequency_diversity(values, 1.3, units=units)
    assert models.alpha_k_anonymity(values, 0.75, 2)
    assert not models.alpha_k_anonymity(values, 0.75, 2, units=units)
    assert models.distribution(values, units=units) == {
        "flu": Fraction(2, 3),
        "cold": Fraction(1, 3),
    }
    # The same person's value twice is no repetition.
    assert models.l_unique(["flu", "flu", "cold"], 2, units=["Ann", "Ann", "Bob"])
    assert not models.l_unique(["flu", "flu", "cold"], 2)


# --- alpha, beta ----------------------------------------------------------------------------------


def test_alpha_k_anonymity():
    assert models.alpha_k_anonymity(["a", "a", "b", "c"], 0.5, 4)
    assert not models.alpha_k_anonymity(["a", "a", "b", "c"], 0.49, 4)
    assert not models.alpha_k_anonymity(["a", "a", "b", "c"], 0.5, 5)


def test_beta_likeness():
    # p = 2/5, q = 4/5: the gain is 1, above -ln 0.4 = 0.916...
    table = ["a"] * 4 + ["b"] * 6
    group = ["a"] * 4 + ["b"]
    assert models.relative_gains(group, table) == {"a": (Fraction(2, 5), Fraction(1))}
    assert models.beta_likeness(group, table, 1)
    assert not models.beta_likeness(group, table, 0.99)
    assert not models.beta_likeness(group, table, 1, "enhanced")
    # p = 1/10, q = 1/5: the gain is 1 again, but -ln 0.1 = 2.30...
    table = ["a"] + ["b"] * 9
    group = ["a"] + ["b"] * 4
    assert models.beta_likeness(group, table, 1, "enhanced")
    # Values that grow rarer are nobody's gain.
    assert models.beta_likeness(table, table, 0)


# --- the papers' tables ---------------------------------------------------------------------------


def test_table_3_of_slppa(shared):
    rows = read(shared / "vectors" / "transactions.csv")
    groups = [[row["salary"] for row in part] for part in (rows[:4], rows[4:])]
    everyone = [row["salary"] for row in rows]
    assert models.distribution(groups[0])["4500"] == Fraction(1, 2)  # Pr[SA of Alice]
    assert [models.frequency_diversity(group, 2) for group in groups] == [True, True]
    assert [models.frequency_diversity(group, 3) for group in groups] == [False, True]
    assert [models.l_unique(group, 4) for group in groups] == [False, True]
    # Pr[4500] = 2/8 and Pr[4500 | g1] = 2/4: as likely again.
    assert models.distribution(everyone)["4500"] == Fraction(1, 4)
    assert models.relative_gains(groups[0], everyone)["4500"] == (Fraction(1, 4), Fraction(1))


def test_tables_of_the_other_papers(shared):
    # ARP: the six lawyers of 51 have each disease twice, so one in three and no better.
    lawyers = [r for r in read(shared / "vectors" / "patients.csv") if r["job"] == "Lawyer"]
    diseases = [row["disease"] for row in lawyers]
    assert models.frequency_diversity(diseases, 3)
    assert not models.frequency_diversity(diseases, 4)
    assert models.entropy_diversity(diseases, 3)
    # Merging, Table 3: hospital A in pairs, each pair with two diseases.
    rows = read(shared / "vectors" / "hospital_a.csv")
    for start in range(0, 8, 2):
        claim = {"model": "l-unique-groups", "attribute": "disease", "l": 2}
        assert models.holds(claim, rows[start : start + 2], rows)
        assert not models.holds({"model": "k-anonymity", "k": 3}, rows[start : start + 2], rows)


def test_every_model_by_its_claim():
    table = [{"who": i, "salary": value} for i, value in enumerate(SALARIES)]
    group = [row for row in table if row["salary"] in (3, 4, 5)]
    about = {"attribute": "salary"}
    for claim, expected in [
        ({"model": "k-anonymity", "k": 3}, True),
        ({"model": "l-diversity", "variant": "distinct", "l": 4} | about, False),
        ({"model": "l-diversity", "variant": "frequency", "l": 3} | about, True),
        ({"model": "l-diversity", "variant": "entropy", "l": 3} | about, True),
        ({"model": "l-diversity", "variant": "recursive", "l": 3, "c": 1} | about, False),
        ({"model": "l-unique-groups", "l": 3} | about, True),
        ({"model": "t-closeness", "t": 0.375, "distance": "ordered"} | about, True),
        ({"model": "t-closeness", "t": 0.6, "distance": "equal"} | about, False),
        ({"model": "alpha-k-anonymity", "alpha": 0.3, "k": 3} | about, False),
        ({"model": "beta-likeness", "beta": 2, "variant": "basic"} | about, True),
        ({"model": "beta-likeness", "beta": 2, "variant": "enhanced"} | about, True),
    ]:
        assert models.holds(claim, group, table, unit="who") is expected, claim
    with pytest.raises(ValueError, match="no oracle"):
        models.holds({"model": "zeta-privacy"}, group, table)
