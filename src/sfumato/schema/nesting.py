"""What makes rows of labels a hierarchy: equal length, one parent a label, one set a label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with some rows; `problem` has a `{}` for the place of each of them."""

    problem: str
    rows: tuple[int, ...] = ()


def label_numbers(
    rows: Sequence[Sequence[str]],
) -> tuple[NDArray[np.int64], list[str]]:
    """Return rows × levels of label numbers, numbered as they first appear, and the labels."""
    index: dict[str, int] = {}
    numbers = [[index.setdefault(label, len(index)) for label in row] for row in rows]
    return np.array(numbers, dtype=np.int64), list(index)


def find_flaw(rows: Sequence[tuple[str, ...]], root: str) -> Flaw | None:
    """Return the first thing that keeps the rows from being a hierarchy up to `root`, or None.

    >>> find_flaw([("17", "15-19", "*"), ("18", "15-19", "*")], "*") is None
    True
    >>> find_flaw([("17", "teen", "*"), ("17", "young", "*")], "*").rows
    (1, 0)
    """
    return _shape_flaw(rows, root) or _label_flaw(rows, root)


def _shape_flaw(rows: Sequence[tuple[str, ...]], root: str) -> Flaw | None:
    if not rows:
        return Flaw("it is empty; give a row `value;level 1;...;*` for every value")
    width = len(rows[0])
    first_row: dict[str, int] = {}
    for number, row in enumerate(rows):
        if len(row) != width:
            problem = (
                f"{{}} has {len(row)} fields and {{}} has {width}; "
                "give every value the same number of levels"
            )
            return Flaw(problem, (number, 0))
        if not all(isinstance(label, str) for label in row):
            return Flaw("{} has a field that is not text; turn it into text", (number,))
        if first_row.setdefault(row[0], number) != number:
            problem = "{} repeats the value of {}; keep one of the two"
            return Flaw(problem, (number, first_row[row[0]]))
        if row[-1] != root:
            return Flaw(f"{{}} does not end in `{root}`; make it the last label", (number,))
        if "" in row[1:] and row[0] != "":
            return Flaw("{} has an empty label; name every level", (number,))
    return None


def _label_flaw(rows: Sequence[tuple[str, ...]], root: str) -> Flaw | None:
    if len(rows) > 1:
        for number, row in enumerate(rows):
            if row[0] == root:
                return Flaw(f"{{}} is an entry for `{root}`, the top; remove it", (number,))
    numbers, names = label_numbers(rows)
    return _parent_flaw(numbers) or _meaning_flaw(numbers, len(names), names.index(root))


def _parent_flaw(numbers: NDArray[np.int64]) -> Flaw | None:
    for level in range(1, numbers.shape[1] - 1):
        below, above = numbers[:, level], numbers[:, level + 1]
        _, first_rows, group = np.unique(below, return_index=True, return_inverse=True)
        strays = np.flatnonzero(above[first_rows][group] != above)
        if len(strays):
            problem = (
                f"{{}} and {{}} have the same label at level {level} and different ones at "
                f"level {level + 1}; put the label under one parent, or use two labels"
            )
            return Flaw(problem, (int(strays[0]), int(first_rows[group[strays[0]]])))
    return None


def _meaning_flaw(numbers: NDArray[np.int64], label_count: int, root: int) -> Flaw | None:
    """Find a label that stands for one set of values at a level and for another higher up.

    Where labels have one parent each, a label means the same everywhere if and only if it comes
    back only in the rows that have it at the level just below.
    """
    levels = numbers.shape[1]
    lowest = np.zeros(label_count, dtype=np.int64)
    for level in range(levels - 1, -1, -1):
        lowest[numbers[:, level]] = level
    for level in range(1, levels):
        label = numbers[:, level]
        strays = np.flatnonzero((lowest[label] < level) & (numbers[:, level - 1] != label))
        if len(strays):
            stray = int(strays[0])
            other_level = int(lowest[label[stray]])
            other = int(np.flatnonzero(numbers[:, other_level] == label[stray])[0])
            if label[stray] == root:
                problem = (
                    f"{{}} has a label at level {other_level} where {{}} has the top `*`; "
                    "end every row in one `*` (is one of the two a header?)"
                )
                return Flaw(problem, (stray, other))
            what = f"a label at level {other_level}" if other_level else "a value"
            problem = (
                f"the label at level {level} of {{}} is also {what} in {{}} "
                "and stands for other values there; rename one of the two"
            )
            return Flaw(problem, (stray, other))
    return None
