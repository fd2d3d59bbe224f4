"""What an earlier release takes away from the protection of a new one, person by person."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from sfumato.attacks.stage import Secret, set_stage
from sfumato.attacks.view import View
from sfumato.release import Release

_BYTES = 1 << 26  # of groups of people, at a time


@dataclass(frozen=True, slots=True)
class Narrowed:
    """How many people have too few candidates left.

    Of `people` who may be in both releases with the value that they have, so many are `broken`;
    `alone` of them by the earlier release alone, whatever is published now. `fewest` is the
    smallest number of candidates that is left to anyone, `likeliest` the largest chance of any.
    """

    people: int
    broken: int
    alone: int
    fewest: int
    likeliest: float


def narrowed(
    new: Release, earlier: Release, data: pa.Table, attribute: str, fewest: int
) -> Narrowed | None:
    """Return what is left of candidates to the people of `data`, of whom `new` is a release.

    Too few are less than `fewest`. A candidate's chance is in proportion to its shares in both
    releases over its share in all of the new one: who learns nothing new from one release believes
    what the other says. People whose value is not among the candidates of the earlier release are
    not in it, or have changed. Missing values are none.

    None where the releases share nothing that `data` tells of people, or no such attribute.
    """
    views = [_known_to(View.of(new), data), _known_to(View.of(earlier), data)]
    if any(attribute not in view.held or not view.blocks for view in views):
        return None
    sides = set_stage(views, [data, data])
    secret = Secret.of(attribute, sides)
    values = secret.count - 1  # a missing value comes last
    overall = np.bincount(secret.sides[0].value, secret.sides[0].weight, minlength=secret.count)
    overall = np.where(overall > 0, overall, np.inf)[:values]
    truth = secret.sides[0].truth
    step = max(1, _BYTES * 8 // max(*(view.groups for view in views), 8 * secret.count))
    people = broken = alone = 0
    least, most = values, 0.0
    for at in range(0, data.num_rows, step):
        rows = np.arange(at, min(at + step, data.num_rows))
        rows = rows[truth[rows] < values]
        own, theirs = (
            each.of_people(side.groups_of(rows), secret.count)[:, :values]
            for each, side in zip(secret.sides, sides, strict=True)
        )
        both = (own > 0) & (theirs > 0)
        here = both[np.arange(len(rows)), truth[rows]]
        both, own, theirs = both[here], own[here], theirs[here]
        people += len(both)
        if not len(both):
            continue
        chance = np.where(both, own * theirs / overall, 0.0)
        chance /= chance.sum(axis=1, keepdims=True)
        left = both.sum(axis=1)
        bad = left < fewest
        broken += int(bad.sum())
        alone += int((bad & ((theirs > 0).sum(axis=1) < fewest)).sum())
        least, most = min(least, int(left.min())), max(most, float(chance.max()))
    return Narrowed(people, broken, alone, least, most)


def _known_to(view: View, data: pa.Table) -> View:
    """Return the view of one who knows of people what the data tell."""
    blocks = []
    for block in view.blocks:
        names = [name for name in block.names if name in data.column_names]
        if names:
            blocks.append(block.project(names))
    return replace(view, blocks=tuple(blocks))
