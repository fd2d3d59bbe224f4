"""(alpha, beta, gamma, delta): how well a group of several tables can be put together again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.errors import ParameterError
from sfumato.models import kernels
from sfumato.models.kernels import Rule
from sfumato.models.model import LARGEST, BoundModel, Model, exact_share, positive_number
from sfumato.models.statistics import GroupStatistics, Histogram, Ints, Total

Bools = npt.NDArray[np.bool_]
Reals = npt.NDArray[np.float64]

# Numbers that differ by less than this share are compared exactly, in whole numbers.
_NEAR = 1e-9
_NO_REALS = np.zeros(0, dtype=np.float64)
_NO_LINKS = np.zeros(0, dtype=np.int64)


class Reached(NamedTuple):
    """What each group reaches: the least values of the parameters for which it holds."""

    alpha: Reals
    beta: Reals
    gamma: Reals
    delta: Reals


@dataclass(frozen=True, slots=True)
class AlphaBetaGammaDelta(Model):
    """A group whose quasi-identifiers stand in several tables, and a sensitive value in another.

    In every group: no combination of a quasi-identifier table has more than alpha of the people
    (alpha); no sensitive value more than beta of those who have one (beta); the shares of the
    commonest combination of each table and of the commonest value, multiplied, are at most gamma
    (gamma); and the share of every value, absent ones too, differs from the whole table's by at
    most delta (delta). Missing sensitive values do not count. Gamma is the paper's number, and no
    bound on what can be learnt about somebody's presence.

    Not monotone: a union of groups may exceed gamma where its parts do not.
    *Source*: Yao, Chen, Wang, Liu, Wu (SLPPA), Definitions 1 to 4 and equations 3, 5, 7 and 8.
    """

    name: ClassVar[str] = "alpha-beta-gamma-delta"
    monotone: ClassVar[bool] = False
    at_least: ClassVar[bool] = False
    compares_with_whole: ClassVar[bool] = True
    of_tables: ClassVar[bool] = True
    attribute: str
    alpha: float
    beta: float
    gamma: float
    delta: float

    def __post_init__(self) -> None:
        for key in ("alpha", "beta", "gamma", "delta"):
            positive_number(getattr(self, key), key, self.name, most=1)

    @property
    def minimum_rows(self) -> int:
        """No group has fewer people than beta allows for values that all differ."""
        return min(math.ceil(1 / Fraction(str(self.beta))), LARGEST)

    def claim(self) -> dict[str, Any]:
        """Return the manifest's claim."""
        return {
            "model": self.name,
            "attribute": self.attribute,
            "alpha": self.alpha,
            "beta": self.beta,
            "gamma": self.gamma,
            "delta": self.delta,
        }

    def bind(self, totals: Mapping[str, Total]) -> BoundAssociation:
        """Return the predicate for groups of the table with these totals."""
        # never given to compiled loops, which know one table only
        rule = Rule(kernels.K_ANONYMITY, 1, 0.0, -1, _NO_REALS, _NO_LINKS)
        return BoundAssociation(self, rule, totals[self.attribute])


@dataclass(frozen=True, slots=True, eq=False)
class BoundAssociation(BoundModel):
    """The model bound to one table."""

    total: Total
    # the last histogram and its distances: holding, the level and the note all ask for them
    _last: list[tuple[Histogram, Reals]] = field(default_factory=list, init=False, repr=False)

    def holds(self, statistics: GroupStatistics) -> Bools:
        """Return for every group whether all four requirements hold, decided in whole numbers."""
        model = self.model
        assert isinstance(model, AlphaBetaGammaDelta)
        histogram = statistics.histograms[model.attribute]
        sizes, present = statistics.sizes, histogram.present
        repeats, common = _repeats(statistics), _largest(histogram, self.total.null_code)
        fits = present > 0
        fits &= _at_most(repeats.max(axis=0), sizes, model.alpha)
        fits &= _at_most(common, present, model.beta)
        fits &= _product_at_most(repeats, sizes, common, present, model.gamma)
        return fits & self._close(histogram, model.delta)

    def levels(self, statistics: GroupStatistics) -> Reals:
        """Return how far each group uses up what is allowed: 1 where a requirement is just met."""
        model = self.model
        reached = self.reached(statistics)
        shares = [
            values / getattr(model, key)
            for key, values in zip(Reached._fields, reached, strict=True)
        ]
        return np.asarray(np.max(shares, axis=0))

    def reached(self, statistics: GroupStatistics) -> Reached:
        """Return the least parameters for which each group would hold."""
        model = self.model
        assert isinstance(model, AlphaBetaGammaDelta)
        histogram = statistics.histograms[model.attribute]
        present = np.maximum(histogram.present, 1)
        repeats = _repeats(statistics) / statistics.sizes
        common = _largest(histogram, self.total.null_code) / present
        return Reached(
            repeats.max(axis=0), common, repeats.prod(axis=0) * common, self._distances(histogram)
        )

    def _prior(self) -> Reals:
        counts = self.total.counts[: self.total.null_code].astype(np.float64)
        return np.asarray(counts / max(counts.sum(), 1))

    def _distances(self, histogram: Histogram) -> Reals:
        """Return the greatest difference of a value's share from the whole table's, by group."""
        for known, distances in self._last:
            if known is histogram:
                return distances
        entries = _Entries.of(histogram, self.total.null_code)
        prior = self._prior()
        farthest = np.append(prior, 0.0)[entries.absent(prior)]
        share = entries.counts / np.maximum(histogram.present, 1)[entries.owner]
        np.maximum.at(farthest, entries.owner, np.abs(share - prior[entries.codes]))
        self._last[:] = [(histogram, farthest)]
        return farthest

    def _close(self, histogram: Histogram, delta: float) -> Bools:
        limit, counts = exact_share(delta), self.total.counts[: self.total.null_code]
        most, whole = int(counts.max(initial=0)), int(counts.sum())
        # two shares of at most delta are no farther apart; rarely is there more to look at
        if most * limit.denominator <= limit.numerator * whole:
            fits = _at_most(_largest(histogram, self.total.null_code), histogram.present, delta)
            if fits.all():
                return fits
        farthest = self._distances(histogram)
        fits = farthest <= delta
        near = np.abs(farthest - delta) <= _NEAR
        if near.any():
            fits[near] = self._exactly_close(histogram, Fraction(str(delta)))[near]
        return np.asarray(fits)

    def _exactly_close(self, histogram: Histogram, delta: Fraction) -> Bools:
        """Return which groups keep delta, in whole numbers of any size."""
        entries = _Entries.of(histogram, self.total.null_code)
        counts = np.append(self.total.counts[: self.total.null_code], 0).astype(object)
        whole = int(counts.sum())
        fits = counts[entries.absent(self._prior())] * delta.denominator <= delta.numerator * whole
        present = histogram.present.astype(object)[entries.owner]
        apart = np.abs(entries.counts.astype(object) * whole - counts[entries.codes] * present)
        inside = apart * delta.denominator <= delta.numerator * present * whole
        fits = np.asarray(fits, dtype=np.bool_)
        np.logical_and.at(fits, entries.owner, np.asarray(inside, dtype=np.bool_))
        return fits


class _Entries(NamedTuple):
    """How many people of which group have which value, one entry a pair; none is missing."""

    owner: Ints
    codes: Ints
    counts: Ints
    groups: int

    @classmethod
    def of(cls, histogram: Histogram, null_code: int) -> _Entries:
        groups = len(histogram.present)
        owner = np.repeat(np.arange(groups), np.diff(histogram.offsets))
        known = histogram.codes != null_code
        return cls(owner[known], histogram.codes[known], histogram.counts[known], groups)

    def absent(self, prior: Reals) -> Ints:
        """Return, by group, the commonest value that it lacks; one past the last if it has all."""
        by_prior = np.argsort(-prior, kind="stable")
        rank = np.empty(len(prior), np.int64)
        rank[by_prior] = np.arange(len(prior))
        # entries stand by group, so that only ranks change places: within each of them
        owner, below = self.owner, self.owner * len(prior)
        ranks = pl.Series(below + rank[self.codes]).sort().to_numpy() - below
        held = np.bincount(owner, minlength=self.groups)
        place = np.arange(len(owner)) - (np.cumsum(held) - held)[owner]
        first_gap = held.copy()
        off = ranks != place
        np.minimum.at(first_gap, owner[off], place[off])
        return np.asarray(np.append(by_prior, len(prior))[first_gap])


def _repeats(statistics: GroupStatistics) -> Ints:
    if statistics.repeats is None:
        raise ParameterError(
            "alpha-beta-gamma-delta is about quasi-identifiers in tables of their own"
        )
    return statistics.repeats


def _largest(histogram: Histogram, null_code: int) -> Ints:
    """Return how many people of each group share the commonest value."""
    entries = _Entries.of(histogram, null_code)
    largest = np.zeros(entries.groups, np.int64)
    np.maximum.at(largest, entries.owner, entries.counts)
    return largest


def _at_most(counts: Ints, sizes: Ints, share: float) -> Bools:
    limit = exact_share(share)
    return np.asarray(counts * limit.denominator <= limit.numerator * sizes)


def _product_at_most(
    repeats: Ints, sizes: Ints, common: Ints, present: Ints, gamma: float
) -> Bools:
    limit = Fraction(str(gamma))
    product = (repeats / sizes).prod(axis=0) * common / np.maximum(present, 1)
    fits = product <= gamma
    near = np.flatnonzero(np.abs(product - gamma) <= _NEAR * gamma)
    if len(near):  # in whole numbers of any size
        left = common[near].astype(object) * limit.denominator
        right = present[near].astype(object) * limit.numerator
        for table in repeats:
            left = left * table[near].astype(object)
            right = right * sizes[near].astype(object)
        fits[near] = np.asarray(left <= right, dtype=np.bool_)
    return np.asarray(fits)
