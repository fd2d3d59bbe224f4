"""Secrets that are spelt in several ways, and so count as several."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from sfumato.audit.coded import coded
from sfumato.release import Release
from sfumato.release.dtypes import is_text
from sfumato.schema.attribute import SECRET_ROLES
from sfumato.schema.lookalikes import count_lookalikes


def spelt_in_several_ways(release: Release) -> list[str]:
    """Return a line on every secret attribute some of whose texts look alike."""
    found = []
    for entry in release.manifest.attributes:
        if entry.role in SECRET_ROLES:
            many = count_lookalikes(_texts(release, entry.name))
            if many:
                found.append(
                    f"attribute '{entry.name}' has {many} values that look like another one of it "
                    "(case, blanks, accents, signs that are not seen): each counts as a value of "
                    "its own, so that people may be less diverse than is claimed"
                )
    return found


def _texts(release: Release, name: str) -> Iterator[str]:
    for table in release.tables.values():
        if name not in table.column_names:
            continue
        column = table[name]
        if pa.types.is_list(column.type):
            column = pa.chunked_array([column.combine_chunks().flatten()])
        cells = coded(column).cells
        if is_text(cells.type):
            yield from cells.to_pylist()
