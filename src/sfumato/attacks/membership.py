"""Table linkage: is a person in the data at all?

*Source*: SLPPA, section 3.2 (table linkage attack).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.attacks.adversary import Adversary
from sfumato.attacks.glimpse import Eyes
from sfumato.attacks.linkage_records import KNOWS
from sfumato.attacks.outcome import Outcome, Rate

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def membership(eyes: Eyes, rng: np.random.Generator) -> list[Outcome]:
    """Return how often people are told from others by the records that fit them.

    Nothing where there is nobody else to ask about.
    """
    count = min(len(eyes.targets), len(eyes.controls))
    if count < 2:
        return []
    if isinstance(eyes, Adversary) and eyes.links_by_distance:
        return [_by_distance(eyes, count, rng)]
    inside = _some(eyes.expected(eyes.targets), count)
    outside = _some(eyes.expected(eyes.controls), count)
    fits = np.concatenate([inside > 0, ~(outside > 0)])
    trained, tested = _threshold(inside, outside, rng)
    by_fit = _outcome(
        eyes,
        "a record fits",
        "a person whom some record fits is said to be in.",
        fits,
        share_of_people_with_a_record=float((inside > 0).mean()),
        share_of_others_with_a_record=float((outside > 0).mean()),
    )
    by_number = _outcome(
        eyes,
        "number of records",
        "from half of both the best limit on the number of fitting records is learned, and tried "
        "on the other half.",
        tested,
        right_in_training=trained,
    )
    return [by_fit, by_number]


def _by_distance(eyes: Adversary, count: int, rng: np.random.Generator) -> Outcome:
    """Return how often people are told from others by how near the nearest mean is."""
    inside, outside = (
        -_some(eyes.distances(rows), count) for rows in (eyes.targets, eyes.controls)
    )
    trained, tested = _threshold(inside, outside, rng)
    return _outcome(
        eyes,
        "distance to the nearest mean",
        "from half of both the best limit on the distance of the nearest mean is learned, and "
        "tried on the other half.",
        tested,
        right_in_training=trained,
        median_distance_of_people=-_median(inside),
        median_distance_of_others=-_median(outside),
    )


def _outcome(eyes: Eyes, by: str, how: str, right: Bools, **figures: float) -> Outcome:
    return Outcome(
        attack=f"table linkage ({by})",
        attribute=None,
        knows=KNOWS,
        how=f"Half of those asked about are in the data, half are not ({eyes.controls_are}); {how} "
        "Right answers count, and a coin is the blind guess; there is no control, since controls "
        "are among those asked.",
        success=Rate.of(right),
        blind=Rate(right.size / 2, right.size),
        control=None,
        worst=None,
        sample=right.size,
        population=eyes.population,
        unit="people, half of them strangers",
        blind_is="a coin",
        figures=figures,
    )


def _median(values: Reals) -> float:
    """Return the median of the finite values, 0 where there is none."""
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if finite.size else 0.0


def _some(values: Reals, count: int) -> Reals:
    """Return so many of the values, evenly spread: rows come in the order of the input."""
    return values[np.linspace(0, len(values) - 1, count).astype(np.int64)]


def _threshold(inside: Reals, outside: Reals, rng: np.random.Generator) -> tuple[float, Bools]:
    """Return the share of right answers in training, and the answers on the other half."""
    order = rng.permutation(len(inside))
    half = len(inside) // 2
    learn, try_ = order[:half], order[half:]
    limits = np.unique(np.concatenate([inside[learn], outside[learn]]))
    ordered_in, ordered_out = np.sort(inside[learn]), np.sort(outside[learn])
    # at or above the limit is "in"; the other way round is 1 less that
    right = half - np.searchsorted(ordered_in, limits) + np.searchsorted(ordered_out, limits)
    best, worst = int(np.argmax(right)), int(np.argmin(right))
    upwards = right[best] >= 2 * half - right[worst]
    limit = limits[best] if upwards else limits[worst]
    said = np.concatenate([inside[try_] >= limit, outside[try_] >= limit]) == upwards
    answers = np.concatenate([said[: len(try_)], ~said[len(try_) :]])
    share = right[best] if upwards else 2 * half - right[worst]
    return float(share / max(2 * half, 1)), answers
