"""Estimates against populations that are known, and the page's numbers are the committed ones."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks.risk import (
    FRACTIONS,
    RESULTS,
    ROOT,
    experiment,
    markdown,
    population,
    speed,
)

# By which factor Pitman's estimate was off in any sample (either way), by case and fraction.
PITMAN_WITHIN = {
    "Adult, 9 columns": (4.5, 1.2, 1.2),
    "Adult, 5 columns": (2.1, 1.4, 1.3),
    "COVID, 9 columns": (3.5, 1.9, 1.6),
    "COVID, 14 columns": (1.2, 1.1, 1.1),
}


def within(ratio: float, factor: float) -> bool:
    return 1 / factor <= ratio <= factor


@pytest.mark.parametrize("case", ["Adult, 9 columns", "COVID, 9 columns"])
def test_population_uniques_are_estimated(shared, case):
    table = population(shared / "data", case)
    for fraction, factor in zip(FRACTIONS, PITMAN_WITHIN[case], strict=True):
        runs = experiment(table, fraction, 1)["runs"]
        ratios = runs[0]["ratio"]
        assert within(ratios["pitman"], factor)
        assert 1 <= ratios["zayatz"] < 6, "the sample's classes are smaller, so it errs upwards"
        risks = runs[0]["mean_risk"]
        assert risks["negative-binomial"] < risks["counted"]
        assert within(risks["pitman"] / risks["counted"], 2.5)


@pytest.fixture(scope="module")
def results():
    return json.loads(RESULTS.read_text("utf-8"))


def test_the_committed_estimates(results):
    assert results["cases"].keys() == PITMAN_WITHIN.keys()
    for case, parts in results["cases"].items():
        assert [part["fraction"] for part in parts] == list(FRACTIONS)
        for part, factor in zip(parts, PITMAN_WITHIN[case], strict=True):
            assert all(within(run["ratio"]["pitman"], factor) for run in part["runs"])


def test_the_page_shows_the_committed_numbers(results):
    page = (ROOT / "docs" / "risk.md").read_text("utf-8")
    assert markdown(results).strip() in page
    assert f"{results['speed']['seconds']:.1f} s" in page


def test_a_quick_run_is_timed():
    from risk.people import table_of

    rng = np.random.default_rng(1)
    rows = [(i, tuple(rng.integers(0, 5, 4).tolist())) for i in range(1_200)]
    found = speed(table_of(rows, with_units=False))
    assert found["combinations"] == 14
    assert found["seconds"] > 0
