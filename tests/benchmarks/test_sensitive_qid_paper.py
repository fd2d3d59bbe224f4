"""The sensitive-QID experiments run, and their page shows the committed numbers."""

from __future__ import annotations

import json

import pytest

from benchmarks.papers.sensitive_qid import (
    CENSUS_ROWS,
    DISTANCES,
    LS,
    POSTERIORS,
    RESULTS,
    ROOT,
    TS,
    WIDTHS,
    adult,
    census,
    exceptions,
    experiments,
    markdown,
    summary,
)
from benchmarks.sets_scale import RESULTS as SCALE
from benchmarks.sets_scale import measure


@pytest.fixture(scope="module")
def people(shared):
    return adult(shared / "data")


def test_adult_has_the_papers_rows_and_domains(people):
    sizes = [people.size(name) for name in people.rows.column_names]
    assert (people.rows.num_rows, people.rows.num_columns) == (45_222, 15)
    assert min(sizes) == 2
    assert max(sizes) == 41


def test_a_quick_run_judges_every_method(people):
    results = experiments(people, quick=True)
    assert list(results["cells"]) == [f"l/{LS[0]}/1", f"t/{TS[0]}/1"]
    by_l, by_t = results["cells"].values()
    assert set(by_l) == {"bayes", "inverse", "value-adding", "rating", "random"}
    assert set(by_t) == set(by_l) - {"rating"}
    for each in (*by_l.values(), *by_t.values()):
        assert 0 <= each["L2"] <= each["L1"] <= 2 * people.rows.num_rows * (1 + 1e-9)
    assert "`bayes` is lower than" in markdown(results)


def test_a_claim_that_fails_is_told():
    low, high = (dict.fromkeys(DISTANCES, number) for number in (1.0, 2.0))
    better = {"bayes": low, "value-adding": high, "random": high}
    assert exceptions(better) == []
    assert exceptions({**better, "rating": {**high, "L2": 0.5}}) == ["rating (L2)"]
    results = {"cells": {"l/2/1": {**better, "inverse": high}}}
    assert summary(results)["value-adding"] == dict.fromkeys(DISTANCES, (1, 1))
    assert summary(results)["rating"] == dict.fromkeys(DISTANCES, (0, 0))


def test_census_scales(shared, tmp_path):
    few = census(shared / "data", 3_000)
    assert few.rows.num_columns == 68
    found = measure(few, tmp_path)
    assert found["rows"] == 3_000
    assert {each["attributes"] for each in found["reconstruction"]} == set(WIDTHS)
    assert found["release_bytes"] > 0


def test_the_page_shows_the_committed_numbers():
    page = (ROOT / "docs" / "papers" / "sensitive-qid.md").read_text("utf-8")
    results = json.loads(RESULTS.read_text("utf-8"))
    cells = {f"l/{l}/{width}" for l in LS for width in WIDTHS}  # noqa: E741
    cells |= {f"t/{t}/{width}" for t in TS for width in WIDTHS}
    assert [each["data"] for each in results] == ["Adult", "US Census 1990"]
    for each in results:
        assert set(each["cells"]) == cells
        assert markdown(each).strip() in page


def test_the_page_shows_the_committed_posteriors():
    page = (ROOT / "docs" / "papers" / "sensitive-qid.md").read_text("utf-8")
    unknown, known = json.loads(POSTERIORS.read_text("utf-8")).values()
    for found in (known, unknown):
        assert f"{100 * found['fewest']:.0f} to {100 * found['most']:.0f} %" in page


def test_the_page_shows_the_committed_times():
    page = (ROOT / "docs" / "papers" / "sensitive-qid.md").read_text("utf-8")
    scale = json.loads(SCALE.read_text("utf-8"))
    assert (scale["rows"], scale["attributes"]) == (CENSUS_ROWS, 68)
    assert f"{scale['kernel_seconds']:.1f} s" in page
    assert f"{scale['file_to_release_seconds']:.0f} s" in page
    four = [e["seconds"] for e in scale["reconstruction"] if e["attributes"] == 4]
    assert f"{max(four):.1f} s" in page
