"""The SLPPA experiments run, and their page shows the committed numbers."""

from __future__ import annotations

import json

import pytest

from benchmarks.papers.slppa import (
    RESULTS,
    ROOT,
    adult,
    division,
    markdown,
    measure,
    methods_relaxed,
    methods_suppressed,
    relaxed,
    suppressed,
)


@pytest.fixture(scope="module")
def data(shared):
    return adult(shared / "data")


def test_rows_are_withheld_until_beta_is_feasible(data):
    table, withheld = suppressed(data, 3_000)
    assert table.rows + withheld == 3_000
    found = measure(table, methods_suppressed({}), 3, data.sensitive)
    assert set(found) == {"SLPPA", "Slicing", "ASN"}
    assert all("recq" in each for each in found.values())
    refused = measure(table, methods_suppressed({"alpha": 0.01}), 1, data.sensitive)["SLPPA"]
    assert "alpha = 0.01 is infeasible" in refused["refused"]


def test_beta_is_relaxed_to_what_is_feasible(data):
    table, beta = relaxed(data, 3_000)
    assert 0.85 < beta < 0.95
    found = measure(table, methods_relaxed(beta), 3, data.sensitive)
    assert all(each["groups"] >= 1 for each in found.values())


def test_every_attribute_is_in_one_table(data):
    for each in division(data, 2_000):
        for scheme in ("slppa", "slppa_even", "slicing"):
            assert sum(each[scheme]) == each["attributes"]
            assert len(each[scheme]) == each["tables"]


def test_the_page_shows_the_committed_numbers():
    page = (ROOT / "docs" / "papers" / "slppa.md").read_text("utf-8")
    results = json.loads(RESULTS.read_text("utf-8"))
    assert [each["data"] for each in results] == ["Adult", "Census-Income"]
    for each in results:
        assert markdown(each).strip() in page
