"""What methods share that let a policy control generalisation: a share that may be withheld."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sfumato.errors import ParameterError
from sfumato.methods.method import Ints
from sfumato.models import MinimumWidth, Model
from sfumato.models.model import exact_share
from sfumato.table import Table


def check_models(models: Any, method: str) -> None:
    """Refuse (ParameterError) anything but a tuple of models of one table."""
    if not isinstance(models, tuple) or not all(isinstance(m, Model) for m in models):
        raise ParameterError(f"{method}: `models` must be a tuple of privacy models")
    for model in models:
        if model.of_tables:
            raise ParameterError(f"{method} cannot keep {model.name}; use slppa")


def check_suppression(share: Any, method: str) -> None:
    """Refuse (ParameterError) anything but a share of at least 0 and below 1."""
    is_number = isinstance(share, int | float) and not isinstance(share, bool)
    if not is_number or not 0 <= share < 1:
        raise ParameterError(
            f"{method}: `suppression` is a share of the records: a number of at least 0 and below 1"
        )


def most_withheld(share: float, rows: int) -> int:
    """Return how many records may be withheld: the share of the rows, rounded down.

    >>> most_withheld(0.02, 30_162), most_withheld(0.29, 100)
    (603, 29)
    """
    return math.floor(exact_share(share) * rows)


def sensitive_widths(table: Table) -> list[MinimumWidth]:
    """Return the widths that sensitive attributes ask for."""
    return [
        MinimumWidth(column.name, column.attribute.min_width)
        for column in table.sensitive
        if column.attribute.min_width is not None
    ]


def rows_left_out(table: Table, kept: Ints) -> Ints:
    """Return the other rows, ascending."""
    return np.setdiff1d(np.arange(table.rows), kept, assume_unique=True)
