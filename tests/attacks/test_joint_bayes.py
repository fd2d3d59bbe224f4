"""The joint-Bayes adversary on random sets, against a literal one; and who is at risk from it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from attacks.associated_people import people
from oracles import joint_bayes as oracle
from oracles.definetti import right

import sfumato as sf
from sfumato.attacks import record_weights
from sfumato.attacks.joint_bayes import joint_bayes
from sfumato.attacks.set_adversary import SetAdversary
from sfumato.methods.sensitive_qid import SetProtection
from sfumato.randomness import Randomness
from sfumato.schema import Schema

HIDDEN = "sensitive-quasi-identifier"


def rng(seed=7):
    return np.random.default_rng(seed)


def schema_of(table):
    roles = dict.fromkeys(table.column_names, HIDDEN)
    return Schema.of(roles | {"secret": "sensitive"})


def adversary(method, table, schema=None, seed=1, **more):
    randomness = Randomness.test(seed)
    release = method.publish(table, schema or schema_of(table), randomness=randomness)
    return SetAdversary.of(release, table, sample=1_500, rng=rng(), **more)


def outcomes(method, table, schema=None):
    found = joint_bayes(adversary(method, table, schema), rng=rng())
    return {(each.attribute, each.attack.partition("(")[2][:-1]): each for each in found}


# --- against the literal one ----------------------------------------------------------------------


def literal(eyes):
    """Return attributes, records and people as the oracle has them, in the order of the axes."""
    attributes, columns = [], []
    for name, axis in eyes.axes.items():
        made = eyes.release.manifest.parameters["sets"].get(name, {"p": 1, "eta": 1})
        attributes.append((axis.size, Fraction(str(made["p"])), made["eta"]))
        columns.append([frozenset(line) for line in axis.members.tolist()])
    persons = np.stack([eyes.places[name][eyes.targets] for name in eyes.axes], 1)
    return attributes, list(zip(*columns, strict=True)), [tuple(p) for p in persons.tolist()]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("method", [sf.SensitiveQID(l=2), sf.SensitiveQID(l=2, t=0.5)])
def test_it_is_the_literal_one(method, seed):
    table = people(24, 0.8, values=4, known=2, seed=seed)
    schema = Schema.of(a0=HIDDEN, a1="quasi-identifier", secret="sensitive")
    eyes = adversary(method, table, schema, seed)
    attributes, records, persons = literal(eyes)
    assert any(p < 1 for _, p, _ in attributes) == (method.t is not None)
    margins = oracle.shares(records, attributes)
    given = oracle.tables(records, attributes, margins)
    names = list(eyes.axes)
    known = [names.index(name) for name in eyes.known]
    assert [names[a] for a in known] == ["a0", "a1"]
    found = {each.attribute: each for each in joint_bayes(eyes, rng=rng()) if "not" in each.attack}
    assert list(found) == ["a0", "secret"]
    for name, outcome in found.items():
        secret = names.index(name)
        success = tables = chance = 0.0
        for person in persons:
            prior = oracle.by_tables(person, secret, known, margins, given)
            after = oracle.by_records(person, secret, known, attributes, records, prior, margins)
            success += right(dict(enumerate(after)), person[secret])
            tables += right(dict(enumerate(prior)), person[secret])
            chance += after[person[secret]]
        assert outcome.success.hits == pytest.approx(success)
        assert outcome.control.hits == pytest.approx(tables)
        assert outcome.figures["mean_chance_of_own_value"] == pytest.approx(chance / 24)


@pytest.mark.parametrize("method", [sf.SensitiveQID(l=2), sf.SensitiveQID(l=2, t=0.5)])
def test_records_are_weighed_alike_however_many_at_a_time(monkeypatch, method):
    table = people(200, 0.5, values=4, known=2)
    schema = Schema.of(a0=HIDDEN, a1="quasi-identifier", secret="sensitive")
    found = []
    for words in (1, 3, 128):
        monkeypatch.setattr(record_weights, "_WORDS", words)
        eyes = adversary(method, table, schema)
        found.append([each.to_dict() for each in joint_bayes(eyes, rng=rng())])
    assert found[0] == found[1] == found[2]


# --- who is at risk -------------------------------------------------------------------------------


def test_independent_uniform_attributes_are_at_chance():
    for method in (sf.SensitiveQID(l=3), sf.SensitiveQID(t=0.3)):
        for seed in range(2):
            found = outcomes(method, people(2_000, 0.0, values=10, seed=seed))
            verdicts = [outcome.verdict for outcome in found.values()]
            assert set(verdicts) <= {"at chance", "inconclusive"}
            assert "at chance" in verdicts
            own = found["secret", "record known"]
            assert own.success.share == pytest.approx(own.blind.share, abs=0.05)


def test_a_set_alone_is_guessed_by_one_over_l():
    found = outcomes(sf.SensitiveQID(l=4), people(2_000, 0.0, values=10))
    own = found["secret", "record known"]
    assert own.blind.share == pytest.approx(1 / 4, abs=0.04)
    assert own.figures["mean_chance_of_own_value"] == pytest.approx(1 / 4, abs=0.01)
    assert own.figures["share_above_two_over_l"] == 0


def test_associated_attributes_are_at_risk_behind_l_alone():
    table = people(4_000, 0.6, values=10)
    by_l = outcomes(sf.SensitiveQID(l=3), table)["secret", "record known"]
    assert by_l.verdict == "risk"
    # most people's own value is likelier than one over l
    assert by_l.figures["share_above_one_over_l"] > 0.7
    assert by_l.figures["share_above_two_over_l"] > 0.5
    gain = by_l.success.share - by_l.control.share
    assert gain > 0.08
    assert "v1" not in str(by_l.to_dict())
    joint = SetProtection(t=0.2)
    together = sf.SensitiveQID(l=3, joint=[["a0", "secret"]], protection={"a0 & secret": joint})
    for method in (sf.SensitiveQID(t=0.2), together):
        other = outcomes(method, table)["secret", "record known"]
        assert other.verdict != "risk"
        assert other.success.share < by_l.success.share * 0.6
        assert other.success.share - other.control.share < gain


def test_l_of_combinations_protects_no_part_from_who_knows_the_others():
    method = sf.SensitiveQID(l=3, joint=[["a0", "secret"]])
    found = outcomes(method, people(2_000, 0.0, values=10, known=2))
    own = found["secret", "record known"]
    assert own.verdict == "risk"
    assert own.success.share > 0.8
    assert {name for name, _ in found} == {"a0", "a1", "secret"}


def test_a_record_that_stands_out_is_found():
    """With many known attributes, one record fits, and its set tells of the secret."""
    found = outcomes(sf.SensitiveQID(l=2), people(300, 0.35, values=8, known=8))
    sought, own = found["secret", "record not known"], found["secret", "record known"]
    assert sought.success.share > sought.control.share + 0.05
    assert sought.success.share == pytest.approx(own.success.share, abs=0.15)


def test_few_people_are_sought_among_many_records(monkeypatch):
    eyes = adversary(sf.SensitiveQID(l=3), people(500, 0.3))
    monkeypatch.setattr(record_weights, "MOST_VISITS", 40 * 500 * len(eyes.axes))
    found = joint_bayes(eyes, rng=rng())
    assert {each.sample for each in found if "not known" in each.attack} == {40}
    assert {each.sample for each in found if "not known" not in each.attack} == {500}
    assert {each.population for each in found} == {500}


def test_records_that_cannot_stand_out_are_not_gone_through(monkeypatch):
    eyes = adversary(sf.SensitiveQID(t=0.1), people(2_000, 0.3))
    monkeypatch.delattr(record_weights, "weigh_records")
    for each in joint_bayes(eyes, rng=rng()):
        if "not known" in each.attack:
            assert each.success == each.control


def test_it_is_the_same_for_the_same_seed():
    eyes = adversary(sf.SensitiveQID(l=3), people(400, 0.5))
    one, other = ([each.to_dict() for each in joint_bayes(eyes, rng=rng(5))] for _ in range(2))
    assert one == other


def test_sets_that_are_not_random_have_no_outcome():
    eyes = adversary(sf.Rating(l=2), people(200, 0.5, values=4))
    assert joint_bayes(eyes, rng=rng()) == []


def test_missing_values_and_ranges_are_values():
    rows = 600
    age = rng(2).integers(0, 90, rows)
    ill = [None if a % 9 == 0 else "ill" if a > 45 else f"well {a % 3}" for a in age.tolist()]
    table = pa.table({"age": age, "secret": pa.array(ill)})
    schema = Schema.of(age=HIDDEN, secret="sensitive")
    found = outcomes(sf.SensitiveQID(l=2, bins=6), table, schema)
    assert set(found) == {
        (name, how) for name in ("age", "secret") for how in ("record known", "record not known")
    }
    assert found["secret", "record known"].sample == rows
    assert found["secret", "record known"].verdict == "risk"
