"""Earth mover's distance, solved literally as a transport problem, exactly in fractions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import ot

Distribution = Mapping[Hashable, Fraction]
Distance = Callable[[Any, Any], Fraction]


def cheapest_transport(source: Distribution, target: Distribution, distance: Distance) -> Fraction:
    """Return the least cost of moving the mass of `source` onto `target`, exactly.

    Successive shortest paths: as long as mass is left, find the cheapest way (Bellman-Ford, since
    undoing an earlier shipment has a negative cost) from a place with mass left to one that still
    wants some, and ship as much as fits. The result is optimal at every step.

    >>> p = {"a": Fraction(1)}
    >>> q = {"a": Fraction(1, 3), "b": Fraction(2, 3)}
    >>> cheapest_transport(p, q, lambda x, y: Fraction(x != y))
    Fraction(2, 3)
    """
    if sum(source.values()) != sum(target.values()):
        raise ValueError("the two sides carry different mass")
    left = {place: mass for place, mass in source.items() if mass}
    wanted = {place: mass for place, mass in target.items() if mass}
    cost = {(a, b): Fraction(distance(a, b)) for a in left for b in wanted}
    shipped = dict.fromkeys(cost, Fraction(0))
    sources, targets = list(left), list(wanted)

    while any(left.values()):
        path = _cheapest_path(sources, targets, cost, shipped, left, wanted)
        amount = min(left[path[0]], wanted[path[-1]])
        steps = list(pairwise(path))
        # Even steps ship from a source to a target; odd ones take an earlier shipment back.
        amount = min([amount, *(shipped[b, a] for a, b in steps[1::2])])
        for a, b in steps[0::2]:
            shipped[a, b] += amount
        for a, b in steps[1::2]:
            shipped[b, a] -= amount
        left[path[0]] -= amount
        wanted[path[-1]] -= amount
    return sum((shipped[pair] * cost[pair] for pair in cost), Fraction(0))


def _cheapest_path(
    sources: Sequence[Any],
    targets: Sequence[Any],
    cost: Mapping[tuple[Any, Any], Fraction],
    shipped: Mapping[tuple[Any, Any], Fraction],
    left: Mapping[Any, Fraction],
    wanted: Mapping[Any, Fraction],
) -> list[Any]:
    """Return source, target, source, ..., target: the cheapest way that can carry more mass."""
    best: dict[tuple[str, Any], Fraction] = {("s", a): Fraction(0) for a in sources if left[a]}
    before: dict[tuple[str, Any], tuple[str, Any]] = {}
    changed = True
    while changed:
        changed = False
        for a in sources:
            for b in targets:
                forth, back = ("s", a), ("t", b)
                if forth in best and best[forth] + cost[a, b] < best.get(back, Fraction(10**9)):
                    best[back], before[back], changed = best[forth] + cost[a, b], forth, True
                if not shipped[a, b] or back not in best:
                    continue
                if best[back] - cost[a, b] < best.get(forth, Fraction(10**9)):
                    best[forth], before[forth], changed = best[back] - cost[a, b], back, True
    node = min((("t", b) for b in targets if wanted[b] and ("t", b) in best), key=best.__getitem__)
    path = [node]
    while path[-1] in before:
        path.append(before[path[-1]])
    return [place for _, place in reversed(path)]


def transport_by_pot(source: Distribution, target: Distribution, distance: Distance) -> float:
    """Return the same distance as the Python Optimal Transport library finds it, in floats."""
    places = sorted({*source, *target}, key=repr)
    masses = [
        np.array([float(side.get(place, Fraction(0))) for place in places])
        for side in (source, target)
    ]
    ground = np.array([[float(distance(a, b)) for b in places] for a in places])
    return float(ot.emd2(masses[0] / masses[0].sum(), masses[1] / masses[1].sum(), ground))
