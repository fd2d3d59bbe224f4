"""The columns of a release made side by side, with the draws of one after the other."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sfumato.rows.axes import SET, axis_kind
from sfumato.table import Column

Made = TypeVar("Made")


def side_by_side(
    columns: Sequence[Column],
    make: Callable[[Column], Made],
    draw: Callable[[], object] = lambda: None,
) -> dict[str, Made]:
    """Return what is made of each column, by name.

    Only columns that generalise to sets draw random numbers (`generalize`): they come one after the
    other, in their order, so that nothing depends on which thread is quicker. What else is to be
    drawn before them (`draw`) is drawn while the other columns are made.
    """
    drawing = [column for column in columns if axis_kind(column) == SET]
    others = [column for column in columns if axis_kind(column) != SET]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        pending = {column.name: threads.submit(make, column) for column in others}
        draw()
        made = {column.name: make(column) for column in drawing}
        return made | {name: future.result() for name, future in pending.items()}
