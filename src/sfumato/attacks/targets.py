"""What all releases together tell of people who are in all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.attacks.intervals import wilson
from sfumato.attacks.result import Matches, People
from sfumato.attacks.rules import Exclusion
from sfumato.attacks.stage import Secret, Side, parts

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def examine_people(
    sides: Sequence[Side],
    secret: Secret,
    rows: Sequence[Ints],
    rules: Sequence[Exclusion],
    matches: Matches,
    *,
    sample: int,
    rng: np.random.Generator,
) -> People:
    """Return what is left of the candidates of people, who are at `rows` of the originals.

    The chance to guess is that of one who draws from the product of the shares that the value has
    in each release, among the values that are left.
    """
    found = len(rows[0])
    chosen = draw(found, sample, rng)
    rows = [each[chosen] for each in rows]
    rows = _with_secrets(sides, secret, rows)
    truth = np.stack([each.truth[own] for each, own in zip(secret.sides, rows, strict=True)])
    steady = (truth == truth[0]).all(axis=0)
    count = len(rows[0])
    groups = [side.groups_of(own) for side, own in zip(sides, rows, strict=True)]
    # whichever original says that a rule is about a person
    subjects = [
        np.logical_or.reduce([rule.subjects(*each) for each in zip(sides, rows, strict=True)])
        for rule in rules
    ]
    before = np.zeros(len(sides))
    left = np.zeros(count, np.int64)
    has, single, covered = (np.empty(count, np.bool_) for _ in range(3))
    guess = np.zeros(count)
    for part in parts(count, secret.count):
        size = part.stop - part.start
        person = np.arange(size)
        open_ = np.ones((size, secret.count), np.bool_)
        for rule, subject in zip(rules, subjects, strict=True):
            open_ &= ~(subject[part, None] & rule.values)
        product = np.ones((size, secret.count))
        among, lone = np.ones(size, np.bool_), np.zeros(size, np.bool_)
        for place, candidates in enumerate(secret.sides):
            weight = candidates.of_people(groups[place][part], secret.count)
            may = weight > 0
            sizes = may.sum(axis=1)
            before[place] += sizes.sum()
            lone |= sizes == 1
            among &= may[person, truth[place, part]]
            open_ &= may
            product *= weight / np.maximum(weight.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        product *= open_
        own_value = person, truth[0, part]
        left[part] = open_.sum(axis=1)
        has[part] = open_[own_value] & steady[part]
        single[part], covered[part] = lone, among
        chance = product[own_value] / np.maximum(product.sum(axis=1), np.finfo(float).tiny)
        guess[part] = chance * steady[part]
    given = has & (left == 1)
    some = left > 0
    return People(
        found=found,
        examined=count,
        disclosed=int(given.sum()),
        interval=wilson(int(given.sum()), count),
        alone=int((given & single).sum()),
        nothing_left=int((~some).sum()),
        changed=int((~steady).sum()),
        before=tuple((before / max(count, 1)).tolist()),
        after=float(left[some].mean()) if some.any() else 0.0,
        covered=float(covered.mean()) if count else 1.0,
        guess=float(guess.mean()) if count else 0.0,
        matches=matches,
    )


def _with_secrets(sides: Sequence[Side], secret: Secret, rows: Sequence[Ints]) -> Sequence[Ints]:
    """Return the people who may be in a group with a secret in each release; others hide none."""
    kept = np.ones(len(rows[0]), np.bool_)
    for side, candidates, own in zip(sides, secret.sides, rows, strict=True):
        has = candidates.start[1:] > candidates.start[:-1]
        if not has.all():
            kept &= (side.groups_of(own) & np.packbits(has)).any(axis=1)
    return [own[kept] for own in rows]


def draw(count: int, sample: int, rng: np.random.Generator) -> Ints:
    """Return the numbers below `count`, or a random sample of them, ascending."""
    if count <= sample:
        return np.arange(count)
    return np.sort(rng.choice(count, sample, replace=False))
