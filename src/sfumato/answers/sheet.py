"""A published table as questions need it: its rows group by group, read attribute by attribute."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers.reading import open_slots, read_slots
from sfumato.answers.slots import Slots
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.predicates.expression import unknown_column
from sfumato.release import Release
from sfumato.schema.attribute import RESERVED_SUFFIX
from sfumato.table.groups import counting_order

Codes = npt.NDArray[np.int32]


class Sheet:
    """One table of a release; rows keep no order but that of their groups.

    `starts` has where each group starts, and after the last one its end. Cells of the attributes
    `nobodys` are nobody's own values, and may stand for any.

    Refuses (ReleaseDamaged) groups that are not numbered from 1 without a gap.
    """

    def __init__(self, release: Release, table: str, nobodys: frozenset[str] = frozenset()) -> None:
        self._release = release
        self._nobodys = nobodys
        self._table = release.tables[table]
        self._slots: dict[str, Slots] = {}
        self._codes: dict[str, npt.NDArray[Any]] = {}
        ids = self._numbers("group") - 1
        sizes = np.zeros(0, np.int64)
        if len(ids) and 0 <= ids.min() <= ids.max() < len(ids):
            sizes = np.bincount(ids)
        if sizes.sum() != len(ids) or not sizes.all():
            raise ReleaseDamaged(f"the groups of table '{table}' are not numbered from 1 on")
        self._order = counting_order(ids, len(sizes))
        self.starts = np.append(0, np.cumsum(sizes)).astype(np.int32)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._table.num_rows  # type: ignore[no-any-return]

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.starts) - 1

    @cached_property
    def counts(self) -> npt.NDArray[Any]:
        """How many records each row stands for, in narrow numbers."""
        if "count" not in self._table.column_names:
            return np.ones(self.rows, np.uint8)
        counts = self._numbers("count")
        if len(counts) and counts.min() < 1:
            raise ReleaseDamaged("a row stands for no record")
        return _narrow(counts[self._order], int(counts.max(initial=0)))

    @cached_property
    def sizes(self) -> Codes:
        """The number of records in each group."""
        if self.groups == 0:
            return np.zeros(0, np.int32)
        return np.add.reduceat(self.counts, self.starts[:-1], dtype=np.int32)

    def read(self, name: str) -> Slots:
        """Return the slots of an attribute.

        Refuses (ParameterError) attributes that are not published.
        """
        if name not in self._slots:
            check_published(self._release, name)
            columns = [c for c in (name, name + RESERVED_SUFFIX) if c in self._table.column_names]
            part = self._table.select(columns).take(pa.array(self._order))
            entry, hierarchy = self._release.manifest.attribute(name), self._release.hierarchies
            self._slots[name] = (
                open_slots(part, entry)
                if name in self._nobodys
                else read_slots(part, entry, hierarchy.get(name))
            )
        return self._slots[name]

    def codes(self, name: str) -> npt.NDArray[Any]:
        """Return the slot of each row in narrow numbers, which are fast to go through."""
        if name not in self._codes:
            slots = self.read(name)
            self._codes[name] = _narrow(slots.of_row, slots.count)
        return self._codes[name]

    def _numbers(self, name: str) -> npt.NDArray[Any]:
        column = self._table[name].combine_chunks()
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.int32)


def check_published(release: Release, name: str) -> None:
    """Refuse (ParameterError) an attribute that is not published, with the nearest that is."""
    if any(name == table.weight for table in release.manifest.tables):
        raise ParameterError(about_weights(name))
    names = [entry.name for entry in release.manifest.attributes]
    if name not in names:
        raise ParameterError(f"this release does not answer: {unknown_column(name, names)}")


def about_weights(name: str) -> str:
    """Return why the column of weights cannot be asked for."""
    return (
        f"column '{name}' holds weights, means of groups that are nobody's own: it cannot be asked "
        "for; COUNT(*) adds them up"
    )


def _narrow(numbers: Codes, most: int) -> npt.NDArray[Any]:
    """Return numbers from 0 to `most` in the narrowest type that holds them."""
    kinds = (np.uint8, np.uint16, np.uint32)
    return numbers.astype(next(kind for kind in kinds if most <= np.iinfo(kind).max))
