"""What sums say of all groups is what the kernels say of each, which partitioners ask."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.models import (
    GroupStatistics,
    Histogram,
    KAnonymity,
    LDiversity,
    LUniqueGroups,
    Total,
    kernels,
)
from sfumato.models.sums import sums_of

VALUES = 4  # and a code for those who miss one
GROUPS = 40


def _statistics(rng: np.random.Generator, most: int) -> GroupStatistics:
    """Return groups of random people; the first and the last are nobody's."""
    entries = 150
    groups = rng.integers(1, GROUPS - 1, entries)
    codes = rng.integers(0, VALUES + 1, entries)
    counts = rng.integers(1, most + 1, entries)
    histogram = Histogram.count(groups, codes, counts, GROUPS, VALUES)
    sizes = np.bincount(groups, counts, GROUPS).astype(np.int64)
    return GroupStatistics(sizes, {"x": histogram})


@pytest.mark.parametrize(
    "model",
    [
        KAnonymity(5),
        *(
            LDiversity("x", l, variant=variant, missing=missing)
            for l in (1, 2, 3)  # noqa: E741
            for variant in ("frequency", "distinct")
            for missing in ("excluded", "value")
        ),
        LUniqueGroups("x", 2),
    ],
    ids=str,
)
@pytest.mark.parametrize("most", [1, 3])
def test_sums_and_kernels_agree(model, most):
    total = Total(np.array([9, 9, 9, 9, 9]), 36)
    bound = model.bind({"x": total})
    rng = np.random.default_rng(5)
    seen = set()
    for _ in range(20):
        statistics = _statistics(rng, most)
        asked = (bound.rule, *bound._arguments(statistics))
        holds = bound.holds(statistics)
        assert holds.tolist() == kernels.holds_each(*asked).tolist()
        assert bound.levels(statistics).tolist() == kernels.level_each(*asked).tolist()
        seen |= set(holds.tolist())
    assert True in seen


def test_groups_of_which_nobody_has_a_value():
    nobody = np.zeros(0, np.int64)
    empty = Histogram.count(nobody, nobody, None, 2, VALUES)
    bound = LDiversity("x", 2).bind({"x": Total(np.ones(VALUES + 1, np.int64), VALUES)})
    statistics = GroupStatistics(np.zeros(2, np.int64), {"x": empty})
    assert bound.holds(statistics).tolist() == [True, True]
    assert bound.levels(statistics).tolist() == [np.inf, np.inf]


def test_models_that_ask_for_more_are_left_to_kernels():
    bound = LDiversity("x", 2, variant="entropy").bind(
        {"x": Total(np.ones(VALUES + 1, np.int64), VALUES)}
    )
    statistics = _statistics(np.random.default_rng(1), 2)
    assert sums_of(bound.rule, statistics.sizes, statistics.histograms["x"]) is None
    assert len(bound.holds(statistics)) == GROUPS
