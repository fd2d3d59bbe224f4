"""The numbers of an attribute whose cells are exact, row by row, to be added up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers.number_kernels import order_by_size
from sfumato.answers.sheet import Sheet
from sfumato.answers.summands import Unsummable, line_of_numbers, rounding
from sfumato.table.sorting import sorted_by

Codes = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The numbers of a table's rows, 0 where they are missing: group by group, by their size.

    `order` are the rows that they belong to, `counts` how many records each row stands for.
    `slack` is by how much any order of adding the numbers may be off for rounding; `has_sign` says
    whether there are numbers below 0, and above.
    """

    order: Codes
    counts: Codes
    values: Reals
    slack: float
    has_sign: tuple[bool, bool]

    def less(self, about: float, starts: Codes) -> Numbers:
        """Return the numbers with as much taken off each, in their new order within groups.

        Missing ones are no exception, and must not be asked for.
        """
        places, scratch = np.empty((2, len(self.values)), np.int32)
        order_by_size(starts, self.values, about, scratch, places)
        values, counts = self.values[places] - about, self.counts[places]
        magnitude = float((np.abs(values) * counts).sum())
        slack = rounding(magnitude, int(counts.sum(dtype=np.int64)), pa.float64())
        has_sign = bool((values < 0).any()), bool((values > 0).any())
        return Numbers(self.order[places], counts, values, slack, has_sign)


def read_numbers(sheet: Sheet, name: str) -> Numbers:
    """Return the numbers of an attribute.

    Refuses (ParameterError) an attribute that does not have numbers, and generalised cells.
    """
    slots = sheet.read(name)
    line = line_of_numbers(slots)
    if not slots.is_exact:
        raise Unsummable(
            name,
            "has generalised cells, and from this layout only exact numbers are added up; ask for "
            "a COUNT",
        )
    known = np.append(line.positions(line.ticks(slots.values)), [0.0, 0.0])
    of_slot = np.zeros(slots.count)
    of_slot[slots.slot] = known[slots.atom]
    values = of_slot[slots.of_row]
    group = np.repeat(np.arange(sheet.groups), np.diff(sheet.starts))
    _, rank = np.unique(-np.abs(of_slot), return_inverse=True)
    order = sorted_by([group, rank[slots.of_row]]).astype(np.int32)
    magnitude = float((np.abs(values) * sheet.counts).sum())
    slack = rounding(magnitude, int(sheet.sizes.sum()), slots.entry.dtype)
    has_sign = bool((values < 0).any()), bool((values > 0).any())
    counts = sheet.counts[order].astype(np.int32)
    return Numbers(order, counts, values[order], slack, has_sign)
