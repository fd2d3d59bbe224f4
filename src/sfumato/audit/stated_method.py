"""Whether what a manifest says of its making can be: method, layout, parameters, declared models.

Files do not show how they were made. But a method has one layout or a few, its parameters are
known by name and within limits, and a model that files cannot show may only be declared by a
method that can keep it: whatever else stands there was not written by its maker. A parameter with
a name of its own would also be a place for what no release may hold, such as a seed or a path.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.errors import ReleaseDamaged
from sfumato.models.declared import DeltaPresence, DifferentialPrivacy
from sfumato.models.model import exact_share
from sfumato.release import Manifest
from sfumato.release.origin import LEAST_SAMPLE
from sfumato.schema.attribute import Role

Check = Callable[[Any, Manifest], bool]

# What `sfumato link` allows as the name of a table.
_TABLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
# A program and its version: no place for a path, an address or a text.
_SOFTWARE = re.compile(r"[A-Za-z0-9_.+-]+( [A-Za-z0-9_.+-]+)?")
_LONGEST_SOFTWARE = 100
# A mask has a level for every character of its longest value.
_MOST_LEVELS = 10**8
_ONLY_DECLARED = (DifferentialPrivacy.name, DeltaPresence.name)


@dataclass(frozen=True, slots=True)
class _Making:
    """The layouts that a method publishes, its parameters, and those that it always states."""

    layouts: tuple[str, ...]
    parameters: Mapping[str, Check]
    always: tuple[str, ...] = ()


def check_method(manifest: Manifest) -> None:
    """Refuse (ReleaseDamaged) a making that cannot be: what `is_known` methods do not do."""
    software = manifest.software
    if len(software) > _LONGEST_SOFTWARE or not _SOFTWARE.fullmatch(software):
        raise ReleaseDamaged("the manifest's `software` is not the name and version of a program")
    if not is_known(manifest):
        return
    making = _MAKINGS[manifest.method]
    if manifest.layout not in making.layouts:
        raise ReleaseDamaged(
            f"the method {manifest.method} does not publish the layout '{manifest.layout}'"
        )
    allowed = {**_OF_ALL, **making.parameters}
    if strange := sum(key not in allowed for key in manifest.parameters):
        some = "a parameter" if strange == 1 else f"{strange} parameters"
        raise ReleaseDamaged(
            f"the manifest has {some} that the method {manifest.method} does not have"
        )
    for key, value in manifest.parameters.items():
        if value is None or not allowed[key](value, manifest):  # null states nothing
            raise ReleaseDamaged(f"the parameter '{key}' cannot be: {_reason(key)}")
    for key in making.always:
        if key not in manifest.parameters:
            raise ReleaseDamaged(f"the method {manifest.method} states '{key}', and this does not")
    _check_declared(manifest)


def is_known(manifest: Manifest) -> bool:
    """Return whether this version knows the method, and so what it may state."""
    return manifest.method in _MAKINGS


def _check_declared(manifest: Manifest) -> None:
    """Refuse differential privacy of what has none, and claims about people beside it."""
    for claim in manifest.guarantees:
        is_private = claim["model"] == DifferentialPrivacy.name
        if is_private and manifest.method != "dp":
            raise ReleaseDamaged(
                f"differential privacy is claimed, which the method {manifest.method} does not give"
            )
        if manifest.method == "dp" and claim["model"] not in _ONLY_DECLARED:
            raise ReleaseDamaged(
                "the method dp claims nothing that files could show: its records are nobody's"
            )


def _reason(key: str) -> str:
    return _REASONS.get(key, "it is not of the type, or not within the limits, that it has")


# What a parameter may be


def _anything(value: Any, manifest: Manifest) -> bool:
    """Leave it to whoever reads it: each of these is checked against the tables elsewhere."""
    return True


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _share(value: Any, manifest: Manifest) -> bool:
    return _is_number(value) and 0 < value <= 1


def _share_or_none(value: Any, manifest: Manifest) -> bool:
    return _share(value, manifest) or (_is_number(value) and value == 0)


def _sample(value: Any, manifest: Manifest) -> bool:
    return _share(value, manifest) and value >= LEAST_SAMPLE


def _count(value: Any, manifest: Manifest) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**31


def _truth(value: Any, manifest: Manifest) -> bool:
    return isinstance(value, bool)


def _false(value: Any, manifest: Manifest) -> bool:
    return value is False


def _suppression(value: Any, manifest: Manifest) -> bool:
    """Whether no more records were withheld than the stated share of all.

    Those that were withheld by value are not limited by it.
    """
    if not _is_number(value) or not 0 <= value < 1:
        return False
    everybody = manifest.rows + manifest.suppressed
    return manifest.suppressed_by_value or manifest.suppressed <= exact_share(value) * everybody


def _levels(value: Any, manifest: Manifest) -> bool:
    quasi = {e.name for e in manifest.attributes if e.role is Role.QUASI_IDENTIFIER}
    return (
        isinstance(value, dict)
        and value.keys() <= quasi
        and all(
            isinstance(level, int) and not isinstance(level, bool) and 0 <= level <= _MOST_LEVELS
            for level in value.values()
        )
    )


def _generalize(value: Any, manifest: Manifest) -> bool:
    return value in ("mdp", "ncp")


def _tables(value: Any, manifest: Manifest) -> bool:
    found = sum(table.name.startswith("qi_") for table in manifest.tables)
    return isinstance(value, int) and not isinstance(value, bool) and value == found


def _blocks(value: Any, manifest: Manifest) -> bool:
    return manifest.layout == "sliced"


def _linked(value: Any, manifest: Manifest) -> bool:
    return (
        isinstance(value, list)
        and len(value) > 0
        and all(isinstance(name, str) and _TABLE.fullmatch(name) for name in value)
        and len(set(value)) == len(value)
        and any(table.pseudonyms for table in manifest.tables)
    )


_REASONS = {
    "suppression": "it is no share of the records, or more of them were withheld",
    "columns": "only sliced records have blocks",
    "levels": "it has no levels of quasi-identifiers",
    "tables": "it is not the number of tables of quasi-identifiers",
    "linked": "it does not name the tables that pseudonyms link",
}

# What `save` writes, and what a policy may ask of any method.
_OF_ALL: dict[str, Check] = {
    "formula_guard": _false,
    "hierarchies": _anything,
    "household": _anything,
    "recoding": _anything,
}
_BLOCKS: dict[str, Check] = {"columns": _blocks}
_SETS: dict[str, Check] = dict.fromkeys(("sets", "bins", "types"), _anything)

_MAKINGS: dict[str, _Making] = {
    "mondrian": _Making(("generalized",), {"suppression": _suppression, "linked": _linked}),
    "full-domain": _Making(
        ("generalized",), {"levels": _levels, "suppression": _suppression, "optimal": _truth}
    ),
    "top-down": _Making(("generalized",), {}),
    "anatomy": _Making(("anatomized",), {}),
    "lgb": _Making(("local",), {"generalize": _generalize, "withheld_cells": _anything}),
    "arp": _Making(("anatomized", "generalized", "sliced"), _BLOCKS),
    "aip": _Making(("anatomized",), {}),
    "ng": _Making(("generalized",), {}),
    "slppa": _Making(("anatomized",), {"tables": _tables}),
    "asn": _Making(("anatomized",), {"tables": _tables}),
    "slicing": _Making(("sliced",), _BLOCKS),
    "merging": _Making(("sliced",), {**_BLOCKS, "fakes": _anything}),
    "composition": _Making(("generalized",), {"alpha": _share}),
    "probabilistic": _Making(
        ("generalized",), {"d": _count, "alpha": _share, "sample": _sample}, ("sample",)
    ),
    "hybrid": _Making(
        ("generalized",), {"sample": _sample, "perturb": _share_or_none}, ("sample", "perturb")
    ),
    "dp": _Making(("generalized",), dict.fromkeys(("cuts", "bins", "cells"), _count)),
    "pram": _Making(
        ("generalized",), {"kind": _anything, "transitions": _anything}, ("transitions",)
    ),
    "mdav": _Making(("generalized",), {"microaggregated": _anything}, ("microaggregated",)),
    "local-suppression": _Making(("generalized",), {"suppressed_cells": _anything}),
    "sensitive-qid": _Making(("sets",), {**_SETS, "joint": _anything}),
    "rating": _Making(("sets",), _SETS),
}
