"""What attacks keep, look up and leave out to be quick is what going through everything finds."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from attacks.associated_people import people

import sfumato as sf
from sfumato.attacks import adversary as adversaries
from sfumato.attacks import fits as finding
from sfumato.attacks import kept_fits
from sfumato.attacks.adversary import Adversary
from sfumato.attacks.fakes import _NEAR, _Near
from sfumato.attacks.fits import joined
from sfumato.attacks.memory import Memory
from sfumato.attacks.own_rows import _largest
from sfumato.attacks.set_adversary import SetAdversary
from sfumato.attacks.set_weights import factors
from sfumato.randomness import Randomness
from sfumato.schema import Schema

QI = "quasi-identifier"


def rng(seed=3):
    return np.random.default_rng(seed)


def eyes_of(method, table, sample=150):
    roles = dict.fromkeys(table.column_names, QI) | {"secret": "sensitive"}
    release = method.publish(table, Schema.of(roles), randomness=Randomness.test(1))
    return Adversary.of(release, table, sample=sample, rng=rng())


@pytest.mark.parametrize(
    "method", [sf.Mondrian(k=5), sf.Anatomy(l=2), sf.Slicing(l=2), sf.Anatomy(l=3)]
)
def test_kept_fits_are_those_that_are_found(monkeypatch, method):
    eyes = eyes_of(method, people(400, 0.3))
    assert len(eyes.targets) < eyes.population  # so that others are asked for, too
    everybody = np.arange(eyes.population)
    asked = rng().permutation(eyes.targets)
    monkeypatch.setattr(finding, "_ENTRIES", 64)  # many parts, in which room runs out
    monkeypatch.setattr(finding, "_BYTES", 4096)
    fresh = eyes_of(method, people(400, 0.3))
    monkeypatch.setattr(adversaries, "MOST_KEPT", -1)
    bare = eyes_of(method, people(400, 0.3))
    for rows in (asked, eyes.controls, everybody):
        one, *others = (
            joined([fits for _, fits in each.fits_in_parts(rows)]) for each in (eyes, fresh, bare)
        )
        assert len(one.group) > 0
        for other in others:
            assert np.array_equal(one.start, other.start)
            assert np.array_equal(one.group, other.group)
            assert np.array_equal(one.weight, other.weight)


def test_fits_that_are_asked_for_again_stay_while_they_are_few(monkeypatch):
    eyes = eyes_of(sf.Anatomy(l=2), people(400, 0.3))
    (one,), (again,) = ([fits for _, fits in eyes.fits_in_parts(eyes.targets)] for _ in range(2))
    assert one is again
    (others,) = (fits for _, fits in eyes.fits_in_parts(eyes.targets[::-1].copy()))
    assert np.array_equal(others.total, one.total[::-1])
    monkeypatch.setattr(kept_fits, "_MOST_AGAIN", 0)
    bare = eyes_of(sf.Anatomy(l=2), people(400, 0.3))
    (first,), (second,) = ([f for _, f in bare.fits_in_parts(bare.targets)] for _ in range(2))
    assert first is not second
    assert np.array_equal(first.group, one.group)


def test_near_rows_are_counted_as_differences_say():
    columns = [rng(seed).integers(0, 9, 500) for seed in range(3)]
    near = _Near.of(columns, rng(8))
    others = [rank[np.isin(rank, own)] for rank, own in zip(near.ranks, near.ordered, strict=True)]
    assert all(len(each) == len(near.ordered[0]) for each in others)
    # every row is one of the others here, so that all are compared with all
    ranks = np.stack(near.ranks)
    differences = np.abs(ranks[:, :, None] - ranks[:, None, :])
    expected = (differences < _NEAR).all(axis=0).sum(axis=1)
    rows = rng(9).permutation(500)
    assert near(rows).tolist() == expected[rows].tolist()
    assert len(set(expected.tolist())) > 5


def test_the_largest_of_each_stretch_is_the_last_of_equal_ones():
    values = np.array([1.0, 3.0, 3.0, 2.0, 5.0, 4.0])
    assert _largest(values, np.array([0, 3, 5])).tolist() == [2, 4, 5]
    assert _largest(values[:0], np.zeros(0, np.int64)).tolist() == []


def test_sets_of_values_that_nobody_seems_to_have_leave_chances_finite():
    # so many attributes of many values that a record that fits weighs more than 10 to the 8
    table = pa.table({f"a{i}": rng(i).integers(0, 200, 300) for i in range(10)})
    schema = Schema.of(dict.fromkeys(table.column_names, "sensitive-quasi-identifier"))
    release = sf.SensitiveQID(l=3).publish(table, schema, randomness=Randomness.test(1))
    eyes = SetAdversary.of(release, table, sample=100, rng=rng())
    margin = np.zeros(eyes.axes["a0"].size)
    margin[:2] = 0.5  # as if all others had been estimated to have no share
    object.__setattr__(eyes, "memory", Memory())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SetAdversary, "_margin", lambda self, name: margin)
        found = eyes.posterior(eyes.targets, eyes.secret("a0"))
    assert np.isfinite(found).all()
    assert not found[:, 2:].any()
    sums = found.sum(axis=1)
    assert np.all((np.abs(sums - 1) < 1e-9) | (sums == 0))


def test_weights_of_records_are_those_of_their_sets():
    table = people(120, 0.3)
    schema = Schema.of(dict.fromkeys(table.column_names, "sensitive-quasi-identifier"))
    release = sf.SensitiveQID(l=2, t=0.5).publish(table, schema, randomness=Randomness.test(1))
    eyes = SetAdversary.of(release, table, sample=40, rng=rng())

    def literal(person, names):
        weights = np.ones(eyes.rows)
        for name in names:
            inside, outside = factors(eyes.axes[name])
            held = (eyes.axes[name].members == eyes.places[name][person]).any(axis=1)
            weights *= np.where(held, inside, outside)
        return weights

    linked, expected = eyes.linked(eyes.targets), eyes.expected(eyes.targets)
    for place, person in enumerate(eyes.targets):
        known, own = literal(person, eyes.known), literal(person, eyes.axes)
        assert expected[place] == pytest.approx(known.sum() / known.max() if known.any() else 0)
        right = known @ own
        wanted = right / (known.sum() * own.sum()) if right > 0 else 0
        assert linked[place] == pytest.approx(wanted)
