"""Summaries of answers: the numbers of a small case by hand, and bounds that never fail."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.answers import Answerer
from sfumato.answers.estimate import Average, Count, Estimate, Sum
from sfumato.errors import ParameterError
from sfumato.predicates import parse
from sfumato.schema import Schema
from sfumato.table import encode
from sfumato.utility.query_errors import query_errors
from sfumato.utility.workload import Probe

TABLE = encode(pa.table({"x": [1, 2, 3, -4, 10, 10]}), Schema.of(x="sensitive"))


@dataclass
class Told:
    """Answers that were written down before."""

    estimates: list[Estimate]

    def answer(self, aggregate, predicate):
        return self.estimates.pop(0)


def summary(truths, estimates, aggregate=None):
    probes = [Probe(aggregate or Count(), parse("x > 1"), truth) for truth in truths]
    return query_errors(Told(list(estimates)), TABLE, probes)


def test_errors_are_relative_and_zeros_are_told_apart():
    found = summary(
        [2, 4, 0, 4, 2],
        [Estimate(v, 0, 6) for v in (1, 5, 3, 4, 4)],
    )
    assert (found.queries, found.zeros, found.dimension) == (5, 1, 1)
    # errors 1/2, 1/4, 0 and 1
    assert found.mean == pytest.approx(1.75 / 4)
    assert found.median == pytest.approx(0.375)
    assert found.percentile_90 == pytest.approx(0.85)
    assert found.error_at_zero == 3
    assert (found.bounded, found.missed, found.coverage, found.trivial) == (5, 0, 1.0, 1.0)


def test_bounds_that_miss_are_counted():
    found = summary([2, 4, 3], [Estimate(2, 2, 2), Estimate(4, 1, 3), Estimate(3, 0, 6)])
    assert (found.bounded, found.missed) == (3, 1)
    assert found.coverage == pytest.approx(2 / 3)
    # widths 0, 2/4 and 6/3
    assert found.width == 0.5
    assert found.trivial == pytest.approx(1 / 3)


def test_standard_errors_are_judged_where_there_are_any():
    found = summary(
        [2, 4, 3, 3],
        [Estimate(2, 0, 6, 0.0), Estimate(5, 0, 6, 0.4), Estimate(4, 0, 6, 0.5), Estimate(0, 0, 6)],
    )
    assert (found.with_se, found.within_2_se) == (3, pytest.approx(2 / 3))


def test_bounds_are_compared_as_they_are():
    """Those of a release with suppressed rows allow for them already."""
    data = pa.table({"x": [1, 2, 3, -4, 10, 10]})
    kept = data.take([0, 1, 2, 3])
    release = sf.Mondrian(k=1).publish(kept, Schema.of(x="quasi-identifier"))
    for suppressed, missed in ((0, 1), (1, 1), (2, 0)):
        manifest = release.manifest.model_copy(update={"suppressed": suppressed})
        answerer = Answerer(sf.Release(manifest, release.tables))
        found = query_errors(answerer, TABLE, [Probe(Count(), parse("x > 1"), 4)])
        assert (suppressed, found.missed) == (suppressed, missed)
    assert found.mean == pytest.approx((4 - 2 * 6 / 4) / 4)
    assert (found.bounded, found.width) == (1, 0.5)
    for aggregate, truth in ((Sum("x"), 25), (Average("x"), 25 / 4)):
        found = query_errors(answerer, TABLE, [Probe(aggregate, parse("x > 1"), truth)])
        assert (found.bounded, found.missed, found.trivial) == (1, 0, 1.0)
        assert found.to_dict()["width"] is None


def test_sums_say_nothing_from_the_sum_of_what_adds_on():
    assert summary([5], [Estimate(5, -4, 26)], Sum("x")).trivial == 1
    assert summary([5], [Estimate(5, -3, 26)], Sum("x")).trivial == 0


def test_averages_of_nothing_are_not_judged():
    found = summary([nan, 3], [Estimate(nan, nan, nan), Estimate(3, -4, 10)], Average("x"))
    assert (found.zeros, found.bounded, found.missed, found.trivial) == (1, 1, 0, 1.0)


def test_answers_without_a_value_have_no_error():
    found = summary([3, 4], [Estimate(nan, -4, 10), Estimate(5, -4, 10, 1.0)], Average("x"))
    assert (found.unanswered, found.zeros, found.median) == (1, 0, 0.25)
    assert (found.bounded, found.with_se) == (2, 1)


def test_what_is_not_finite_is_none_in_json():
    found = summary([3], [Estimate(3, -inf, inf)], Sum("x"))
    assert found.to_dict()["width"] is None
    assert found.to_dict()["coverage"] == 1.0


def test_there_must_be_queries():
    with pytest.raises(ParameterError, match="no queries"):
        query_errors(Told([]), TABLE, [])
