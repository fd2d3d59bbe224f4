"""People whose rows were withheld: their values are told where the value was why, else not."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks import absence as module
from sfumato.attacks.adversary import Adversary
from sfumato.attacks.attack import ATTACKS, ERROR, AttackReport, attack
from sfumato.jobs.anonymize import anonymize
from sfumato.jobs.suppress import withheld_rows, without
from sfumato.methods import Method
from sfumato.randomness import Randomness
from sfumato.schema import Attribute, Hierarchy, Role, Schema
from sfumato.table import encode

SCHEMA = Schema.of(age="quasi-identifier", sex="quasi-identifier", disease="sensitive")
NO_FIT, TOO_FEW = "absence (no record fits)", "absence (too few records fit)"
# All methods that withhold rows by value, but for variants of these.
MAKERS: dict[str, Method] = {
    "anatomy": sf.Anatomy(l=3),
    "arp": sf.ARP(l=3),
    "slicing": sf.Slicing(l=3),
    "merging": sf.Merging(l=3),
    "slppa": sf.SLPPA(beta=0.34, tables=2),
}


def people(
    rows: int, seed: int, shares: tuple[float, ...] = (0.6, 0.2, 0.1, 0.1), ages: int = 4_000
) -> pa.Table:
    """Return people of one common disease, of which nothing else tells."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(0, ages, rows),
            "sex": rng.choice(["F", "M"], rows),
            "disease": rng.choice(["Flu", "HIV", "Cold", "Ache"], rows, p=shares),
        }
    )


def without_rows(
    method: Method,
    data: pa.Table,
    withheld: npt.NDArray[np.int64],
    *,
    by_value: bool,
    schema: Schema = SCHEMA,
) -> sf.Release:
    """Return a release of the other rows that says how many were withheld, as a job makes it."""
    made = method.publish(without(data, withheld), schema, randomness=Randomness.test(1))
    stated = {"suppressed": len(withheld), "suppressed_by_value": by_value}
    return sf.Release(made.manifest.model_copy(update=stated), made.tables, made.hierarchies)


def by_value(method: Method, data: pa.Table) -> sf.Release:
    withheld = withheld_rows(encode(data, SCHEMA), method, Randomness.test(1))
    return without_rows(method, data, withheld, by_value=True)


def attacked(release: sf.Release, data: pa.Table, others: pa.Table | None = None) -> AttackReport:
    rng = Randomness.test(3).generator("attacks")
    return attack(release, data, controls=others, attacks=["absence"], rng=rng)


# --- withheld by value ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", MAKERS)
def test_rows_withheld_by_value_give_their_value_away(name):
    data = people(2_000, 1)
    found = attacked(by_value(MAKERS[name], data), data, people(2_000, 2)).of(NO_FIT)
    assert found.verdict == "risk"
    assert found.success.share == 1
    assert found.success.tried > 200
    assert found.blind.share == pytest.approx(0.34, abs=0.01)
    assert found.control is not None
    assert found.control.share == pytest.approx(0.6, abs=0.05)
    assert found.worst == 1
    # fakes may add to a value, so that nobody is certain which one was cut
    has_fakes = bool(by_value(MAKERS[name], data).manifest.parameters.get("fakes"))
    assert found.certain == (0 if has_fakes else found.success.tried)


def test_the_people_are_those_whom_a_literal_search_finds():
    data = people(900, 4, ages=250)
    release = by_value(sf.Anatomy(l=3), data)
    shown: Counter[tuple[int, str]] = Counter()
    for row in release.tables["qi_1"].to_pylist():
        shown[row["age"], row["sex"]] += row["count"]
    known = Counter((row["age"], row["sex"]) for row in data.to_pylist())
    nobody = [row["disease"] for row in data.to_pylist() if not shown[row["age"], row["sex"]]]
    few = [
        row["disease"]
        for row in data.to_pylist()
        if 2 * shown[row["age"], row["sex"]] < known[row["age"], row["sex"]]
    ]
    report = attacked(release, data)
    for title, values in ((NO_FIT, nobody), (TOO_FEW, few)):
        found = report.of(title)
        assert found.success.tried == len(values) > 0
        assert found.success.hits == values.count("Flu")
        assert found.figures["share_of_people"] == pytest.approx(len(values) / 900)
    # who counts people sees more of them missing than who looks for one
    assert len(few) > len(nobody)
    assert report.of(TOO_FEW).verdict == "risk"
    assert report.of(TOO_FEW).certain == 0


def test_one_person_is_enough(tmp_path):
    """Through the whole way: a policy that withholds by value, and the command's own job."""
    diseases = ["Flu"] * 11 + ["HIV", "Cold", "Ache"] * 3 + ["HIV"]
    data = pa.table({"age": list(range(21)), "sex": ["F"] * 21, "disease": diseases})
    from pyarrow import csv

    csv.write_csv(data, tmp_path / "data.csv")
    (tmp_path / "policy.yaml").write_text(
        "attributes:\n"
        "  age: {role: quasi-identifier}\n"
        "  sex: {role: quasi-identifier}\n"
        "  disease: {role: sensitive}\n"
        "method: {name: anatomy, l: 2}\n"
        "on_infeasible: suppress\n"
    )
    made = anonymize(
        tmp_path / "data.csv",
        tmp_path / "policy.yaml",
        tmp_path / "release",
        randomness=Randomness.test(1),
    )
    assert any("their absence tells their value" in warning for warning in made.warnings)
    release = sf.Release.load(tmp_path / "release")
    assert (release.manifest.suppressed, release.manifest.suppressed_by_value) == (1, True)
    found = attacked(release, data).of(NO_FIT)
    assert (found.success.tried, found.certain, found.verdict) == (1, 1, "risk")
    assert "1 case is certain from the files alone: this is a risk" in found.sentence()
    assert "Flu" not in str(found.to_dict())


def test_of_two_values_at_the_limit_either_is_guessed_and_none_is_certain():
    data = people(2_000, 5, (0.5, 0.5, 0.0, 0.0))
    rest = people(400, 6, (0.0, 0.0, 0.5, 0.5))
    data = pa.concat_tables([data, rest])
    release = by_value(sf.Anatomy(l=3), data)
    shown: Counter[str] = Counter()
    for row in release.tables["sensitive_1"].to_pylist():
        shown[row["disease"]] += row["count"]
    assert shown["Flu"] == shown["HIV"] > shown["Cold"]
    found = attacked(release, data, people(2_000, 7, (0.4, 0.4, 0.1, 0.1))).of(NO_FIT)
    assert found.success.share == pytest.approx(0.5)
    assert found.certain == 0
    assert found.verdict == "risk"


def test_each_secret_has_its_own_value():
    rng = np.random.default_rng(8)
    data = people(3_000, 8, (0.25, 0.25, 0.25, 0.25))
    pay = rng.choice(["low", "mid", "top"], 3_000, p=[0.5, 0.25, 0.25])
    data = data.append_column("pay", pa.array(pay))
    low = np.flatnonzero(pay == "low")  # too common
    withheld = np.sort(rng.choice(low, len(low) - 1_000, replace=False))
    schema = Schema((*SCHEMA.attributes, Attribute("pay", Role.SENSITIVE)))
    release = without_rows(sf.Slicing(l=2), data, withheld, by_value=True, schema=schema)
    others = people(3_000, 9, (0.25, 0.25, 0.25, 0.25))
    others = others.append_column("pay", pa.array(rng.choice(["low", "mid", "top"], 3_000)))
    report = attacked(release, data, others)
    assert report.of(NO_FIT, "pay").verdict == "risk"
    assert report.of(NO_FIT, "pay").success.share == 1
    untouched = report.of(NO_FIT, "disease")
    assert untouched.verdict in ("at chance", "inconclusive")
    assert untouched.success.share == pytest.approx(0.25, abs=0.1)
    assert untouched.certain == 0


# --- withheld for other reasons -------------------------------------------------------------------

ROWS = 6_000


def independent(seed: int) -> pa.Table:
    """Return a table whose attributes know nothing of each other, where a tenth is like few."""
    rng = np.random.default_rng(seed)
    rare = [f"r{i}" for i in range(600)]
    return pa.table(
        {
            "a": rng.choice(["p", "q", *rare], ROWS, p=[0.45, 0.45, *[0.1 / 600] * 600]),
            "b": rng.choice(["x", "y", "z"], ROWS),
            "c": rng.choice(["F", "M"], ROWS),
            # one value is frequent, as it is where rows are withheld by value
            "disease": rng.choice(["Flu", "HIV", "Cold", "Ache"], ROWS, p=[0.4, 0.2, 0.2, 0.2]),
            "private": np.ones(ROWS, bool),
        }
    )


def roles(secret: str = "quasi-identifier") -> Schema:
    given = {"a": "quasi-identifier", "b": secret, "c": "quasi-identifier", "disease": "sensitive"}
    return Schema.of(**given, private="insensitive")


HIDING = Schema(
    (
        Attribute("a", Role.QUASI_IDENTIFIER),
        Attribute("b", Role.QUASI_IDENTIFIER),
        Attribute("c", Role.SEMI_SENSITIVE, flag="private"),
        Attribute("disease", Role.SENSITIVE),
    )
)
LAYOUTS: dict[str, tuple[Method, Schema]] = {
    "generalized": (sf.Mondrian(k=1), roles()),
    "anatomized": (sf.Anatomy(l=2), roles()),
    "sliced": (sf.Slicing(l=2), roles()),
    "local": (sf.LGB(k=2, t=0.3), HIDING),
    "sets": (sf.SensitiveQID(l=2), roles("sensitive-quasi-identifier")),
}


@pytest.mark.parametrize("given", [True, False], ids=["given controls", "synthetic controls"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_false_alarm_where_rows_are_withheld_at_random(layout, given):
    """In each run the chance of any alarm is at most 0.05 (Bonferroni over its outcomes): of ten,
    at most 10 * 0.05, and far less in fact, since the intervals of both sides must part."""
    method, schema = LAYOUTS[layout]
    data = independent(1)
    withheld = np.sort(np.random.default_rng(1).choice(ROWS, 1_200, replace=False))
    release = without_rows(method, data, withheld, by_value=False, schema=schema)
    assert release.manifest.layout == layout
    report = attacked(release, data, independent(2) if given else None)
    assert report.error == ERROR == 0.05
    confidence = 1 - ERROR / len(report.outcomes)
    assert {each.confidence for each in report.outcomes} == {confidence}
    assert report.of(NO_FIT, "disease").success.tried >= 30
    assert report.risks == ()
    for each in report.outcomes:
        assert each.success.share - each.blind.share < 0.12


OUTLIERS: dict[str, Method] = {
    "full-domain": sf.FullDomain(k=20, suppression=0.15),
    "mondrian": sf.Mondrian(k=20, suppression=0.15),
}


@pytest.mark.parametrize("name", OUTLIERS)
def test_outliers_tell_nothing_of_their_values(name):
    """All attacks, with the family-wise error rate of a run: 0.05."""
    data, method = independent(1), OUTLIERS[name]
    tree = Hierarchy.from_rows([(each, "*") for each in sorted(set(data["a"].to_pylist()))], "a")
    capped = replace(roles()["a"], max_level=0, hierarchy=tree)
    schema = Schema((capped, *(each for each in roles().attributes if each.name != "a")))
    release = method.publish(data, schema, randomness=Randomness.test(1))
    assert release.manifest.suppressed > 100
    assert not release.manifest.suppressed_by_value
    rng = Randomness.test(3).generator("attacks")
    report = attack(release, data, controls=independent(2), rng=rng)
    assert {each.confidence for each in report.outcomes} == {1 - ERROR / len(report.outcomes)}
    assert report.risks == ()
    found = report.of(NO_FIT)
    assert found.success.tried > 100
    assert found.certain == 0
    assert found.verdict in ("at chance", "inconclusive")
    assert abs(found.success.share - found.blind.share) < 0.1


def test_the_most_frequent_value_is_not_certain_where_groups_were_withheld_for_their_size():
    """A model of values and a limit of suppression: some of either sort were withheld."""
    data = people(600, 3, ages=60)
    release = by_value(sf.Anatomy(l=3), data)
    update = {"parameters": {**release.manifest.parameters, "suppression": 0.5}}
    mixed = sf.Release(release.manifest.model_copy(update=update), release.tables, {})
    assert attacked(release, data).of(NO_FIT).certain > 0
    assert attacked(mixed, data).of(NO_FIT).certain == 0


# --- the way in -----------------------------------------------------------------------------------


def test_where_nothing_is_withheld_there_is_nothing_to_attack():
    data = people(300, 1, (0.25,) * 4)
    release = sf.Anatomy(l=2).publish(data, SCHEMA, randomness=Randomness.test(1))
    with pytest.raises(sf.ParameterError, match="needs a release from which rows were withheld"):
        attacked(release, data)
    with pytest.raises(sf.ParameterError) as refused:
        attack(release, data, attacks=["minimality"])
    assert "absence" not in str(refused.value)
    assert "absence" in ATTACKS


def test_it_is_the_same_for_the_same_seed_and_says_how_many_it_looked_at(monkeypatch):
    data = people(900, 2)
    release = by_value(sf.Anatomy(l=3), data)
    one, again = (attacked(release, data).to_dict() for _ in range(2))
    assert one == again
    assert {each["sample"] for each in one["outcomes"]} == {900}
    data = independent(1)
    withheld = np.sort(np.random.default_rng(1).choice(ROWS, 1_200, replace=False))
    release = without_rows(sf.Slicing(l=2), data, withheld, by_value=False, schema=roles())
    monkeypatch.setattr(module, "MOST_PAIRS", 300 * release.manifest.rows)
    rng = Randomness.test(3).generator("attacks")
    fewer = attack(release, data, attacks=["absence"], sample=100, rng=rng)
    assert {each.sample for each in fewer.outcomes} == {300}
    assert {each.population for each in fewer.outcomes} == {ROWS}


@pytest.mark.parametrize("missing", [False, True])
def test_exact_cells_are_counted_as_the_adversary_counts_all_cells(missing):
    data = people(500, 3, ages=60)
    if missing:
        ages = [None if i % 7 == 0 else age for i, age in enumerate(data["age"].to_pylist())]
        data = data.set_column(0, "age", pa.array(ages))
    release = by_value(sf.Anatomy(l=3), data)
    eyes = Adversary.of(release, data, sample=500, rng=np.random.default_rng(1))
    rows = np.concatenate([eyes.targets, eyes.controls])
    assert module._by_equality(eyes, rows).tolist() == eyes.expected(rows).tolist()
    coarse = Adversary.of(
        sf.Mondrian(k=5).publish(data, SCHEMA), data, sample=500, rng=np.random.default_rng(1)
    )
    assert module._by_equality(coarse, rows) is None


def test_controls_without_secrets_are_no_control():
    data, others = people(900, 2), people(900, 3).drop_columns(["disease"])
    found = attacked(by_value(sf.Anatomy(l=3), data), data, others).of(NO_FIT)
    assert found.control is None
    assert found.verdict == "risk"
