"""What earlier releases take away from the protection of a new one, person by person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.attacks.bits import Bits, set_places
from sfumato.attacks.stage import Candidates, Secret, set_stage
from sfumato.attacks.view import View
from sfumato.release import Release

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_BYTES = 1 << 26  # of groups of people, or of their values, at a time


@dataclass(frozen=True, slots=True)
class Narrowed:
    """How many people have too few candidates left.

    Of `people` who may be in the new release and in some earlier one with the value that they
    have, so many are `broken`; `alone` of them by the earlier releases alone, whatever is published
    now. `fewest` is the smallest number of candidates that is left to anyone, `likeliest` the
    largest chance of any.
    """

    people: int
    broken: int
    alone: int
    fewest: int
    likeliest: float


def narrowed(
    new: Release,
    earlier: Sequence[Release],
    data: pa.Table | Sequence[pa.Table],
    attribute: str,
    fewest: int,
    among: Bools | None = None,
) -> Narrowed | None:
    """Return what is left of candidates to the people of `data`, of whom `new` is a release.

    They are those that the new release leaves and every earlier one that may hold the person: whose
    candidates have the person's value. An earlier release may tell quasi-identifiers that the data
    lack; whoever knows them knows the person's group, and the worst that fits is taken. Too few
    are less than `fewest`. A candidate's chance is in proportion to its shares in all releases over
    those in all of the new one: who learns nothing new from one believes what the others say.
    `among` are the rows whose value is a secret (default: all). Missing values are none. Several
    tables have what is known of the same people in the words of the new release and of each earlier
    one, which may have been recoded otherwise.

    None where no release tells of the attribute, or of anything else that the data tell.
    """
    views = [View.of(new), *(View.of(each) for each in earlier)]
    tables = [data] * len(views) if isinstance(data, pa.Table) else list(data)
    seen = [
        view.of_one_who_knows([name for name in table.column_names if name != attribute])
        for view, table in zip(views, tables, strict=True)
    ]
    telling = [i for i in range(len(views)) if attribute in views[i].held and seen[i].blocks]
    if not telling or telling[0] != 0 or len(telling) == 1:
        return None
    is_partly_known = [set(views[i].known) - {attribute} > set(seen[i].known) for i in telling]
    sides = set_stage([seen[i] for i in telling], [tables[i] for i in telling])
    secret = Secret.of(attribute, sides)
    values = secret.count - 1  # a missing value comes last
    mine = secret.sides[0]
    overall = np.bincount(mine.value, mine.weight, minlength=secret.count)
    overall = np.where(overall > 0, overall, np.inf)[:values]
    open_ = mine.truth[:] < values
    if among is not None:
        open_ &= among
    targets = np.flatnonzero(open_)
    step = max(1, _BYTES // max(*(side.view.groups // 8 for side in sides), 16 * secret.count))
    people = broken = alone = 0
    least, most = values, 0.0
    for at in range(0, len(targets), step):
        rows = targets[at : at + step]
        truth = mine.truth[rows]
        person = np.arange(len(rows))
        own = mine.of_people(sides[0].groups_of(rows), secret.count)[:, :values]
        here = own[person, truth] > 0
        left, before = own > 0, np.ones_like(own, np.bool_)
        chance = own.copy()
        met = np.zeros(len(rows), np.bool_)
        for side, candidates, partly in zip(
            sides[1:], secret.sides[1:], is_partly_known[1:], strict=True
        ):
            groups = side.groups_of(rows)
            theirs = candidates.of_people(groups, secret.count)[:, :values]
            held = theirs[person, truth] > 0
            if partly:
                theirs = _worst_group(groups, candidates, truth, left, theirs, secret.count)
            may = np.where(held[:, None], theirs > 0, True)
            left &= may
            before &= may
            chance *= np.where(held[:, None], theirs / overall, 1.0)
            met |= held
        kept = here & met
        left, before, chance = left[kept], before[kept], np.where(left, chance, 0.0)[kept]
        people += len(left)
        if not len(left):
            continue
        chance /= chance.sum(axis=1, keepdims=True)
        bad = left.sum(axis=1) < fewest
        broken += int(bad.sum())
        alone += int((bad & (before.sum(axis=1) < fewest)).sum())
        least, most = min(least, int(left.sum(axis=1).min())), max(most, float(chance.max()))
    return Narrowed(people, broken, alone, least, most)


def _worst_group(
    groups: Bits,
    candidates: Candidates,
    truth: Ints,
    left: Bools,
    theirs: Reals,
    values: int,
) -> Reals:
    """Return for each person the values of the one group that leaves them the fewest candidates.

    Only groups with the person's own value count; who has none keeps what all groups have.
    """
    person, group = set_places(groups)
    found = theirs.copy()
    fewest = np.full(len(truth), values + 1)
    step = max(1, _BYTES // (8 * values))
    for at in range(0, len(person), step):
        who, where = person[at : at + step], group[at : at + step]
        shares = candidates.of_classes(where, values)[:, : values - 1]
        sizes = (left[who] & (shares > 0)).sum(axis=1)
        sizes[shares[np.arange(len(who)), truth[who]] <= 0] = values + 1
        order = np.lexsort((sizes, who))
        first = order[np.append(True, who[order][1:] != who[order][:-1])]
        better = first[sizes[first] < fewest[who[first]]]
        fewest[who[better]] = sizes[better]
        found[who[better]] = shares[better]
    return found
