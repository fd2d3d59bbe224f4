"""Attacks on replaced cells: by the matrices, never at face value."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.attacks import attack
from sfumato.attacks.compose import compose
from sfumato.attacks.transition_adversary import TransitionAdversary
from sfumato.errors import ParameterError
from sfumato.methods import Mondrian
from sfumato.methods.pram import PRAM
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.schema import Schema

SCHEMA = Schema.of(job="quasi-identifier", town="quasi-identifier", disease="sensitive")


def people(rows=300):
    rng = repeatable(4)
    return pa.table(
        {
            "job": [f"job {j}" for j in rng.integers(0, 12, rows)],
            "town": [f"town {j}" for j in rng.integers(0, 15, rows)],
            "disease": rng.choice(["Flu", "Cold", "HIV", "Acne"], rows, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )


def adversary(data, release):
    return TransitionAdversary.of(
        release, data, data.slice(0, 0), sample=data.num_rows, rng=repeatable(1)
    )


def weights_by_hand(data, release, person, names):
    """Return how likely each record is the person's: matrix entries over published shares."""
    stated, shown = release.manifest.parameters["transitions"], release.tables["records"]
    weights = []
    counts = {n: shown[n].to_pylist() for n in names}
    for row in range(shown.num_rows):
        weight = 1.0
        for name in names:
            values, matrix = stated[name]["values"], stated[name]["matrix"]
            cell = counts[name][row]
            own = matrix[values.index(data[name][person].as_py())][values.index(cell)]
            weight *= own / (counts[name].count(cell) / shown.num_rows)
        weights.append(weight)
    return np.array(weights)


def test_links_and_posteriors_are_those_of_bayes():
    data = people(60)
    release = PRAM(keep=0.7).publish(data, SCHEMA, randomness=Randomness.test(2))
    eyes = adversary(data, release)
    secret = eyes.secret("disease")
    rows = np.arange(8)
    found, right = eyes.posterior(rows, secret), eyes.linked(rows)
    stated = release.manifest.parameters["transitions"]["disease"]
    matrix = np.array(stated["matrix"])
    shown = [stated["values"].index(v) for v in release.tables["records"]["disease"].to_pylist()]
    shares = np.maximum(np.bincount(shown, minlength=4) @ np.linalg.inv(matrix), 0)
    behind = shares[:, None] * matrix
    behind = (behind / behind.sum(axis=0)).T  # by published value
    for person in rows:
        weights = weights_by_hand(data, release, person, ["job", "town"])
        told = sum(w * behind[y] for w, y in zip(weights, shown, strict=True)) / weights.sum()
        assert found[person, : len(told)] == pytest.approx(told)
        own = weights_by_hand(data, release, person, ["job", "town", "disease"])
        best = weights >= weights.max() * (1 - 1e-9)
        assert right[person] == pytest.approx(own[best].sum() / own.sum() / best.sum())


def test_the_chance_of_a_right_link_is_how_often_links_are_right():
    """The maker can tell which record is whose: the order of rows is drawn first."""
    data = people()
    hits, expected = [], []
    for seed in range(12):
        randomness = Randomness.test(seed)
        release = PRAM(keep=0.8).publish(data, SCHEMA, randomness=randomness)
        order = randomness.generator("transitions").permutation(data.num_rows)
        eyes = adversary(data, release)
        people_ = np.arange(0, data.num_rows, 5)
        expected.append(eyes.linked(people_).mean())
        for person in people_:
            weights = weights_by_hand(data, release, person, ["job", "town"])
            best = np.flatnonzero(weights >= weights.max() * (1 - 1e-9))
            hits.append((order[best] == person).mean())
    # 4 standard errors of 720 tries
    assert abs(np.mean(hits) - np.mean(expected)) < 4 * np.std(hits) / np.sqrt(len(hits))


def test_less_is_kept_and_less_is_found():
    data = people()
    found = []
    for keep in (0.9, 0.5, 0.3):
        release = PRAM(keep=keep).publish(data, SCHEMA, randomness=Randomness.test(1))
        report = attack(release, data, rng=repeatable(2))
        found.append(report)
    links = [report.of("record linkage (prosecutor)").success.share for report in found]
    assert links[0] > links[1] > links[2]
    known = [report.of("joint Bayes (record known)").success.share for report in found]
    assert known[0] == pytest.approx(0.9, abs=0.02)  # the own value is always the likeliest
    assert known[0] > known[1] >= known[2]
    homogeneity = found[0].of("attribute linkage (homogeneity)")
    assert homogeneity.certain == 0 and homogeneity.success.tried == 0  # nothing is ruled out
    # what has no meaning here is named, not passed over
    assert {"minimality", "downcoding", "definetti", "corruption"} <= set(found[0].without_outcome)


def test_an_exact_secret_is_told_by_the_records():
    data = people()
    release = PRAM(keep=0.9, attributes=["job", "town"]).publish(data, SCHEMA)
    report = attack(release, data, rng=repeatable(3))
    guess = report.of("attribute linkage (skewness)")
    hidden = attack(PRAM(keep=0.3).publish(data, SCHEMA), data, rng=repeatable(3))
    assert guess.success.share > guess.blind.share + 0.05
    assert guess.success.share > hidden.of("attribute linkage (skewness)").success.share
    assert not [name for name, _ in report.named if name == "joint-bayes"]


def test_files_are_looked_at_and_rows_are_in_no_order(tmp_path):
    data = people()
    release = PRAM().publish(data, SCHEMA)
    release.save(tmp_path / "release")
    report = attack(release, data, attacks=["leaks"], path=tmp_path / "release", rng=repeatable(4))
    assert not report.risks
    in_order = PRAM(keep=0.95).publish(data, SCHEMA, randomness=Randomness.test(7))
    order = Randomness.test(7).generator("transitions").permutation(data.num_rows)
    table = in_order.tables["records"].take(pa.array(np.argsort(order)))
    leaking = Release(in_order.manifest, {"records": table})
    report = attack(leaking, data, attacks=["leaks"], rng=repeatable(4))
    assert report.of("leak: row order").verdict == "risk"


def test_releases_of_replaced_cells_are_not_composed():
    data = people()
    release, other = PRAM().publish(data, SCHEMA), Mondrian(k=3).publish(data, SCHEMA)
    with pytest.raises(ParameterError, match="replaced at random cannot be composed"):
        compose([release, other])
    report = attack(
        release, data, attacks=["membership", "republication"], earlier=(other, data),
        rng=repeatable(5),
    )  # fmt: skip
    assert report.without_outcome == ("republication",)


def test_another_table_is_refused():
    data = people()
    release = PRAM().publish(data, SCHEMA)
    other = data.set_column(0, "job", pa.array(["none of them"] * data.num_rows))
    with pytest.raises(ParameterError, match="does not list"):
        attack(release, other, rng=repeatable(6))
