"""Combinations and weights of a view are counted and added up in order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks.view import Block, summed


@pytest.mark.parametrize("rows", [0, 3, 50, 20_000])
def test_weights_of_pairs_are_added_up_in_the_order_of_rows(rows):
    rng = np.random.default_rng(rows)
    one, other, weight = rng.integers(0, 90, rows), rng.integers(0, 40, rows), rng.random(rows)
    expected: dict[tuple[int, int], float] = {}
    for key in zip(one.tolist(), other.tolist(), weight.tolist(), strict=True):
        expected[key[:2]] = expected.get(key[:2], 0.0) + key[2]
    found = [each.tolist() for each in summed(one, other, weight)]
    assert found == [
        [key[0] for key in sorted(expected)],
        [key[1] for key in sorted(expected)],
        [expected[key] for key in sorted(expected)],
    ]


@pytest.mark.parametrize("rows", [0, 1, 40, 5_000])
@pytest.mark.parametrize("widths", [(3, 2), (1, 1), (200, 9), (2**31 - 1, 2**31 - 1)])
@pytest.mark.parametrize("most", [None, 1, 30, 1 << 20])
def test_combinations_of_a_block_are_counted_in_order(rows, widths, most):
    rng = np.random.default_rng(rows)
    group = rng.integers(0, 4, rows)
    cells = np.stack([rng.integers(0, width, rows, np.int32) for width in widths], axis=1)
    count = None if most is None else rng.integers(1, most + 1, rows)
    expected: dict[tuple[int, ...], int] = {}
    for i in range(rows):
        key = (int(group[i]), *cells[i].tolist())
        expected[key] = expected.get(key, 0) + (1 if count is None else int(count[i]))
    block = Block.of(["a", "b"], group, list(cells.T), count)
    found = zip(block.group.tolist(), *block.cells.T.tolist(), strict=True)
    assert dict(zip(found, block.count.tolist(), strict=True)) == expected
    assert list(zip(block.group.tolist(), *block.cells.T.tolist(), strict=True)) == sorted(expected)


def test_a_last_column_of_one_value_is_attacked_like_any_other():
    rows = 5_000
    data = pa.table({"age": [i % 50 for i in range(rows)], "country": ["AT"] * rows})
    data = data.append_column("disease", [[f"d{i % 7}" for i in range(rows)]])
    schema = sf.Schema.of(age="quasi-identifier", country="quasi-identifier", disease="sensitive")
    assert sf.attack(sf.Mondrian(k=5).publish(data, schema), data).outcomes
