"""Randomised sets: with which p and how many values a cell is hidden, and what that costs.

A cell of an attribute with d values becomes a set of eta different ones. With the probability p
the cell's own value is among them for sure, with eta - 1 of the others at random; else all eta are
drawn from all d. Everything here follows from p, eta and d alone: by Bayes, values in the set gain
the factor p + (1 - p) eta/d and the others (1 - p) eta/d, so what an adversary learns depends only
on the mass a that the set had beforehand: it moves

    a (1 - a) p / (p a + (1 - p) eta/d)

of total variation, at most t where p <= t eta / (t eta + d a (1 - a - t)). The worst mass is
(1 - t)/2, or the one nearest to it among those that occur.

Source: Sei, Okumura, Takenouchi, Ohsuga, "Anonymization of Sensitive Quasi-Identifiers for
l-Diversity and t-Closeness", section V. Departs from it: its Algorithm 1 lets the least protective
set decide on p, which gives no closeness to the others; here the worst one decides, in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import SupportsFloat

from sfumato.errors import Infeasible, ParameterError

Masses = tuple[float, float]

# Decimals of p, and of published masses.
_FINENESS = 10**12
_COARSENESS = 10**3
# Sets beyond this size are not tried unless asked for: they are long, and tell less and less.
_LARGEST_ETA = 64


@dataclass(frozen=True, slots=True)
class Randomization:
    """How one attribute's cells are hidden: sets of `eta` of its `d` values, the own one by `p`.

    Refuses (ParameterError) anything but 0 < p <= 1 and 1 <= eta <= d.

    >>> Randomization(p=0.5, eta=2, d=4).contains_own
    0.75
    """

    p: float
    eta: int
    d: int

    def __post_init__(self) -> None:
        whole = all(isinstance(n, int) and not isinstance(n, bool) for n in (self.eta, self.d))
        if not whole or not 1 <= self.eta <= self.d:
            raise ParameterError("a set holds at least one value and at most all of the domain")
        number = isinstance(self.p, int | float) and not isinstance(self.p, bool)
        if not number or not 0 < self.p <= 1:
            raise ParameterError("the probability p must lie above 0 and be at most 1")

    @property
    def contains_own(self) -> float:
        """The probability that a set contains its cell's own value."""
        return self.p + (1 - self.p) * self.eta / self.d

    @property
    def contains_other(self) -> float:
        """The probability that a set contains a certain other value (0 where there is none)."""
        if self.d == 1:
            return 0.0
        return self.p * (self.eta - 1) / (self.d - 1) + (1 - self.p) * self.eta / self.d

    @property
    def telling(self) -> float:
        """By how much likelier a set contains the own value than another: p (d - eta)/(d - 1).

        Not as a difference of the two: with a small p nothing would be left of it but rounding.
        """
        return self.p * (self.d - self.eta) / (self.d - 1) if self.d > 1 else 1.0

    @property
    def outside(self) -> float:
        """How likely a value makes a set without it, where one with it has `contains_own`."""
        return (1 - self.p) * self.eta / self.d


def expected_l2(rows: int, d: int, p: float, eta: int) -> float:
    """Return how far reconstructed shares are expected to lie off, as L2 distance (equation 9).

    Infinite where sets name all values, and so tell nothing.

    >>> expected_l2(100, 5, 1.0, 3)  # sqrt((d - 1)(eta - 1) / (rows (d - eta)))
    0.2
    """
    if d == 1:
        return 0.0
    if eta >= d or rows < 1:
        return math.inf
    # (1 - d)(p^2 d + eta - (p^2 + d) eta), in terms that are not below 0
    spread = (d - 1) * (p * p * (eta - 1) * d + (1 - p * p) * eta * (d - 1))
    return math.sqrt(spread / (p * p * d * rows * (d - eta)))


def largest_p(t: float, eta: int, d: int, masses: Masses | None = None) -> float:
    """Return the largest p with which no set moves more than t, rounded down to 12 decimals.

    *Guarantee*: total variation at most t for every set of eta of the d values, and for every
    distribution (`masses` None) or every one whose sets have masses in the closed interval. Ground
    distances of an order are at most 1, so its earth mover's distance keeps t too; without masses
    no larger p would do there either: let the two ends of the order share all the mass.

    >>> largest_p(0.5, 1, 4), largest_p(0.5, 1, 4, (0.4, 0.6))
    (0.666666666666, 0.757575757575)
    """
    bound = exact_largest_p(t, eta, d, masses)
    return math.floor(bound * _FINENESS) / _FINENESS


def exact_largest_p(t: float, eta: int, d: int, masses: Masses | None = None) -> Fraction:
    """Return the largest p as a fraction; the decimals of `t` and of the masses are meant."""
    if eta >= d:  # all values are in every set
        return Fraction(1)
    limit = _decimal(t)
    mass = (1 - limit) / 2
    if masses is not None:
        low, high = (_decimal(end) for end in masses)
        mass = min(max(mass, low), high)
    gain = d * mass * (1 - mass - limit)
    return Fraction(1) if gain <= 0 else limit * eta / (limit * eta + gain)


def reached_distance(how: Randomization, masses: Masses | None = None) -> float:
    """Return the total variation that the worst set moves, whatever the distribution is like.

    >>> how = Randomization(1.0, 2, 5)
    >>> reached_distance(how), reached_distance(how, (0.25, 0.5))
    (1.0, 0.75)
    """
    if how.eta == how.d:
        return 0.0
    p, rest = float(how.p), (1 - float(how.p)) * how.eta / how.d
    # where the derivative is 0; the distance rises before and falls behind
    mass = rest / (math.sqrt(rest * rest + p * rest) + rest) if rest > 0 else 0.0
    if masses is not None:
        mass = min(max(mass, masses[0]), masses[1])
    # with p = 1 the mass of the set cancels out: a rare set is the owner's for sure
    return (1 - mass) * (p * mass / (p * mass + rest) if rest > 0 else 1.0)


def mass_interval(shares: Sequence[SupportsFloat], eta: int) -> Masses:
    """Return ends between which all sets of eta values have their mass, rounded outward.

    `shares` may be counts: only their proportions matter, and counts are summed exactly.

    >>> mass_interval([1, 2, 3], 2)
    (0.5, 0.834)
    """
    return _interval(_sums(shares), eta)


def choose(
    rows: int,
    d: int,
    *,
    l: float | None = None,  # noqa: E741 -- the parameter's name in every paper
    t: float | None = None,
    max_eta: int | None = None,
    shares: Sequence[SupportsFloat] | None = None,
) -> Randomization:
    """Return the p and eta that keep `l` and `t` and are expected to cost the least.

    Sets hold at least l values; with t, p is the largest that is safe for every distribution, or
    given `shares` (or counts) of all d values, for the masses that sets of theirs have.
    *Refuses* (Infeasible): an l that leaves no value out of a set, since such a set tells nothing
    (two values and only l: then t must say how sure one may get); a t so small that p vanishes.

    >>> choose(1000, 10, l=3)
    Randomization(p=1.0, eta=3, d=10)
    >>> choose(1000, 10, t=0.2)
    Randomization(p=0.272727272727, eta=3, d=10)
    """
    least = _least_eta(d, l, t)
    most = min(d - 1, max(_LARGEST_ETA, least)) if max_eta is None else min(max_eta, d - 1)
    if d == 1:
        return Randomization(1.0, 1, 1)
    if most < least:
        raise ParameterError(f"`max_eta` must be at least {least}, the least size of a set")
    sums = None if shares is None else _sums(shares)
    if sums is not None and len(sums) != d + 1:
        raise ParameterError(f"{d} shares are needed, one a value, and {len(sums) - 1} were given")
    best: tuple[float, Randomization] | None = None
    for eta in range(least, most + 1):
        p = 1.0
        if t is not None:
            p = largest_p(t, eta, d, None if sums is None else _interval(sums, eta))
        loss = expected_l2(max(rows, 1), d, p, eta) if p > 0 else math.inf
        if loss < math.inf and (best is None or loss < best[0]):
            best = loss, Randomization(p, eta, d)
    if best is None:
        raise Infeasible(f"`t` is too small for a domain of {d} values: p would vanish")
    return best[1]


def _least_eta(d: int, l: float | None, t: float | None) -> int:  # noqa: E741
    """Return the least size of a set; refuse an l that no useful set has."""
    if l is None and t is None:
        raise ParameterError("randomised sets need `l` or `t`")
    if t is not None and not 0 < t <= 1:
        raise ParameterError("`t` must be a number above 0 and at most 1")
    least = 1 if l is None else math.ceil(l)
    if least < 1:
        raise ParameterError("`l` must be at least 1")
    if d < 1:
        raise ParameterError("a domain needs at least one value")
    if least > 1 and d <= 2:
        raise Infeasible(
            f"an attribute with {d} value{'s' if d > 1 else ''} has no set of {least} that would "
            "tell anything; give it `t` instead of `l`"
        )
    if least >= d > 1:
        raise Infeasible(
            f"sets of {least} from a domain of {d} values would tell nothing; the largest useful "
            f"`l` is {d - 1}"
        )
    return least


def _sums(shares: Sequence[SupportsFloat]) -> list[Fraction]:
    """Return the summed shares of the 0, 1, 2, … rarest values, the last sum being 1.

    Of no records at all, they are those of one value: any distribution could have been there.
    """
    weights = sorted(Fraction(each if isinstance(each, int) else float(each)) for each in shares)
    if not weights or weights[0] < 0:
        raise ParameterError("a domain needs shares, none of them below 0")
    weights[-1] = weights[-1] or Fraction(1)
    sums = list(accumulate(weights, initial=Fraction(0)))
    return [each / sums[-1] for each in sums]


def _interval(sums: Sequence[Fraction], eta: int) -> Masses:
    low, high = sums[eta], 1 - sums[len(sums) - 1 - eta]
    return (
        math.floor(low * _COARSENESS) / _COARSENESS,
        math.ceil(high * _COARSENESS) / _COARSENESS,
    )


def _decimal(number: float) -> Fraction:
    """Return the fraction that a number's decimals say."""
    return Fraction(str(number))
