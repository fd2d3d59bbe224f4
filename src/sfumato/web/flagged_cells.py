"""How common values are among the flagged cells of a column, which the profile does not tell.

Flags depend on the policy, so they are counted when a page asks, from the few columns that they
need, and remembered. Of large tables nothing is counted: pages do not wait for those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from sfumato.errors import SfumatoError
from sfumato.io.read import read_table
from sfumato.predicates.flags import flagged
from sfumato.predicates.parse import parse
from sfumato.schema import Attribute, Schema
from sfumato.table import encode
from sfumato.web.hierarchy_levels import attribute_of

MOST_ROWS: Final = 200_000
# What decides on flags and equal values; hierarchies and what is asked for do not.
_TELLING: Final = ("role", "kind", "order", "flag", "when")


@dataclass(frozen=True, slots=True)
class Flagged:
    """The flagged cells of a column that are not missing, and those with the commonest value."""

    present: int
    commonest: int


def flagged_cells(content: Mapping[str, Any], name: str, data: Path, rows: int) -> Flagged | None:
    """Return the counts of a semi-sensitive column under a policy's content.

    None where they are not known beforehand (cells drawn at random, steps that change values,
    people with several rows), where the table is large, or where a run would refuse the flags.
    """
    keys = content["attributes"][name]
    if rows > MOST_ROWS or content.get("unit") or not ("flag" in keys or "when" in keys):
        return None
    try:
        read = parse(keys["when"]).attributes if "when" in keys else frozenset()
        concerned = {each: content["attributes"].get(each) for each in (name, *sorted(read))}
        if any(own is None or "recode" in own for own in concerned.values()):
            return None
        if "recode" in content["attributes"].get(keys.get("flag"), {}):
            return None
        attributes = tuple(
            attribute_of(each, {key: own[key] for key in _TELLING if key in own}, Path())
            for each, own in concerned.items()
            if own is not None
        )
        changed = data.stat()
        return _counted(data, (changed.st_mtime_ns, changed.st_size), attributes)
    except (SfumatoError, OSError):
        return None


@lru_cache(maxsize=64)
def _counted(
    data: Path, state: tuple[int, int], attributes: tuple[Attribute, ...]
) -> Flagged | None:
    own = attributes[0]
    flags = () if own.flag is None else (own.flag,)
    cells = read_table(data, dict.fromkeys([*(each.name for each in attributes), *flags]))
    table = flagged(encode(cells, Schema(attributes)), cells)
    column = table[own.name]
    codes = column.codes[table.flags[own.name]]
    counts = np.bincount(codes, minlength=column.null_code + 1)[: column.null_code]
    if not counts.any():
        return None
    return Flagged(int(counts.sum()), int(counts.max()))
