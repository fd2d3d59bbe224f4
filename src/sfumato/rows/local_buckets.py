"""Local buckets: the sensitive cells of one attribute, partitioned by their values alone.

*Source*: Li, He, Sun, "Local Generalization and Bucketization", Algorithm 2 (l-unique buckets), and
section 4 for attributes with few values (t-close buckets).
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from sfumato.measures.counts import largest_of, total_of
from sfumato.models.kernels import Rule, holds
from sfumato.rows.bucket_rounds import deal_unique
from sfumato.table import Groups
from sfumato.table.permutation import permutation, shuffled_by_code

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


def unique_buckets(
    codes: Codes,
    cardinality: int,
    l: int,  # noqa: E741
    *,
    rng: np.random.Generator,
) -> Groups:
    """Return l-unique buckets of cells, each over as narrow a range of values as halving gives.

    Values are halved at their (lower) median as long as both halves can be split into l-unique
    buckets; each remaining range is dealt in rounds that take one cell from each of its l
    commonest values. Missing cells are spread evenly and count for nothing. The caller has made
    sure that no value has more than 1/l of the cells that have one.
    """
    counts = np.bincount(codes, minlength=cardinality + 1)[:cardinality].astype(np.int64)
    dealt, count = _deal_ranges(counts, l, rng)
    return _groups(codes, cardinality, dealt, count, rng)


def close_buckets(
    codes: Codes, cardinality: int, rule: Rule, *, rng: np.random.Generator
) -> Groups | None:
    """Return the most buckets that a round-robin deal of the sorted cells makes t-close.

    Every bucket satisfies `rule`, that of `TCloseBuckets` bound to just these cells: it is close to
    all of them, and holds two values. None if not even one bucket does. Missing cells are spread
    evenly and count for nothing.
    """
    counts = np.bincount(codes, minlength=cardinality + 1)[:cardinality].astype(np.int64)
    count = int(_most_close_buckets(counts, rule))
    if count == 0:
        return None
    dealt = (np.arange(counts.sum()) % count).astype(np.int32)
    return _groups(codes, cardinality, dealt, count, rng)


def _groups(
    codes: Codes, cardinality: int, dealt: Codes, count: int, rng: np.random.Generator
) -> Groups:
    """Return the buckets of all cells; `dealt` has those of the known cells in order of value."""
    ids = np.empty(len(codes), dtype=np.int32)
    # cells of one value lie together, in random order within it
    ids[shuffled_by_code(codes, cardinality, rng)] = dealt
    # in random order, or who shares a bucket would tell who stood how far apart in the input
    missing = rng.permutation(np.flatnonzero(codes == cardinality))
    ids[missing] = np.resize(permutation(rng, count), len(missing))
    return Groups(ids, count)


@numba.njit(cache=True, nogil=True)
def _eligible(counts: Ints, l: int) -> bool:  # noqa: E741
    """Return whether items of so many values can be split into l-unique buckets."""
    return 0 < largest_of(counts) * l <= total_of(counts)


@numba.njit(cache=True, nogil=True)
def _deal_ranges(
    counts: Ints,
    l: int,  # noqa: E741
    rng: np.random.Generator,
) -> tuple[Codes, int]:
    """Return the bucket of every item, items in order of value, and the number of buckets."""
    starts = np.zeros(len(counts) + 1, np.int64)
    for code in range(len(counts)):
        starts[code + 1] = starts[code] + counts[code]
    bucket_of = np.empty(starts[-1], np.int32)
    buckets = 0
    # Ranges of values that wait, in an array: a list, a search of NumPy and the assignment of a
    # slice (whose error has a text) take four seconds to compile.
    pending = np.empty((len(counts) + 1, 2), np.int64)
    pending[0, 0], pending[0, 1] = 0, len(counts)
    waiting = 1
    while waiting > 0:
        waiting -= 1
        first, last = pending[waiting, 0], pending[waiting, 1]
        # the lower median is the value of the item at or just before the middle
        middle_item = starts[first] + (starts[last] - starts[first] - 1) // 2
        middle, beyond = 0, last + 1  # the first start behind that item
        while middle < beyond:
            half = (middle + beyond) // 2
            if starts[half] <= middle_item:
                middle = half + 1
            else:
                beyond = half
        if _eligible(counts[first:middle], l) and _eligible(counts[middle:last], l):
            pending[waiting, 0], pending[waiting, 1] = middle, last
            pending[waiting + 1, 0], pending[waiting + 1, 1] = first, middle
            waiting += 2
            continue
        dealt, found = deal_unique(counts[first:last], l, rng)
        for item in range(len(dealt)):
            bucket_of[starts[first] + item] = dealt[item] + buckets
        buckets += found
    return bucket_of, buckets


@numba.njit(cache=True, nogil=True)
def _dealt_counts(counts: Ints, starts: Ints, buckets: int, bucket: int) -> Ints:
    """Return how many items of each value a bucket gets in a round-robin deal."""
    dealt = np.empty(len(counts), np.int64)
    for code in range(len(counts)):
        # items start..end - 1 whose number is `bucket` modulo `buckets`
        before = (starts[code] - bucket + buckets - 1) // buckets
        upto = (starts[code] + counts[code] - bucket + buckets - 1) // buckets
        dealt[code] = upto - before
    return dealt


@numba.njit(cache=True, nogil=True)
def _most_close_buckets(counts: Ints, rule: Rule) -> int:
    """Return the largest number of buckets of which each satisfies the rule.

    What a bucket gets changes only where a value's first item falls, so of each number of
    buckets only as many different ones need a look as there are values.
    """
    total = total_of(counts)
    starts = np.zeros(len(counts), np.int64)
    for code in range(1, len(counts)):
        starts[code] = starts[code - 1] + counts[code - 1]
    for buckets in range(total // 2, 0, -1):
        fits = True
        for value in range(len(counts) + 1):
            turn = starts[value] if value < len(counts) else total
            for bucket in ((turn - 1) % buckets, turn % buckets):
                dealt = _dealt_counts(counts, starts, buckets, bucket)
                codes = np.flatnonzero(dealt)
                size = total_of(dealt)
                if not holds(rule, codes, dealt[codes], size, size):
                    fits = False
                    break
            if not fits:
                break
        if fits:
            return buckets
    return 0
