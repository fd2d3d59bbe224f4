"""Top-down greedy partitioning that keeps the loss (NCP) of every group low."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.models import KAnonymity
from sfumato.rows.axes import axes_of
from sfumato.rows.eligibility import refuse_infeasible
from sfumato.rows.scales import scales_of
from sfumato.rows.top_down_kernel import Sides, halve, halve_all, new_sides
from sfumato.rows.working import Splitter, WorkingRows, row_order, split_all
from sfumato.table import Column, Groups, Table


def top_down(
    table: Table,
    k: int,
    *,
    rng: np.random.Generator,
    quasi_identifiers: Sequence[Column] | None = None,
    within: Groups | None = None,
) -> Groups:
    """Return groups of at least k rows, halved around two rows that lose most together.

    A few rounds of looking for the farthest row give two seeds; each row joins the side whose
    loss grows less, those first that are clearly nearer to one seed; then rows that fit into the
    side that loses less go there, and a side that is too small is topped up with the rows that
    cost it least. Ties are broken by `rng`. `quasi_identifiers` and `within` as for `mondrian`.

    *Guarantee*: k rows a group. *Refuses*: fewer than k rows.
    *Source*: Xu et al., "Utility-based anonymization using local recoding", KDD 2006.
    Departs from the paper: rows do not come in random order; a side is topped up to a 32nd of the
    rows, so that time stays O(n log n); rows that are all alike are not parted.
    """
    if within is None:
        refuse_infeasible(table, [KAnonymity(k)])
    columns = tuple(table.quasi_identifiers if quasi_identifiers is None else quasi_identifiers)
    working = WorkingRows.of(columns, table, row_order(table.rows, within, rng))
    scales = scales_of(axes_of(columns))
    side = np.zeros(table.rows, dtype=np.uint8)

    def split_once(start: int, end: int, sides: Sides) -> int:
        return int(halve(working.matrix, start, end, scales, k, side, sides))

    def finish(start: int, end: int, sides: Sides) -> None:
        halve_all(working.matrix, start, end, scales, k, side, working.begins, sides)

    return split_all(working, Splitter(lambda: new_sides(scales), split_once, finish), within)
