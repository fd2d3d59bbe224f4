"""Recognising fakes: records that fit nobody who exists.

A fake that can be told from real records protects nobody: without it, its group has one record
fewer, and whoever was hidden by it is not. Somebody with a register of all people finds those whose
known attributes nobody has.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.attacks.adversary import Adversary
from sfumato.attacks.fits import kinds_of
from sfumato.attacks.glimpse import Eyes
from sfumato.attacks.outcome import Outcome, Rate
from sfumato.attacks.reach import NO_POINT, covered_by, points
from sfumato.attacks.view import Block
from sfumato.table.groups import packed

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
    for row in rows[~exact[rows]][:_LOOKED_AT]:
        fit = np.ones(len(ranks), np.bool_)
        for at, reach in enumerate(reaches):
            fit &= covered_by(ranks[:, at], reach, int(block.cells[row, at]))
        if not fit.any():
            lonely |= (block.cells == block.cells[row]).all(axis=1)
    return lonely
