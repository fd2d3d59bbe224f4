"""Tables of people where people have several rows: what an auditor needs beside the records.

Models count people, and a release does not say which rows belong together. So where people have
several rows a release also states, for every group, how many people it holds (`units`) and, for
every sensitive attribute, how many of them have each value (`units_1`, ...); a missing value then
counts the people without any.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.models.counting import group_statistics
from sfumato.publish.assemble import shuffled
from sfumato.publish.exact import exact_column
from sfumato.release import TableEntry
from sfumato.table import Groups, Table

Codes = npt.NDArray[np.int32]


def unit_tables(
    table: Table, groups: Groups, public_ids: Codes, *, rng: np.random.Generator
) -> list[tuple[TableEntry, pa.Table]]:
    """Return the tables of people, none where every row is a person of its own."""
    if table.units is None:
        return []
    statistics = group_statistics(table, groups, [column.name for column in table.sensitive])
    tables = [
        (
            TableEntry(name="units", attributes=(), group="group", count="count"),
            pa.table({"group": public_ids, "count": statistics.sizes}),
        )
    ]
    for number, column in enumerate(table.sensitive, start=1):
        histogram = statistics.histograms[column.name]
        owners = np.repeat(np.arange(groups.count), np.diff(histogram.offsets))
        tables.append(
            (
                TableEntry(
                    name=f"units_{number}",
                    attributes=(column.name,),
                    group="group",
                    count="count",
                ),
                pa.table(
                    {
                        "group": public_ids[owners],
                        column.name: exact_column(column, histogram.codes.astype(np.int32)),
                        "count": histogram.counts,
                    }
                ),
            )
        )
    return [(entry, shuffled(content, rng)) for entry, content in tables]
