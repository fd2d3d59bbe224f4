"""The refining-partition experiments run, and their page shows the committed numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks.papers.refining_partition import (
    NSAS,
    RESULTS,
    ROOT,
    SENSITIVE,
    adult,
    compare,
    count_error,
    markdown,
    random_counts,
    sample,
)
from sfumato.methods import AIP
from sfumato.predicates import evaluate
from sfumato.randomness import Randomness


@pytest.fixture(scope="module")
def table(shared):
    return sample(adult(shared / "data" / "adult.parquet"), 1_500, NSAS)


def test_refining_lowers_the_loss(table):
    found = compare(table, 3, rounds=1)
    assert found["ARP"]["glp"] < found["AIP"]["glp"]
    assert found["ARP"]["mean_probability"] > found["AIP"]["mean_probability"]
    assert 1 <= found["ARP"]["re_ratio"] < found["AIP"]["re_ratio"]
    assert 0 < found["NG"]["glp"] < 1


def test_queries_ask_for_the_sensitive_attribute(table):
    asked = random_counts(table, 5)
    assert len(asked) == 5
    for predicate, true in asked:
        assert SENSITIVE in predicate.attributes
        assert np.count_nonzero(evaluate(predicate, table)) == true > 0
    release = AIP(l=3).release(table, Randomness.test(1))
    assert 0 <= count_error(release, asked) < 10


def test_the_page_shows_the_committed_numbers():
    page = (ROOT / "docs" / "papers" / "refining-partition.md").read_text("utf-8")
    assert markdown(json.loads(RESULTS.read_text("utf-8"))).strip() in page
