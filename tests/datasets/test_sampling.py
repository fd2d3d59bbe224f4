"""Draws: right frequencies, impossible values never, the same for the same seed."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.datasets.sampling import BATCH_ROWS, Batch, Distribution, batches, categories, spread
from sfumato.errors import ParameterError
from sfumato.randomness import repeatable


def make_numbers(batch: Batch) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"x": pa.array(batch.uniform("x"))})


@pytest.mark.parametrize(
    "weights",
    [
        [1.0],
        [1, 1],
        [0, 0, 7, 0],
        [3, 0, 1e-6, 5, 2],
        list(1.0 / (1.0 + np.arange(300.0))),
        [[1, 2, 3], [0, 1, 0], [5, 0, 5]],
    ],
)
def test_alias_table_holds_exactly_the_weights(weights):
    shares = np.atleast_2d(np.array(weights, dtype=float))
    shares /= shares.sum(axis=1, keepdims=True)
    strata, values = shares.shape
    distribution = Distribution(shares)
    # The share of every value read off the table itself: no sampling error to allow for.
    cut = distribution._cut.reshape(strata, values)
    alias = distribution._alias.reshape(strata, values)
    held = cut.copy()
    for stratum in range(strata):
        np.add.at(held[stratum], alias[stratum], 1.0 - cut[stratum])
    assert np.allclose(held / values, shares, rtol=0, atol=1e-12)
    assert (cut[shares == 0] == 0).all()
    assert (np.take_along_axis(shares, alias.astype(int), axis=1)[cut < 1] > 0).all()


def test_draws_follow_the_stratum():
    distribution = Distribution([[[1, 3], [1, 0]], [[0, 1], [3, 1]]])
    rng = repeatable(1)
    first, second = rng.integers(0, 2, (2, 200_000))
    drawn = distribution.draw(rng.random(200_000), first, second)
    for (a, b), share_of_ones in {(0, 0): 0.75, (0, 1): 0.0, (1, 0): 1.0, (1, 1): 0.25}.items():
        share = drawn[(first == a) & (second == b)].mean()
        assert share == pytest.approx(share_of_ones, abs=0.01)
        if share_of_ones in (0.0, 1.0):
            assert share == share_of_ones


def test_draws_at_the_ends_of_the_unit_interval_are_values():
    ends = np.array([0.0, np.nextafter(1.0, 0.0)])
    for values in (1, 2, 3, 7, 36, 1096):
        drawn = Distribution(np.ones(values)).draw(ends)
        assert drawn.tolist() == [0, values - 1]


def test_streams_are_independent_of_each_other_and_of_the_length():
    whole = Batch("t", seed=5, number=0, rows=1000)
    part = Batch("t", seed=5, number=0, rows=10)
    assert (whole.uniform("a")[:10] == part.uniform("a")).all()
    assert (whole.normal("a")[:10] == part.normal("a")).all()
    assert abs(np.corrcoef(whole.uniform("a"), whole.uniform("b"))[0, 1]) < 0.15
    for other in (Batch("u", 5, 0, 10), Batch("t", 6, 0, 10), Batch("t", 5, 1, 10)):
        assert not (other.uniform("a") == part.uniform("a")).any()


def test_batches_cover_the_rows_and_are_made_on_demand():
    made = []

    def make(batch: Batch) -> pa.RecordBatch:
        made.append(batch)
        return make_numbers(batch)

    stream = batches(make, "t", 2 * BATCH_ROWS + 1, seed=0)
    assert made == []
    next(stream)
    assert [batch.rows for batch in made] == [BATCH_ROWS]
    list(stream)
    assert [batch.rows for batch in made] == [BATCH_ROWS, BATCH_ROWS, 1]
    assert [batch.first for batch in made] == [0, BATCH_ROWS, 2 * BATCH_ROWS]


@pytest.mark.parametrize(("rows", "seed"), [(0, 0), (-5, 0), (10, -1)])
def test_impossible_sizes_and_seeds_are_refused_at_once(rows, seed):
    with pytest.raises(ParameterError):
        batches(make_numbers, "t", rows, seed)


def test_categories_are_small_and_may_be_missing():
    few = categories(np.array([1, 0, 1]), pa.array(["a", "b"]), missing=np.array([0, 1, 0], bool))
    assert few.to_pylist() == ["b", None, "b"]
    assert few.type == pa.dictionary(pa.int8(), pa.string())
    many = categories(np.array([199]), pa.array([str(i) for i in range(200)]), ordered=True)
    assert many.to_pylist() == ["199"]
    assert many.type == pa.dictionary(pa.int16(), pa.string(), ordered=True)


def test_spread_is_even():
    numbers = np.sort(spread(100))
    assert numbers.min() >= 0
    assert numbers.max() < 1
    assert np.diff(numbers).max() < 0.03
