"""Who may be in which group, and which groups meet: sets of groups as packed bits, a row each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sfumato.attacks.reach import MISSING, Reach, covers, overlaps
from sfumato.attacks.view import Block
from sfumato.table.groups import packed

Ints = npt.NDArray[np.int64]
Width = TypeVar("Width", bound=np.integer[Any])
Bools = npt.NDArray[np.bool_]
Bits = npt.NDArray[np.uint8]

_BLOCK = 1 << 24  # truth values, or bytes, that are worked on at a time


def groups_of_people(
    blocks: Sequence[Block], groups: int, reaches: Mapping[str, Reach], people: Mapping[str, Ints]
) -> Bits:
    """Return the groups that each person may be in; `people` has their ranks by attribute.

    They may be in a group if in every block some combination of it covers all they are known by.
    """

    def of_block(block: Block) -> Bits:
        kinds, of_person = _distinct(np.stack([people[name] for name in block.names], axis=1))

        def meet(name: str, ranks: Ints, cells: Ints) -> Bools:
            return covers(ranks, reaches[name].take(cells))

        return _groups_with(block, groups, kinds, meet)[of_person]

    return reduce(np.bitwise_and, map(of_block, blocks))


def overlapping_groups(
    one: Sequence[Block],
    other: Sequence[Block],
    groups: int,
    one_reaches: Mapping[str, Reach],
    reaches: Mapping[str, Reach],
) -> Bits:
    """Return for each group of the one release the groups of the other that it overlaps.

    They overlap if some person may be in both as far as any two blocks can tell: in each pair of
    blocks some combinations overlap in all attributes that the blocks share.
    """
    found = None
    for block in one:
        for opposite in other:
            names = [name for name in block.names if name in opposite.names]
            if not names:
                continue
            mine, theirs = block.project(names), opposite.project(names)
            kinds, of_row = _distinct(mine.cells)

            def meet(name: str, own: Any, cells: Any) -> Bools:
                return overlaps(one_reaches[name].take(own), reaches[name].take(cells))

            rows = _groups_with(theirs, groups, kinds, meet)[of_row]
            starts = np.flatnonzero(np.append(True, mine.group[1:] != mine.group[:-1]))
            bits = np.bitwise_or.reduceat(rows, starts, axis=0)
            found = bits if found is None else found & bits
    assert found is not None  # releases share a quasi-identifier
    return found


def unpack(bits: Bits, count: int) -> Bools:
    """Return packed rows as truth values."""
    return np.unpackbits(bits, axis=1, count=count).view(np.bool_)


def set_places(bits: Bits) -> tuple[Ints, Ints]:
    """Return the row and place of every bit that is set, in order.

    >>> [each.tolist() for each in set_places(np.array([[0, 130], [1, 0]], np.uint8))]
    [[0, 0, 1], [8, 14, 7]]
    """
    row, byte = np.nonzero(bits)
    which, place = np.nonzero(np.unpackbits(bits[row, byte][:, None], axis=1))
    return row[which], byte[which] * 8 + place


def _groups_with(
    block: Block,
    groups: int,
    kinds: npt.NDArray[np.integer[Any]],
    meet: Callable[[str, Any, Any], Bools],
) -> Bits:
    """Return the groups with a combination that each kind meets in all attributes.

    `meet(name, codes, cells)` says which codes of kinds meet which cells of an attribute.
    """
    rows = len(block.group)
    tables: list[tuple[Bits, Ints]] = []
    for column, name in enumerate(block.names):
        codes, of_kind = np.unique(kinds[:, column], return_inverse=True)
        cells, of_row = np.unique(block.cells[:, column], return_inverse=True)
        table = meet(name, codes, cells)
        step = max(1, _BLOCK // rows)
        parts = [
            np.packbits(table[at : at + step, of_row], axis=1)
            for at in range(0, max(len(codes), 1), step)
        ]
        tables.append((np.concatenate(parts), of_kind))
    alone = rows == groups  # one combination a group: its row is its number
    found = []
    step = max(1, _BLOCK // max(groups, rows))
    for at in range(0, max(len(kinds), 1), step):
        part = slice(at, at + step)
        met = reduce(np.bitwise_and, (bits[of_kind[part]] for bits, of_kind in tables))
        if not alone:
            kind, row = set_places(met)
            hit = np.zeros((len(met), groups), np.bool_)
            hit[kind, block.group[row]] = True
            met = np.packbits(hit, axis=1)
        found.append(met)
    return np.concatenate(found)


def _distinct(rows: npt.NDArray[Width]) -> tuple[npt.NDArray[Width], Ints]:
    """Return the distinct rows, and which of them each row is."""
    _, first, at = np.unique(
        packed(list((rows - MISSING).T)), return_index=True, return_inverse=True
    )
    return rows[first], at
