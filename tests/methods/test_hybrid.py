"""Hybrid: whose records are published, and how many cells are other people's."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.audit import audit
from sfumato.errors import Infeasible, ParameterError
from sfumato.methods import Hybrid, Mondrian
from sfumato.randomness import Randomness
from sfumato.schema import Attribute, Role, Schema

SCHEMA = Schema.of(age="quasi-identifier", illness="sensitive", pay="sensitive")
SEED = Randomness.secret(b"a seed of sixteen bytes or more.")


def people(rows: int) -> pa.Table:
    """Return people whose illness and pay follow from their age."""
    ages = np.arange(rows)
    return pa.table({"age": ages, "illness": [f"illness {i}" for i in ages % 10], "pay": ages % 4})


def test_a_share_of_the_rows_is_published_and_the_release_says_so():
    release = Hybrid(k=3, sample=0.8, perturb=0.0).publish(people(500), SCHEMA, randomness=SEED)
    assert release.manifest.rows == 400
    assert release.manifest.suppressed == 0
    assert release.manifest.parameters == {"sample": 0.8, "perturb": 0.0}
    assert release.manifest.guarantees == ({"model": "k-anonymity", "k": 3},)
    assert audit(release).ok


def changed_cells(release, name: str, period: int) -> float:
    """Return the share of records of known age whose value does not follow from it."""
    records = release.tables["records"].to_pylist()
    values = [int(str(row[name]).rsplit(" ", maxsplit=1)[-1]) for row in records]
    return float(
        np.mean([v != int(r["age"]) % period for v, r in zip(values, records, strict=True)])
    )


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_cells_are_redrawn_from_the_whole_table_with_the_stated_probability(share):
    """A redrawn cell differs but for the chance that the other row has the same value."""
    release = Hybrid(k=1, sample=1.0, perturb=share).publish(people(4_000), SCHEMA, randomness=SEED)
    for name, period in (("illness", 10), ("pay", 4)):
        expected = share * (1 - 1 / period)
        spread = 5 * np.sqrt(max(expected * (1 - expected), 0) / 4_000)
        assert abs(changed_cells(release, name, period) - expected) <= spread


def test_attributes_are_redrawn_apart():
    """Both cells follow from the age as often as if each were redrawn by a coin of its own."""
    release = Hybrid(k=1, sample=1.0, perturb=0.5).publish(people(4_000), SCHEMA, randomness=SEED)
    records = release.tables["records"].to_pylist()
    both = [
        (int(r["illness"].split()[1]) == int(r["age"]) % 10, r["pay"] == int(r["age"]) % 4)
        for r in records
    ]
    kept = [0.5 + 0.5 / 10, 0.5 + 0.5 / 4]
    expected = kept[0] * kept[1]
    assert abs(np.mean([a and b for a, b in both]) - expected) < 5 * np.sqrt(0.25 / 4_000)


def test_values_that_nobody_published_has_are_nowhere():
    data = pa.table({"age": list(range(40)), "illness": [f"illness {i}" for i in range(40)]})
    schema = Schema.of(age="quasi-identifier", illness="sensitive")
    release = Hybrid(k=2, sample=0.5, perturb=0.5).publish(data, schema, randomness=SEED)
    shown = set(release.tables["records"]["illness"].to_pylist())
    (entry,) = [e for e in release.manifest.attributes if e.name == "illness"]
    assert set(entry.domain) == shown
    assert len(shown) <= 20


def test_without_sampling_and_perturbation_it_is_mondrian():
    mine = Hybrid(k=3, sample=1.0, perturb=0.0).publish(people(90), SCHEMA, randomness=SEED)
    other = Mondrian(k=3).publish(people(90), SCHEMA, randomness=SEED)
    assert mine.tables["records"].equals(other.tables["records"])


@pytest.mark.parametrize(
    "parameters",
    [
        {"k": 0},
        {"k": 2, "sample": 0},
        {"k": 2, "sample": 1.1},
        {"k": 2, "sample": "most"},
        {"k": 2, "perturb": -0.1},
        {"k": 2, "perturb": True},
        {"k": 2, "perturb": float("nan")},
    ],
)
def test_senseless_parameters_are_refused(parameters):
    with pytest.raises(ParameterError):
        Hybrid(**parameters)


def test_too_small_a_sample_and_widths_are_refused():
    with pytest.raises(Infeasible):
        Hybrid(k=5, sample=0.5).publish(people(8), SCHEMA)
    wide = Attribute("pay", Role.SENSITIVE, min_width=2)
    with pytest.raises(ParameterError, match="'pay'"):
        Hybrid(k=2).publish(people(9), Schema((*SCHEMA.attributes[:2], wide)))
