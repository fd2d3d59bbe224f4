"""The common shape of leaks: what order and residue tell, against chance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from sfumato.attacks.order import Trained
from sfumato.attacks.outcome import Outcome, Rate

FILES: Final = "the files of the release"
TRUTH: Final = f"{FILES} and, for half of the data, the truth to train on"
_CONTROL: Final = "People outside the data have no place in the files, so there is no control."


class _Kind(NamedTuple):
    """What the tries of a leak are, what is to be told, and what the attacker knows."""

    unit: str
    asks: str
    knows: str = FILES


_KINDS: Final[Mapping[str, _Kind]] = {
    "row order": _Kind("pairs of people", "which of two people came first in the input", TRUTH),
    "sorted rows": _Kind("pairs of rows", "which of two rows has the larger value"),
    "neighbouring rows": _Kind("pairs of rows", "whether rows that follow each other are alike"),
    "group ids": _Kind(
        "pairs of groups", "which of two groups is first, larger or has larger values", TRUTH
    ),
    "bucket ids": _Kind(
        "pairs of buckets", "which of two buckets is first, larger or has larger values", TRUTH
    ),
    "order within groups": _Kind(
        "groups or buckets", "whether what stands beside a person's row is their own", TRUTH
    ),
    "set order": _Kind(
        "sets",
        "which member of a set is the person's own",
        f"{FILES} and how many people have each value",
    ),
    "fakes": _Kind("pairs of a fake and a person's record", "which of two rows is a fake", TRUTH),
    "dictionary order": _Kind("pairs of values", "which of two values came first in the input"),
    "files": _Kind("files", "files and notes that the release does not list"),
    "boundaries and statistics": _Kind(
        "files", "sizes of parts, and stated values, that the rows do not explain"
    ),
    "file sizes": _Kind("files", "sizes of files that the cells do not explain"),
}


def leak(
    what: str,
    how: str,
    found: Trained,
    population: int,
    *,
    attribute: str | None = None,
    figures: Mapping[str, float] | None = None,
    certain: int = 0,
    where: str = "",
    kind: tuple[str, str] | None = None,
    is_search: bool = False,
) -> Outcome:
    """Return the outcome of looking for one leak.

    `kind` says what the tries are and what is to be told, where it is not the usual of such a leak.
    """
    unit, asks, knows = _KINDS[what]
    unit, asks = kind or (unit, asks)
    return Outcome(
        attack=f"leak: {what}",
        attribute=attribute,
        knows=knows,
        how=f"{how} {_CONTROL}",
        success=found.success,
        blind=found.blind,
        control=None,
        worst=None,
        sample=found.success.tried,
        population=population,
        figures=figures or {},
        certain=certain,
        unit=unit,
        blind_is="chance",
        where=where,
        asks=asks,
        is_search=is_search,
    )


def residue(what: str, how: str, found: int, population: int, **figures: float) -> Outcome:
    """Return the outcome of looking for what should not be in the files: each find is certain."""
    nothing = Trained(Rate(0, 0), Rate(0, 0))
    return leak(what, how, nothing, population, figures=figures, certain=found, is_search=True)
