"""The Merging experiments run, and their page shows the committed numbers."""

from __future__ import annotations

import json

import pytest

from benchmarks.papers.merging import (
    DEGREES,
    OVERLAPS,
    RESULTS,
    ROOT,
    SECRETS,
    SET_ROWS,
    SETS,
    Data,
    experiments,
    markdown,
    methods,
)


@pytest.fixture(scope="module")
def data(shared):
    return Data.load(shared / "data")


def test_sets_are_disjoint_but_for_the_rows_in_common(data):
    sets = [set(data.set_of(i, 300, "occupation")["person"].to_pylist()) for i in range(SETS)]
    assert all(len(each) == SET_ROWS + 300 for each in sets)
    common = set.intersection(*sets)
    assert len(common) == 300
    assert all(sets[i] & sets[j] == common for i in range(SETS) for j in range(i))


def test_a_quick_run_has_every_experiment(data):
    results = experiments(data, quick=True)
    assert {key.split("/")[0] for key in results} == {"risk", "loss", "queries", "learning"}
    found = results[f"risk/occupation/4/{OVERLAPS[0]}"]
    assert set(found) == set(methods(4))
    for each in found.values():
        assert 0 <= each["record_risk"] <= each["class_risk"] <= 1
        assert each["people"] == OVERLAPS[0]
        assert each["disclosed"] <= each["fewer_than_l"] * each["people"]
    assert "### Distortion ratio" in markdown(results)


def test_the_page_shows_the_committed_numbers():
    page = (ROOT / "docs" / "papers" / "merging.md").read_text("utf-8")
    results = json.loads(RESULTS.read_text("utf-8"))
    cases = {tuple(key.split("/")[1:3]) for key in results if key.startswith("risk/")}
    assert cases == {(secret, str(degree)) for secret in SECRETS for degree in DEGREES}
    assert markdown(results).strip() in page
