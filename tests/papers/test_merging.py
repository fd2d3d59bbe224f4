"""The Merging paper: its points on small sets, its judges on numbers made by hand."""

from __future__ import annotations

import pytest

from sfumato.papers.claims import Verdict, judged
from sfumato.papers.data import synthetic
from sfumato.papers.grid import Point
from sfumato.papers.merging import PAPER, bench, grid
from sfumato.papers.merging_judges import LITERAL, OTHERS, OURS, UNFAKED
from sfumato.papers.merging_measured import methods
from sfumato.papers.merging_sets import Sets

pytest.importorskip("opendp")

SMALL = {"secret": "occupation", "degree": 4, "overlap": 40, "set_rows": 300}


@pytest.fixture(scope="module")
def data():
    return synthetic("census", 3_000)


@pytest.fixture(scope="module")
def measure(data):
    return bench(data)


def test_sets_are_disjoint_but_for_the_rows_in_common(data):
    found = Sets.of(data)
    sets = [set(found.set_of(i, 60, "occupation", 300)["person"].to_pylist()) for i in range(4)]
    assert all(len(each) == 360 for each in sets)
    common = set.intersection(*sets)
    assert len(common) == 60
    assert all(sets[i] & sets[j] == common for i in range(4) for j in range(i))


def test_the_attack_finds_every_person_in_common(data, measure):
    point = Point("risk", SMALL | {"sets": 2})
    found = measure(point)
    assert set(found) == set(methods(4))
    for each in found.values():
        assert 0 <= each["record_risk"] <= each["class_risk"] <= 1
        assert each["people"] == 40
        assert each["disclosed"] <= each["fewer_than_l"] * each["people"]
    assert found[LITERAL]["fakes"] == 1
    assert found[LITERAL]["records"] == 341
    assert found[OURS]["groups"] < found[LITERAL]["groups"]
    again = bench(data)(point)
    assert {**found, "DP": 0} == {**again, "DP": 0}  # whose noise takes no seed


def test_utility_is_measured(measure):
    loss = measure(Point("loss", SMALL | {"sets": 2}))
    assert loss[LITERAL] == 0 < loss["Mondrian"] < loss["DP"] <= 1
    found = measure(Point("queries", SMALL | {"attributes": 2, "queries": 4}))
    assert set(found) == {*methods(4), UNFAKED}
    assert all(each["mean"] >= 0 for each in found.values())
    assert measure(Point("time", {"rows": 500, "rounds": 1}))["seconds"][OURS] > 0


def test_trees_learn_from_releases(measure):
    pytest.importorskip("sklearn")
    given = {"target": "relationship", "degree": 4, "folds": 2, "set_rows": 300, "overlap": 40}
    found = measure(Point("learning", given))
    again = measure(Point("learning", given))
    assert {**found, "DP": 0} == {**again, "DP": 0}  # whose noise takes no seed
    assert set(found) == {*methods(4), "original", "majority", "tested"}
    assert found["original"] > found["majority"]
    assert found["tested"] == 340


def test_the_full_grid_is_the_papers():
    full = grid("adult", False)
    risk = [p.parameters for p in full if p.experiment == "risk"]
    assert {p["overlap"] for p in risk} == {100, 200, 300, 400, 500}
    assert {(p["secret"], p["degree"]) for p in risk} == {
        (secret, degree) for secret in ("occupation", "education") for degree in (4, 6)
    }
    assert {p["set_rows"] for p in risk} == {4_000}


# --- judges ---------------------------------------------------------------------------------------

RISKS = {OURS: 0.02, LITERAL: 0.02, "Hybrid": 0.02, "DP": 0.001} | dict.fromkeys(OTHERS[:3], 0.05)


def attacked(people, risks, fewer=0.0):
    return {
        name: {
            "record_risk": risk * people / 100,
            "class_risk": 0.3,
            "fewer_than_l": fewer,
            "disclosed": 0,
            "people": people,
            "fakes": 1,
            "records": 4_001,
        }
        for name, risk in risks.items()
    }


def made(
    by_hand,
    *,
    risks=None,
    fewer=0.0,
    shrink=False,
    loss=None,
    errors=None,
    right=None,
    seconds=(1.0, 4.0),
    target=None,
):
    """Return results as the paper expects them, with changes."""
    case = {"secret": "occupation", "degree": 4}
    ends = (400, 100) if shrink else (100, 400)
    given = [
        ("risk", case | {"overlap": n}, attacked(k, RISKS | (risks or {}), fewer))
        for n, k in zip((100, 400), ends, strict=True)
    ]
    rest = dict.fromkeys(OTHERS, 0.5)
    given.append(("loss", case, {OURS: 0.1, LITERAL: 0.1} | rest | (loss or {})))
    found = {OURS: 0.1, LITERAL: 0.1, UNFAKED: 0.1} | rest | (errors or {})
    numbers = {name: {"mean": value, "median": value} for name, value in found.items()}
    given.append(("queries", case | {"attributes": 1}, numbers))
    base = {OURS: 0.6, LITERAL: 0.6, "original": 0.7, "majority": 0.2} | rest | {"DP": 0.3}
    given += [
        (
            "learning",
            {"target": each, "degree": 4},
            base | ((right or {}) if target in (None, each) else {}),
        )
        for each in ("education", "relationship")
    ]
    given += [
        ("time", {"rows": n}, {"seconds": {OURS: s, LITERAL: s}})
        for n, s in zip((1_000, 4_000), seconds, strict=True)
    ]
    return by_hand(*given)


def verdicts(results):
    return {each.claim.key: each.judgement.verdict for each in judged(PAPER.claims, results)}


def test_what_the_paper_expects_holds(by_hand):
    found = verdicts(made(by_hand))
    assert found.pop("absolute") is Verdict.OPEN
    assert set(found.values()) == {Verdict.HOLDS}, found


@pytest.mark.parametrize(
    ("keys", "change"),
    [
        (["dp-risk"], {"risks": {"DP": 0.03}}),
        (["dp-risk-collapse", "hybrid-collapse"], {"risks": {OURS: 0.0005}}),
        (["risk", "hybrid"], {"risks": {LITERAL: 0.06}}),
        (["risk-collapse"], {"risks": {OURS: 0.06}}),
        (["people"], {"shrink": True}),
        (["keeps-l", "keeps-l-collapse"], {"fewer": 0.01}),
        (["loss"], {"loss": {LITERAL: 0.6}}),
        (["loss-collapse"], {"loss": {OURS: 0.6}}),
        (["queries", "fakes"], {"errors": {LITERAL: 0.6}}),
        (["queries-collapse"], {"errors": {OURS: 0.6}}),
        (["learn-sensitive", "learn-other"], {"right": {LITERAL: 0.4}}),
        (["learn-other-collapse"], {"right": {OURS: 0.4}}),
        (["learnable-sensitive", "learnable-other"], {"right": {"original": 0.21}}),
        (["dp-last"], {"right": {"DP": 0.55}}),
        (["time"], {"seconds": (1.0, 16.0)}),
    ],
)
def test_other_numbers_do_not(by_hand, keys, change):
    found = verdicts(made(by_hand, **change))
    assert {found[key] for key in keys} == {Verdict.FAILS}


def test_what_nobody_learns_says_nothing_of_the_methods(by_hand):
    found = verdicts(made(by_hand, right={"original": 0.21}, target="education"))
    assert found["learn-sensitive"] is Verdict.OPEN
    assert found["learn-other"] is Verdict.HOLDS
