"""Blocks of quasi-identifiers as a parameter: how many, or which."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from sfumato.columns.k_medoids import column_blocks
from sfumato.errors import ParameterError
from sfumato.table import Column, Table


def check_blocks(columns: object, method: str) -> None:
    """Refuse (ParameterError) what is neither a number of blocks nor lists of column names."""
    whole = isinstance(columns, int) and not isinstance(columns, bool) and columns >= 1
    if whole or (isinstance(columns, list | tuple) and columns and all(map(_names, columns))):
        return
    raise ParameterError(f"{method}: `columns` must be a number from 1 on, or lists of columns")


def _names(block: object) -> bool:
    return isinstance(block, list | tuple) and all(isinstance(name, str) for name in block)


def block_joints(
    frame: Table, columns: int | Sequence[Sequence[str]]
) -> tuple[tuple[str, ...], ...]:
    """Return the pairs of columns whose joint counts tell the blocks."""
    names = [column.name for column in frame.quasi_identifiers]
    is_told = not isinstance(columns, int) or len(names) <= columns
    return () if is_told else tuple(combinations(names, 2))


def blocks_of(
    table: Table, columns: int | Sequence[Sequence[str]], method: str
) -> list[list[Column]]:
    """Return the blocks that are named, or so many of columns that are associated."""
    quasi = table.quasi_identifiers
    if isinstance(columns, int):
        return column_blocks(quasi, min(columns, len(quasi)), table.whole)
    by_name = {column.name: column for column in quasi}
    unknown = [name for block in columns for name in block if name not in by_name]
    if unknown:
        raise ParameterError(
            f"{method}: `columns` names '{unknown[0]}', which is not a quasi-identifier"
        )
    return [[by_name[name] for name in block] for block in columns]
