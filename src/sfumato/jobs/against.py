"""A new release held against earlier ones: its l must survive their intersection."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from sfumato.attacks.narrowed import Narrowed, narrowed
from sfumato.errors import Infeasible, ParameterError
from sfumato.methods import Method
from sfumato.release import Release

_MOST_TRIES = 40  # each asks for groups about twice as large


def kept_apart(
    publish: Callable[[Method], Release],
    method: Method,
    earlier: Sequence[Release],
    data: pa.Table,
    *,
    repartition: bool,
) -> tuple[Release, tuple[str, ...]]:
    """Return a release of the data, and warnings, whose l holds beside every earlier release.

    For each sensitive attribute with an l (or a largest share 1/l), nobody in the data may have
    fewer than l candidates left after intersecting with any one of the earlier releases. With
    `repartition`, coarser partitions are tried until it is so. Candidates are counted and not
    weighed: the warnings say how likely one of them can be.

    Refuses (Infeasible) what breaks an l; (ParameterError) releases that claim nothing of the kind.
    """
    release = publish(method)
    stated = _stated(release)
    found = _findings(release, stated, earlier, data)
    for _ in range(_MOST_TRIES if repartition else 0):
        coarser = method.coarser()
        worst = _worst(found)
        if worst is None or worst[1].alone or coarser is None:
            break
        method = coarser
        try:
            release = publish(method)
        except Infeasible:
            break
        found = _findings(release, stated, earlier, data)
    worst = _worst(found)
    if worst is not None:
        raise Infeasible(_message(*worst, tried=repartition))
    return release, _warnings(found, stated)


Found = list[tuple[str, Narrowed]]


def _findings(
    release: Release, stated: Mapping[str, int], earlier: Sequence[Release], data: pa.Table
) -> Found:
    """Return what each earlier release leaves of each attribute's candidates."""
    return [
        (name, found)
        for name, fewest in stated.items()
        for other in earlier
        if (found := narrowed(release, other, data, name, fewest)) is not None
    ]


def _worst(found: Found) -> tuple[str, Narrowed] | None:
    """Return the attribute and finding with most people whose l is broken; None if none is."""
    broken = [each for each in found if each[1].broken]
    return max(broken, key=lambda each: each[1].broken, default=None)


def _warnings(found: Found, stated: Mapping[str, int]) -> tuple[str, ...]:
    likeliest: dict[str, float] = {}
    for name, each in found:
        likeliest[name] = max(likeliest.get(name, 0.0), each.likeliest)
    return tuple(
        f"beside an earlier release, someone's '{name}' can be guessed with a chance of "
        f"{chance:.0%}, though at least {stated[name]} values are left to everybody"
        for name, chance in likeliest.items()
        if chance > 1 / stated[name]
    )


def _stated(release: Release) -> dict[str, int]:
    """Return by attribute the largest l that a release claims."""
    found: dict[str, int] = {}
    for claim in release.manifest.guarantees:
        name, fewest = claim.get("attribute"), _fewest(claim)
        if isinstance(name, str) and fewest > 1:
            found[name] = max(found.get(name, 1), fewest)
    if not found:
        raise ParameterError(
            "`--against` holds the l of sensitive attributes, and this release claims none; "
            "ask for an `l`"
        )
    return found


def _fewest(claim: Mapping[str, Any]) -> int:
    """Return how many values a claim leaves to everybody at least."""
    match claim:
        case {"model": "l-diversity" | "l-unique-groups" | "l-unique-buckets", "l": l}:
            return int(l)
        case {"model": "alpha-beta-gamma-delta", "beta": share}:
            return math.ceil(1 / float(share))
        case {"model": "alpha-k-anonymity", "alpha": share}:
            return math.ceil(1 / float(share))
    return 1


def _message(attribute: str, found: Narrowed, *, tried: bool) -> str:
    start = (
        f"nothing was written: beside an earlier release, {found.broken} of {found.people} people "
        f"who may be in both keep too few candidates for `{attribute}` (as few as {found.fewest})"
    )
    if found.alone:
        return (
            f"{start}, {found.alone} of them by the earlier release alone; leave these people out, "
            "or ask for a smaller l"
        )
    if tried:
        return f"{start}, however coarse the partition; ask for a smaller l, or leave people out"
    return f"{start}; --repartition tries coarser partitions"
