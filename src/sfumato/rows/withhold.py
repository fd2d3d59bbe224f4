"""Which groups of a partition break a model, if they may be withheld.

Withholding a group changes the whole table, and with it what t-closeness and its like compare
groups with. So whoever withholds judges again, by the totals of what is left, until nothing more
has to go: what is published then holds by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.models import BoundModel, GroupStatistics, Histogram, KAnonymity, MinimumWidth, Model
from sfumato.models.counting import group_statistics
from sfumato.rows.eligibility import bind_to_table
from sfumato.schema.schema import Schema
from sfumato.table import Groups, Table
from sfumato.table.groups import packed
from sfumato.table.sample import rows_of

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The groups to withhold, how many rows they have, and how many of these for their size alone.

    `by_value` says that a group went that is large enough: its sensitive values are the reason.
    """

    withheld: Bools
    rows: int
    small_rows: int
    by_value: bool


class GroupJudge:
    """Judges groups of `combinations`, which are groups of rows that are never parted.

    *Guarantee*: the groups that are not withheld satisfy every model, by the totals of the rows
    that are left.
    """

    def __init__(self, table: Table, combinations: Groups, models: Sequence[Model]) -> None:
        self._units = table.units
        self._combinations = combinations
        sizes = [model.k for model in models if isinstance(model, KAnonymity)]
        self.k = max(sizes, default=1)
        self.of_values = tuple(model for model in models if not isinstance(model, KAnonymity))
        self._names = tuple(dict.fromkeys(n for model in self.of_values for n in model.needs))
        needed = tuple(table[name] for name in self._names)
        schema = Schema(table.schema.attributes)
        self._table = Table(schema, needed, table.rows, table.units)
        self._bound = bind_to_table(self._table, self.of_values)
        self._of_whole = any(
            model.compares_with_whole or isinstance(model, MinimumWidth) for model in self.of_values
        )
        self._entries = {} if table.units is not None else self._distinct()

    def judge(self, ids: npt.NDArray[np.int32], count: int, most: int) -> Judged:
        """Return what must be withheld of so many groups; `ids` says the group of a combination.

        More than `most` rows are too many: what was found until then is returned.
        """
        rows = np.zeros(count, np.int64)
        np.add.at(rows, ids, self._combinations.sizes)
        people = rows if self._units is None else self._people(ids, count)
        withheld = people < self.k
        small_rows = lost = int(rows[withheld].sum())
        by_value = False
        while self.of_values and lost <= most and lost < len(self._combinations.ids):
            bad = self._breaking(ids, count, withheld)
            if not bad.any():
                break
            withheld |= bad
            by_value = True
            lost = int(rows[withheld].sum())
        return Judged(withheld, lost, small_rows, by_value)

    def _people(self, ids: npt.NDArray[np.int32], count: int) -> Ints:
        return Groups(ids[self._combinations.ids], count).unit_sizes(self._units)

    def _distinct(self) -> dict[str, tuple[Ints, Ints, Ints]]:
        """Return the different (combination, code) pairs by attribute, and how often they occur."""
        entries = {}
        for column in self._table.columns:
            keys, counts = np.unique(
                packed([self._combinations.ids, column.codes]), return_counts=True
            )
            width = int(column.codes.max(initial=0)) + 1
            entries[column.name] = (keys // width, keys % width, counts)
        return entries

    def _breaking(self, ids: npt.NDArray[np.int32], count: int, withheld: Bools) -> Bools:
        """Return the groups that break a model and are not withheld yet."""
        if withheld.any() and self._of_whole:
            return self._breaking_rest(ids, withheld)
        return ~_holding(self._bound, self._statistics(ids, count)) & ~withheld

    def _breaking_rest(self, ids: npt.NDArray[np.int32], withheld: Bools) -> Bools:
        """Return the same by the totals of the rows that are left."""
        group = ids[self._combinations.ids]
        rows = np.flatnonzero(~withheld[group])
        left, numbers = np.unique(group[rows], return_inverse=True)
        table = rows_of(self._table, rows)
        groups = Groups(numbers.astype(np.int32), len(left))
        holding = _holding(
            bind_to_table(table, self.of_values), group_statistics(table, groups, self._names)
        )
        breaking = np.zeros(len(withheld), np.bool_)
        breaking[left] = ~holding
        return breaking

    def _statistics(self, ids: npt.NDArray[np.int32], count: int) -> GroupStatistics:
        if self._units is not None:
            groups = Groups(ids[self._combinations.ids], count)
            return group_statistics(self._table, groups, self._names)
        sizes = np.zeros(count, np.int64)
        np.add.at(sizes, ids, self._combinations.sizes)
        histograms = {
            name: Histogram.count(
                ids[combination].astype(np.int64), code, often, count, self._table[name].null_code
            )
            for name, (combination, code, often) in self._entries.items()
        }
        return GroupStatistics(sizes, histograms)


def _holding(bound: Sequence[BoundModel], statistics: GroupStatistics) -> Bools:
    """Return the groups that satisfy every model."""
    holding = np.ones(len(statistics.sizes), np.bool_)
    for each in bound:
        holding &= each.holds(statistics)
    return holding
