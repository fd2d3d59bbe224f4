"""Attacks on means of groups: who knows a person's numbers takes the nearest mean."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.attacks import attack
from sfumato.attacks.adversary import Adversary
from sfumato.attacks.compose import compose
from sfumato.errors import ParameterError
from sfumato.methods import MDAV, Mondrian
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.schema import Schema

SCHEMA = Schema.of(age="quasi-identifier", pay="quasi-identifier", illness="sensitive")


def people(rows: int = 600, seed: int = 5, missing: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    age = rng.normal(40, 12, rows).round(1).tolist()
    age[:missing] = [None] * missing
    return pa.table(
        {
            "age": pa.array(age, pa.float64()),
            "pay": rng.normal(3000, 500, rows).round(2),
            "illness": [f"i{i}" for i in rng.integers(0, 8, rows)],
        }
    )


def published(data: pa.Table, k: int = 5) -> Release:
    return MDAV(k).publish(data, SCHEMA, randomness=Randomness.test(1))


def nearest(release: Release, row: dict[str, float | None]) -> tuple[float, set[int]]:
    """Return how far the nearest group is and which ones are as near, by the definition."""
    records = release.tables["records"].to_pylist()
    found: dict[int, float] = {}
    units = {}
    for name in ("age", "pay"):
        known = [each[name] for each in records if each[name] is not None]
        units[name] = float(np.std(known)) or 1.0
    for each in records:
        pairs = [(each[name], row[name], units[name]) for name in ("age", "pay")]
        if any((mean is None) != (own is None) for mean, own, _ in pairs):
            continue
        gaps = [(mean - own) / unit for mean, own, unit in pairs if mean is not None]
        found[each["group"] - 1] = sum(gap * gap for gap in gaps) ** 0.5
    least = min(found.values())
    return least, {group for group, gap in found.items() if gap <= least * (1 + 1e-8)}


@settings(max_examples=30)
@given(seed=st.integers(0, 999), missing=st.sampled_from([0, 6]), k=st.integers(1, 6))
def test_people_fit_the_nearest_groups(seed, missing, k):
    data = people(40, seed, missing)
    release = published(data, k)
    eyes = Adversary.of(release, data, sample=40, rng=repeatable(2))
    rows = np.arange(40)
    gaps = eyes.distances(rows)
    for part, fits in eyes.fits_in_parts(rows):
        for person in range(fits.people):
            own = slice(fits.start[person], fits.start[person + 1])
            least, groups = nearest(release, data.slice(part.start + person, 1).to_pylist()[0])
            assert set(fits.group[own].tolist()) == groups
            assert fits.weight[own].tolist() == eyes.sizes[fits.group[own]].tolist()
            assert gaps[part.start + person] == pytest.approx(least, abs=1e-9)


def test_linkage_is_neither_hopeless_nor_beyond_k():
    data = people()
    report = attack(published(data), data, rng=repeatable(3))
    linkage = report.of("record linkage (prosecutor)")
    assert 0.05 < linkage.success.share <= linkage.figures["largest_chance"] <= 1 / 5
    assert "nearest group" in linkage.how
    assert report.of("attribute linkage (skewness)", "illness").success.share > 0.15


def test_presence_is_told_by_distance_and_not_called_safe_for_lack_of_a_fit():
    data = people()
    loose, tight = (attack(published(data, k), data, rng=repeatable(3)) for k in (40, 1))
    names = [each.attack for each in tight.outcomes if each.attack.startswith("table linkage")]
    assert names == ["table linkage (distance to the nearest mean)"]
    assert tight.of("table linkage").success.share > 0.9  # groups of one are people themselves
    assert tight.of("table linkage").verdict == "risk"
    assert loose.of("table linkage").success.share < 0.65


def test_another_original_is_refused():
    data = people()
    with pytest.raises(ParameterError, match="the mean of 'age' is not that of the release"):
        attack(published(data), people(seed=6), rng=repeatable(1))


def test_means_are_not_composed_and_republication_is_not_judged():
    data = people()
    release = published(data)
    other = Mondrian(5).publish(data, SCHEMA)
    with pytest.raises(ParameterError, match="means of groups cannot be composed"):
        compose([release, other])
    earlier = data.slice(0, 300)
    report = attack(release, data, earlier=(published(earlier), earlier), attacks=["republication"])
    (outcome,) = report.outcomes
    assert outcome.verdict == "not judged" and "Means of groups" in outcome.how
