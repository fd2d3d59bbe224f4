"""Randomised sets, literally: chances of sets by the way they are drawn, posteriors by Bayes.

Everything is a fraction, and every set of a domain is looked at; domains must be small.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations

Distribution = Sequence[Fraction]
Distance = Callable[[Distribution, Distribution], Fraction]


def all_sets(d: int, eta: int) -> Iterator[frozenset[int]]:
    """Yield every set of eta of the values 0 … d - 1."""
    return map(frozenset, combinations(range(d), eta))


def chance(drawn: frozenset[int], own: int, p: Fraction, d: int) -> Fraction:
    """Return how likely a cell with value `own` becomes the set `drawn`."""
    eta = len(drawn)
    blind = Fraction(1, math.comb(d, eta))
    sure = Fraction(1, math.comb(d - 1, eta - 1)) if own in drawn else Fraction(0)
    return p * sure + (1 - p) * blind


def posterior(prior: Distribution, drawn: frozenset[int], p: Fraction) -> Distribution | None:
    """Return what is known of a cell once its set is; None for a set that cannot occur."""
    joint = [share * chance(drawn, own, p, len(prior)) for own, share in enumerate(prior)]
    total = sum(joint)
    return [each / total for each in joint] if total else None


def equal(one: Distribution, other: Distribution) -> Fraction:
    """Return the earth mover's distance where any two values are 1 apart."""
    return sum((abs(a - b) for a, b in zip(one, other, strict=True)), Fraction(0)) / 2


def ordered(one: Distribution, other: Distribution) -> Fraction:
    """Return the earth mover's distance of values in a row: what crosses each gap, summed."""
    carried = cost = Fraction(0)
    for a, b in zip(one, other, strict=True):
        carried += a - b
        cost += abs(carried)
    return cost / (len(one) - 1) if len(one) > 1 else Fraction(0)


def worst(prior: Distribution, p: Fraction, eta: int, distance: Distance) -> Fraction:
    """Return how far the set that tells the most moves the prior."""
    found = [posterior(prior, drawn, p) for drawn in all_sets(len(prior), eta)]
    return max((distance(prior, each) for each in found if each is not None), default=Fraction(0))


def masses(prior: Distribution, eta: int) -> tuple[Fraction, Fraction]:
    """Return the least and the largest mass of a set."""
    found = [sum((prior[v] for v in drawn), Fraction(0)) for drawn in all_sets(len(prior), eta)]
    return min(found), max(found)


def shares(weights: Iterable[int]) -> Distribution:
    """Return the distribution that whole weights stand for."""
    listed = list(weights)
    return [Fraction(each, sum(listed)) for each in listed]


def error(rows: int, d: int, p: float, eta: int) -> float:
    """Return equation 9 as it is printed; infinite for a set of all values."""
    if eta == d:
        return math.inf
    top = (1 - d) * (p**2 * d + eta - (p**2 + d) * eta)
    return math.sqrt(max(top, 0) / (p**2 * d * rows * (d - eta)))


def printed_algorithm_1(prior: Distribution, t: Fraction, rows: int) -> tuple[Fraction, int]:
    """Return p and eta as the paper's Algorithm 1 chooses them: each set proposes its own p.

    A set's p is where its distance is t (found by halving), 1 if it never gets there.
    """
    d = len(prior)
    found = []
    for eta in range(1, d):
        for drawn in all_sets(d, eta):
            p = _solve(prior, drawn, t)
            if p:
                found.append((error(rows, d, float(p), eta), p, eta))
    _, p, eta = min(found)
    return p, eta


def _solve(prior: Distribution, drawn: frozenset[int], t: Fraction) -> Fraction:
    low, high = Fraction(0), Fraction(1)
    if _moved(prior, drawn, high) <= t:
        return high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if _moved(prior, drawn, middle) <= t else (low, middle)
    return low


def _moved(prior: Distribution, drawn: frozenset[int], p: Fraction) -> Fraction:
    after = posterior(prior, drawn, p)
    return Fraction(0) if after is None else equal(prior, after)
