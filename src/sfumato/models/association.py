"""(alpha, beta, gamma, delta): how well a group of several tables can be put together again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.models import kernels
from sfumato.models.kernels import Rule
from sfumato.models.model import BoundModel, Model, positive_number
from sfumato.models.statistics import GroupStatistics, Histogram, Ints, Total

Bools = npt.NDArray[np.bool_]
Reals = npt.NDArray[np.float64]

# Numbers that differ by less than this share are compared exactly, in whole numbers.
_NEAR = 1e-9
_FINEST = 10**9  # so that a count times the denominator of a share stays far below 2**63
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
    *Source*: "Privacy Preserving with SLPPA", Definitions 1 to 4 and equations 3, 5, 7 and 8.
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
        return math.ceil(1 / self.beta)

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
        groups = len(histogram.present)
        owner = np.repeat(np.arange(groups), np.diff(histogram.offsets))
        known = histogram.codes != self.total.null_code
        owner, codes, counts = owner[known], histogram.codes[known], histogram.counts[known]
        prior = self._prior()
        farthest = prior[_commonest_absent(owner, codes, prior, groups)]
        present = np.maximum(histogram.present, 1)
        np.maximum.at(farthest, owner, np.abs(counts / present[owner] - prior[codes]))
        return farthest

    def _close(self, histogram: Histogram, delta: float) -> Bools:
        farthest = self._distances(histogram)
        near = np.abs(farthest - delta) <= _NEAR
        fits = farthest <= delta
        limit = Fraction(str(delta))
        for group in np.flatnonzero(near):
            fits[group] = self._exact_distance(histogram, int(group)) <= limit
        return fits

    def _exact_distance(self, histogram: Histogram, group: int) -> Fraction:
        counts = self.total.counts[: self.total.null_code]
        whole, present = int(counts.sum()), int(histogram.present[group])
        here = dict.fromkeys(np.flatnonzero(counts).tolist(), 0)
        entries = slice(histogram.offsets[group], histogram.offsets[group + 1])
        for code, count in zip(
            histogram.codes[entries].tolist(), histogram.counts[entries].tolist(), strict=True
        ):
            if code != self.total.null_code:
                here[code] = count
        return max(
            abs(Fraction(count, max(present, 1)) - Fraction(int(counts[code]), whole))
            for code, count in here.items()
        )


def _repeats(statistics: GroupStatistics) -> Ints:
    if statistics.repeats is None:
        raise ParameterError(
            "alpha-beta-gamma-delta is about quasi-identifiers in tables of their own"
        )
    return statistics.repeats


def _largest(histogram: Histogram, null_code: int) -> Ints:
    """Return how many people of each group share the commonest value."""
    groups = len(histogram.present)
    owner = np.repeat(np.arange(groups), np.diff(histogram.offsets))
    known = histogram.codes != null_code
    largest = np.zeros(groups, np.int64)
    np.maximum.at(largest, owner[known], histogram.counts[known])
    return largest


def _at_most(counts: Ints, sizes: Ints, share: float) -> Bools:
    limit = Fraction(str(share))
    if limit.denominator > _FINEST:  # rounded down, which errs towards refusal
        limit = Fraction(math.floor(limit * _FINEST), _FINEST)
    return np.asarray(counts * limit.denominator <= limit.numerator * sizes)


def _product_at_most(
    repeats: Ints, sizes: Ints, common: Ints, present: Ints, gamma: float
) -> Bools:
    limit = Fraction(str(gamma))
    product = (repeats / sizes).prod(axis=0) * common / np.maximum(present, 1)
    fits = product <= gamma
    for group in np.flatnonzero(np.abs(product - gamma) <= _NEAR * gamma):
        chance = Fraction(int(common[group]), max(int(present[group]), 1))
        for table in range(len(repeats)):
            chance *= Fraction(int(repeats[table, group]), int(sizes[group]))
        fits[group] = chance <= limit
    return np.asarray(fits)


def _commonest_absent(
    owner: npt.NDArray[np.int64], codes: Ints, prior: Reals, groups: int
) -> npt.NDArray[np.int64]:
    """Return, by group, the commonest value of the table that it lacks; if none, a rarest one."""
    by_prior = np.argsort(-prior, kind="stable")
    rank = np.empty(len(prior), np.int64)
    rank[by_prior] = np.arange(len(prior))
    order = np.lexsort((rank[codes], owner))
    owner, ranks = owner[order], rank[codes][order]
    held = np.bincount(owner, minlength=groups)
    place = np.arange(len(owner)) - (np.cumsum(held) - held)[owner]
    first_gap = held.copy()
    off = ranks != place
    np.minimum.at(first_gap, owner[off], place[off])
    return np.asarray(np.append(by_prior, by_prior[-1:])[first_gap])
