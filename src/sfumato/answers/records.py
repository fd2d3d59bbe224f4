"""Records group by group, so that rows that are told the same about a question are looked at once.

Within a group most attributes have the same cell for all rows. Where all attributes of a predicate
do, the group is one *run* of rows, and its first row stands for all; where one does not, each row
is a run of its own. Groups in which nobody can satisfy the predicate have no runs at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.answers.parts import Part
from sfumato.answers.run_kernels import count_runs, find_runs, judge_groups
from sfumato.answers.sheet import Sheet
from sfumato.answers.slots import Slots
from sfumato.answers.verdict import Status, Verdict
from sfumato.release import Release

Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
# The status of a predicate for so many, from that of each of its parts.
Whole: TypeAlias = Callable[[Callable[[Part], Status], int], Status]


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Rows that follow each other and are told the same: the first, and how many there are."""

    first: Codes
    size: Codes

    @classmethod
    def of_rows(cls, rows: int) -> Runs:
        """Return one run a row."""
        return cls(np.arange(rows, dtype=np.int32), np.ones(rows, np.int32))


class Records:
    """The table `records` of a release."""

    def __init__(self, release: Release, nobodys: frozenset[str] = frozenset()) -> None:
        self._sheet = Sheet(release, "records", nobodys)
        self._alike: dict[str, tuple[Codes, Bools]] = {}

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._sheet.rows

    @property
    def starts(self) -> Codes:
        """Where each group starts, and after the last one its end."""
        return self._sheet.starts

    def read(self, name: str) -> Slots:
        """Return the slots of an attribute; ParameterError where it is not published."""
        return self._sheet.read(name)

    def runs(self, verdicts: Mapping[Part, Verdict], whole: Whole) -> Runs:
        """Return the runs of all rows that may satisfy a predicate.

        `whole` tells the status of the predicate from those of its parts.
        """
        groups = self._sheet.groups
        varies = np.zeros(groups, np.bool_)
        for part in verdicts:
            varies |= self._slot_of_groups(part.attribute)[1]

        def status_of_groups(part: Part) -> Status:
            status = np.empty(groups, np.uint8)
            of_row, found = self.read(part.attribute).of_row, verdicts[part].status
            slot, varies = self._slot_of_groups(part.attribute)
            judge_groups(slot, varies, self._sheet.starts, of_row, found, status)
            return status

        status = whole(status_of_groups, groups)
        count = count_runs(self._sheet.starts, status, varies)
        runs = Runs(np.empty(count, np.int32), np.empty(count, np.int32))
        find_runs(self._sheet.starts, status, varies, runs.first, runs.size)
        return runs

    def _slot_of_groups(self, name: str) -> tuple[Codes, Bools]:
        """Return the slot of each group's first row, and whether other rows have others."""
        if name not in self._alike:
            of_row, starts = self.read(name).of_row, self._sheet.starts[:-1]
            first = of_row[starts]
            differs = of_row != np.repeat(first, self._sheet.sizes)
            varies = np.zeros(len(starts), np.bool_)
            varies[np.repeat(np.arange(len(starts)), self._sheet.sizes)[differs]] = True
            self._alike[name] = first, varies
        return self._alike[name]
