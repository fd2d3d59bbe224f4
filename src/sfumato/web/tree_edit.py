"""A hierarchy changed by hand: values and groups put under a label, or taken out of theirs.

Rows are those of a hierarchy file without its root: a value, then what it becomes on each level.
What stands in no group on a level keeps the label of the level below.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Container, Iterable, Sequence
from typing import Final

from sfumato.errors import InputError
from sfumato.schema import ROOT, Hierarchy

Rows = list[tuple[str, ...]]
MOST_LEVELS: Final = 12
LONGEST_LABEL: Final = 120


def rows_of(hierarchy: Hierarchy | None, values: Iterable[str]) -> Rows:
    """Return the rows of a hierarchy; values that it lacks stand on their own.

    >>> rows = [("Peru", "America", "*"), ("Mali", "Africa", "*")]
    >>> rows_of(Hierarchy.from_rows(rows, "country"), ["Laos", "Peru"])
    [('Peru', 'America'), ('Mali', 'Africa'), ('Laos', 'Laos')]
    """
    if hierarchy is None:
        return [(value,) for value in values]
    rows = [row[:-1] for row in hierarchy.rows()]
    if len(rows) == 1 and rows[0][0] == ROOT:  # a builder that had no values
        rows = []
    width = max(map(len, rows), default=1)
    known = {row[0] for row in rows}
    return [*rows, *((value,) * width for value in values if value not in known)]


def grouped(rows: Rows, level: int, chosen: Container[str], label: str) -> Rows:
    """Return the rows with what is chosen of the level below under a label.

    A label that the level has already keeps what stands above it. A level on top is added.

    Refuses (InputError) an empty label or one that is too long, the root's, and too many levels.

    >>> grouped([("Peru",), ("Laos",), ("Cuba",)], 1, {"Peru", "Cuba"}, "America")
    [('Peru', 'America'), ('Laos', 'Laos'), ('Cuba', 'America')]
    """
    label = label.strip()
    if not label or label == ROOT:
        raise InputError(f"give the group a label other than `{ROOT}`, which is everything")
    if len(label) > LONGEST_LABEL or not label.isprintable():
        raise InputError(f"a label has at most {LONGEST_LABEL} letters that can be printed")
    if level > MOST_LEVELS:
        raise InputError(f"a tree made by hand has at most {MOST_LEVELS} levels")
    rows = _up_to(rows, level)
    picked = [row for row in rows if row[level - 1] in chosen]
    if not picked:
        raise InputError("tick what is to be grouped")
    above = next((row[level + 1 :] for row in rows if row[level] == label), None)
    if above is None:
        shared = {row[level + 1 :] for row in picked if row[level] != row[level - 1]}
        height = len(rows[0]) - level - 1
        # a group that is cut out of another one stays where that one is
        is_inside = len(shared) == 1 and all(row[level + 1 :] in shared for row in picked)
        above = shared.pop() if is_inside else (label,) * height
    changed = [(*row[:level], label, *above) if row[level - 1] in chosen else row for row in rows]
    return _repaired(changed)


def released(rows: Rows, level: int, chosen: Container[str]) -> Rows:
    """Return the rows with what is chosen of the level below out of its group, up to the root.

    >>> released([("Peru", "America"), ("Cuba", "America"), ("Laos", "Asia")], 1, {"Laos"})
    [('Peru', 'America'), ('Cuba', 'America'), ('Laos', 'Laos')]
    """
    rows = _up_to(rows, level)
    if not any(row[level - 1] in chosen for row in rows):
        raise InputError("tick what is to be taken out of its group")
    height = len(rows[0]) - level
    return _repaired(
        [
            (*row[:level], *(row[level - 1],) * height) if row[level - 1] in chosen else row
            for row in rows
        ]
    )


def _up_to(rows: Rows, level: int) -> Rows:
    missing = level + 1 - len(rows[0]) if rows else 0
    return [(*row, *(row[-1],) * max(missing, 0)) for row in rows]


def _repaired(rows: Rows) -> Rows:
    """Return the rows without levels on which nothing is grouped further."""
    kept = [0] + [
        level
        for level in range(1, len(rows[0]))
        if any(row[level] != row[level - 1] for row in rows)
    ]
    return [tuple(row[level] for level in kept) for row in rows]


def file_text(rows: Sequence[Sequence[str]], name: str) -> str:
    """Return the text of a hierarchy file.

    Refuses (HierarchyError) rows that are no hierarchy: a label that means two things.
    """
    checked = Hierarchy.from_rows([(*row, ROOT) for row in rows], name)
    text = io.StringIO()
    # every field quoted: a separator or a blank at an end belongs to the value
    csv.writer(text, delimiter=";", quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(
        checked.rows()
    )
    return text.getvalue()
