"""How many cells are withheld (`*`), as the manifest of a local suppression counts them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ReleaseDamaged
from sfumato.release import Release
from sfumato.release.cells import STAR

KEY: Final = "suppressed_cells"


def check_withheld_cells(release: Release) -> None:
    """Refuse (ReleaseDamaged) counts of withheld cells that are not those of the records."""
    stated: Any = release.manifest.parameters.get(KEY)
    if stated is None:
        return
    by, total = (stated.get("by"), stated.get("total")) if isinstance(stated, Mapping) else (0, 0)
    if not isinstance(by, Mapping) or not all(map(_is_count, (total, *by.values()))):
        raise ReleaseDamaged(f"the parameter '{KEY}' does not count cells by attribute")
    if total != sum(by.values()):
        raise ReleaseDamaged(f"the counts of the parameter '{KEY}' do not add up to its total")
    records = release.tables["records"]
    for name, count in by.items():
        if name not in records.column_names:
            raise ReleaseDamaged(f"the parameter '{KEY}' counts cells of '{name}', which has none")
        if withheld_cells(records, name) != count:
            raise ReleaseDamaged(f"column '{name}' has more or fewer `*` than '{KEY}' counts")


def withheld_cells(records: pa.Table, name: str) -> int:
    """Return how many cells of a column are withheld."""
    is_withheld = pc.equal(records[name].cast(pa.string()), STAR).fill_null(False)
    return int(pc.sum(is_withheld, min_count=0).as_py())


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
