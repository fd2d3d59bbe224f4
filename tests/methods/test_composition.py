"""Composition: groups that leave doubt beside another release of like data."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.audit import audit
from sfumato.errors import Infeasible, ParameterError
from sfumato.methods import Composition, Mondrian
from sfumato.randomness import Randomness, repeatable
from sfumato.schema import Schema

SCHEMA = Schema.of(age="quasi-identifier", zipcode="quasi-identifier", illness="sensitive")
SEED = Randomness.secret(b"a seed of sixteen bytes or more.")


def people(rows: int = 400, illnesses: int = 12) -> pa.Table:
    rng = repeatable(5)
    return pa.table(
        {
            "age": rng.integers(18, 90, rows),
            "zipcode": rng.integers(0, 40, rows),
            "illness": [f"illness {i}" for i in rng.integers(0, illnesses, rows)],
        }
    )


def chance_of_doubt(values: list[str], shares: dict[str, float], own: str) -> float:
    """Return how likely another group of this size has some value here beside the person's."""
    none = 1.0
    for value in set(values) - {own}:
        none *= (1 - shares[value]) ** (len(values) - 1)
    return 1 - none


@pytest.mark.parametrize("alpha", [0.5, 0.2, 0.05])
def test_every_group_leaves_doubt_for_everybody(alpha):
    data = people()
    release = Composition(k=3, alpha=alpha).publish(data, SCHEMA, randomness=SEED)
    illnesses = data["illness"].to_pylist()
    shares = {value: illnesses.count(value) / len(illnesses) for value in set(illnesses)}
    records = release.tables["records"]
    groups = records["group"].to_numpy()
    for group in np.unique(groups):
        values = records.filter(pa.array(groups == group))["illness"].to_pylist()
        assert len(values) >= 3
        for own in set(values):
            assert chance_of_doubt(values, shares, own) >= 1 - alpha - 1e-9


def test_more_certainty_needs_larger_groups_and_only_k_is_claimed():
    groups = []
    for alpha in (0.9, 0.2, 0.01):
        release = Composition(k=2, alpha=alpha).publish(people(), SCHEMA, randomness=SEED)
        groups.append(len(set(release.tables["records"]["group"].to_pylist())))
        assert release.manifest.guarantees == ({"model": "k-anonymity", "k": 2},)
        assert release.manifest.parameters == {"alpha": alpha}
        assert release.manifest.rows == 400
        assert audit(release).ok
    assert groups[0] > groups[1] > groups[2]
    plain = Mondrian(k=2).publish(people(), SCHEMA, randomness=SEED)
    assert len(set(plain.tables["records"]["group"].to_pylist())) > groups[0]


def test_a_table_of_one_illness_is_refused():
    with pytest.raises(Infeasible):
        Composition(k=2).publish(people(illnesses=1), SCHEMA)


@pytest.mark.parametrize("alpha", [0, 1, -0.5, "small", True])
def test_senseless_parameters_are_refused(alpha):
    with pytest.raises(ParameterError):
        Composition(k=2, alpha=alpha)
