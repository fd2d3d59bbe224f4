"""Population uniques by Pitman's sampling model.

The population's classes are taken for a draw of the Ewens-Pitman partition with parameters theta
and alpha, of which a simple random sample is one of n: a record joins a class of size f with
weight f - alpha and founds one with weight theta + u alpha, u being the classes so far. Both
parameters are fitted by maximum likelihood; uniques are then expected as

    N (theta + alpha)_{N-1} / (theta + 1)_{N-1},   (x)_m = x (x + 1) ... (x + m - 1).

Source: Hoshino, Applying Pitman's sampling formula to microdata disclosure risk assessment (2001).
Departs from the paper: the expectation is exact, not its limit Γ(θ+1)/Γ(θ+α) N^α; and the
equations are solved by bisection, one inside the other, which needs no starting point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sfumato.risk.estimate import Estimate, estimated, no_estimate
from sfumato.risk.special import digamma, harmonic, log_rising

NAME = "pitman"
_SMALLEST, _LARGEST = 1e-6, 1 - 1e-9
_STEPS = 80


@dataclass(frozen=True, slots=True)
class Pitman:
    """A fitted model; `alpha` 0 is Ewens' model."""

    theta: float
    alpha: float
    sample: int

    def uniques(self, population: int) -> float:
        """Return the expected number of classes of one in a population."""
        log = log_rising(self.theta + self.alpha, population - 1)
        return population * math.exp(log - log_rising(self.theta + 1, population - 1))

    def below(self, size: int, k: int, population: int) -> float:
        """Return the chance that a class of `size` in the sample has below k in the population.

        Given the sample, what else a class has in the population is beta-binomial, of the
        population's other records with a = size - alpha and b = theta + n - size + alpha.
        """
        if size >= k:
            return 0.0
        rest = population - self.sample
        a, b = size - self.alpha, self.theta + self.sample - size + self.alpha
        chance = math.exp(log_rising(b, rest) - log_rising(a + b, rest))
        total = 0.0
        for more in range(min(k - size, rest + 1)):
            total += chance
            left = rest - more
            if left:  # else nobody is left to join
                chance *= left * (a + more) / ((more + 1) * (b + left - 1))
        return min(total, 1.0)


def fit_pitman(counts: Mapping[int, int]) -> Pitman | str:
    """Return the model of greatest likelihood, or why there is none.

    `counts` says how many classes of the sample have each size.

    >>> fit_pitman({1: 3})
    'every record of the sample is unique, so the likelihood has no maximum'
    """
    sample = sum(size * count for size, count in counts.items())
    classes = sum(counts.values())
    if classes == sample:
        return "every record of the sample is unique, so the likelihood has no maximum"
    if classes == 1:
        return "all records of the sample are in one class, so the likelihood has no maximum"

    def slope(alpha: float) -> float:
        theta = _theta(alpha, sample, classes)
        return _by_alpha(theta, alpha, classes, counts)

    # At alpha = 1 the likelihood is 0, so a slope upwards at the start means a maximum inside.
    alpha = 0.0 if slope(_SMALLEST) <= 0 else _falling_root(slope, _SMALLEST, _LARGEST)
    return Pitman(_theta(alpha, sample, classes), alpha, sample)


def pitman(counts: Mapping[int, int], population: int) -> Estimate:
    """Return the estimate from the sizes of a sample's classes; none if there is no maximum."""
    model = fit_pitman(counts)
    if isinstance(model, str):
        return no_estimate(NAME, model)
    return estimated(
        *(NAME, model.uniques(population), model.sample, population),
        theta=model.theta,
        alpha=model.alpha,
    )


def _theta(alpha: float, sample: int, classes: int) -> float:
    """Return the theta of greatest likelihood for an alpha: where its derivative is 0.

    The derivative is infinite at theta = -alpha and negative far out, as classes < sample.
    """

    def slope(log: float) -> float:
        theta = math.exp(log) - alpha
        return _founding(theta, alpha, classes) - harmonic(theta, sample - 1)

    low, high = -40.0, 40.0
    return math.exp(_falling_root(slope, low, high)) - alpha


def _founding(theta: float, alpha: float, classes: int) -> float:
    """Return the sum of 1 / (theta + i alpha) for i from 1 to classes - 1."""
    if alpha == 0:
        return (classes - 1) / theta
    return harmonic(theta / alpha, classes - 1) / alpha


def _by_alpha(theta: float, alpha: float, classes: int, counts: Mapping[int, int]) -> float:
    """Return the derivative of the log-likelihood by alpha."""
    founding = ((classes - 1) - theta * _founding(theta, alpha, classes)) / alpha
    joining = math.fsum(
        count * (digamma(size - alpha) - digamma(1 - alpha))
        for size, count in counts.items()
        if size > 1
    )
    return founding - joining


def _falling_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function changes from positive to negative, by bisection."""
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if function(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
