"""Every privacy model as one compiled predicate on one group: makers and audit run the same.

A bound model is a row of numbers (`Rule`), so that partitioners can check any conjunction inside
their loops without knowing which model it is. Comparisons are in integers where the model allows
it; where it does not, `TOLERANCE` errs towards refusal.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import allocating_loop
from sfumato.measures.counts import largest_of, total_of
from sfumato.measures.emd import equal_distance, hierarchical_distance, ordered_distance
from sfumato.measures.entropy import entropy

TOLERANCE = 1e-12

K_ANONYMITY = 0
L_DISTINCT = 1
L_FREQUENCY = 2
L_ENTROPY = 3
L_RECURSIVE = 4
T_EQUAL = 5
T_ORDERED = 6
T_HIERARCHICAL = 7
ALPHA_K = 8
BETA_BASIC = 9
BETA_ENHANCED = 10
L_UNIQUE = 11
MIN_WIDTH = 12
LINKABLE = 13

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


class Rule(NamedTuple):
    """A model bound to a table, in numbers.

    `whole` is its integer parameter (k or l; for a distance, the fewest values of a group), `real`
    its real one; `skip` the code that does not count (a missing value), or -1; `reals` and `links`
    hold what the whole table contributes.
    """

    kind: int
    whole: int
    real: float
    skip: int
    reals: Reals
    links: Ints


@numba.njit(cache=True, nogil=True)
def _counted(codes: Ints, skip: int) -> int:
    """Return how many entries count: all, or all but the last if it is the skipped code.

    A missing value has the highest code of all, and codes ascend, so it can only be the last.
    """
    entries = len(codes)
    return entries - 1 if entries > 0 and codes[entries - 1] == skip else entries


@numba.njit(cache=True, nogil=True)
def _distance(rule: Rule, codes: Ints, counts: Ints) -> float:
    """Return the earth mover's distance of a group under the rule's ground distance."""
    total = total_of(counts)
    if total == 0:
        return 0.0
    if rule.kind == T_EQUAL:
        return equal_distance(codes, counts, total, rule.reals)
    if rule.kind == T_ORDERED:
        return ordered_distance(codes, counts, total, rule.reals, len(rule.reals) // 2)
    nodes = len(rule.links) // 2
    return hierarchical_distance(
        codes, counts, total, rule.reals, rule.links[:nodes], rule.links[nodes:]
    )


@numba.njit(cache=True, nogil=True)
def _recursive_ratio(whole: int, counts: Ints) -> float:
    """Return r1 / (r_l + ... + r_m), the smallest c that does not hold; infinite if m < l."""
    if len(counts) < whole:
        return np.inf
    commonest = largest_of(counts)
    rest = total_of(counts)
    most, left = commonest, whole - 1
    while left > 0:  # take away the whole - 1 largest counts, equal ones together
        following = 0
        for count in counts:
            if count == most and left > 0:
                rest -= count
                left -= 1
            elif count < most:
                following = max(following, count)
        most = following
    return float(commonest / rest)


@numba.njit(cache=True, nogil=True)
def _likeness(rule: Rule, codes: Ints, counts: Ints, enhanced: bool) -> float:
    """Return the largest relative gain (q - p) / p; over its own bound where `enhanced`."""
    total = total_of(counts)
    worst = 0.0
    for i in range(len(codes)):
        whole = rule.reals[codes[i]]
        gain = (counts[i] / total - whole) / whole
        if enhanced:
            gain /= min(rule.real, -np.log(whole)) if whole < 1.0 else 1.0
        worst = max(worst, gain)
    return worst


@numba.njit(cache=True, nogil=True)
def _likely_shared(rule: Rule, codes: Ints, size: int) -> float:
    """Return the chance that at least `whole` of the group's values stand in a like group, too.

    `reals` are logarithms of the chance to miss a value once. The likeliest value is left out: it
    may be the person's own, which tells nothing.
    """
    if size < 2:
        return 0.0
    own = 0
    for i in range(1, len(codes)):
        if rule.reals[codes[i]] < rule.reals[codes[own]]:
            own = i
    if rule.whole == 1:
        missed = 0.0  # the logarithm of the chance that none is shared
        for i in range(len(codes)):
            if i != own:
                missed += rule.reals[codes[i]]
        return float(1.0 - np.exp((size - 1) * missed))
    fewer = np.zeros(rule.whole)  # chances that so many are shared, of those below `whole`
    fewer[0] = 1.0
    for i in range(len(codes)):
        if i == own:
            continue
        missing = np.exp((size - 1) * rule.reals[codes[i]])
        for n in range(rule.whole - 1, 0, -1):
            fewer[n] = fewer[n] * missing + fewer[n - 1] * (1.0 - missing)
        fewer[0] *= missing
    return float(1.0 - fewer.sum())


@numba.njit(cache=True, nogil=True)
def level(rule: Rule, codes: Ints, counts: Ints, size: int, present: int) -> float:
    """Return the level of protection that a group reaches, in the units of its model.

    `size` counts the group's units and `present` those with a value. Codes ascend.
    """
    if rule.kind == K_ANONYMITY:
        return float(size)
    entries = _counted(codes, rule.skip)
    codes, counts = codes[:entries], counts[:entries]
    denominator = present if rule.skip >= 0 else size
    if rule.kind == L_DISTINCT or rule.kind == L_UNIQUE:
        return float(len(codes))
    if rule.kind == L_FREQUENCY:
        return denominator / largest_of(counts) if len(counts) > 0 else np.inf
    if rule.kind == L_ENTROPY:
        return float(np.exp(entropy(counts))) if len(counts) > 0 else 0.0
    if rule.kind == L_RECURSIVE:
        return _recursive_ratio(rule.whole, counts)
    if rule.kind == ALPHA_K:
        return largest_of(counts) / denominator if len(counts) > 0 else 0.0
    if rule.kind == BETA_BASIC or rule.kind == BETA_ENHANCED:
        return _likeness(rule, codes, counts, rule.kind == BETA_ENHANCED)
    if rule.kind == MIN_WIDTH:
        if len(codes) == 0:
            return np.inf
        return float(rule.reals[codes[-1]] - rule.reals[codes[0]])
    if rule.kind == LINKABLE:
        return _likely_shared(rule, codes, size) if len(codes) > 0 else 1.0
    return _distance(rule, codes, counts)


@allocating_loop
def holds(rule: Rule, codes: Ints, counts: Ints, size: int, present: int) -> bool:
    """Return whether a group satisfies the rule; arguments as for `level`."""
    if rule.kind == K_ANONYMITY:
        return bool(size >= rule.whole)
    entries = _counted(codes, rule.skip)
    codes, counts = codes[:entries], counts[:entries]
    denominator = present if rule.skip >= 0 else size
    largest = largest_of(counts)
    if rule.kind == L_DISTINCT:
        return len(codes) >= rule.whole or rule.whole == 1
    if rule.kind == L_UNIQUE:
        return len(codes) >= rule.whole and largest <= 1
    if rule.kind == L_FREQUENCY:
        return bool(largest * rule.whole <= denominator)
    if rule.kind == L_ENTROPY:
        if rule.real <= 1.0:
            return True
        if len(counts) > 0 and largest * len(counts) == total_of(counts):
            return len(counts) >= rule.real  # uniform: decided without logarithms
        return len(counts) > 0 and entropy(counts) >= np.log(rule.real) + TOLERANCE
    if rule.kind == L_RECURSIVE:
        return _recursive_ratio(rule.whole, counts) < rule.real - TOLERANCE
    if rule.kind == ALPHA_K:
        # alpha is the fraction links[0] / links[1]
        return bool(size >= rule.whole and largest * rule.links[1] <= rule.links[0] * denominator)
    if rule.kind == MIN_WIDTH:
        return len(codes) == 0 or rule.reals[codes[-1]] - rule.reals[codes[0]] >= rule.real
    if rule.kind == LINKABLE:
        return len(codes) == 0 or _likely_shared(rule, codes, size) >= rule.real + TOLERANCE
    if rule.kind == BETA_BASIC or rule.kind == BETA_ENHANCED:
        if len(codes) == 0:
            return True
        bound = 1.0 if rule.kind == BETA_ENHANCED else rule.real
        gain = _likeness(rule, codes, counts, rule.kind == BETA_ENHANCED)
    else:
        if len(codes) < rule.whole:
            return False
        bound = rule.real
        gain = _distance(rule, codes, counts)
        if bound >= 1.0:
            return True  # no distance exceeds 1
    return gain <= bound - TOLERANCE or gain <= 0.0


@numba.njit(cache=True, nogil=True)
def holds_each(
    rule: Rule, sizes: Ints, offsets: Ints, codes: Ints, counts: Ints, present: Ints
) -> npt.NDArray[np.bool_]:
    """Return for every group whether it satisfies the rule."""
    answer = np.empty(len(sizes), np.bool_)
    for g in range(len(sizes)):
        part = slice(offsets[g], offsets[g + 1])
        answer[g] = holds(rule, codes[part], counts[part], sizes[g], present[g])
    return answer


@numba.njit(cache=True, nogil=True)
def level_each(
    rule: Rule, sizes: Ints, offsets: Ints, codes: Ints, counts: Ints, present: Ints
) -> Reals:
    """Return the level that every group reaches."""
    answer = np.empty(len(sizes), np.float64)
    for g in range(len(sizes)):
        part = slice(offsets[g], offsets[g + 1])
        answer[g] = level(rule, codes[part], counts[part], sizes[g], present[g])
    return answer
