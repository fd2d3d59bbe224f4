"""People with several rows: the release states how many people each group holds.

Which rows belong together is not published, so these counts are taken on trust, within what the
records allow: nobody without a row, no value that the group's rows do not have.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.audit.coded import comparable
from sfumato.audit.groups import GroupedTable, check_distinct
from sfumato.audit.statistics import SensitiveValues
from sfumato.errors import ReleaseDamaged
from sfumato.models import Histogram

Ints = npt.NDArray[np.int64]


def stated_sizes(units: GroupedTable, sizes: Ints) -> Ints:
    """Return people per group; ReleaseDamaged where there are more of them than rows."""
    if len(units.groups) != len(sizes) or len(units.sizes) != len(sizes):
        raise ReleaseDamaged("table 'units' does not have one row for each group")
    if (units.sizes > sizes).any():
        raise ReleaseDamaged("table 'units' states more people in a group than it has rows")
    return units.sizes


def stated_values(
    table: GroupedTable, stated: pa.Array, rows: SensitiveValues, people: Ints
) -> SensitiveValues:
    """Return how many people have each value, as stated; `rows` counts the same in rows.

    `stated` are the distinct values of the table, `people` the sizes of the groups in people.
    Refuses (ReleaseDamaged) counts that no assignment of rows to people could have.
    """
    name, null_code = rows.domain.entry.name, len(rows.values)
    if len(table.sizes) != len(people):
        raise ReleaseDamaged(f"table '{table.name}' does not have the groups of the records")
    check_distinct(table)
    places = pc.index_in(comparable(stated), comparable(rows.values))
    code_of = np.append(places.fill_null(-1).to_numpy(zero_copy_only=False), null_code)
    codes = code_of[table.columns[name].codes].astype(np.int64)
    if (codes < 0).any():
        raise _contradiction(table)
    histogram = Histogram.count(table.groups, codes, table.counts, len(people), null_code)
    _check_values(table, histogram, rows.histogram, null_code)
    without = np.zeros(len(people), dtype=np.int64)
    missing = codes == null_code
    without[table.groups[missing]] = table.counts[missing]
    present = people - without
    largest = _largest_counts(histogram, null_code)
    # `histogram.present` sums over values: a person may have several of them, but has at least one.
    if ((largest > present) | (present > histogram.present)).any():
        raise _contradiction(table)
    return SensitiveValues(
        rows.domain,
        rows.values,
        Histogram(histogram.offsets, histogram.codes, histogram.counts, present),
    )


def _check_values(table: GroupedTable, people: Histogram, rows: Histogram, null_code: int) -> None:
    """Refuse values that only the rows or only the people of a group have, or too many people."""
    stated, published = _keys(people, null_code), _keys(rows, null_code)
    known = published % (null_code + 1) != null_code
    place = np.searchsorted(published, stated)
    found = np.append(published, -1)[place] == stated
    if not found.all() or not np.isin(published[known], stated, assume_unique=True).all():
        raise _contradiction(table)
    if (people.counts > rows.counts[place]).any():
        raise ReleaseDamaged(f"table '{table.name}' states more people with a value than rows")


def _keys(histogram: Histogram, null_code: int) -> Ints:
    owners = np.repeat(np.arange(len(histogram.present)), np.diff(histogram.offsets))
    return np.asarray(owners * (null_code + 1) + histogram.codes)


def _largest_counts(histogram: Histogram, null_code: int) -> Ints:
    """Return the largest count of a value in each group, 0 where no one has any."""
    owners = np.repeat(np.arange(len(histogram.present)), np.diff(histogram.offsets))
    known = histogram.codes != null_code
    largest = np.zeros(len(histogram.present), dtype=np.int64)
    np.maximum.at(largest, owners[known], histogram.counts[known])
    return largest


def _contradiction(table: GroupedTable) -> ReleaseDamaged:
    return ReleaseDamaged(f"table '{table.name}' contradicts the values in the records")
