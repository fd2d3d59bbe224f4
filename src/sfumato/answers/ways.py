"""Parts of a predicate that share a place, as ways in which they may be true together.

A place (a table, or a column of combinations) may hold several attributes, and several parts of
the predicate may read the same one. Where its cells leave open what it is, each of its regions is a
way; in each way the parts are independent of each other (`cases.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.answers.cases import cases, in_several_places
from sfumato.answers.parts import Part, Tree, both, either, fold, parts_of
from sfumato.answers.regions import Region, regions
from sfumato.answers.slots import Slots
from sfumato.answers.verdict import NEVER, PERHAPS, SURELY, judge

# What is found of each row (or value) by a part: its status, or how likely it is.
Find = Callable[[Part], Any]


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """One way: how likely each attribute is in the region that it is in, by attribute; whether that
    may be; and then the status of each part, and how likely it is."""

    where: Mapping[str, Part]
    likely: Mapping[str, Any]
    there: Any
    statuses: tuple[Any, ...]
    chances: tuple[Any, ...]

    def weight(self, but: str | None = None) -> Any:
        """Return how likely the way is, as far as attributes go but one."""
        total: Any = 1.0
        for name, likely in self.likely.items():
            total = total if name == but else total * likely
        return total


def open_regions(
    trees: Sequence[Tree], slots: Mapping[str, Slots], also: Collection[str] = ()
) -> dict[str, list[Region]]:
    """Return the regions of attributes that several parts read and cells leave open, and of others.

    Refuses (ParameterError) what `regions` refuses.
    """
    asked = {name: own for name, own in in_several_places(trees).items() if name not in also}
    for part in (part for tree in trees for part in parts_of(tree)):
        if part.attribute in also:
            asked[part.attribute] = tuple(dict.fromkeys((*asked.get(part.attribute, ()), part)))
    return {
        name: regions(slots[name], own) for name, own in asked.items() if _is_open(slots[name], own)
    }


def ways(
    trees: Sequence[Tree], several: Mapping[str, Sequence[Region]], status_of: Find, chance_of: Find
) -> list[Way]:
    """Return the ways of trees whose attributes in several regions are these.

    Refuses (ParameterError) what `cases` refuses.
    """
    found = []
    for case in cases(trees, several):
        there: Any = SURELY
        for part in case.where:
            there = np.minimum(there, status_of(part))
        found.append(
            Way(
                {part.attribute: part for part in case.where},
                {part.attribute: chance_of(part) for part in case.where},
                there > NEVER,
                tuple(
                    _folded(tree, status_of, np.minimum, np.maximum, SURELY) for tree in case.left
                ),
                tuple(_folded(tree, chance_of, both, either, 1.0) for tree in case.left),
            )
        )
    return found


def _folded(tree: Tree | bool, known: Find, every: Any, some: Any, always: Any) -> Any:
    if isinstance(tree, bool):
        return always if tree else always * 0
    return fold(tree, known, every, some, always)


def _is_open(slots: Slots, parts: Sequence[Part]) -> bool:
    return not slots.is_exact and any(
        (judge(slots, part.predicate).status == PERHAPS).any() for part in parts
    )
