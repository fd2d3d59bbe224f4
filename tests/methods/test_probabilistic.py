"""Probabilistic: a sample, in groups that share enough values with a release of like data."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pyarrow as pa
import pytest

from sfumato.audit import audit
from sfumato.errors import Infeasible, ParameterError
from sfumato.methods import Composition, Probabilistic
from sfumato.randomness import Randomness, repeatable
from sfumato.schema import Schema

SCHEMA = Schema.of(age="quasi-identifier", zipcode="quasi-identifier", illness="sensitive")
SEED = Randomness.secret(b"a seed of sixteen bytes or more.")


def people(rows: int = 300, illnesses: int = 6) -> pa.Table:
    rng = repeatable(6)
    return pa.table(
        {
            "age": rng.integers(18, 90, rows),
            "zipcode": rng.integers(0, 40, rows),
            "illness": [f"illness {i}" for i in rng.integers(0, illnesses, rows)],
        }
    )


def chance_of(d: int, chances: list[float]) -> float:
    """Return how likely at least d of independent events happen, by listing all outcomes."""
    return sum(
        prod(p if happens else 1 - p for p, happens in zip(chances, outcome, strict=True))
        for outcome in product([True, False], repeat=len(chances))
        if sum(outcome) >= d
    )


@pytest.mark.parametrize(("d", "alpha"), [(1, 0.9), (2, 0.5), (3, 0.6)])
def test_every_group_of_the_sample_is_linkable(d, alpha):
    release = Probabilistic(k=3, d=d, alpha=alpha).publish(people(), SCHEMA, randomness=SEED)
    records = release.tables["records"]
    sample = records["illness"].to_pylist()
    assert len(sample) == 270
    shares = {value: sample.count(value) / len(sample) for value in set(sample)}
    groups = records["group"].to_numpy()
    for group in np.unique(groups):
        values = records.filter(pa.array(groups == group))["illness"].to_pylist()
        chance = {v: 1 - (1 - shares[v]) ** (len(values) - 1) for v in set(values)}
        for own in chance:
            others = [p for value, p in chance.items() if value != own]
            assert chance_of(d, others) >= alpha - 1e-9


def test_a_release_says_how_much_was_sampled_and_claims_k_alone():
    method = Probabilistic(k=4, d=2, alpha=0.5, sample=0.6)
    release = method.publish(people(), SCHEMA, randomness=SEED)
    assert release.manifest.rows == 180
    assert release.manifest.suppressed == 0
    assert release.manifest.parameters == {"d": 2, "alpha": 0.5, "sample": 0.6}
    assert release.manifest.guarantees == ({"model": "k-anonymity", "k": 4},)
    assert audit(release).ok


def test_the_sample_depends_on_the_seed_alone():
    ages = []
    for seed in (SEED, SEED, Randomness.secret(b"another seed of sixteen bytes...")):
        data = people().set_column(0, "age", pa.array(range(300)))
        release = Probabilistic(k=1, d=1, alpha=0.01, sample=0.5).publish(
            data, SCHEMA, randomness=seed
        )
        ages.append(sorted(release.tables["records"]["age"].to_pylist()))
    assert ages[0] == ages[1] != ages[2]


def test_without_a_sample_and_with_one_value_it_is_composition():
    mine = Probabilistic(k=3, d=1, alpha=0.8, sample=1.0).publish(people(), SCHEMA, randomness=SEED)
    other = Composition(k=3, alpha=0.2).publish(people(), SCHEMA, randomness=SEED)
    assert mine.tables["records"].equals(other.tables["records"])


def test_more_values_than_there_are_is_refused():
    with pytest.raises(Infeasible):
        Probabilistic(k=2, d=6).publish(people(illnesses=6), SCHEMA)


@pytest.mark.parametrize(
    "parameters",
    [{"k": 0}, {"k": 2, "d": 0}, {"k": 2, "alpha": 1}, {"k": 2, "alpha": 0}, {"k": 2, "sample": 2}],
)
def test_senseless_parameters_are_refused(parameters):
    with pytest.raises(ParameterError):
        Probabilistic(**parameters)
