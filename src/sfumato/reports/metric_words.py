"""Metrics and numbers of attacks in plain words, each with its formula."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# By the name of the metric without the attribute: a title, what it says, its formula.
METRICS: Final[Mapping[str, tuple[str, str, str]]] = {
    "ncp": (
        "normalised certainty penalty (NCP)",
        "how coarse generalised cells are: 0 all exact, 1 all could be anything",
        "mean over cells of (width of the cell) / (width of the attribute's range), for categories "
        "(values below the label − 1) / (all values − 1); a withheld cell counts 1",
    ),
    "discernibility": (
        "discernibility",
        "how many pairs of records cannot be told apart; lower is better",
        "Σ |G|² over all groups, plus (suppressed rows) · (all rows)",
    ),
    "distortion": (
        "distortion ratio",
        "how high cells stand in their hierarchies: 0 all exact, 1 all at the root",
        "mean over quasi-identifier cells of level / height",
    ),
    "mean_probability": (
        "mean probability of the own value",
        "how likely a person is assigned their own value, drawn within the group; higher is better",
        "mean over people of n_v / |G|, v being their own value in their group G",
    ),
    "reconstruction_error": (
        "reconstruction error (RE)",
        "people who are expected to be assigned another value than their own",
        "Σ over people of 1 − n_v / |G|",
    ),
    "glp": (
        "global loss of probability (GLP)",
        "how likely a person is assigned a value that nobody of their kind has: 0 nothing lost",
        "mean over people of Pr[value drawn within the group ∉ values of people who agree with "
        "them in all quasi-identifiers]",
    ),
    "information_loss": (
        "information loss (SSE/SST)",
        "the share of the variance that means of groups have lost",
        "Σ (x − mean of the group)² / Σ (x − mean of all)²",
    ),
    "changed_cells": (
        "changed cells",
        "the share of cells that are expected to show another value than their own",
        "Σ_u p_u · (1 − M[u, u]), with the original's shares p and the stated matrix M",
    ),
    "l1_of_published_shares": (
        "L1 of published shares",
        "how far shares of values, read as they stand, are from the original's (2 at most)",
        "Σ_v |published share of v − original share of v|",
    ),
    "l1_of_estimated_shares": (
        "L1 of estimated shares",
        "how far shares of values, estimated from the matrix, are from the original's (2 at most)",
        "Σ_v |estimated share of v − original share of v|",
    ),
}

DISTANCES: Final = (
    "With p_v and q_v the shares of a value (or interval) v in the original and in the release:",
    "L1 = Σ |p_v − q_v| (2 at most) · L2 = √Σ (p_v − q_v)² · Hellinger = "
    "√(½ Σ (√p_v − √q_v)²) (1 at most)",
    "Numbers with more than ten values are taken by ten equally wide intervals.",
)
ASSOCIATION: Final = (
    "Mean-square contingency φ² = (Σ p_uv² / (p_u · p_v) − 1) / (min(number of u, number of v) − "
    "1): 0 where two attributes are independent, 1 where one determines the other.",
)
ERRORS: Final = (
    "Error = |answer − truth| / |truth|, over random queries; truths of 0 are left out.",
    "Width = (upper bound − lower bound) / |truth|, the median. A bound is trivial if it says no "
    "more than the number of rows does.",
    "In bounds: the share of bounds that contain the truth, which must be all of them.",
)
ANSWERS: Final = (
    "Estimate: values inside a generalised cell equally likely, matching inside groups at random.",
    "Low and high: bounds that hold for every original that the release may have come from.",
    "An interval holds its lower end; the first and the last reach to all that lies beyond.",
    "Share = estimate / all rows. Standard error: of the layout's own randomness alone.",
)
ATTACKS: Final = (
    "Success = right guesses / tries, over a random sample of people; where an adversary has to "
    "draw, the chance counts.",
    "Interval: Wilson's 95 %: (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n), z = 1.96.",
    "Blind guess: the same people, guessed without a link between them and records.",
    "Control: the same attack on people who are not in the data.",
    "Worst tenth: the mean chance of the tenth of the people that is hit worst.",
    "Risk: the interval of the success, with confidence 1 − 0.05/m for m outcomes, lies above "
    "those of the blind guess and the control, or something is certain from the files alone.",
)
SIZES: Final = (
    "A bar is the number of groups (buckets, sets) whose size lies in its range, counted in the "
    "published files.",
)


def words_of_metric(name: str) -> tuple[str, str, str]:
    """Return title, meaning and formula of a metric; of one attribute's, with its name.

    >>> words_of_metric("glp of disease")[0]
    "global loss of probability (GLP) of 'disease'"
    """
    if name in METRICS:
        return METRICS[name]
    kind, _, attribute = name.partition(" of ")
    if kind in METRICS and attribute:
        title, means, formula = METRICS[kind]
        return f"{title} of '{attribute}'", means, formula
    return name.replace("_", " "), "", ""
