"""People who are known by how many rows they have: rows withheld until enough others have as many.

In tables that can be joined over people, the number of somebody's rows in each of them shows. Those
whose numbers are rare must lose rows, or everybody would know them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.table import Groups

Ints = npt.NDArray[np.int64]


def equal_counts(counts: Ints, k: int) -> Ints:
    """Return how many rows everybody keeps: a line a person, a column a table.

    Nobody gets more rows than they have, and at least k people have the same numbers, or none at
    all. People with rare numbers come down to the nearest numbers that others have, those with the
    most rows first; or to the nearest that are common already, if fewer rows are lost that way. Who
    finds none joins the others of whom that is true.

    >>> equal_counts(np.array([[1, 3], [1, 2], [1, 2], [1, 0]]), 2).tolist()
    [[1, 2], [1, 2], [1, 2], [0, 0]]
    """
    kinds, of = np.unique(counts, axis=0, return_inverse=True)
    of = of.ravel()
    people = np.bincount(of, minlength=len(kinds))
    ways = [_stepwise(kinds, people, k), _at_once(kinds, people, k)]
    return max(ways, key=lambda kept: int(kept.sum(axis=1) @ people))[of]


def _stepwise(kinds: Ints, people: Ints, k: int) -> Ints:
    """Return what each kind of people keeps if the rare join one another on their way down."""
    people, totals = people.copy(), kinds.sum(axis=1)
    goes_to = np.arange(len(kinds))
    stranded = []
    for kind in np.lexsort((*kinds.T, totals))[::-1].tolist():  # a loop over kinds of people
        if totals[kind] == 0 or people[kind] >= k:
            continue
        nearest = _nearest(kinds, kinds[kind], (people > 0) & (totals < totals[kind]))
        if nearest is None:
            stranded.append(kind)
            continue
        goes_to[kind] = nearest
        people[nearest] += people[kind]
        people[kind] = 0
    kept: Ints = _pooled(kinds, people, stranded, k)[_ends(goes_to)]
    common = np.unique(kept, axis=0)
    for kind in np.flatnonzero((kept.sum(axis=1) == 0) & (totals > 0)).tolist():
        # who came down to people who are withheld may still find others
        nearest = _nearest(common, kinds[kind], np.ones(len(common), np.bool_))
        if nearest is not None:
            kept[kind] = common[nearest]
    return kept


def _at_once(kinds: Ints, people: Ints, k: int) -> Ints:
    """Return what each kind of people keeps if the rare join none but numbers that k have."""
    goes_to = np.arange(len(kinds))
    stranded = []
    for kind in np.flatnonzero((people < k) & kinds.any(axis=1)).tolist():
        nearest = _nearest(kinds, kinds[kind], people >= k)
        if nearest is None:
            stranded.append(kind)
        else:
            goes_to[kind] = nearest
    kept: Ints = _pooled(kinds, people, stranded, k)[goes_to]
    return kept


def _nearest(kinds: Ints, own: Ints, allowed: npt.NDArray[np.bool_]) -> int | None:
    """Return the allowed kind with the most rows of those that have no more anywhere than `own`."""
    totals = kinds.sum(axis=1)
    below = np.flatnonzero((kinds <= own).all(axis=1) & allowed & (totals > 0))
    return int(below[np.argmax(totals[below])]) if len(below) else None


def _pooled(kinds: Ints, people: Ints, stranded: list[int], k: int) -> Ints:
    """Return the kinds with the stranded at what all of them have, or at nothing if too few."""
    kept = kinds.copy()
    if stranded:
        common = kinds[stranded].min(axis=0)
        kept[stranded] = common if people[stranded].sum() >= k else 0
    return kept


def drawn_rows(units: Ints, kept: Ints, rng: np.random.Generator) -> Ints:
    """Return the rows that stay, ascending: of each unit's rows as many as it keeps, at random."""
    order = np.lexsort((rng.random(len(units)), units))
    first = np.searchsorted(units[order], np.arange(len(kept)))
    place = np.arange(len(units)) - first[units[order]]
    return np.sort(order[place < kept[units[order]]])


def classes(kept: Ints) -> Groups:
    """Return the people in classes of equal numbers of rows."""
    return Groups.of_equal(list(kept.T))


def _ends(goes_to: Ints) -> Ints:
    """Return where each chain of moves ends."""
    while True:
        further = goes_to[goes_to]
        if np.array_equal(further, goes_to):
            return goes_to
        goes_to = further
