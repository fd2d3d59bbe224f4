"""Histograms of groups, counted by one sort, are those that a dictionary counts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sfumato.models import Histogram
from sfumato.randomness import repeatable

GROUPS, NULL = 9, 4


@pytest.mark.parametrize("rows", [0, 1, 5, 300])
@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("most", [1, 2, 4])  # few entries of more than one person, and many
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_a_histogram_counts_entries(rows, counted, most, dtype):
    rng = repeatable(3, rows)
    groups = rng.integers(0, GROUPS - 1, rows).astype(dtype)  # the last group is empty
    codes = rng.integers(0, NULL + 1, rows).astype(dtype)
    counts = rng.integers(1, most + 1, rows)
    found = Histogram.count(groups, codes, counts if counted else None, GROUPS, NULL)
    expected: Counter[tuple[int, int]] = Counter()
    for group, code, count in zip(groups.tolist(), codes.tolist(), counts.tolist(), strict=True):
        expected[group, code] += count if counted else 1
    owners = np.repeat(np.arange(GROUPS), np.diff(found.offsets)).tolist()
    entries = list(zip(owners, found.codes.tolist(), strict=True))
    assert entries == sorted(expected)
    assert found.counts.tolist() == [expected[entry] for entry in entries]
    present = [
        sum(count for (group, code), count in expected.items() if group == g and code != NULL)
        for g in range(GROUPS)
    ]
    assert found.present.tolist() == present
    assert {array.dtype for array in (found.offsets, found.codes, found.counts)} == {
        np.dtype(np.int64)
    }
