"""Blocks whose rows differ in every one of several sensitive attributes."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from sfumato.errors import Infeasible, ParameterError
from sfumato.measures.compiled import loop
from sfumato.rows.edge_colouring import colour
from sfumato.rows.holders import EMPTY, draw, stretches
from sfumato.rows.unique_search import search

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]

# So many sets without a split are enough to say so: the search takes longest where there is none.
_ENOUGH_FAILURES = 100


def split_unique(
    values: Codes,
    offsets: npt.NDArray[np.integer[Any]],
    l: int,  # noqa: E741
    *,
    rng: np.random.Generator,
) -> tuple[Codes, int]:
    """Return each row's block, dense over all sets in their order, and the number of blocks.

    `values` has the codes of the rows (none missing), a line for each of two or more sensitive
    attributes; the rows of set i are those from offsets[i] to before offsets[i + 1].

    Guarantee: in a block no two rows share a code of any attribute. A set of n rows makes
    floor(n / l) blocks, of l to 2l - 1 rows, whose sizes differ by one at most. Which rows share
    a block depends on the codes and on `rng`, not on the order of the rows.

    Refuses with `ParameterError` sets in which a code has more than 1/l of the rows. For others
    a split by two attributes always exists and is found. So it is by more if all but two of them
    determine another (as a town does its region) and need no look. Else one may not exist, and
    looking for it is hard: `Infeasible` says that none was found, not that there is none.
    """
    if values.ndim != 2 or len(values) < 2:
        raise ParameterError("blocks that differ in several attributes need two or more of them")
    rows = values.shape[1]
    sizes = np.diff(offsets)
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != rows or (sizes < 0).any():
        raise ParameterError("the sets must be consecutive and take in every row")
    if l < 1:
        raise ParameterError(f"l = {l} is too small; use l >= 1")
    if values.min(initial=0) < 0:
        raise ParameterError("a code of a sensitive attribute is negative; number them from 0 on")
    blocks = sizes // l
    nodes, counts, set_of_node = _nodes(values, sizes)
    refused = np.unique(set_of_node[counts > blocks[set_of_node]])
    if len(refused) > 0:
        raise ParameterError(
            f"in {len(refused)} of {len(sizes)} sets of rows the commonest value of a sensitive "
            f"attribute has more than 1/{l} of the rows; unite sets or use a smaller l"
        )
    start = stretches(counts, blocks[set_of_node])
    bounds = np.ascontiguousarray(offsets, dtype=np.int64)
    order = _shuffled(bounds, rng)
    found, failures, tried = _split_sets(nodes[:, order], bounds, l, start, rng)
    if failures > 0:
        raise Infeasible(
            f"no blocks of at least l = {l} rows that differ in every one of the {len(values)} "
            f"sensitive attributes were found for {failures} of the {tried} sets of rows tried "
            f"(of {len(sizes)}), which does not prove that there are none; "
            "use a smaller l, fewer sensitive attributes, or a coarser initial partition"
        )
    ids = np.empty(rows, np.int32)
    ids[order] = found
    return ids, int(blocks.sum())


def _nodes(values: Codes, sizes: Ints) -> tuple[Ints, Ints, Ints]:
    """Return values numbered over sets and attributes, how many rows each has, and its set."""
    set_of_row = np.repeat(np.arange(len(sizes)), sizes)
    nodes = np.empty(values.shape, np.int64)
    counts, sets = [], []
    known = 0
    for line, codes in zip(nodes, values, strict=True):
        span = int(codes.max(initial=0)) + 1
        pairs, inverse, count = np.unique(
            set_of_row * span + codes, return_inverse=True, return_counts=True
        )
        line[:] = inverse + known
        known += len(pairs)
        counts.append(count)
        sets.append(pairs // span)
    return nodes, np.concatenate(counts), np.concatenate(sets)


@numba.njit(cache=True, nogil=True)
def _shuffled(offsets: Ints, rng: np.random.Generator) -> Ints:
    """Return the rows, those of each set in random order."""
    order = np.arange(offsets[-1])
    for number in range(len(offsets) - 1):
        first = offsets[number]
        for last in range(offsets[number + 1] - 1, first, -1):
            other = first + draw(rng, last + 1 - first)
            order[last], order[other] = order[other], order[last]
    return order


@numba.njit(cache=True, nogil=True)
def _split_sets(
    nodes: Ints,
    offsets: Ints,
    l: int,  # noqa: E741
    start: Ints,
    rng: np.random.Generator,
) -> tuple[Ints, int, int]:
    """Return the block of each row, how many sets have none, and of how many tried."""
    places = np.full(start[-1], EMPTY)
    block_of = np.full(offsets[-1], -1)
    partner = np.full(len(start) - 1, -1)
    kept = np.empty(len(nodes), np.int64)
    known, failures, tried = 0, 0, 0
    for number in range(len(offsets) - 1):
        first, last = offsets[number], offsets[number + 1]
        blocks = (last - first) // l
        if blocks == 0:  # no rows
            continue
        tried += 1
        found = block_of[first:last]
        attributes = _independent(nodes[:, first:last], partner, kept)
        if attributes == 2:
            left, right = nodes[kept[0], first:last], nodes[kept[1], first:last]
            colour(left, right, start, places, found, blocks, rng)
        else:
            lines = np.empty((attributes, last - first), np.int64)
            for line in range(attributes):
                for row in range(last - first):
                    lines[line, row] = nodes[kept[line], first + row]
            if not search(lines, start, places, found, blocks, rng):
                failures += 1
                if failures == _ENOUGH_FAILURES:
                    break
        for row in range(len(found)):
            found[row] += known
        known += blocks
    return block_of, failures, tried


@loop
def _independent(nodes: Ints, partner: Ints, kept: Ints) -> int:
    """Return how many attributes are enough, two or more; they are the first of `kept`.

    Rows that differ in an attribute differ in every other that determines it, so an attribute
    that determines another can be left out.
    """
    attributes = len(nodes)
    for attribute in range(attributes):
        kept[attribute] = attribute
    at = 0
    while at < attributes and attributes > 2:
        spare = False
        for other in range(attributes):
            if other != at and not spare:
                spare = _determines(nodes[kept[at]], nodes[kept[other]], partner)
        if spare:
            attributes -= 1
            kept[at] = kept[attributes]
        else:
            at += 1
    return attributes


@loop
def _determines(one: Ints, other: Ints, partner: Ints) -> bool:
    """Return whether rows alike in one attribute are alike in the other; `partner` is all -1."""
    same = True
    seen = 0
    while same and seen < len(one):
        if partner[one[seen]] == -1:
            partner[one[seen]] = other[seen]
        same = partner[one[seen]] == other[seen]
        seen += 1
    for row in range(seen):
        partner[one[row]] = -1
    return same
