"""A new release held against earlier ones: its l must survive their intersection."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.attacks.narrowed import Narrowed, narrowed
from sfumato.attacks.view import KNOWN, View
from sfumato.errors import Infeasible, ParameterError
from sfumato.methods import Method
from sfumato.release import Release
from sfumato.release.beside import as_known_in, recoded_otherwise
from sfumato.schema.attribute import Role

Found = dict[str, Narrowed]

_MOST_TRIES = 40  # each asks for groups about twice as large


def kept_apart(
    publish: Callable[[Method], Release],
    method: Method,
    earlier: Mapping[str, Release],
    data: pa.Table,
    *,
    before_recoding: pa.Table | None = None,
    secret: Mapping[str, npt.NDArray[np.bool_]],
    repartition: bool,
) -> tuple[Release, tuple[str, ...]]:
    """Return a release of the data, and warnings, whose l holds beside every earlier release.

    For each attribute with an l (or a largest share 1/l), nobody in the data may have fewer than l
    candidates left after intersecting with all of the earlier releases, by name, that may hold the
    person. `before_recoding` has the same rows as they were before the policy recoded them: in an
    earlier release they stand as its own policy had it. `secret` says of semi-sensitive attributes
    which rows hide them. With `repartition`, coarser partitions are tried until it is so.
    Candidates are counted and not weighed: the warnings say how likely one of them can be, and
    which releases could not be checked.

    Refuses (Infeasible) what breaks an l; (ParameterError) releases that claim nothing of the kind.
    """
    release = publish(method)
    View.of(release)  # called for its refusal of layouts that cannot be held against others
    stated = _stated(release)
    people = [as_known_in(each, _or(before_recoding, data)) for each in earlier.values()]
    pairs = list(zip(earlier.values(), people, strict=True))

    def findings() -> Found:
        """Return what the earlier releases leave of each attribute's candidates."""
        left = {}
        for name, fewest in stated.items():
            own = [pair for pair in pairs if name not in recoded_otherwise([release, pair[0]])]
            others, tables = [each for each, _ in own], [table for _, table in own]
            found = narrowed(release, others, [data, *tables], name, fewest, secret.get(name))
            if found is not None:
                left[name] = found
        return left

    found = findings()
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
        found = findings()
    worst = _worst(found)
    if worst is not None:
        raise Infeasible(_message(*worst, tried=repartition))
    return release, (*_unchecked(release, earlier, stated, data), *_warnings(found, stated))


def _or(given: pa.Table | None, otherwise: pa.Table) -> pa.Table:
    return otherwise if given is None else given


def _worst(found: Found) -> tuple[str, Narrowed] | None:
    """Return the attribute and finding with most people whose l is broken; None if none is."""
    broken = [each for each in found.items() if each[1].broken]
    return max(broken, key=lambda each: each[1].broken, default=None)


def _unchecked(
    new: Release, earlier: Mapping[str, Release], stated: Mapping[str, int], data: pa.Table
) -> tuple[str, ...]:
    """Return what could not be held against the new release, so that nobody relies on it."""
    if not earlier:
        return ("no earlier release was given: the ledger lists none",)
    warnings = []
    for place, release in earlier.items():
        entries = release.manifest.attributes
        hidden = {e.name for e in entries if e.role in (Role.SENSITIVE, Role.SEMI_SENSITIVE)}
        known = {e.name for e in entries if e.role in KNOWN and e.name in data.column_names}
        for name in stated:
            if name not in hidden:
                warnings.append(f"the earlier release '{place}' does not tell '{name}' as a secret")
            elif name in recoded_otherwise([new, release]):
                warnings.append(
                    f"the earlier release '{place}' recodes '{name}' otherwise, so that its values "
                    "cannot be told from those of this one"
                )
            elif not known - {name}:
                warnings.append(f"the earlier release '{place}' shares no quasi-identifier")
    return tuple(f"not held against all: {warning}" for warning in warnings)


def _warnings(found: Found, stated: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(
        f"beside earlier releases, someone's '{name}' can be guessed with a chance of "
        f"{each.likeliest:.0%}, though at least {stated[name]} values are left to everybody"
        for name, each in found.items()
        if each.likeliest > 1 / stated[name]
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
            return math.ceil(float(l))
        case {"model": "alpha-beta-gamma-delta", "beta": share}:
            return math.ceil(1 / float(share))
        case {"model": "alpha-k-anonymity", "alpha": share}:
            return math.ceil(1 / float(share))
    return 1


def _message(attribute: str, found: Narrowed, *, tried: bool) -> str:
    start = (
        f"nothing was written: beside earlier releases, {found.broken} of {found.people} people "
        f"who may be in them keep too few candidates for `{attribute}` (as few as {found.fewest})"
    )
    if found.alone:
        return (
            f"{start}, {found.alone} of them by the earlier releases alone; leave these people "
            "out, or ask for a smaller l"
        )
    if tried:
        return f"{start}, however coarse the partition; ask for a smaller l, or leave people out"
    return f"{start}; --repartition tries coarser partitions"
