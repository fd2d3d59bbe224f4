"""Mondrian: multidimensional partitioning of rows under any conjunction of monotone models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from sfumato.errors import ParameterError
from sfumato.models import KAnonymity, Model
from sfumato.models.model import rule_book
from sfumato.rows.axes import axes_of
from sfumato.rows.eligibility import bind_to_table, refuse_infeasible
from sfumato.rows.exclusions import Exclusions, refuse_excluded
from sfumato.rows.feasible import Known
from sfumato.rows.mondrian_kernel import Options, Scratch, divide, new_scratch
from sfumato.rows.span_losses import span_losses
from sfumato.rows.working import Splitter, WorkingRows, row_order, split_all
from sfumato.table import Column, Groups, Table


def mondrian(
    table: Table,
    models: Sequence[Model],
    *,
    rng: np.random.Generator,
    quasi_identifiers: Sequence[Column] | None = None,
    within: Groups | None = None,
    exclusions: Exclusions | None = None,
    strict: bool = True,
    choose: Literal["loss", "widest"] = "loss",
    cut: Literal["best", "median"] = "best",
    categories: Literal["frequency", "value"] = "frequency",
) -> Groups:
    """Return groups of rows, each satisfying every model, cut as finely as the rules allow.

    A node is cut where the NCP of its two parts is lowest (`choose="loss"`), at any value
    (`cut="best"`) or at the median; or, as first published, on the attribute of the widest
    relative range (`choose="widest"`, always at the median). Categories are ordered by their
    `frequency` in the node or by `value`; under a hierarchy cuts follow its nodes. When no cut
    between values is left, `strict=False` parts rows of equal value at the median.

    `quasi_identifiers` are the columns to cut on (default: the table's); `within` is a partition
    to refine, each of whose groups must satisfy the models itself (default: the whole table).
    With `exclusions`, a group must satisfy the models for every person in it, what is impossible
    for that person left out.

    *Guarantee*: every group satisfies every model. A strict result does not depend on row order;
    a relaxed one breaks ties by `rng`.
    *Refuses*: models that are not monotone, and tables that do not satisfy them as a whole.
    *Source*: LeFevre, DeWitt, Ramakrishnan, ICDE 2006.
    Departs from the paper: cuts are chosen by loss by default, in frequency order for categories.
    """
    for model in models:
        if not model.monotone:
            raise ParameterError(f"mondrian: {model.name} is not preserved when groups are united")
    if within is None:
        refuse_infeasible(table, models)
        if exclusions is not None:
            refuse_excluded(table, models, exclusions)
    bound = bind_to_table(table, models)
    only_k = table.units is None and all(isinstance(model, KAnonymity) for model in models)
    names = tuple(column.name for column in table.sensitive)
    book = None if only_k else rule_book(bound, names)
    options = Options(
        by_loss=choose == "loss",
        best_cut=cut == "best" and choose == "loss",
        by_frequency=categories == "frequency",
        relaxed=not strict,
        minimum=max((model.minimum_rows for model in models), default=1),
    )
    columns = tuple(table.quasi_identifiers if quasi_identifiers is None else quasi_identifiers)
    order = row_order(table.rows, within, None if strict else rng)
    looked_at = () if book is None else table.sensitive
    working = WorkingRows.of(columns, table, order, exclusions, looked_at)
    work, layout = working.matrix, working.layout
    axes = axes_of(columns)
    tables = span_losses(axes)
    side = np.zeros(table.rows, dtype=np.uint8)

    begins = working.begins

    def run(start: int, end: int, own: tuple[Scratch, Known | None], once: bool) -> int:
        return int(divide(work, start, end, axes, layout, book, options, side, begins, *own, once))

    def split_once(start: int, end: int, own: tuple[Scratch, Known | None]) -> int:
        return run(start, end, own, True)

    def finish(start: int, end: int, own: tuple[Scratch, Known | None]) -> None:
        run(start, end, own, False)

    def scratch() -> tuple[Scratch, Known | None]:
        own = new_scratch(axes, tables, layout, working.unit_count, working.pair_count)
        return own, working.known()

    return split_all(working, Splitter(scratch, split_once, finish), within)
