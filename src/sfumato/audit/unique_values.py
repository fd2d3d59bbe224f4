"""Columns that nothing protects and in which every record has a value of its own.

That an attribute is insensitive is the publisher's word. Names, addresses and numbers of people
look like this, whatever they are called: each of them stands once, and who knows it has the record.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.audit.coded import coded
from sfumato.release import Release, TableEntry
from sfumato.schema.attribute import Role

# Fewer values may well differ by chance.
_FEWEST = 20


def values_of_their_own(release: Release) -> list[str]:
    """Return a line on every insensitive column whose values are all different.

    A maker refuses to keep such a column, so whoever finds one should ask where it comes from.
    """
    insensitive = {e.name for e in release.manifest.attributes if e.role is Role.INSENSITIVE}
    return [
        f"attribute '{name}' is said to be insensitive, and every record has another value there, "
        "as names and numbers of people have: who knows somebody's finds the record"
        for entry in release.manifest.tables
        for name in entry.attributes
        if name in insensitive and _all_differ(release.tables[entry.name], entry, name)
    ]


def _all_differ(table: pa.Table, entry: TableEntry, name: str) -> bool:
    column = table[name]
    held = len(column) - column.null_count
    if held < _FEWEST or (entry.count and pc.max(table[entry.count]).as_py() != 1):
        return False
    found = coded(column)
    return bool(np.bincount(found.codes)[: found.null_code].max() == 1)
