"""Table division: which quasi-identifiers are published together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from sfumato.columns.association import association
from sfumato.errors import ParameterError
from sfumato.measures.entropy import entropy
from sfumato.table import Column
from sfumato.table.whole import Whole

Cap = int | None | Literal["even"]


def check_division(tables: object, cap: object, method: str) -> None:
    """Refuse (ParameterError) what is no number of tables, or no limit of their columns."""
    if isinstance(tables, bool) or not isinstance(tables, int) or tables < 1:
        raise ParameterError(f"{method}: `tables` must be a whole number of at least 1")
    number = isinstance(cap, int) and not isinstance(cap, bool) and cap >= 1
    if cap is not None and cap != "even" and not number:
        raise ParameterError(f"{method}: `cap` must be even, a whole number from 1 on, or null")


def most_columns(columns: Sequence[Column], tables: int, cap: Cap) -> int:
    """Return the most columns that a table may have.

    *Refuses* (ParameterError): more tables than columns, and tables that do not hold them all.
    """
    if tables > len(columns):
        raise ParameterError(
            f"`tables` is {tables}, and there are {len(columns)} quasi-identifiers; "
            f"use at most {len(columns)}"
        )
    most = len(columns)
    if cap == "even":
        most = -(-len(columns) // tables)
    elif cap is not None:
        most = cap
    if most * tables < len(columns):
        raise ParameterError(
            f"{tables} tables of at most {most} columns do not hold {len(columns)} "
            "quasi-identifiers; raise `cap` or `tables`"
        )
    return most


def divide_columns(
    columns: Sequence[Column], tables: int, cap: Cap = "even", whole: Whole | None = None
) -> list[list[Column]]:
    """Return the columns in tables: those that tell most apart, the others with what they go with.

    The columns with the greatest entropies open a table each. The others follow by entropy, each
    into the table with whose columns it is most associated on average. `cap` is the most columns a
    table may have: `even` for as many as even tables have, None for no limit (to the letter of the
    paper). Ties go to the column and the table that come first. Where columns are those of a part
    of a table, the `whole` tells what they tell apart.

    *Source*: SLPPA, section 4.3.1. Departs from the paper: the cap, without which its own example
    comes out differently from what it shows.
    """
    most = most_columns(columns, tables, cap)
    counts = [
        column.counts.copy() if whole is None else whole.counts[column.name] for column in columns
    ]
    weights = [-entropy(each) for each in counts]
    order = [int(i) for i in np.argsort(weights, kind="stable")]
    strength_of = association(columns, whole)
    divided = [[i] for i in order[:tables]]
    for i in order[tables:]:
        open_tables = [table for table in divided if len(table) < most]
        strength = [
            np.mean([strength_of(columns[i], columns[other]) for other in table])
            for table in open_tables
        ]
        open_tables[int(np.argmax(strength))].append(i)
    return [[columns[i] for i in table] for table in divided]
