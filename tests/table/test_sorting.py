"""Order by numbers that say all there is, is that of comparing."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.table.sorting import sorted_by


@pytest.mark.parametrize("rows", [0, 1, 100, 20_000])
@pytest.mark.parametrize(
    "widths",
    [
        *((7,), (1,), (7, 1), (1, 1), (3_000, 40), (5, 9, 30_000, 2, 600)),
        *((1 << 62,), (3, 1 << 50, 2), (1 << 30, 1 << 30, 1 << 30)),
    ],
)
def test_rows_are_in_the_order_of_all_columns(rows, widths):
    rng = np.random.default_rng(rows)
    columns = [rng.integers(0, width, rows) for width in widths]
    expected = np.lexsort(columns[::-1])
    assert sorted_by(columns).tolist() == expected.tolist()


def test_numbers_below_zero_are_sorted_by_comparing():
    rng = np.random.default_rng(1)
    columns = [rng.integers(-5, 5, 5_000), rng.integers(0, 3, 5_000).astype(np.int32)]
    assert sorted_by(columns).tolist() == np.lexsort(columns[::-1]).tolist()


@pytest.mark.parametrize("numbers", [[], [3, 1, 3, 1, 2], [5, -1, 5], [10**9, 7, 7, 0]])
def test_few_rows_are_sorted_whatever_their_numbers_are(numbers):
    ids = np.array(numbers, np.int32)
    assert sorted_by([ids]).tolist() == np.argsort(ids, kind="stable").tolist()
