"""What further knowledge adds: values that a person does not have, and neighbours' own values."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from sfumato.attacks.adversary import Adversary
from sfumato.attacks.cohort_kernels import add_corrupted
from sfumato.attacks.cohorts import Cohorts, cohorts_of
from sfumato.attacks.glimpse import NEGATED, Eyes, Glimpse
from sfumato.attacks.linkage_records import KNOWS
from sfumato.attacks.outcome import Outcome, Rate, worst_decile
from sfumato.attacks.secrets_seen import Seen, with_secret
from sfumato.attacks.stage import Secret
from sfumato.schema.attribute import Role
from sfumato.table.groups import starts_of

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

CORRUPTED: Final = (1, 2, 3)
_ENTRIES = 1 << 22  # groups of people that are gone through


def negation(eyes: Eyes) -> list[Outcome]:
    """Return what is left if the 1, 2, 3 likeliest wrong values are ruled out, for every secret."""
    found = []
    for name in eyes.secrets:
        seen = Seen.of(eyes, name)
        for ruled_out in range(1, NEGATED + 1):
            chance = _after(seen.targets.chance, seen.targets.wrong, ruled_out)
            found.append(
                Outcome(
                    attack=f"background knowledge ({ruled_out} negated)",
                    attribute=name,
                    knows=f"{KNOWS}, that the person is in the data, and {_times(ruled_out)} that "
                    "the person does not have",
                    how="The likeliest wrong values are ruled out, and one of the others is drawn "
                    "with its chance; the blind guess rules out the most frequent wrong ones. The "
                    "control are people who are not in the data, and what they keep secret.",
                    success=Rate.of(chance),
                    blind=Rate.of(_after(seen.targets.prior, seen.targets.prior_wrong, ruled_out)),
                    control=_control(seen.controls, ruled_out),
                    worst=worst_decile(chance),
                    sample=seen.targets.people,
                    population=seen.population,
                    figures={"share_of_people_who_are_sure": float(np.mean(chance > 1 - 1e-9))}
                    if chance.size
                    else {},
                )
            )
    return found


def corruption(eyes: Eyes) -> list[Outcome]:
    """Return what is left if the values of 1, 2, 3 neighbours are known, for every secret.

    Nothing for random sets, where no record has neighbours.
    """
    if not isinstance(eyes, Adversary):
        return []
    found = []
    for name in eyes.secrets:
        own = eyes.ignorant_of(name)
        secret = own.secret(name)
        cohorts, prior = cohorts_of(own, secret), own.prior(secret)
        people, chances = _corrupted(
            own, secret, cohorts, with_secret(own, secret, own.targets), prior
        )
        controls = None
        if name not in own.untold and len(own.controls):
            strangers = with_secret(own, secret, own.controls)
            controls = _corrupted(own, secret, cohorts, strangers, prior, are_in=False)[1]
        blind = prior[own.truth(people, secret)]
        for place, known in enumerate(CORRUPTED):
            found.append(
                Outcome(
                    attack=f"corruption ({known} known)",
                    attribute=name,
                    knows=f"{KNOWS}, that the person is in the data, and the secret of {known} "
                    f"other{'s' * (known > 1)} among whom it is shuffled",
                    how="The values of neighbours, taken at random, are removed from the group or "
                    "bucket, and one of the others is drawn; the blind guess draws from the whole "
                    "release. The control are people who are not in the data, and what they keep "
                    "secret.",
                    success=Rate.of(chances[:, place]),
                    blind=Rate.of(blind),
                    control=None if controls is None else Rate.of(controls[:, place]),
                    worst=worst_decile(chances[:, place]),
                    sample=len(people),
                    population=own.population,
                )
            )
    return found


def _after(chance: Reals, wrong: Reals, ruled_out: int) -> Reals:
    """Return the chance of the own value among those that are not ruled out."""
    rest = np.maximum(1 - wrong[:, ruled_out - 1], chance)
    return np.where(chance > 0, chance / np.maximum(rest, np.finfo(float).tiny), 0.0)


def _control(glimpse: Glimpse | None, ruled_out: int) -> Rate | None:
    return None if glimpse is None else Rate.of(_after(glimpse.chance, glimpse.wrong, ruled_out))


def _corrupted(
    eyes: Adversary,
    secret: Secret,
    cohorts: Cohorts,
    rows: Ints,
    prior: Reals,
    *,
    are_in: bool = True,
) -> tuple[Ints, Reals]:
    """Return people and the chance of their value, with 1, 2, 3 neighbours known: a column each.

    Of n people of whom m have the value, one being the person, c neighbours at random have it
    c (m - 1)/(n - 1) times; so m less that are left among n - c. With fewer neighbours than c, all
    are known. Who is not in the data (`are_in`) is none of the n: c of them at random have the
    value c m/n times, so that a share of m/n is left, whatever c is. Of people who fit no group, no
    more is known than `prior` says. Where people fit very many groups, fewer are looked at.
    """
    told = secret.sides[0]
    held = np.bincount(
        np.repeat(np.arange(eyes.view.groups), np.diff(told.start)),
        told.weight,
        minlength=eyes.view.groups,
    )
    partly = eyes.release.manifest.attribute(secret.name).role is Role.SEMI_SENSITIVE
    # of a record of a group, how much is in its cohorts
    per_record = held / eyes.sizes
    first = starts_of(cohorts.of, len(cohorts.sizes))
    kinds, of = eyes.kinds(rows)
    taken, chances = [np.zeros(0, np.int64)], [np.zeros((0, len(CORRUPTED)))]
    left = _ENTRIES
    for part, fits in eyes.fits_in_parts(kinds):
        here = np.flatnonzero((of >= part.start) & (of < part.stop))
        ends = np.cumsum(np.diff(fits.start)[of[here] - part.start])
        here = here[: max(int(np.searchsorted(ends, left, "right")), 1)]
        left -= int(ends[len(here) - 1]) if len(here) else 0
        truth = eyes.truth(rows[here], secret)
        # people of one kind with the same value fare alike
        pairs, like = np.unique(of[here] * secret.count + truth, return_inverse=True)
        kind = pairs // secret.count - part.start
        kinds_here, group, weight = fits.by_group
        by_kind, by_pair = np.zeros(fits.people), np.zeros((len(pairs), len(CORRUPTED)))
        add_corrupted(
            kinds_here,
            group,
            weight * per_record[group],
            cohorts.start,
            cohorts.cohort,
            cohorts.share,
            cohorts.sizes,
            first,
            cohorts.value,
            cohorts.count,
            starts_of(kind, fits.people),
            pairs % secret.count,
            np.array(CORRUPTED),
            are_in,
            by_kind,
            by_pair,
        )
        total, summed = by_kind[of[here] - part.start], by_pair[like]
        share = summed / np.maximum(total, np.finfo(float).tiny)[:, None]
        shown = np.where(total[:, None] > 0, share, prior[truth][:, None])
        # who fits no group that hides an attribute which some do not hide keeps nothing secret
        kept = total > 0 if partly else total >= 0
        taken.append(rows[here][kept])
        chances.append(shown[kept])
        if left <= 0:
            break
    return np.concatenate(taken), np.concatenate(chances)


def _times(count: int) -> str:
    return "a value" if count == 1 else f"{count} values"
