"""One secret as an adversary sees it, of people of the data and of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.attacks.glimpse import Eyes, Glimpse, Ruler, glimpse, rulers_of
from sfumato.attacks.stage import Secret
from sfumato.schema.attribute import Role

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What is seen of a secret by eyes that do not know it, though they may know it of others.

    They are not held: they remember this, and nothing would let go of either. `controls` is None
    where the secrets of the controls are not known. A secret that has one value in the whole
    release `is_constant`: there is nothing to find out.
    """

    secret: Secret
    rulers: Sequence[Ruler]
    targets: Glimpse
    controls: Glimpse | None
    population: int
    is_constant: bool

    @classmethod
    def of(cls, eyes: Eyes, name: str) -> Seen:
        """Return what is seen of the secret of this name.

        People whose value is missing are left out, and of a semi-sensitive attribute those who fit
        no group that hides it: they keep nothing secret.
        """
        found: Seen = eyes.remembered(("seen", name), lambda: cls._of(eyes, name))
        return found

    @classmethod
    def _of(cls, eyes: Eyes, name: str) -> Seen:
        hidden = eyes.release.manifest.attribute(name).role is Role.SEMI_SENSITIVE
        own = eyes.ignorant_of(name)
        secret = own.secret(name)
        rulers = rulers_of(own.release, secret)
        people = with_secret(own, secret, own.targets)
        others = with_secret(own, secret, own.controls[: 0 if name in own.untold else None])
        # together, since people of both may be known by the same values
        both = glimpse(own, secret, np.concatenate([people, others]), rulers)
        is_target = np.arange(both.people) < len(people)
        targets, controls = both.of(is_target), None
        if name not in own.untold and len(own.controls):
            controls = both.of(~is_target)
        if hidden:
            targets = targets.of(targets.told)
            controls = None if controls is None else controls.of(controls.told)
        constant = bool((own.prior(secret) > 0).sum() <= 1)
        return cls(secret, rulers, targets, controls, own.population, constant)


def with_secret(eyes: Eyes, secret: Secret, rows: Ints) -> Ints:
    """Return the people who have a value of the secret: one that is missing is none."""
    return rows[eyes.truth(rows, secret) < secret.count - 1]
