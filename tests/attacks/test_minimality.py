"""Minimality and downcoding: what cuts that were not made and tight cells tell."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks.adversary import Adversary
from sfumato.attacks.downcoding import downcoding
from sfumato.attacks.minimality import minimality
from sfumato.randomness import Randomness, repeatable
from sfumato.release import AttributeEntry, Bounds, Manifest, Release, TableEntry
from sfumato.schema import Schema

from .leaking import MAKERS, table

SCHEMA = Schema.of(age="quasi-identifier", disease="sensitive")


def adversary(release: Release, data: pa.Table) -> Adversary:
    return Adversary.of(release, data, sample=data.num_rows, rng=repeatable(1))


def groups_of(members: list[tuple[int, str]], count: int) -> tuple[Release, pa.Table]:
    """Return so many groups, each of people of some ages (from 0 to 9) with some values.

    Each group and each part of two people or more has to have two different values.
    """
    size = len(members)
    ages = [10 * number + age for number in range(count) for age, _ in members]
    diseases = [disease for _ in range(count) for _, disease in members]
    data = pa.table({"age": np.array(ages), "disease": diseases})
    first, last = members[0][0], members[-1][0]
    cells = [
        f"[{10 * number + first}, {10 * number + last}]" for number in range(count) for _ in members
    ]
    manifest = Manifest(
        method="mondrian",
        layout="generalized",
        software="test",
        created="2026-01-31",
        rows=size * count,
        attributes=(
            AttributeEntry(
                name="age",
                role="quasi-identifier",
                kind="numeric",
                type="int64",
                domain=Bounds(min=0, max=10 * count),
            ),
            AttributeEntry(name="disease", role="sensitive", kind="categorical", type="string"),
        ),
        tables=(TableEntry(name="records", attributes=("age", "disease"), group="group"),),
        guarantees=(
            {"model": "k-anonymity", "k": 2},
            {
                "model": "l-diversity",
                "attribute": "disease",
                "variant": "distinct",
                "l": 2,
                "missing": "excluded",
            },
        ),
    )
    groups = np.repeat(np.arange(1, count + 1), size).astype(np.int32)
    records = pa.table({"group": groups, "age": cells, "disease": diseases})
    return Release(manifest, {"records": records}), data


def test_deals_under_which_a_group_would_be_cut_are_ruled_out():
    """Two and two of a value: the group stays whole only if each age has one value.

    Of the six ways to deal, four are cut. The two that are left do not tell which age has which.
    """
    release, data = groups_of([(0, "a"), (0, "a"), (5, "b"), (5, "b")], 60)
    (outcome,) = minimality(adversary(release, data), groups=60, rng=repeatable(2))
    assert outcome.figures["groups"] == 60
    assert outcome.figures["ways_kept"] == pytest.approx(2 / 6, abs=0.02)
    assert outcome.success.share == pytest.approx(0.5, abs=0.2)
    assert outcome.blind.share == 0.5


def test_who_has_the_rarer_value_is_told_by_the_cut_that_was_not_made():
    """Ten ways to deal three a and two b to three of one age and two of another; of the four that
    are not cut, the two have a in three. So theirs is a, and of the three it is b as likely as a.
    """
    members = [(0, "a"), (0, "b"), (0, "b"), (5, "a"), (5, "a")]
    release, data = groups_of(members, 100)
    (outcome,) = minimality(adversary(release, data), groups=100, rng=repeatable(2))
    assert outcome.figures["ways_kept"] == pytest.approx(4 / 10, abs=0.02)
    assert outcome.blind.share == pytest.approx(0.6)
    assert outcome.success.share == pytest.approx((2 + 3 / 2) / 5, abs=0.05)


def test_where_no_deal_could_be_cut_nothing_is_told():
    """Of three and one of a value, one part always has a single value."""
    release, data = groups_of([(0, "a"), (0, "a"), (5, "a"), (5, "b")], 50)
    (outcome,) = minimality(adversary(release, data), rng=repeatable(2))
    assert outcome.figures["ways_kept"] == 1.0
    assert outcome.success.share == pytest.approx(outcome.blind.share) == 0.75


@pytest.mark.parametrize("variant", ["frequency", "distinct", "entropy"])
def test_minimality_on_real_groups_is_a_guess_of_people(variant):
    data = table(600, 2)
    method = sf.Mondrian(k=2, models=(sf.LDiversity("disease", 3, variant),))
    release = method.publish(data, MAKERS["mondrian"][1], randomness=Randomness.test(2))
    (outcome,) = minimality(adversary(release, data), groups=40, rng=repeatable(2))
    again = minimality(adversary(release, data), groups=40, rng=repeatable(2))[0]
    assert outcome.to_dict() == again.to_dict()
    assert outcome.sample > 30
    assert 0 <= outcome.figures["recovered"] <= outcome.success.share <= 1
    assert "heuristic" in outcome.how


def test_t_closeness_counts_as_a_claim():
    data = table(600, 2)
    method = sf.Mondrian(k=2, models=(sf.TCloseness("disease", 0.5),))
    release = method.publish(data, MAKERS["mondrian"][1], randomness=Randomness.test(2))
    assert [o.attribute for o in minimality(adversary(release, data), rng=repeatable(1))] == [
        "disease"
    ]


@pytest.mark.parametrize("name", ["anatomy", "slicing", "lgb", "top-down"])
def test_without_claims_on_values_or_cells_there_is_no_outcome(name):
    data = table(200, 1)
    method, schema = MAKERS[name]
    release = method.publish(data, schema, randomness=Randomness.test(1))
    eyes = adversary(release, data)
    assert minimality(eyes, rng=repeatable(1)) == []
    if name != "top-down":
        assert downcoding(eyes, data, sample=50, rng=repeatable(1)) == []


def test_ends_of_tight_ranges_are_peoples_values():
    rng = repeatable(4)
    data = pa.table(
        {"age": rng.choice(10**6, 900, replace=False), "disease": ["a", "b", "c"] * 300}
    )
    release = sf.Mondrian(k=3).publish(data, SCHEMA, randomness=Randomness.test(1))
    (outcome,) = downcoding(adversary(release, data), data, sample=900, rng=repeatable(1))
    assert outcome.figures["ends_held_by_somebody_seen"] == 1.0
    # of three to five people, two have the ends, and one end is guessed
    ages = data["age"].to_numpy()
    expected = []
    for cell in release.tables["records"]["age"].to_pylist():
        low, high = map(int, cell.strip("[]").split(", "))
        expected.append(1 / ((ages >= low) & (ages <= high)).sum())
    assert outcome.success.share == pytest.approx(np.mean(expected))
    assert outcome.success.tried == 900


def test_ranges_that_reach_further_tell_nothing():
    """Ends that nobody has are never a person's value."""
    data = pa.table({"age": np.arange(40) * 10 + 5, "disease": ["a", "b"] * 20})
    release = sf.Mondrian(k=4).publish(data, SCHEMA, randomness=Randomness.test(1))
    wide = []
    for cell in release.tables["records"]["age"].to_pylist():
        low, high = map(int, cell.strip("[]").split(", "))
        wide.append(f"[{low - 5}, {high + 5}]")
    records = release.tables["records"]
    place = records.column_names.index("age")
    records = records.set_column(place, "age", pa.array(wide))
    planted = Release(release.manifest, {"records": records})
    (outcome,) = downcoding(adversary(planted, data), data, sample=40, rng=repeatable(1))
    assert outcome.success.share == 0.0
    assert outcome.figures["ends_held_by_somebody_seen"] == 0.0


def test_people_whose_value_is_missing_are_left_out():
    release, data = groups_of([(0, "a"), (0, "a"), (5, "b"), (5, "b")], 60)
    gone = pa.array([None if i % 4 == 0 else v for i, v in enumerate(data["disease"].to_pylist())])
    records = release.tables["records"].set_column(2, "disease", gone)
    data = data.set_column(1, "disease", gone)
    hidden = Release(release.manifest, {"records": records})
    (outcome,) = minimality(adversary(hidden, data), groups=60, rng=repeatable(2))
    assert outcome.success.tried == 180
    # of a, b and b, b is the most frequent
    assert outcome.blind.share == pytest.approx(2 / 3)


def test_the_blind_guess_within_a_range_is_the_most_frequent_value():
    """Nine of ten people have the low end: no surprise that it is an end."""
    data = pa.table({"age": [0, 1, 2, *[0] * 17] * 10, "disease": ["a", "b"] * 100})
    release = sf.Mondrian(k=100).publish(data, SCHEMA, randomness=Randomness.test(1))
    (outcome,) = downcoding(adversary(release, data), data, sample=200, rng=repeatable(1))
    assert outcome.blind.share == pytest.approx(0.9)
    assert outcome.success.share == pytest.approx((0.9 + 0.05) / 2)
