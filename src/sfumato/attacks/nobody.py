"""Recognising fakes: records that fit nobody who exists.

A fake that can be told from real records protects nobody: without it, its group has one record
fewer, and whoever was hidden by it is not. Somebody with a register of all people finds those whose
known attributes nobody has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.attacks.adversary import Adversary
from sfumato.attacks.fits import kinds_of
from sfumato.attacks.glimpse import Eyes
from sfumato.attacks.outcome import Outcome, Rate
from sfumato.attacks.reach import MISSING, NO_POINT, Reach, covered_by, points
from sfumato.attacks.view import Block
from sfumato.table.groups import packed, spread, starts_of

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_LOOKED_AT = 500  # combinations of generalised cells, which take a look at everybody each


def fits_nobody(eyes: Eyes) -> list[Outcome]:
    """Return how many fakes are recognised; nothing for releases that say they have none."""
    stated = eyes.release.manifest.parameters.get("fakes")
    if not isinstance(eyes, Adversary) or not isinstance(stated, int) or stated < 1:
        return []
    found = [int(block.count[_is_nobodys(eyes, block)].sum()) for block in eyes.view.blocks]
    # rows of two blocks cannot be told to be of one record
    seen = min(max(found, default=0), stated)
    return [
        Outcome(
            attack="recognising fakes (a register)",
            attribute=None,
            knows="all quasi-identifiers of everybody in the data",
            how="A record that fits nobody of a register of all people is taken for a fake; the "
            "blind guess takes any record. There is no control: of nobody's data it is asked.",
            success=Rate(seen, stated),
            blind=Rate(stated * stated / max(eyes.rows, 1), stated),
            control=None,
            worst=None,
            sample=stated,
            population=eyes.population,
            figures={"recognised": float(seen), "fakes": float(stated)},
            certain=seen,
            unit="fakes",
            blind_is="taking any record for one",
        )
    ]


def _is_nobodys(eyes: Adversary, block: Block) -> Bools:
    """Return which combinations of a block fit nobody in the data."""
    people = [eyes.side.people[name][: eyes.population] for name in block.names]
    first, _ = kinds_of(people)
    ranks = np.stack([column[first] for column in people], axis=1)
    reaches = [eyes.side.reaches[name] for name in block.names]
    cells = np.stack(
        [points(reach)[block.cells[:, at]] for at, reach in enumerate(reaches)], axis=1
    )
    exact = (cells != NO_POINT).all(axis=1)
    keys = packed(list((np.concatenate([ranks, cells]) - NO_POINT).T))
    lonely: Bools = exact & ~np.isin(keys[len(ranks) :], keys[: len(ranks)])
    _, rows = np.unique(packed(list(block.cells.T)), return_index=True)
    vague = rows[~exact[rows]][:_LOOKED_AT]
    ordered = [_Ordered.of(ranks[:, at], reach) for at, reach in enumerate(reaches)]
    for row in vague:
        own = block.cells[row]
        # who has a value that few have is looked for among those few
        places = sorted(range(len(own)), key=lambda at: ordered[at].count(own[at]))
        left = ordered[places[0]].people(own[places[0]])
        for at in places[1:]:
            left = left[covered_by(ranks[left, at], reaches[at], int(own[at]))]
        if not len(left):
            lonely |= (block.cells == own).all(axis=1)
    return lonely


@dataclass(frozen=True, slots=True, eq=False)
class _Ordered:
    """Kinds of people in the order of their ranks by one attribute, and what cells reach there."""

    order: Ints
    start: Ints
    first: Ints
    last: Ints
    missing: int
    nulls: Bools

    @classmethod
    def of(cls, ranks: Ints, reach: Reach) -> _Ordered:
        order = np.argsort(ranks, kind="stable")
        ends = (
            np.searchsorted(ranks[order], reach.low),
            np.searchsorted(ranks[order], reach.high, "right"),
        )
        start = starts_of(reach.cell, reach.count)
        return cls(order, start, *ends, int((ranks == MISSING).sum()), reach.nulls)

    def count(self, cell: int) -> int:
        """Return how many people the cell covers, those twice whom two of its stretches cover."""
        own = slice(self.start[cell], self.start[cell + 1])
        return int((self.last[own] - self.first[own]).sum() + self.nulls[cell] * self.missing)

    def people(self, cell: int) -> Ints:
        """Return the people whom the cell covers."""
        own = slice(self.start[cell], self.start[cell + 1])
        _, place = spread(self.first[own], self.last[own])
        if self.nulls[cell]:  # a missing value has the lowest rank
            place = np.append(place, np.arange(self.missing))
        return self.order[np.unique(place)]
