"""Attacks find what was planted, and nothing where there is nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from attacks.test_composition import published

import sfumato as sf
from sfumato.attacks.attack import ATTACKS, ERROR, attack
from sfumato.attacks.gdpr import EVIDENCE
from sfumato.attacks.outcome import FEWEST, Outcome, Rate, highest_difference, worst_decile
from sfumato.randomness import Randomness
from sfumato.schema import Attribute, Role, Schema


def seeded(seed: int = 1) -> np.random.Generator:
    return Randomness.test(seed).generator("attacks")


SCHEMA = Schema(
    (
        Attribute("name", Role.IDENTIFIER),
        Attribute("age", Role.QUASI_IDENTIFIER),
        Attribute("sex", Role.QUASI_IDENTIFIER),
        Attribute("disease", Role.SENSITIVE),
    )
)


def people(count: int, seed: int = 0, diseases: tuple[str, ...] = ("Flu", "HIV", "Cold", "Ache")):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "name": [f"p{i}" for i in range(count)],
            "age": rng.integers(20, 40, count),
            "sex": rng.choice(["F", "M"], count),
            "disease": rng.choice(diseases, count),
        }
    )


# --- planted leaks --------------------------------------------------------------------------------


def grouped(data: pa.Table, size: int, layout: str = "generalized") -> tuple[sf.Release, list[int]]:
    """Return a release of groups of neighbours in age, in the order that the data then have."""
    ids = [i // size for i in range(data.num_rows)]
    return published(data, SCHEMA, layout, [*ids[:-1], ids[-1] or 1]), ids


@pytest.mark.parametrize("layout", ["generalized", "anatomized", "sliced"])
def test_a_group_with_one_value_is_found(layout):
    data = people(400).sort_by("age")
    diseases = data["disease"].to_pylist()
    clean, _ = grouped(_with(data, _mixed(diseases)), 20, layout)
    planted = _mixed(diseases)
    planted[40:60] = ["HIV"] * 20
    leaking, _ = grouped(_with(data, planted), 20, layout)
    clean_data, data = _with(data, _mixed(diseases)), _with(data, planted)
    found = attack(clean, clean_data, rng=seeded()).of("attribute linkage (homogeneity)")
    assert (found.certain, found.verdict) == (0, "at chance")
    found = attack(leaking, data, rng=seeded()).of("attribute linkage (homogeneity)")
    assert (found.certain, found.verdict) == (1, "risk")
    assert found.figures["groups_or_buckets_with_one_value"] == 1
    assert "1 case is certain" in found.sentence()


def test_a_bucket_with_one_value_is_found():
    data = people(200).append_column("private", pa.array([True] * 200))
    schema = Schema(
        (
            Attribute("name", Role.IDENTIFIER),
            Attribute("age", Role.SEMI_SENSITIVE, flag="private"),
            Attribute("sex", Role.QUASI_IDENTIFIER),
            Attribute("disease", Role.SENSITIVE),
        )
    )
    release = sf.LGB(k=5, l=3).publish(data, schema, randomness=Randomness.test(1))
    found = attack(release, data, rng=seeded()).of("attribute linkage (homogeneity)", "disease")
    assert found.certain == 0
    records = release.tables["records"]
    bucket = records["disease.bucket"].to_numpy()
    cells = np.where(bucket == bucket[0], "HIV", records["disease"].to_pylist())
    tampered = records.set_column(
        records.column_names.index("disease"), "disease", pa.array(cells, pa.string())
    )
    leaking = sf.Release(release.manifest, {"records": tampered}, release.hierarchies)
    found = attack(leaking, data, rng=seeded()).of("attribute linkage (homogeneity)", "disease")
    assert (found.certain, found.verdict) == (1, "risk")


@pytest.mark.parametrize("layout", ["generalized", "anatomized", "sliced"])
def test_a_group_of_one_is_found(layout):
    data = people(300, diseases=tuple("abcdefgh"))
    ids = [0 if i == 0 else 1 + i % 5 for i in range(300)]
    found = attack(published(data, SCHEMA, layout, ids), data, rng=seeded()).of("record linkage")
    assert (found.certain, found.verdict) == (1, "risk")
    assert found.figures["groups_of_one_record"] == 1
    ids[0] = 1
    found = attack(published(data, SCHEMA, layout, ids), data, rng=seeded()).of("record linkage")
    assert found.certain == 0


def test_unique_people_in_exact_tables_are_linked_and_recognised_as_present():
    data = sf.datasets.hospital(1_500)
    others = sf.datasets.hospital(1_500, seed=9)
    schema = sf.datasets.hospital_schema()
    release = sf.Anatomy(l=3).publish(data, schema, randomness=Randomness.test(1))
    report = attack(release, data, controls=others, rng=seeded())
    assert report.controls_are == "people of a table of controls"
    for name in ("record linkage (prosecutor)", "table linkage (a record fits)"):
        found = report.of(name)
        assert found.verdict == "risk"
        assert found.success.share > 0.9
    skewed = report.of("attribute linkage (skewness)")
    assert skewed.success.share == pytest.approx(1 / 3, abs=0.02)
    assert [each.verdict for each in report.gdpr] == ["risk"] * 3


def test_a_recognisable_fake_is_found():
    data = people(200)
    release = sf.Merging(l=2, fakes=3).publish(data, SCHEMA, randomness=Randomness.test(1))
    clean = attack(release, data, attacks=["fakes"], rng=seeded()).of("recognising fakes")
    assert (clean.figures["fakes"], clean.figures["recognised"]) == (3, 0)
    assert clean.verdict != "risk"
    records = release.tables["records"]
    rows = records.to_pylist()
    occurring = {(row["age"], row["sex"]) for row in data.to_pylist()}
    blocks = release.manifest.parameters["columns"]
    if ["age", "sex"] in blocks:  # a combination that nobody has
        age, sex = next((a, s) for a in range(20, 40) for s in "FM" if (a, s) not in occurring)
        rows[7] |= {"age": age, "sex": sex}
    else:  # a value that nobody has
        rows[7]["age"] = 90 if records["age"].type == pa.int64() else "90"
    tampered = pa.Table.from_pylist(rows, schema=records.schema)
    leaking = sf.Release(release.manifest, {"records": tampered}, release.hierarchies)
    found = attack(leaking, data, attacks=["fakes"], rng=seeded()).of("recognising fakes")
    assert (found.certain, found.verdict) == (1, "risk")


def test_close_values_are_found():
    count = 600
    rng = np.random.default_rng(2)
    age = np.sort(rng.integers(20, 80, count))
    data = pa.table(
        {
            "name": [f"p{i}" for i in range(count)],
            "age": age,
            "sex": rng.choice(["F", "M"], count),
            # pay follows age: those of a group earn nearly the same
            "disease": age * 1000 + rng.integers(0, 900, count),
        }
    )
    release, _ = grouped(data, 20)
    report = attack(release, data, rng=seeded())
    assert report.of("attribute linkage (homogeneity)").success.tried == 0
    found = report.of("attribute linkage (similarity)")
    assert found.success.share == 1
    assert found.figures["share_of_people"] > 0.5
    assert found.blind.share < 0.3


# --- nothing to find ------------------------------------------------------------------------------

ROWS = 12_000


def independent(seed: int) -> pa.Table:
    """Return a table whose attributes know nothing of each other, with room for few people."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "a": rng.choice(["p", "q", "r"], ROWS),
            "b": rng.integers(0, 3, ROWS),
            "c": rng.choice(["F", "M"], ROWS),
            "disease": rng.choice(["Flu", "HIV", "Cold", "Ache"], ROWS),
            "private": np.ones(ROWS, bool),
        }
    )


def roles(secret: str = "quasi-identifier", **more: str) -> Schema:
    given = {"a": secret, "b": secret, "c": "quasi-identifier", "disease": "sensitive"} | more
    return Schema.of(**given, private="insensitive")


HIDING = Schema(
    (
        Attribute("a", Role.QUASI_IDENTIFIER),
        Attribute("b", Role.QUASI_IDENTIFIER),
        Attribute("c", Role.SEMI_SENSITIVE, flag="private"),
        Attribute("disease", Role.SENSITIVE),
    )
)
TELLING_NOTHING = {
    "generalized": (sf.Mondrian(k=2_000), roles()),
    "anatomized": (sf.Anatomy(l=3), roles()),
    "sliced": (sf.Slicing(l=3), roles()),
    "local": (sf.LGB(k=600, t=0.05), HIDING),
    "sets": (sf.SensitiveQID(t=0.2), roles("sensitive-quasi-identifier")),
}


@pytest.mark.parametrize("given", [True, False], ids=["given controls", "synthetic controls"])
@pytest.mark.parametrize("layout", TELLING_NOTHING)
def test_no_false_alarm(layout, given):
    """Over all ten runs the chance of a single alarm is at most 10 * 0.05, and far less in fact:
    the intervals of both sides must part."""
    method, schema = TELLING_NOTHING[layout]
    data = independent(1)
    release = method.publish(data, schema, randomness=Randomness.test(1))
    assert release.manifest.layout == layout
    # attacks that ask nothing of controls go the same way with any
    chosen, controls = (None, independent(2)) if given else (list(ATTACKS)[:7], None)
    report = attack(release, data, controls=controls, attacks=chosen, sample=1_500, rng=seeded(5))
    assert report.error == ERROR == 0.05
    assert [each.confidence for each in report.outcomes] == pytest.approx(
        [1 - 0.05 / len(report.outcomes)] * len(report.outcomes)
    )
    risks = [name for name, each in report.named if each.verdict == "risk"]
    # who knows the others of a group of three knows something, whatever the data are
    assert set(risks) <= ({"corruption"} if layout == "anatomized" else set())
    # of a handful of groups nothing can be told, and nothing is said
    asked = [each for each in report.outcomes if each.asked >= FEWEST]
    assert len(asked) > 10
    doubts = [each for each in asked if each.verdict == "inconclusive"]
    assert len(doubts) <= len(asked) / 4
    assert all(each.success.share - each.blind.share < 0.1 for each in doubts)


# --- the report -----------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_report_and_attacks_do_not_disturb_each_other():
    data = sf.datasets.hospital(800)
    release = sf.Mondrian(k=5).publish(data, sf.datasets.hospital_schema())
    one, again = (attack(release, data, sample=300, rng=seeded(7)) for _ in range(2))
    assert one.to_dict() == again.to_dict()
    other = attack(release, data, sample=300, rng=seeded(8))
    assert one.to_dict() != other.to_dict()
    alone = attack(release, data, sample=300, attacks=["membership"], rng=seeded(7))
    for outcome in alone.outcomes:
        assert outcome.success == one.of(outcome.attack).success


def test_what_is_refused():
    data = sf.datasets.hospital(100)
    release = sf.Mondrian(k=5).publish(data, sf.datasets.hospital_schema())
    with pytest.raises(sf.ParameterError, match="did you mean 'membership'"):
        attack(release, data, attacks=["memberhsip"])
    with pytest.raises(sf.ParameterError, match="`sample` must be 1"):
        attack(release, data, sample=0)
    with pytest.raises(sf.ParameterError, match="an original: "):
        attack(release, data.drop_columns(["age"]))


def test_attacks_without_a_meaning_are_refused():
    data = people(300)
    release, _ = grouped(data, 30, "anatomized")
    with pytest.raises(sf.ParameterError, match=r"'minimality' has no .*'anatomized'.*defin"):
        attack(release, data, attacks=["minimality"])
    both = attack(release, data, attacks=["minimality", "membership"], rng=seeded())
    assert both.without_outcome == ("minimality",)


def test_what_is_true_of_everybody_is_no_better_than_about_strangers():
    """The secret follows from what is known: the release tells it of anybody, in it or not."""
    data, others = (_following(4_000, seed) for seed in (1, 2))
    release = sf.Mondrian(k=5).publish(data, SCHEMA, randomness=Randomness.test(1))
    report = attack(release, data, controls=others, rng=seeded())
    for name in ("attribute linkage (skewness)", "probabilistic", "record linkage (prosecutor)"):
        found = report.of(name)
        assert found.success.share > 2 * found.blind.share
        assert found.verdict == "as for strangers"
        assert "no better than about people outside the data" in found.sentence()
    assert "(a belief, always wrong)" in report.of("record linkage").sentence()
    linkability = report.gdpr[1]
    assert linkability.verdict != "risk"
    assert "record linkage" in linkability.sentence()
    assert "outside the data" in linkability.sentence()
    assert "outside the data" in report.sentence()


def test_few_controls_are_said_not_to_count():
    data, others = people(400), people(1, seed=5)
    release, _ = grouped(data, 40)
    report = attack(release, data, controls=others, rng=seeded())
    found = report.of("attribute linkage (skewness)")
    assert "does not count (1 tried, too few)" in found.sentence()
    assert "and at up to 1 other (" in report.sentence()


def test_no_two_outcomes_read_alike_and_leaks_have_no_worst_tenth(tmp_path):
    data = sf.datasets.hospital(600)
    release = sf.Anatomy(l=3).publish(data, sf.datasets.hospital_schema())
    release.save(tmp_path / "release")
    report = attack(release, data, path=tmp_path / "release", rng=seeded())
    starts = [each.sentence().split(", knowing")[0] for each in report.outcomes]
    assert len(set(starts)) == len(starts)
    leaks = [each for name, each in report.named if name in ("leaks", "membership")]
    assert {each.worst for each in leaks} == {None}
    units = {each.attack: each.unit for each in leaks}
    assert "people" not in units.values()
    assert units["leak: sorted rows"] == "pairs of rows"
    trained = {each.attack for each in leaks if "truth to train on" in each.knows}
    assert trained >= {"leak: row order", "leak: group ids"}
    assert not trained & {"leak: sorted rows", "leak: neighbouring rows", "leak: files"}
    made_up = report.of("attribute linkage (skewness)").sentence()
    assert "made-up people" in made_up


def test_no_cell_and_no_promise_in_a_report():
    data = people(300, diseases=("Xx1", "Xx2", "Xx3"))
    release, _ = grouped(data, 30)
    text = json.dumps(attack(release, data, rng=seeded()).to_dict())
    assert "Xx" not in text
    assert "anonymous" not in text
    assert set(json.loads(text)["attacks"]) == set(ATTACKS)


def test_controls_without_secrets_leave_attacks_on_them_out():
    data, others = people(300), people(300, seed=5).drop_columns(["disease", "name"])
    release, _ = grouped(data, 30)
    report = attack(release, data, controls=others, rng=seeded())
    assert report.of("attribute linkage (skewness)").control is None
    assert report.of("record linkage (prosecutor)").control is not None


# --- outcomes -------------------------------------------------------------------------------------


def outcome(success: Rate, blind: Rate, control: Rate | None = None, **more: Any) -> Outcome:
    given = {"worst": 0.0, "sample": 1000, "population": 1000} | more
    return Outcome("a", None, "b", "c", success, blind, control, **given)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (outcome(Rate(600, 1000), Rate(500, 1000)), "risk"),
        (outcome(Rate(600, 1000), Rate(500, 1000), Rate(565, 1000)), "inconclusive"),
        (outcome(Rate(600, 1000), Rate(500, 1000), Rate(620, 1000)), "as for strangers"),
        # above the blind guess, and nearly as high among strangers
        (outcome(Rate(600, 1000), Rate(500, 1000), Rate(599, 1000)), "as for strangers"),
        (outcome(Rate(500, 1000), Rate(500, 1000)), "at chance"),
        (outcome(Rate(500, 1000), Rate(500, 1000), Rate(400, 1000)), "at chance"),
        (outcome(Rate(6, 10), Rate(5, 10)), "inconclusive"),
        # intervals overlap, and the excess is large: that is no evidence of chance
        (outcome(Rate(17, 40), Rate(10, 40)), "inconclusive"),
        (outcome(Rate(520, 1000), Rate(500, 1000)), "inconclusive"),
        (outcome(Rate(5020, 10000), Rate(5000, 10000)), "at chance"),
        # few strangers neither hide a risk nor make for chance
        (outcome(Rate(600, 1000), Rate(500, 1000), Rate(1, 1)), "risk"),
        (outcome(Rate(17, 40), Rate(10, 40), Rate(1, 1)), "inconclusive"),
        (outcome(Rate(600, 1000), Rate(500, 1000), Rate(FEWEST, FEWEST)), "as for strangers"),
        # of rare hits few points are many times as many
        (
            outcome(Rate(14, 500), Rate(0.1, 500), Rate(18, 500), confidence=1 - 1e-6),
            "as for strangers",
        ),
        (outcome(Rate(0, 0), Rate(0, 0)), "at chance"),
        (outcome(Rate(0, 0), Rate(0, 0), certain=1), "risk"),
        (outcome(Rate(0, 0), Rate(0, 0), sample=0), "not judged"),
        (outcome(Rate(0, 0), Rate(0, 0), sample=0, is_search=True), "at chance"),
        (outcome(Rate(0, 0), Rate(0, 0), is_search=True, certain=2), "risk"),
    ],
)
def test_verdicts(found, verdict):
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (outcome(Rate(17, 40), Rate(10, 40)), "25.0%: cannot be told apart from chance"),
        (outcome(Rate(6, 10), Rate(5, 10)), ": too few people were looked at to tell"),
        (outcome(Rate(0, 0), Rate(0, 0), sample=0), "knowing b: not judged"),
        (outcome(Rate(0, 0), Rate(0, 0), sample=0, is_search=True), "b: nothing was found"),
        (
            outcome(Rate(214, 2000), Rate(0.5, 2000), Rate(220, 2000)),
            "<0.1%, the same attack on people outside the data 11.0%: no better than about people "
            "outside the data, though whoever knows this is right for 10.7%",
        ),
        (
            outcome(Rate(600, 1000), Rate(500, 1000), Rate(1, 1)),
            "the same attack on people outside the data does not count (1 tried, too few): this is "
            "a risk",
        ),
        (
            outcome(Rate(600, 1000), Rate(500, 1000), Rate(565, 1000)),
            "better than a blind guess, but not clearly so than about people outside the data",
        ),
        (
            outcome(Rate(600, 1000), Rate(500, 1000), confidence=1 - 1e-6),
            "better than chance on its own, but not clearly so for one of so many attacks",
        ),
        (outcome(Rate(9, 90), Rate(9, 90), unit="files", blind_is="a coin"), "90 files"),
    ],
)
def test_sentences(found, words):
    assert words in found.sentence()
    if found.verdict != "at chance":
        assert "no better than chance" not in found.sentence()


def test_differences_are_those_of_newcombe():
    """The examples (a), (b), (d) and (h) of method 10 in his paper of 1998."""
    cases = [(56, 70, 48, 80), (9, 10, 3, 10), (5, 56, 0, 29), (10, 10, 0, 10)]
    found = [highest_difference(Rate(a, n), Rate(b, m)) for a, n, b, m in cases]
    assert found == pytest.approx([0.3339, 0.8090, 0.1926, 1.0], abs=1e-4)


def test_more_attacks_ask_for_more_evidence():
    found = outcome(Rate(560, 1000), Rate(500, 1000))
    surer = outcome(Rate(600, 1000), Rate(500, 1000))
    assert found.judged(0.8).verdict == "risk"
    assert found.judged(0.999).verdict != "risk"
    assert surer.judged(1 - 0.05 / 50).verdict != "risk"
    assert surer.verdict == "risk"


def test_rates():
    assert Rate.of([0.5, 1, 0]).share == 0.5
    assert Rate(0, 0).interval == (0, 1)
    low, high = Rate(10, 100).within(0.999)
    assert low < Rate(10, 100).interval[0] < 0.1 < Rate(10, 100).interval[1] < high
    assert worst_decile(np.arange(20)) == 18.5
    assert worst_decile([]) == 0


def _following(count: int, seed: int) -> pa.Table:
    data = people(count, seed)
    of_age = [("Flu", "HIV", "Cold", "Ache")[age // 5 % 4] for age in data["age"].to_pylist()]
    return _with(data, of_age)


def _with(data: pa.Table, diseases: list[str]) -> pa.Table:
    return data.set_column(3, "disease", pa.array(diseases))


def _mixed(diseases: list[str]) -> list[str]:
    """Return as many values in turn, so that every run of four has all of them."""
    values = sorted(set(diseases))
    return [values[i % len(values)] for i in range(len(diseases))]


def test_every_attack_is_in_the_page():
    page = (Path(__file__).parents[2] / "docs" / "attacks.md").read_text("utf-8")
    assert all(f"| `{name}` |" in page for name in ATTACKS)
    assert set(EVIDENCE) == set(ATTACKS)
