"""The refining-partition paper's definitions, literally: association, loss, eligibility, rings.

Zhu, Tian, Du, Xie, "Anonymization on Refining Partition: Same Privacy, More Utility". A partition
is a list of lists of row numbers. Everything is exact, in fractions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any

INTERVALS = 10

Values = Sequence[Hashable]
Partition = Sequence[Sequence[int]]
Blocks = frozenset[frozenset[int]]


# --- association ----------------------------------------------------------------------------------


def phi_squared(one: Values, other: Values) -> Fraction:
    """Return the mean-square contingency of two attributes, by the formula of section 4.1.

    >>> phi_squared("aabb", "xxyy"), phi_squared("aabb", "xyxy"), phi_squared("aaaa", "xyxy")
    (Fraction(1, 1), Fraction(0, 1), Fraction(0, 1))
    """
    n = len(one)
    if min(len(set(one)), len(set(other))) < 2:
        return Fraction(0)
    total = Fraction(0)
    for v in set(one):
        for s in set(other):
            f_i = Fraction(sum(1 for a in one if a == v), n)
            f_j = Fraction(sum(1 for b in other if b == s), n)
            f_ij = Fraction(sum(1 for a, b in zip(one, other, strict=True) if (a, b) == (v, s)), n)
            total += (f_ij - f_i * f_j) ** 2 / (f_i * f_j)
    return total / (min(len(set(one)), len(set(other))) - 1)


def in_intervals(numbers: Sequence[Any]) -> list[Any]:
    """Return numbers with more than ten different values as one of ten equally wide intervals.

    A missing one stays missing; the highest number belongs to the last interval.

    >>> in_intervals([0, 1, 5, None]), in_intervals([*range(10), None, 100])
    ([0, 1, 5, None], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, None, 9])
    """
    known = [Fraction(number) for number in numbers if number is not None]
    if len(set(known)) <= INTERVALS:
        return list(numbers)
    low, high = min(known), max(known)
    width = (high - low) / INTERVALS
    return [
        None if number is None else min(int((Fraction(number) - low) / width), INTERVALS - 1)
        for number in numbers
    ]


# --- eligibility, blocks and rings ----------------------------------------------------------------


def known_values(values: Values) -> list[Hashable]:
    """Return the values that are not missing."""
    return [value for value in values if value is not None]


def eligible(values: Values, ell: int) -> bool:
    """Whether rows with these values can be split l-uniquely; missing values do not count.

    >>> eligible("aabc", 2), eligible("aab", 2), eligible([None, None], 1)
    (True, False, False)
    """
    known = known_values(values)
    return bool(known) and max(Counter(known).values()) * ell <= len(known)


def is_refined(values: Values, ell: int) -> bool:
    """Whether a block's known values all differ, and are l to 2l - 1."""
    known = known_values(values)
    return len(set(known)) == len(known) and ell <= len(known) <= 2 * ell - 1


def is_ring(values: Values, ell: int) -> bool:
    """Whether any l neighbours on the circle have different values.

    >>> is_ring("abcabc", 3), is_ring("abcba", 3), is_ring("ab", 3)
    (True, False, False)
    """
    n = len(values)
    return n >= ell and all(len({values[(i + j) % n] for j in range(ell)}) == ell for i in range(n))


# --- loss -----------------------------------------------------------------------------------------


def mean_probability(values: Values, partition: Partition) -> Fraction:
    """Return Property 1 over a whole partition: how likely a record gets its own value.

    A missing value is a value like any other here.
    """
    total = Fraction(0)
    for block in partition:
        for row in block:
            alike = sum(1 for other in block if values[other] == values[row])
            total += Fraction(alike, len(block))
    return total / sum(len(block) for block in partition)


def reconstruction_error(values: Values, partition: Partition) -> Fraction:
    """Return RE: the chances that each record gets a value that is not its own, summed."""
    return sum(
        (
            Fraction(sum(1 for other in block if values[other] != values[row]), len(block))
            for block in partition
            for row in block
        ),
        Fraction(0),
    )


def nlp(kinds: Values, values: Values, partition: Partition) -> list[Fraction]:
    """Return each record's NLP by Definition 3; `kinds` are the rows' non-sensitive values.

    It is the chance of a value that no record of the same kind has.
    """
    result = [Fraction(0)] * len(values)
    for block in partition:
        for row in block:
            of_kind = {s for kind, s in zip(kinds, values, strict=True) if kind == kinds[row]}
            for s in set(values) - of_kind:
                share = Fraction(sum(1 for other in block if values[other] == s), len(block))
                result[row] += share
    return result


def glp(kinds: Values, values: Values, partition: Partition) -> Fraction:
    """Return GLP: the mean NLP.

    >>> glp("pqrr", "abcd", [[0, 1, 2, 3]])
    Fraction(5, 8)
    """
    each = nlp(kinds, values, partition)
    return sum(each, Fraction(0)) / len(each)


# --- Algorithm 1, with every choice it may make ---------------------------------------------------


def joined_runs(
    runs: Sequence[frozenset[int]], sensitive: Sequence[Values], ell: int
) -> set[tuple[tuple[frozenset[int], int], ...]]:
    """Return all ways to join runs: each a list of blocks, with how many runs each is made of.

    The first block that does not hold is merged with either neighbour, and checked again.
    """
    start = tuple((run, 1) for run in runs)
    seen, todo, ends = {start}, [start], set()
    while todo:
        state = todo.pop()
        failing = next(
            (i for i, each in enumerate(state) if not _holds(each[0], sensitive, ell)), -1
        )
        if failing < 0 or len(state) == 1:
            ends.add(state)
            continue
        for left in (failing - 1, failing):
            if left < 0 or left + 1 >= len(state):
                continue
            (one, parts), (other, more) = state[left], state[left + 1]
            merged = (*state[:left], (one | other, parts + more), *state[left + 2 :])
            if merged not in seen:
                seen.add(merged)
                todo.append(merged)
    return ends


def partitions_by_correlation(
    attributes: Sequence[Values], sensitive: Sequence[Values], ell: int, *, merged_are_final: bool
) -> set[Blocks]:
    """Return every partition that Algorithm 1 can end with, whatever neighbours it picks.

    `attributes` are non-sensitive ones, numbers or None, each as it was coarsened for its
    association already; several sensitive attributes count by their strongest association.
    Attributes of equal association may come in any order.
    """
    strength = [max(phi_squared(a, s) for s in sensitive) for a in attributes]
    found: set[Blocks] = set()
    rows = frozenset(range(len(sensitive[0])))
    for order in permutations(range(len(attributes))):
        if all(strength[a] >= strength[b] for a, b in pairwise(order)):
            ordered = [attributes[i] for i in order]
            found.update(_partition(rows, ordered, sensitive, ell, merged_are_final))
    return found


def _partition(
    rows: frozenset[int],
    attributes: Sequence[Values],
    sensitive: Sequence[Values],
    ell: int,
    merged_are_final: bool,
) -> set[Blocks]:
    if not attributes:
        return {frozenset([rows])}
    first, rest = attributes[0], attributes[1:]
    present = sorted({first[row] for row in rows}, key=_missing_last)
    runs = [frozenset(row for row in rows if first[row] == value) for value in present]
    found: set[Blocks] = set()
    for blocks in joined_runs(runs, sensitive, ell):
        wholes: set[Blocks] = {frozenset()}
        for block, parts in blocks:
            if parts > 1 and merged_are_final:
                ways = {frozenset([block])}
            else:
                ways = _partition(block, rest, sensitive, ell, merged_are_final)
            wholes = {whole | way for whole in wholes for way in ways}
        found |= wholes
    return found


def _holds(rows: frozenset[int], sensitive: Sequence[Values], ell: int) -> bool:
    return all(eligible([values[row] for row in rows], ell) for values in sensitive)


def _missing_last(value: Any) -> tuple[bool, Any]:
    return (value is None, 0 if value is None else value)
