"""Fits of people in other orders, and shared by those who are alike, are the same fits."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.attacks import adversary as module
from sfumato.attacks import fits as fits_module
from sfumato.attacks.adversary import Adversary
from sfumato.attacks.fit_kernels import take_largest
from sfumato.attacks.fits import Fits
from sfumato.attacks.order import numbered_means
from sfumato.randomness import Randomness, repeatable

from .leaking import MAKERS, table

DATA = table(600, 2)


def drawn_fits(people: int, groups: int, seed: int) -> Fits:
    """Return fits of people, of whom some have none."""
    rng = np.random.default_rng(seed)
    fitting = rng.random((people, groups)) < 0.3
    fitting[::5] = False
    person, group = np.nonzero(fitting)
    start = np.searchsorted(person, np.arange(people + 1))
    return Fits(start, group, rng.integers(1, 4, len(group)).astype(np.float64))


def test_fits_by_group_are_those_by_person_and_groups_of_a_person_ascend():
    fits = drawn_fits(70, 200, 1)
    people, groups, weights = fits.by_group
    assert (np.diff(groups) >= 0).all()
    again = np.argsort(people, kind="stable")
    assert (people[again] == fits.person).all()
    assert (groups[again] == fits.group).all()
    assert (weights[again] == fits.weight).all()


def test_the_largest_weight_is_taken_of_each_person_and_of_equals_the_last():
    fits = drawn_fits(30, 40, 2)
    kind = np.random.default_rng(3).integers(0, 30, 90)
    drawn = np.random.default_rng(4).integers(1, 3, int(np.diff(fits.start)[kind].sum()))
    found = np.full(len(kind), -1)
    take_largest(kind, fits.start, fits.group, fits.weight, drawn.astype(np.float64), found)
    at = 0
    for person, own in enumerate(kind):
        place = np.arange(fits.start[own], fits.start[own + 1])
        if not len(place):
            assert found[person] == -1
            continue
        chances = fits.weight[place] * drawn[at : at + len(place)]
        at += len(place)
        assert found[person] == fits.group[place[np.flatnonzero(chances == chances.max())[-1]]]


@pytest.mark.parametrize("most", [1 << 23, 0])
@pytest.mark.parametrize("name", ["anatomy", "lgb", "mondrian"])
def test_people_who_are_alike_share_the_fits_that_each_has(name, most, monkeypatch):
    method, schema = MAKERS[name]
    release = method.publish(DATA, schema, randomness=Randomness.test(1))
    monkeypatch.setattr(module, "MOST_KEPT", most)
    eyes = Adversary.of(release, DATA, sample=50, rng=repeatable(1))
    rows = repeatable(2).permutation(DATA.num_rows)
    for part, fits, kind in eyes.fits_of_kinds(rows):
        found = fits.of(kind)
        expected = eyes.fitter.find({n: eyes.side.people[n][rows[part]] for n in eyes.known})
        assert (found.start == expected.start).all()
        assert (found.group == expected.group).all()
        assert (found.weight == expected.weight).all()


@pytest.mark.parametrize("name", ["anatomy", "lgb", "mondrian", "slicing", "slppa"])
def test_fits_are_the_same_whether_combinations_are_listed_or_marked(name, monkeypatch):
    method, schema = MAKERS[name]
    release = method.publish(DATA, schema, randomness=Randomness.test(1))
    found = []
    for listed, short in ((0, 1 << 15), (0, 0), (1 << 40, 1 << 15), (1 << 40, 0)):
        monkeypatch.setattr(fits_module, "_LISTED", listed)
        monkeypatch.setattr(fits_module, "_SHORT", short)
        eyes = Adversary.of(release, DATA, sample=50, rng=repeatable(1))
        found.append(eyes.fitter.find({name: eyes.side.people[name] for name in eyes.known}))
    assert len(found[0].group) > 0
    for other in found[1:]:
        assert (other.start == found[0].start).all()
        assert (other.group == found[0].group).all()
        assert (other.weight == found[0].weight).all()


@pytest.mark.parametrize("step", [1.0, 0.5])
def test_means_are_numbered_in_their_order(step):
    rng = np.random.default_rng(6)
    size = rng.integers(1, 7, 500)
    total = rng.integers(0, 40, 500) * step
    means = total / size
    assert (numbered_means(total, size) == np.unique(means, return_inverse=True)[1]).all()


def test_means_of_many_or_broken_totals_are_not_numbered():
    size = np.array([1, 2, 3])
    assert numbered_means(np.array([1.0, 2.0, 1e6]), size) is None
    assert numbered_means(np.array([1.0, 2.0, 1 / 3]), size) is None
    assert numbered_means(np.array([1.0, -2.0, 1.0]), size) is None
