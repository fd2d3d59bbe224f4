"""The levels to which one quasi-identifier can be recoded, the same value the same way everywhere.

A ladder has a rung for every level of the hierarchy that changes anything, from exact up to `*`.
Without a hierarchy there are two: exact, and `*`. A missing value is a value of its own on every
rung but `*`, where it is like all others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError, SchemaError
from sfumato.measures.ncp import leaves_loss
from sfumato.schema.attribute import Kind
from sfumato.table import Column

Codes = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Rung:
    """One level: by code (a missing value last), the number of its cell and the cell's NCP."""

    level: int
    cells: Codes
    losses: Reals

    @property
    def count(self) -> int:
        """How many cells there are at most."""
        return int(self.cells.max(initial=0)) + 1


@dataclass(frozen=True, slots=True, eq=False)
class Ladder:
    """The rungs of one column that may be used, from exact upwards; `capped` leaves some out.

    `top` is the highest level that may be used.
    """

    name: str
    weight: float
    rungs: tuple[Rung, ...]
    capped: bool
    top: int


def at_level(ladder: Ladder, level: int | None) -> Ladder:
    """Return the ladder with the one rung that a level stands on; None leaves it as it is.

    A level that changes nothing has no rung: the one below it is the same. *Refuses*
    (ParameterError) a level above all that the hierarchy, or a cap on it, allows.
    """
    if level is None:
        return ladder
    if not 0 <= level <= ladder.top:
        raise ParameterError(
            f"`levels`: '{ladder.name}' can be recoded to the levels 0 to {ladder.top}, not to "
            f"{level}"
        )
    rung = [rung for rung in ladder.rungs if rung.level <= level][-1]
    return replace(ladder, rungs=(replace(rung, level=level),))


def ladder_of(column: Column) -> Ladder:
    """Return the levels that a column may be recoded to.

    Levels that change nothing are left out, and those above `max_level`; `*` is wider than any
    `max_width`.

    *Refuses* (ParameterError) numbers without a hierarchy; (SchemaError) a cap that is of no use.
    """
    attribute = column.attribute
    refuse_idle_cap(column)
    if column.cardinality == 0:
        return _alone(column)
    is_capped = attribute.max_width is not None
    if column.tree is None:
        if column.kind is Kind.NUMERIC and column.cardinality > 1:
            raise ParameterError(
                f"full-domain needs a hierarchy for '{column.name}', which holds numbers: add one "
                "such as `hierarchy: {width: 5}`, `{intervals: 16}` or `{bins: [...]}`"
            )
        rungs = [_exact(column), _star(column, 1)][: 1 if is_capped else 2]
        most = 0 if is_capped else 1
        return Ladder(column.name, attribute.loss_weight, tuple(rungs), is_capped, most)
    top = int(column.tree.levels[-1])
    most = top if attribute.max_level is None else min(top, attribute.max_level)
    rungs = [_exact(column)]
    before = column.tree.at_level(0)
    for level in range(1, most + 1):
        nodes = column.tree.at_level(level)
        if (nodes != before).any():
            rungs.append(_star(column, level) if level == top else _of_nodes(column, level, nodes))
        before = nodes
    return Ladder(column.name, attribute.loss_weight, tuple(rungs), most < top, most)


def ladders_of(columns: Iterable[Column]) -> tuple[Ladder, ...]:
    """Return the ladders of columns, in their order."""
    return tuple(ladder_of(column) for column in columns)


def refuse_idle_cap(column: Column) -> None:
    """Refuse (SchemaError) a cap that does not fit how the column generalises."""
    attribute = column.attribute
    if column.cardinality == 0:
        return
    if attribute.max_level is not None and column.tree is None:
        raise SchemaError(
            f"column '{column.name}': `max_level` is a level of a hierarchy, and there is none; "
            "give it a `hierarchy`, or (numbers and ordered values) a `max_width`"
        )
    if attribute.max_width is not None and column.kind is Kind.CATEGORICAL:
        raise SchemaError(
            f"column '{column.name}': `max_width` is for numbers and ordered values, and this "
            "column is categorical; give it a `hierarchy` and a `max_level`"
        )


def _alone(column: Column) -> Ladder:
    """Return the ladder of a column without any value: there is nothing to recode."""
    rung = Rung(0, np.zeros(1, np.int32), np.zeros(1))
    return Ladder(column.name, column.attribute.loss_weight, (rung,), capped=False, top=0)


def _exact(column: Column) -> Rung:
    codes = np.arange(column.null_code + 1, dtype=np.int32)
    return Rung(0, codes, np.zeros(len(codes)))


def _star(column: Column, level: int) -> Rung:
    codes = np.zeros(column.null_code + 1, np.int32)
    return Rung(level, codes, np.ones(len(codes)))


def _of_nodes(column: Column, level: int, nodes: Codes) -> Rung:
    tree = column.tree
    assert tree is not None
    used, cells = np.unique(nodes, return_inverse=True)
    losses = [float(leaves_loss(int(tree.leaves[node]), tree.domain_size)) for node in used]
    return Rung(
        level,
        np.append(cells, len(used)).astype(np.int32),
        np.append(np.array(losses)[cells], 0.0),
    )
