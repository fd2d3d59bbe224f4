"""Downcoding: cells that reach no further than they must tell what is at their ends.

*Source*: Cohen, "Attacks on Deidentification's Defenses", USENIX Security 2022. A range that is as
tight as its group allows has somebody at each end, and a set of values somebody for each of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.attacks.adversary import Adversary
from sfumato.attacks.outcome import Outcome, Rate, worst_decile
from sfumato.attacks.own_rows import OwnRows
from sfumato.attacks.specific import KEY as SUPPRESSED
from sfumato.schema.distinct import DistinctColumns

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


def downcoding(
    adversary: Adversary, original: pa.Table, *, sample: int, rng: np.random.Generator
) -> list[Outcome]:
    """Return how often an end of a range is a person's own value.

    Nothing for other layouts than the generalised one, and where no cell is a range.
    """
    manifest = adversary.release.manifest
    if manifest.layout != "generalized" or adversary.links_by_distance:
        return []
    if SUPPRESSED in manifest.parameters:  # a withheld cell has no ends
        return []
    own = OwnRows.of(adversary, original, sample, rng, DistinctColumns(original))
    (block,) = adversary.view.blocks
    row = np.searchsorted(block.group, own.group)
    hits, chances, common, ends, tried = [], [], [], 0.0, 0
    for column, name in enumerate(block.names):
        cell = block.cells[row, column]
        told = _told(adversary, name, cell, own.person)
        hits.append(told[0])
        chances.append(told[1])
        common.append(told[2])
        held = _held(adversary, name, cell, own.person, own.group)
        ends, tried = ends + held[0], tried + held[1]
    known = ~np.isnan(np.array(hits))
    wide = known.any(axis=0)
    if not wide.any():
        return []
    count = known.sum(axis=0)[wide]
    success, *guesses = (
        np.nansum(np.array(each), axis=0)[wide] / count for each in (hits, chances, common)
    )
    blind = max(guesses, key=lambda chance: float(chance.sum()))
    return [
        Outcome(
            attack="downcoding",
            attribute=None,
            knows="the release, and that its cells reach no further than their groups need",
            how=(
                "A heuristic: the value behind a range is guessed to be one of its two ends; a "
                "person's chance is the mean over their ranges. The blind guess is the value "
                "within the range that is most frequent in all the data, or any that occurs there, "
                "whichever is right more often. Sets of values tell no more of a person than that "
                "one of them is theirs, and are left out. There is no control: the cells of others "
                "are not in the release."
            ),
            success=Rate.of(success),
            blind=Rate.of(blind),
            control=None,
            worst=worst_decile(success),
            sample=int(wide.sum()),
            population=adversary.population,
            figures={"ends_held_by_somebody_seen": ends / tried if tried else 0.0},
        )
    ]


def _told(adversary: Adversary, name: str, cell: Ints, people: Ints) -> tuple[Reals, Reals, Reals]:
    """Return the chances to guess people's values from the ends of ranges, as any value that
    occurs there, and as the most frequent one; NaN where a cell is no range."""
    low, high, listed = _ends(adversary, name)
    ranks = adversary.side.people[name]
    values, counts = np.unique(ranks[: adversary.population], return_counts=True)
    first, last = np.searchsorted(values, low, "left"), np.searchsorted(values, high, "right")
    rank = ranks[people]
    fits = (low[cell] < high[cell]) & (low[cell] <= rank) & (rank <= high[cell])
    at_end = ((rank == low[cell]).astype(float) + (rank == high[cell])) / 2
    fits &= listed[cell] == 1
    most, ties = np.zeros(len(low), np.int64), np.ones(len(low), np.int64)
    for each in np.unique(cell[fits]).tolist():
        inside = counts[first[each] : last[each]]
        most[each] = inside.max(initial=0)
        ties[each] = max(int((inside == most[each]).sum()), 1)
    own = counts[np.minimum(np.searchsorted(values, rank), len(values) - 1)]
    uniform = 1 / np.maximum((last - first)[cell], 1)
    frequent = (own == most[cell]) / ties[cell]
    found = (np.where(fits, each, np.nan) for each in (at_end, uniform, frequent))
    return next(found), next(found), next(found)


def _ends(adversary: Adversary, name: str) -> tuple[Ints, Ints, Ints]:
    """Return the first and last rank of each cell, and how many values it lists (1: a range)."""
    reach = adversary.side.reaches[name]
    low, high = np.full(reach.count, np.iinfo(np.int64).max), np.full(reach.count, -1)
    np.minimum.at(low, reach.cell, reach.low)
    np.maximum.at(high, reach.cell, reach.high)
    return low, high, np.bincount(reach.cell, minlength=reach.count)


def _held(
    adversary: Adversary, name: str, cell: Ints, people: Ints, group: Ints
) -> tuple[float, int]:
    """Return how many ends of ranges somebody has, among the people looked at, and of how many."""
    low, high, listed = _ends(adversary, name)
    rank = adversary.side.people[name][people]
    ranges = (listed[cell] == 1) & (low[cell] < high[cell])
    groups = np.unique(group[ranges])
    found = sum(len(np.unique(group[ranges & (rank == end[cell])])) for end in (low, high))
    return float(found), 2 * len(groups)
