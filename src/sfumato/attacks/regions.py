"""What overlapping classes leave of each other's candidates, when nobody's row is known.

A *region* is a class of each release, any two of which overlap: where somebody is in all of them,
the person's value is among those that they share. Regions are found release by release.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt

from sfumato.attacks.bits import set_places
from sfumato.attacks.intervals import wilson
from sfumato.attacks.result import Regions
from sfumato.attacks.rules import Exclusion
from sfumato.attacks.stage import Secret, Side, parts
from sfumato.attacks.targets import draw
from sfumato.release import Release

Ints = npt.NDArray[np.int64]

_REGIONS = 1 << 18  # that are followed further; of more, a sample


def examine_regions(
    releases: Sequence[Release],
    sides: Sequence[Side],
    secret: Secret,
    rules: Sequence[Exclusion],
    classes: Sequence[Ints],
    *,
    rng: np.random.Generator,
) -> Regions:
    """Return how many regions leave one candidate.

    A rule counts where the cells of one of the classes show that it is about all of its people.
    """
    index, is_sample = _regions(sides, classes, rng)
    is_sample |= any(len(own) < side.view.groups for own, side in zip(classes, sides, strict=True))
    values = secret.count
    has = [
        each.of_classes(own, values) > 0 for each, own in zip(secret.sides, classes, strict=True)
    ]
    bits = [np.packbits(each, axis=1) for each in has]
    sizes = [each.sum(axis=1) for each in has]
    subjects = [
        [
            rule.classes(release, side)[own]
            for release, side, own in zip(releases, sides, classes, strict=True)
        ]
        for rule in rules
    ]
    count = len(index[0])
    left = np.zeros(count, np.int64)
    for part in parts(count, values // 8 + 1):
        both = reduce(np.bitwise_and, (b[i[part]] for b, i in zip(bits, index, strict=True)))
        for rule, subject in zip(rules, subjects, strict=True):
            about = reduce(
                np.logical_or, (own[i[part]] for own, i in zip(subject, index, strict=True))
            )
            both[about] &= np.packbits(~rule.values)
        left[part] = np.bitwise_count(both).sum(axis=1)
    open_ = reduce(np.logical_and, (size[i] > 1 for size, i in zip(sizes, index, strict=True)))
    collapsed = int(((left == 1) & open_).sum())
    some = left > 0
    return Regions(
        examined=count,
        is_sample=is_sample,
        collapsed=collapsed,
        interval=wilson(collapsed, count),
        nothing_left=int((~some).sum()),
        before=tuple(
            float(size[i].mean()) if count else 0.0 for size, i in zip(sizes, index, strict=True)
        ),
        after=float(left[some].mean()) if some.any() else 0.0,
        classes=tuple(len(own) for own in classes),
    )


def _regions(
    sides: Sequence[Side], classes: Sequence[Ints], rng: np.random.Generator
) -> tuple[list[Ints], bool]:
    """Return the regions, the number of a class for each release, and whether there are more."""
    index = [np.arange(len(classes[0]))]
    is_sample = False
    for place in range(1, len(sides)):
        meets = [sides[i].overlaps(sides[place], classes[i], classes[place]) for i in range(place)]
        found: list[list[Ints]] = []
        for part in parts(len(index[0]), len(classes[place])):
            bits = reduce(
                np.bitwise_and, (own[i[part]] for own, i in zip(meets, index, strict=True))
            )
            region, group = set_places(bits)
            found.append([*(i[part][region] for i in index), group])
        index = [np.concatenate(each) for each in zip(*found, strict=True)]
        chosen = draw(len(index[0]), _REGIONS, rng)
        is_sample |= len(chosen) < len(index[0])
        index = [each[chosen] for each in index]
    return index, is_sample
