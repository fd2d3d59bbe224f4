"""Points and results: what is found by its parameters, and what is said to be missing."""

from __future__ import annotations

import pytest

from sfumato.papers.grid import NotMeasured, without_times


@pytest.fixture
def results(by_hand):
    return by_hand(
        ("by l", {"l": 3, "rows": 10}, {"x": 1}),
        ("by l", {"l": 5, "rows": 10}, {"x": 2}),
        ("by l", {"l": 5, "rows": 20}, {"x": 3}),
        ("by k", {"k": 3}, {"x": 4}),
    )


def test_points_are_found_by_experiment_and_parameters(results):
    assert results.one("by l", l=3) == {"x": 1}
    assert results.one("by k") == {"x": 4}
    assert results.along("by l", "l", rows=10) == {3: {"x": 1}, 5: {"x": 2}}
    assert [given["rows"] for given, _ in results.all("by l", l=5)] == [10, 20]


@pytest.mark.parametrize(
    ("experiment", "parameters"), [("by t", {}), ("by l", {"l": 4}), ("by k", {"l": 3})]
)
def test_what_is_not_there_was_not_measured(results, experiment, parameters):
    for ask in (results.one, results.all):
        with pytest.raises(NotMeasured, match=experiment):
            ask(experiment, **parameters)


def test_one_of_several_is_refused(results):
    with pytest.raises(NotMeasured, match="2 points"):
        results.one("by l", l=5)


def test_times_are_left_out_at_any_depth():
    numbers = {"a": {"b": {"seconds": 1.0, "glp": 2.0}}, "fit_seconds": 3.0, "order": ["x"]}
    assert without_times(numbers) == {"a": {"b": {"glp": 2.0}}, "order": ["x"]}
