"""What a part of a table knows of the whole: its size and its counts.

A table that one machine cannot hold is published in parts. What a method decides from the whole
table (totals, associations, blocks of columns) it must not decide anew in every part; so a part
brings these counts along as `Table.whole`, and has the whole's dictionary: its codes mean what they
mean in every other part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.schema.attribute import RESERVED_SUFFIX
from sfumato.table.groups import packed

if TYPE_CHECKING:  # a table may have a whole, and a whole is counted from a table
    from sfumato.table.column import Column
    from sfumato.table.table import Table

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Names = tuple[str, ...]

# Up to so many combinations are counted in place; beyond, or beyond the rows, they are sorted.
_DENSE_CELLS = 1 << 20


class Joint(NamedTuple):
    """How many rows have each combination of codes that occurs; `codes[i]` are those of column i.

    Combinations are in the order of their codes, the first column counting most.
    """

    codes: tuple[Ints, ...]
    counts: Ints

    def lines_of(self, codes: Sequence[npt.NDArray[np.integer[Any]]], rows: int) -> Ints:
        """Return for each of so many rows the line that has its codes; each row must have one."""
        if not self.codes:
            return np.zeros(rows, np.int64)
        lines = len(self.counts)
        both = [np.concatenate(each) for each in zip(self.codes, codes, strict=True)]
        keys = packed(both)
        order = np.argsort(keys[:lines], kind="stable")
        return np.asarray(order[np.searchsorted(keys[:lines], keys[lines:], sorter=order)])


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """Counts of the table of which another one is a part.

    `counts[name]` are the rows by code, missing ones last; `flagged[name]` those among them whose
    cell is sensitive, where a column is semi-sensitive. `joints` has the counts of combinations
    of columns that a method asks for (`Method.joints`), `commonest` the rows that have the
    commonest combination of some columns (`Splitting.commonest`).
    """

    # Out of the representation, which ends up in tracebacks and logs: they hold people's data.
    rows: int
    counts: Mapping[str, Ints] = field(repr=False)
    flagged: Mapping[str, Ints] = field(default_factory=dict, repr=False)
    joints: Mapping[Names, Joint] = field(default_factory=dict, repr=False)
    commonest: Mapping[Names, int] = field(default_factory=dict, repr=False)

    def joint(self, *names: str) -> Joint:
        """Return the joint counts of columns, in whatever order they were counted."""
        found = self.joints.get(names)
        if found is not None:
            return found
        for order, joint in self.joints.items():
            if set(order) == set(names) and len(order) == len(names):
                codes = tuple(joint.codes[order.index(name)] for name in names)
                return counted(codes, joint.counts)
        raise KeyError(names)  # a fault of ours: `Method.joints` does not name it


def flag_name(column: str) -> str:
    """Return the name under which the flags of a column are counted; no column is called so."""
    return column + RESERVED_SUFFIX


def whole_of(table: Table, joints: Iterable[Names] = (), commonest: Iterable[Names] = ()) -> Whole:
    """Return the counts of a table: what any of its parts needs to know.

    >>> import pyarrow as pa
    >>> from sfumato.schema import Schema
    >>> from sfumato.table import encode
    >>> people = encode(pa.table({"age": [25, 28, 25]}), Schema.of(age="quasi-identifier"))
    >>> whole_of(people).counts["age"].tolist()
    [2, 1, 0]
    """
    return Whole(
        table.rows,
        {c.name: np.bincount(c.codes, minlength=c.null_code + 1) for c in table.columns},
        {
            name: np.bincount(table[name].codes[flags], minlength=table[name].null_code + 1)
            for name, flags in table.flags.items()
        },
        {names: joint_of(table, names) for names in joints},
        commonest_of(table, commonest),
    )


def commonest_of(table: Table, combinations: Iterable[Names]) -> dict[Names, int]:
    """Return how many rows have the commonest combination of each of some lists of columns."""
    return {names: int(joint_of(table, names).counts.max(initial=0)) for names in combinations}


def joint_of(table: Table, names: Sequence[str]) -> Joint:
    """Return the joint counts of columns, or of flags (`flag_name`), in a table."""
    return counted(tuple(codes_of(table, name) for name in names), np.ones(table.rows, np.int64))


def counted(codes: Sequence[npt.NDArray[np.integer[Any]]], counts: Ints) -> Joint:
    """Return the joint counts of lines that stand for so many rows each.

    >>> counted((np.array([1, 0, 1]),), np.array([2, 1, 1])).counts.tolist()
    [1, 3]
    """
    if not codes:
        return Joint((), counts.sum(keepdims=True))
    keys = packed(codes)
    span = int(keys.max(initial=0)) + 1
    if span <= max(_DENSE_CELLS, len(keys)):  # without a sort
        a_line = np.full(span, -1, np.int64)
        a_line[keys] = np.arange(len(keys))
        cells = np.flatnonzero(a_line >= 0)
        lines, place = a_line[cells], np.empty(span, np.int64)
        place[cells] = np.arange(len(cells))
        inverse = place[keys]
    else:
        _, lines, inverse = np.unique(keys, return_index=True, return_inverse=True)
    sums = np.zeros(len(lines), np.int64)
    np.add.at(sums, inverse, counts)
    return Joint(tuple(each[lines].astype(np.int64) for each in codes), sums)


def frame_of(table: Table, whole: Whole | None = None) -> Table:
    """Return the table without its rows: what a whole is without its people."""
    return part_of(table, np.zeros(0, np.int64), whole)


def part_of(table: Table, rows: Ints, whole: Whole | None) -> Table:
    """Return the table of some rows under the dictionary of all, beside counts of the whole."""
    codes = {column.name: column.codes[rows] for column in table.columns}
    flags = {name: flags[rows] for name, flags in table.flags.items()}
    return shard_table(replace(table, whole=whole), codes, flags)


def shard_table(
    frame: Table, codes: Mapping[str, Codes], flags: Mapping[str, npt.NDArray[np.bool_]]
) -> Table:
    """Return a table with the dictionary and the whole of a frame, and these codes and flags.

    Rows are put in the order of what they hold, so that it does not matter how they came together.
    """
    held = [codes[column.name] for column in frame.columns]
    order = canonical_order([*held, *(flags[name].astype(np.int32) for name in frame.flags)])
    columns = [
        replace(column, codes=codes[column.name][order], misses=_misses(column, frame.whole))
        for column in frame.columns
    ]
    return replace(
        frame,
        columns=tuple(columns),
        rows=len(order),
        flags={name: flags[name][order] for name in frame.flags},
    )


def canonical_order(codes: Sequence[npt.NDArray[np.integer[Any]]]) -> Ints:
    """Return the rows in the order of what they hold, the first column counting most."""
    return np.argsort(packed(codes), kind="stable") if codes else np.zeros(0, np.int64)


def _misses(column: Column, whole: Whole | None) -> bool | None:
    return column.misses if whole is None else bool(whole.counts[column.name][-1])


def visible_name(column: str) -> str:
    """Return the name under which a column is counted as if its flagged cells were missing."""
    return flag_name(flag_name(column))


def column_of(frame: Table, name: str) -> Column:
    """Return the column that a name stands for, visible or as it is."""
    return frame[name.removesuffix(2 * RESERVED_SUFFIX)]


def codes_of(table: Table, name: str) -> npt.NDArray[np.integer[Any]]:
    """Return the codes of a column; its flags as 0 and 1; its codes with flagged cells missing.

    Names are those of columns, of `flag_name` and of `visible_name`.
    """
    if name.endswith(2 * RESERVED_SUFFIX):
        column = column_of(table, name)
        hidden = table.flags[column.name]
        return np.where(hidden, np.int32(column.null_code), column.codes)
    if name.endswith(RESERVED_SUFFIX):
        return table.flags[name.removesuffix(RESERVED_SUFFIX)].astype(np.int32)
    return table[name].codes
