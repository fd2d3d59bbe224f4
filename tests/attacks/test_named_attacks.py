"""The attacks on one person that have names, by hand: two groups of four, counted on paper."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from attacks.test_composition import published

import sfumato as sf
from sfumato.answers.set_axes import read_axis
from sfumato.attacks.attack import ATTACKS, AttackReport, attack
from sfumato.attacks.gdpr import criteria
from sfumato.attacks.outcome import Outcome, Rate
from sfumato.attacks.set_adversary import factors
from sfumato.randomness import Randomness
from sfumato.schema import Attribute, Role, Schema

SCHEMA = Schema.of(age="quasi-identifier", disease="sensitive")
AGES = [20, 22, 24, 26, 40, 42, 44, 46]
DISEASES = ["Flu", "Flu", "HIV", "Cold", "Flu", "Ache", "Ache", "Ache"]
DATA = pa.table({"age": AGES, "disease": DISEASES})
GROUPED = published(DATA, SCHEMA, "generalized", [0] * 4 + [1] * 4)


def run(others: list[int], *names: str) -> AttackReport:
    rng = Randomness.test(1).generator("attacks")
    strangers = pa.table({"age": pa.array(others, pa.int64())})
    return attack(GROUPED, DATA, controls=strangers, attacks=names, rng=rng)


def test_prosecutor_and_marketer_draw_one_of_four():
    report = run([90], "record-linkage")
    for name in ("prosecutor", "marketer"):
        found = report.of(f"record linkage ({name})")
        assert found.success.share == pytest.approx(1 / 4)
        assert found.blind.share == pytest.approx(1 / 8)
        assert found.worst == pytest.approx(1 / 4)


@pytest.mark.parametrize(
    ("others", "share"),
    [
        ([90] * 8, 1 / 4),  # nobody else fits
        ([21, 21, 23, 23, 41, 41, 43, 43], 1 / 8),  # as many strangers as people
        ([21, 21, 23, 23, 90, 90, 90, 90], (1 / 4 / (1 + 4.5 / 5) + 1 / 4 / (1 + 0.5 / 5)) / 2),
    ],
)
def test_strangers_compete_with_the_journalist(others, share):
    found = run(others, "record-linkage").of("record linkage (journalist)")
    assert found.success.share == pytest.approx(share)


def test_attribute_linkage_and_the_probabilistic_attack():
    report = run([90], "attribute-linkage", "probabilistic")
    skewed = report.of("attribute linkage (skewness)")
    assert skewed.success.hits == pytest.approx(2 + 3)  # Flu in one group, Ache in the other
    assert skewed.blind.hits == pytest.approx(6 / 2)  # either, of those who have one
    drawn = report.of("probabilistic")
    assert drawn.success.hits == pytest.approx(2 / 2 + 1 / 4 + 1 / 4 + 1 / 4 + 3 * 3 / 4)
    assert drawn.blind.hits == pytest.approx(3 * 3 / 8 + 1 / 8 + 1 / 8 + 3 * 3 / 8)
    assert drawn.figures["largest_gain"] == pytest.approx(3 / 4 - 3 / 8)


def test_values_that_a_person_does_not_have_are_ruled_out():
    report = run([90], "negation")
    one = report.of("background knowledge (1 negated)")
    # Flu keeps 1/2 of 3/4, HIV and Cold 1/4 of 1/2, and in the other group one value is left
    assert one.success.hits == pytest.approx(2 * 2 / 3 + 1 / 2 + 1 / 2 + 4)
    # of the whole release 3/8 are ruled out for everybody
    assert one.blind.hits == pytest.approx(6 * 3 / 5 + 2 * 1 / 5)
    two = report.of("background knowledge (2 negated)")
    assert two.success.hits == pytest.approx(8)
    assert two.figures["share_of_people_who_are_sure"] == 1


def test_what_each_attack_is_evidence_of():
    """The page's list, read literally."""
    singling_out = {"record-linkage", "membership", "fakes", "leaks", "downcoding"}
    linkability = {"record-linkage", "leaks", "downcoding", "republication"}
    not_of_secrets = {"record-linkage", "membership", "fakes", "leaks", "downcoding"}
    bad = Outcome("a", None, "b", "c", Rate(90, 100), Rate(10, 100), None, 0.9, 100, 100)
    for name in ATTACKS:
        found = {each.name for each in criteria([(name, bad)]) if each.verdict == "risk"}
        expected = {"singling out"} if name in singling_out else set()
        expected |= {"linkability"} if name in linkability else set()
        expected |= {"inference"} if name not in not_of_secrets else set()
        assert found == expected, name


# --- sets, by the parameters that the manifest states ---------------------------------------------


@pytest.mark.parametrize("protection", [{"l": 2}, {"t": 0.3}, {"l": 3, "t": 0.1}])
def test_how_likely_sets_are_follows_from_the_stated_p(protection):
    """By counting: with p the set has the own value and any others, else it is any set."""
    from fractions import Fraction
    from math import comb

    rng = np.random.default_rng(2)
    columns = {"a": rng.choice(list("pqrst"), 60), "b": rng.choice(list("xyzw"), 60)}
    schema = Schema.of(a="sensitive-quasi-identifier", b="sensitive")
    release = sf.SensitiveQID(**protection).publish(
        pa.table(columns), schema, randomness=Randomness.test(1)
    )
    for name, stated in release.manifest.parameters["sets"].items():
        axis = read_axis(release, name)
        p, eta, size = Fraction(stated["p"]), stated["eta"], axis.size
        any_set = Fraction(1, comb(size, eta))
        holding = p * Fraction(1, comb(size - 1, eta - 1)) + (1 - p) * any_set
        lacking = (1 - p) * any_set
        found = factors(axis)
        assert found == pytest.approx((float(holding / any_set), float(lacking / any_set)))
        assert found[1] == float(1 - p) or found[1] == pytest.approx(float(1 - p), rel=1e-9)


# --- people with several rows ---------------------------------------------------------------------


def test_rows_are_called_rows_where_people_have_several():
    rng = np.random.default_rng(1)
    ages = np.repeat(rng.integers(20, 60, 100), 3)
    data = pa.table(
        {
            "who": np.repeat(np.arange(100), 3),
            "age": ages,
            "disease": rng.choice(["Flu", "HIV", "Cold", "Ache"], 300),
        }
    )
    attributes = (Attribute("who", Role.IDENTIFIER), *SCHEMA.attributes)
    rng_of = Randomness.test(1).generator
    several = sf.Mondrian(k=5).publish(data, Schema(attributes, unit="who"))
    report = attack(several, data, rng=rng_of("attacks"))
    assert report.counted == report.to_dict()["counted"] == "rows"
    assert all("people" not in f"{each.unit} {each.asks}" for each in report.outcomes)
    assert "of 300 rows" in report.of("record linkage").sentence()
    assert "300 of 300 rows (people have several)" in report.sentence()
    assert any("people have several rows" in note for note in report.notes)
    once = data.take(pa.array(range(0, 300, 3)))
    single = sf.Mondrian(k=5).publish(once, Schema(attributes, unit="who"))
    report = attack(single, once, rng=rng_of("attacks"))
    assert report.counted == "people"
    assert "of 100 people" in report.of("record linkage").sentence()
    assert "100 of 100 people (every row counts as one)" in report.sentence()
    assert report.notes == ()
