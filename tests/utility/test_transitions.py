"""What replaced cells are worth: shares that changed, and shares that are estimated."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import ParameterError
from sfumato.methods.pram import PRAM
from sfumato.randomness import Randomness, repeatable
from sfumato.schema import Schema
from sfumato.utility.discernibility import discernibility
from sfumato.utility.distortion import distortion_ratio
from sfumato.utility.ncp import ncp
from sfumato.utility.original import coded_original
from sfumato.utility.overview import overview

SCHEMA = Schema.of(sex="quasi-identifier", age="quasi-identifier", disease="sensitive")


def people(rows=2_000):
    rng = repeatable(9)
    return pa.table(
        {
            "sex": rng.choice(["F", "M"], rows, p=[0.8, 0.2]),
            "age": rng.integers(20, 30, rows),
            "disease": rng.choice(["Flu", "Cold", "HIV"], rows, p=[0.7, 0.25, 0.05]),
        }
    )


def test_the_overview_has_shares_and_distances_and_no_ncp():
    data = people()
    release = PRAM(keep=0.7).publish(data, SCHEMA, randomness=Randomness.test(1))
    found = overview(release, coded_original(data, release), queries=30, rng=repeatable(2))
    assert "ncp" not in found.metrics
    changed = found.metrics["changed_cells"]
    assert changed["by_attribute"] == pytest.approx({"sex": 0.3, "age": 0.3, "disease": 0.3})
    shown = release.tables["records"]["sex"].to_pylist().count("F") / 2_000
    truth = data["sex"].to_pylist().count("F") / 2_000
    published = found.metrics["l1_of_published_shares"]["by_attribute"]
    assert published["sex"] == pytest.approx(2 * abs(shown - truth))
    estimated = found.metrics["l1_of_estimated_shares"]["by_attribute"]
    assert estimated["sex"] < published["sex"]
    assert {margin.attributes for margin in found.margins} == {("sex",), ("age",), ("disease",)}
    assert found.margins[0].l1 == pytest.approx(estimated["sex"])
    assert found.missed == 0 and len(found.queries) == 5
    for each in found.queries:
        assert each.within_2_se > 0.8
    assert any("replaced cells" in note for note in found.notes)


def test_invariant_shares_are_published_nearly_as_they_are():
    data = people(20_000)
    release = PRAM(keep=0.7, kind="invariant").publish(data, SCHEMA)
    found = overview(release, coded_original(data, release), queries=1, rng=repeatable(3))
    assert found.metrics["l1_of_published_shares"]["mean"] < 0.05
    assert found.metrics["changed_cells"]["mean"] == pytest.approx(0.3, abs=0.01)


def test_metrics_of_generalised_cells_are_refused():
    data = people(100)
    release = PRAM().publish(data, SCHEMA)
    with pytest.raises(ParameterError, match="replaced at random"):
        ncp(release, coded_original(data, release))
    with pytest.raises(ParameterError, match="replaced at random"):
        discernibility(release)
    with pytest.raises(ParameterError, match="replaced at random"):
        distortion_ratio(release, {})


def test_another_original_has_no_utility():
    data = people(100)
    release = PRAM().publish(data, SCHEMA)
    other = data.set_column(0, "sex", pa.array(np.array(["X"] * 100)))
    found = overview(release, coded_original(other, release), queries=1, rng=repeatable(4))
    assert "does not list" in found.undefined["changed_cells"]
