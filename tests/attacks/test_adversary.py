"""What an adversary sees in releases of every layout, against going through all that may be."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from attacks.test_composition import Case, cases
from hypothesis import HealthCheck, given, settings
from oracles import attacks as oracle
from oracles.points import point_of_value

import sfumato as sf
from sfumato.attacks import attack
from sfumato.attacks.adversary import Adversary
from sfumato.attacks.background import CORRUPTED, corruption
from sfumato.attacks.set_adversary import SetAdversary
from sfumato.errors import ParameterError
from sfumato.methods import LGB
from sfumato.randomness import Randomness, repeatable
from sfumato.schema import Attribute, Role, Schema
from sfumato.schema.text import from_texts


def eyes_of(release: sf.Release, data: pa.Table, **given: pa.Table) -> Adversary:
    rng = Randomness.test(3).generator("people")
    return Adversary.of(release, data, **given, sample=100, rng=rng)


@given(cases(count=1))
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
def test_fits_and_posteriors_as_the_oracle_has_them(case: Case) -> None:
    release, data, shown = case.releases[0], case.tables[0], case.shown[0]
    eyes = eyes_of(release, data, controls=data.slice(0, 0))
    assert eyes.targets.tolist() == list(range(data.num_rows))
    ((_, fits),) = eyes.fits_in_parts(eyes.targets)  # so few that they are one part
    secret = eyes.secret("disease")
    points = [
        point_of_value(v) for v in from_texts(pa.array(secret.texts), secret.dtype).to_pylist()
    ]
    found = eyes.posterior(eyes.targets, secret)
    for place, person in enumerate(data.to_pylist()):
        own = slice(*fits.start[place : place + 2])
        expected = oracle.weights(release, shown, person)
        assert (fits.group[own] + 1).tolist() == sorted(expected)
        assert fits.weight[own] == pytest.approx([float(expected[g]) for g in sorted(expected)])
        assert fits.total[place] == pytest.approx(float(sum(expected.values())))
        chances = oracle.posterior(release, shown, person, "disease")
        assert found[place] == pytest.approx(
            [float(chances.get(value, 0)) for value in (*points, None)]
        )


@given(cases(count=1, layouts=("generalized",)))
@settings(max_examples=30, suppress_health_check=list(HealthCheck))
def test_corruption_as_the_oracle_has_it(case: Case) -> None:
    release, data, shown = case.releases[0], case.tables[0], case.shown[0]
    outcomes = corruption(eyes_of(release, data, controls=data.slice(0, 0)))
    values: dict[int, list[object]] = {}
    for row in release.tables["records"].to_pylist():
        values.setdefault(row["group"], []).append(row["disease"])
    for known, outcome in zip(CORRUPTED, outcomes, strict=True):
        chances = []
        for person in data.to_pylist():
            if person["disease"] is None:
                continue
            weights = oracle.weights(release, shown, person)
            chance = sum(
                (
                    weight * oracle.after_corruption(values[group], person["disease"], known)
                    for group, weight in weights.items()
                    if person["disease"] in values[group]
                ),
                Fraction(0),
            )
            chances.append(chance / sum(weights.values()))
        assert outcome.success.hits == pytest.approx(float(sum(chances)))
        assert outcome.success.tried == len(chances)


SETS = sf.Schema.of(age="sensitive-quasi-identifier", sex="quasi-identifier", disease="sensitive")


@pytest.mark.parametrize("protection", [{"l": 2}, {"t": 0.3}])
def test_random_sets_as_the_oracle_has_them(protection) -> None:
    rng = np.random.default_rng(5)
    data = pa.table(
        {
            "age": rng.choice(["a", "b", "c", "d"], 25),
            "sex": rng.choice(["F", "M"], 25),
            "disease": rng.choice(["x", "y", "z"], 25, p=[0.6, 0.3, 0.1]),
        }
    )
    method = sf.SensitiveQID(**protection)
    release = method.publish(data, SETS, randomness=Randomness.test(1))
    eyes = SetAdversary.of(release, data, sample=100, rng=Randomness.test(3).generator("people"))
    entries = {e.name: e for e in release.manifest.attributes}
    stated = release.manifest.parameters["sets"]
    domains = {name: entries[name].domain for name in stated}
    chances = {name: Fraction(stated[name]["p"]) for name in stated}
    records = release.tables["records"].to_pylist()

    def weight(record, person, *names):
        cells = {name: record[name] for name in names}
        return oracle.set_weight(cells, person, domains, chances)

    number, believed = eyes.expected(eyes.targets), eyes.believed(eyes.targets)
    linked, secret = eyes.linked(eyes.targets), eyes.secret("disease")
    found, prior = eyes.posterior(eyes.targets, secret), eyes.prior(secret)
    assert prior.sum() == pytest.approx(1)
    for place, person in enumerate(data.to_pylist()):
        expected = [weight(record, person, "age", "sex") for record in records]
        assert number[place] == pytest.approx(float(sum(expected) / max(expected)))
        squares = sum(w * w for w in expected)
        assert believed[place] == pytest.approx(float(squares / sum(expected) ** 2))
        full = [weight(record, person, "age", "sex", "disease") for record in records]
        both = sum(w * f for w, f in zip(expected, full, strict=True))
        total = sum(expected) * sum(full)
        assert linked[place] == pytest.approx(float(both / total) if total else 0)
        told = np.zeros(len(secret.texts))
        for record, w in zip(records, expected, strict=True):
            chance = np.array(
                [
                    float(weight(record, {"disease": text}, "disease")) * prior[at]
                    for at, text in enumerate(secret.texts)
                ]
            )
            told += float(w) * chance / chance.sum()
        assert found[place, :-1] == pytest.approx(told / told.sum())


def test_ranges_and_joint_attributes_of_sets() -> None:
    rng = np.random.default_rng(6)
    data = pa.table(
        {
            "age": rng.integers(0, 100, 60),
            "pay": rng.integers(0, 4, 60),
            "sex": rng.choice(["F & M", "M"], 60),
            "disease": rng.choice(["x", "y", "z"], 60),
        }
    )
    roles = dict.fromkeys(("age", "pay", "sex"), "sensitive-quasi-identifier")
    schema = sf.Schema.of(**roles, disease="sensitive")
    method = sf.SensitiveQID(l=2, bins=5, joint=(("age", "sex"),))
    release = method.publish(data, schema, randomness=Randomness.test(1))
    eyes = SetAdversary.of(release, data, sample=60, rng=Randomness.test(2).generator("x"))
    # with p = 1 every person's own record fits, so all values were found in their domains
    assert all((eyes.places[name] >= 0).all() for name in eyes.axes)
    assert (eyes.linked(eyes.targets) > 0).all()


def test_made_controls_come_by_seed_and_have_values_of_the_data() -> None:
    data = sf.datasets.hospital(2_000)
    release = sf.Mondrian(k=5).publish(data, sf.datasets.hospital_schema())
    one, again = (eyes_of(release, data) for _ in range(2))
    assert len(one.controls) == 100
    assert "synthetic" in one.controls_are
    assert one.side.original.equals(again.side.original)
    assert one.targets.tolist() == again.targets.tolist()
    made = one.side.original.slice(data.num_rows)
    for name in one.known:
        assert set(made[name].to_pylist()) <= set(data[name].to_pylist())


def test_controls_need_what_is_known_of_people() -> None:
    data = sf.datasets.hospital(100)
    release = sf.Mondrian(k=5).publish(data, sf.datasets.hospital_schema())
    with pytest.raises(sf.ParameterError, match="no column 'age'"):
        eyes_of(release, data, controls=data.drop_columns(["age"]))
    wrong = data.set_column(1, "age", pa.array(["old"] * 100))
    with pytest.raises(sf.ParameterError, match="another type"):
        eyes_of(release, data, controls=wrong)
    with pytest.raises(sf.ParameterError, match="no rows"):
        eyes_of(release, data.slice(0, 0))
    others = sf.datasets.hospital(100, seed=7).drop_columns(["disease"])
    eyes = eyes_of(release, data, controls=others)
    assert eyes.untold == {"disease"}


def test_who_knows_nothing_but_what_is_secret_is_refused():
    """The only attribute is secret for some, and of those nothing else is known."""
    data = pa.table({"age": [20 + n % 7 for n in range(40)]})
    flagged = Attribute("age", Role.SEMI_SENSITIVE, density=0.3)
    release = LGB(k=2, l=2).publish(data, Schema((flagged,)), randomness=Randomness.test(1))
    with pytest.raises(ParameterError, match="no attribute that an adversary could know"):
        attack(release, data, rng=repeatable(1))
