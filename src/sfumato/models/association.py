"""(alpha, beta, gamma, delta): how well a group of several tables can be put together again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.measures.compiled import loop
from sfumato.models import kernels
from sfumato.models.kernels import Rule
from sfumato.models.model import LARGEST, BoundModel, Model, exact_share, positive_number
from sfumato.models.statistics import GroupStatistics, Histogram, Ints, Total

Bools = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.integer[Any]]
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


class Commonest(NamedTuple):
    """What is commonest in each group: of `sizes` people, `repeats` by table share a combination.

    Of the `present`, who have a sensitive value, `common` share one.
    """

    sizes: Ints
    repeats: Numbers
    present: Numbers
    common: Numbers


class _Seen(NamedTuple):
    """What a histogram shows of each group beside the whole table.

    Of the people who have a sensitive value, `common` share one; `lacking` is the commonest value
    of the table that nobody has, the code of a missing one if there is none; and no share of a
    value differs from the table's by more than `farthest`.
    """

    common: Ints
    lacking: Ints
    farthest: Reals


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
    # the last histogram and what it shows: holding, the level and the note all ask for that
    _last: list[tuple[Histogram, _Seen]] = field(default_factory=list, init=False, repr=False)

    def holds(self, statistics: GroupStatistics) -> Bools:
        """Return for every group whether all four requirements hold, decided in whole numbers."""
        assert isinstance(self.model, AlphaBetaGammaDelta)
        histogram = statistics.histograms[self.model.attribute]
        seen = self._seen(histogram)
        known = Commonest(statistics.sizes, _repeats(statistics), histogram.present, seen.common)
        return self._rare_enough(known) & self._close(histogram, seen, self.model.delta)

    def surely_hold(self, known: Commonest) -> bool:
        """Return whether all groups hold for what is commonest in them; False if that is open."""
        assert isinstance(self.model, AlphaBetaGammaDelta)
        fits = self._surely_close(known.common, known.present, self.model.delta)
        return fits is not None and bool((fits & self._rare_enough(known)).all())

    def _rare_enough(self, known: Commonest) -> Bools:
        """Return which groups keep alpha, beta and gamma."""
        model = self.model
        assert isinstance(model, AlphaBetaGammaDelta)
        sizes, repeats, present, common = known
        fits = present > 0
        fits &= _at_most(repeats.max(axis=0), sizes, model.alpha)
        fits &= _at_most(common, present, model.beta)
        return fits & _product_at_most(repeats, sizes, common, present, model.gamma)

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
        seen = self._seen(histogram)
        common = seen.common / present
        return Reached(repeats.max(axis=0), common, repeats.prod(axis=0) * common, seen.farthest)

    def _prior(self) -> Reals:
        counts = self.total.counts[: self.total.null_code].astype(np.float64)
        return np.asarray(counts / max(counts.sum(), 1))

    def _seen(self, histogram: Histogram) -> _Seen:
        """Return what the histogram shows."""
        for known, seen in self._last:
            if known is histogram:
                return seen
        prior, groups = np.append(self._prior(), 0.0), len(histogram.present)
        seen = _Seen(np.zeros(groups, np.int64), np.zeros(groups, np.int64), np.zeros(groups))
        ranked = np.argsort(-prior[:-1], kind="stable")
        _look(
            histogram.offsets,
            histogram.codes,
            histogram.counts,
            histogram.present,
            prior,
            ranked,
            np.full(len(prior), -1),
            seen,
        )
        self._last[:] = [(histogram, seen)]
        return seen

    def _surely_close(self, common: Numbers, present: Numbers, delta: float) -> Bools | None:
        """Return which groups keep delta for sure, None where that says nothing of any.

        Two shares of at most delta are no farther apart; rarely is there more to look at.
        """
        limit, counts = exact_share(delta), self.total.counts[: self.total.null_code]
        most, whole = int(counts.max(initial=0)), int(counts.sum())
        if most * limit.denominator > limit.numerator * whole:
            return None
        return _at_most(common, present, delta)

    def _close(self, histogram: Histogram, seen: _Seen, delta: float) -> Bools:
        sure = self._surely_close(seen.common, histogram.present, delta)
        if sure is not None and sure.all():
            return sure
        fits = seen.farthest <= delta
        near = np.abs(seen.farthest - delta) <= _NEAR
        if near.any():
            lacking = seen.lacking[near]
            fits[near] = self._exactly_close(histogram, near, lacking, Fraction(str(delta)))
        return np.asarray(fits)

    def _exactly_close(
        self, histogram: Histogram, near: Bools, lacking: Ints, delta: Fraction
    ) -> Bools:
        """Return which of the groups that are near to it keep delta, in numbers of any size."""
        owner = np.repeat(np.arange(len(histogram.present)), np.diff(histogram.offsets))
        chosen = near[owner] & (histogram.codes != self.total.null_code)
        owner = (np.cumsum(near) - 1)[owner[chosen]]
        codes, often = histogram.codes[chosen], histogram.counts[chosen].astype(object)
        counts = np.append(self.total.counts[: self.total.null_code], 0).astype(object)
        whole = int(counts.sum())
        fits = counts[lacking] * delta.denominator <= delta.numerator * whole
        present = histogram.present[near].astype(object)[owner]
        apart = np.abs(often * whole - counts[codes] * present)
        inside = apart * delta.denominator <= delta.numerator * present * whole
        fits = np.asarray(fits, dtype=np.bool_)
        np.logical_and.at(fits, owner, np.asarray(inside, dtype=np.bool_))
        return fits


@loop
def _look(
    offsets: Ints,
    codes: Ints,
    counts: Ints,
    present: Ints,
    prior: Reals,
    ranked: Ints,
    held_by: Ints,
    seen: _Seen,
) -> None:
    """Leave what a histogram shows of each group.

    `prior` has the shares in the whole table, a missing value's last, `ranked` the values by them,
    the commonest first, and `held_by` -1 for every value and a missing one.
    """
    for group in range(len(present)):
        some = max(present[group], 1)
        common, farthest = 0, 0.0
        for entry in range(offsets[group], offsets[group + 1]):
            code = codes[entry]
            if code < len(ranked):
                held_by[code] = group
                common = max(common, counts[entry])
                farthest = max(farthest, abs(counts[entry] / some - prior[code]))
        lacking = len(ranked)
        for code in ranked:
            if held_by[code] != group:
                lacking = code
                break
        seen.common[group] = common
        seen.lacking[group] = lacking
        seen.farthest[group] = max(farthest, prior[lacking])


def _repeats(statistics: GroupStatistics) -> Numbers:
    if statistics.repeats is None:
        raise ParameterError(
            "alpha-beta-gamma-delta is about quasi-identifiers in tables of their own"
        )
    return statistics.repeats


def _at_most(counts: Numbers, sizes: Numbers, share: float) -> Bools:
    limit = exact_share(share)
    one, other = np.int64(limit.denominator), np.int64(limit.numerator)  # counts may be narrower
    return np.asarray(counts * one <= other * sizes)


def _product_at_most(
    repeats: Numbers, sizes: Ints, common: Numbers, present: Numbers, gamma: float
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
