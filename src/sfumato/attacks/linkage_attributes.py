"""Attribute linkage: what is a person's secret, whichever record is theirs?

*Homogeneity*: all records that fit have one value. *Skewness*: they have one more often than the
whole release has. *Similarity*: their values differ, but are all close to each other.

*Source*: SLPPA, section 3.2 (attribute linkage attack); homogeneity after l-diversity, skewness
and similarity after t-closeness.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.attacks.cohorts import Cohorts, cohorts_of
from sfumato.attacks.glimpse import Eyes, Glimpse
from sfumato.attacks.linkage_records import KNOWS
from sfumato.attacks.outcome import Outcome, Rate, worst_decile
from sfumato.attacks.secrets_seen import Seen

_CONTROL = " The control are people who are not in the data, and what they keep secret."


def homogeneity(seen: Seen, cohorts: Cohorts) -> Outcome:
    """Return how often one value alone is left, and is the person's; `cohorts` are the secret's."""
    single = seen.targets.told & (seen.targets.candidates == 1)
    claims = seen.targets.of(single)
    control = None
    if seen.controls is not None:
        alike = seen.controls.of(seen.controls.told & (seen.controls.candidates == 1))
        control = Rate.of(alike.chance)
    one_valued = 0 if seen.is_constant else cohorts.one_valued(seen.secret.count - 1)
    return Outcome(
        attack="attribute linkage (homogeneity)",
        how="Where all fitting records have one value, it is taken for the person's; only people "
        "for whom that is so are counted." + _CONTROL,
        success=Rate.of(claims.chance),
        blind=Rate.of(claims.blind),
        control=control,
        worst=worst_decile(np.where(single, seen.targets.chance, 0)),
        figures={
            "share_of_people": float(single.mean()) if single.size else 0.0,
            "groups_or_buckets_with_one_value": float(one_valued),
        },
        certain=one_valued,
        **_about(seen),
    )


def skewness(seen: Seen) -> Outcome:
    """Return how often the likeliest value among fitting records is the person's."""
    return Outcome(
        attack="attribute linkage (skewness)",
        how="The likeliest value among fitting records is guessed, against the most frequent value "
        "of the whole release." + _CONTROL,
        success=Rate.of(seen.targets.guess),
        blind=Rate.of(seen.targets.blind),
        control=None if seen.controls is None else Rate.of(seen.controls.guess),
        worst=worst_decile(seen.targets.chance),
        figures={"mean_candidates": _mean_candidates(seen.targets)},
        **_about(seen),
    )


def similarity(seen: Seen) -> list[Outcome]:
    """Return how often all candidates are close to each other and to the person's value.

    Nothing where the release says nothing of closeness: a category without a hierarchy.
    """
    if not seen.rulers:
        return []
    claims = seen.targets.of(seen.targets.close)
    control = None
    if seen.controls is not None:
        control = Rate.of(seen.controls.of(seen.controls.close).within)
    outcome = Outcome(
        attack="attribute linkage (similarity)",
        how="Where fitting records have several values that are all close (numbers within 10 % of "
        "the domain's width, categories below one label of the hierarchy), the person's is said to "
        "be close to them; only people for whom that is so are counted. The blind guess names the "
        "close values that are most frequent." + _CONTROL,
        success=Rate.of(claims.within),
        blind=Rate.of(claims.by_window),
        control=control,
        worst=worst_decile(seen.targets.within),
        figures={"share_of_people": _share(seen.targets.close)},
        **_about(seen),
    )
    return [outcome]


def attribute_linkage(eyes: Eyes) -> list[Outcome]:
    """Return the outcomes of all three, for every secret."""
    found: list[Outcome] = []
    for name in eyes.secrets:
        seen = Seen.of(eyes, name)
        cohorts = cohorts_of(eyes.ignorant_of(name), seen.secret)
        found += [homogeneity(seen, cohorts), skewness(seen), *similarity(seen)]
    return found


def _about(seen: Seen) -> dict[str, Any]:
    return {
        "attribute": seen.secret.name,
        "knows": f"{KNOWS}, and that the person is in the data",
        "sample": seen.targets.people,
        "population": seen.population,
    }


def _share(which: Any) -> float:
    return float(np.mean(which)) if len(which) else 0.0


def _mean_candidates(glimpse: Glimpse) -> float:
    told = glimpse.candidates[glimpse.told]
    return float(told.mean()) if told.size else 0.0
