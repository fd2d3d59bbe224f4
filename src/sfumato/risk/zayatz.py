"""Population uniques by the equivalence class structure of the sample.

The sizes of the population's classes are taken to be distributed like the sample's. Bayes' rule
then gives the chance that a sample unique is one in the population,

    P(F = 1 | f = 1) = s_1 P(f = 1 | F = 1) / sum over j of s_j P(f = 1 | F = j),

with s_j classes of size j in the sample and hypergeometric P(f = 1 | F = j). As a sample has
smaller classes than its population, it tends to estimate too many.

Source: Zayatz, Estimation of the percent of unique population elements on a microdata file using
the sample (1991).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from sfumato.risk.estimate import Estimate, estimated, no_estimate
from sfumato.risk.special import log_choose

NAME = "zayatz"


def zayatz(counts: Mapping[int, int], population: int) -> Estimate:
    """Return the estimate from the sizes of a sample's classes; 0 if no record is unique."""
    sample = sum(size * count for size, count in counts.items())
    singles = counts.get(1, 0)
    if not singles:
        return estimated(NAME, 0.0, sample, population)
    evidence = math.fsum(
        count * _one_drawn(size, sample, population) for size, count in counts.items()
    )
    if evidence <= 0:
        return no_estimate(NAME, "no class could have had one record in such a sample")
    share = singles * _one_drawn(1, sample, population) / evidence
    return estimated(
        *(NAME, share * singles * population / sample, sample, population), unique_if_sampled=share
    )


def _one_drawn(size: int, sample: int, population: int) -> float:
    """Return the chance that a sample draws exactly one of a class."""
    log = log_choose(population - size, sample - 1) - log_choose(population, sample)
    return size * math.exp(log)
