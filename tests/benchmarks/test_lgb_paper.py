"""The LGB experiments run and say what they measure; no claim is judged on so few rows."""

from __future__ import annotations

import json

import pytest

from benchmarks.lgb_scale import measure
from benchmarks.papers.lgb import LITERAL, RESULTS, ROOT, Experiments, synthetic
from benchmarks.papers.lgb_tables import markdown
from benchmarks.papers.unrounded import UnroundedSums, values_left_open
from sfumato.answers import Answerer
from sfumato.papers.queries import CONDITIONS, random_queries
from sfumato.predicates import And, evaluate
from sfumato.randomness import Randomness
from sfumato.rows.top_down import top_down

QUERIES = 8


@pytest.fixture(scope="module")
def lab():
    return Experiments(synthetic(600), QUERIES)


def test_queries_are_those_of_the_paper(lab):
    table = lab.tables(0.2)
    assert lab.queries == random_queries(table, lab.data.asked, "salary", QUERIES)
    salaries = table["salary"].points[table["salary"].codes]
    for query in lab.queries:
        assert isinstance(query.predicate, And)
        assert len(query.predicate.attributes) == CONDITIONS
        assert query.truth == salaries[evaluate(query.predicate, table)].sum() > 0


def test_groups_do_not_depend_on_l(lab):
    runs = [lab.run("NCP", 5, ell, ask=False) for ell in (5, 8)]
    assert runs[0].c_dm == runs[1].c_dm
    assert runs[0].ncp_sum == runs[1].ncp_sum


def test_errors_are_widths_over_the_truth(lab):
    run = lab.run("MDP", 5, 5)
    assert run.error_mean > 0
    # without rounding an interval is never wider
    assert run.error_range < run.error_median


def test_the_unrounded_interval_lies_within_the_paper_s(lab):
    release = lab.release("ours", 5, 5)
    answerer, unrounded = Answerer(release), UnroundedSums(release, "salary")
    for query in lab.queries:
        low, high = unrounded.interval(query.predicate)
        outer = answerer.paper_interval("salary", query.predicate)
        assert outer[0] - 1e-6 <= low <= high <= outer[1] + 1e-6


def test_hard_bounds_hold(lab):
    found = lab.bounds("ours", 5, 5)
    assert found["bounds_hold"] == 1.0
    assert found["bounds_width"] > 0


def test_cells_and_buckets_leave_values_open(lab):
    found = values_left_open(lab.release("MDP", 5, 5), ("sex", "age"))
    assert found["buckets"]["sex"] == 2.0
    assert found["buckets"]["age"] >= 5
    assert 1 <= found["cells"]["sex"] <= 2 <= found["cells"]["age"]


def test_the_letter_of_the_paper_splits_no_further_than_k_allows(lab):
    groups = lab.release(LITERAL, 5, 5).tables["records"]["group"].value_counts()
    assert min(entry["counts"].as_py() for entry in groups) >= 5
    # and the product's own rule is back in force
    table = lab.tables(0.2)
    ours = top_down(
        table,
        5,
        rng=Randomness.test(1).generator("order"),
        quasi_identifiers=table.quasi_identifiers,
    )
    assert ours.sizes.max() < 10


def test_the_scale_is_measured():
    results = measure(2_000, rounds=1)
    assert [run["generalize"] for run in results["runs"]] == ["mdp", "ncp"]
    assert all(run["seconds"] > 0 and 0 < run["ncp_mean"] < 1 for run in results["runs"])
    assert results["answers"]["seconds_per_thousand"] > 0


def test_the_page_shows_the_committed_numbers():
    page = (ROOT / "docs" / "papers" / "lgb.md").read_text("utf-8")
    results = json.loads(RESULTS.read_text("utf-8"))
    assert [each["data"] for each in results] == ["Adult", "census"]
    for each in results:
        assert markdown(each).strip() in page
