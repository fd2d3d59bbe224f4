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
from sfumato.models import kernels
from sfumato.models.kernels import Rule
from sfumato.models.model import LARGEST, BoundModel, Model, exact_share, positive_number
from sfumato.models.statistics import GroupStatistics, Histogram, Ints, Total

Bools = npt.NDArray[np.bool_]
Reals = npt.NDArray[np.float64]

# Numbers that differ by less than this share are compared exactly, in whole numbers.
_NEAR = 1e-9
_ROUNDS = 16  # through the commonest values; a group that has them all is looked at otherwise
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
    repeats: Ints
    present: Ints
    common: Ints


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
        assert isinstance(self.model, AlphaBetaGammaDelta)
        histogram = statistics.histograms[self.model.attribute]
        common = _largest(histogram, self.total.null_code)
        known = Commonest(statistics.sizes, _repeats(statistics), histogram.present, common)
        return self._rare_enough(known) & self._close(histogram, common, self.model.delta)

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
        prior, null_code = np.append(self._prior(), 0.0), self.total.null_code
        owner = _owners(histogram)
        apart = histogram.counts / np.maximum(histogram.present, 1)[owner]
        apart -= prior[histogram.codes]
        np.abs(apart, out=apart)
        apart[histogram.codes == null_code] = 0.0
        missed = prior[_commonest_absent(histogram.codes, owner, prior, len(histogram.present))]
        farthest = np.maximum(missed, _greatest(apart, histogram))
        self._last[:] = [(histogram, farthest)]
        return farthest

    def _surely_close(self, common: Ints, present: Ints, delta: float) -> Bools | None:
        """Return which groups keep delta for sure, None where that says nothing of any.

        Two shares of at most delta are no farther apart; rarely is there more to look at.
        """
        limit, counts = exact_share(delta), self.total.counts[: self.total.null_code]
        most, whole = int(counts.max(initial=0)), int(counts.sum())
        if most * limit.denominator > limit.numerator * whole:
            return None
        return _at_most(common, present, delta)

    def _close(self, histogram: Histogram, common: Ints, delta: float) -> Bools:
        sure = self._surely_close(common, histogram.present, delta)
        if sure is not None and sure.all():
            return sure
        farthest = self._distances(histogram)
        fits = farthest <= delta
        near = np.abs(farthest - delta) <= _NEAR
        if near.any():
            fits[near] = self._exactly_close(histogram, near, Fraction(str(delta)))
        return np.asarray(fits)

    def _exactly_close(self, histogram: Histogram, near: Bools, delta: Fraction) -> Bools:
        """Return which of the groups that are near to it keep delta, in numbers of any size."""
        owner = _owners(histogram)
        chosen = near[owner] & (histogram.codes != self.total.null_code)
        owner = (np.cumsum(near) - 1)[owner[chosen]]
        codes, often = histogram.codes[chosen], histogram.counts[chosen].astype(object)
        counts = np.append(self.total.counts[: self.total.null_code], 0).astype(object)
        whole = int(counts.sum())
        prior = np.append(self._prior(), 0.0)
        lacking = _commonest_absent(codes, owner, prior, int(near.sum()))
        fits = counts[lacking] * delta.denominator <= delta.numerator * whole
        present = histogram.present[near].astype(object)[owner]
        apart = np.abs(often * whole - counts[codes] * present)
        inside = apart * delta.denominator <= delta.numerator * present * whole
        fits = np.asarray(fits, dtype=np.bool_)
        np.logical_and.at(fits, owner, np.asarray(inside, dtype=np.bool_))
        return fits


def _owners(histogram: Histogram) -> Ints:
    """Return the group of every entry."""
    return np.repeat(np.arange(len(histogram.present)), np.diff(histogram.offsets))


def _greatest(values: npt.NDArray[Any], histogram: Histogram) -> npt.NDArray[Any]:
    """Return the greatest value of each group's entries, 0 for a group without any."""
    found = np.zeros(len(histogram.present), values.dtype)
    filled = np.flatnonzero(np.diff(histogram.offsets))
    if len(filled):
        found[filled] = np.maximum.reduceat(values, histogram.offsets[filled])
    return found


def _commonest_absent(codes: Ints, owner: Ints, prior: Reals, groups: int) -> Ints:
    """Return, by group, the commonest value that it lacks; the last code if it has all.

    Entries are the codes that the groups of their `owner` have; the last code is that of a missing
    value, and the last of the shares in the whole table (`prior`) is nobody's.
    """
    by_prior = np.append(np.argsort(-prior[:-1], kind="stable"), len(prior) - 1)
    lacking = np.zeros(groups, np.int64)  # by rank
    # few groups have the commonest, fewer of them the next: each round looks at those alone
    for rank, code in enumerate(by_prior[:-1][:_ROUNDS]):
        has_it = np.zeros(groups, np.bool_)
        has_it[owner[codes == code]] = True
        lacking[has_it] = rank + 1
        left = has_it[owner]
        codes, owner = codes[left], owner[left]
        if not len(owner):
            break
    if len(owner) and len(by_prior) - 1 > _ROUNDS:  # and not all values have been looked at
        left, own = np.unique(owner, return_inverse=True)
        ranks = np.empty(len(prior), np.int64)
        ranks[by_prior] = np.arange(len(prior))
        known = codes != len(prior) - 1
        lacking[left] = _first_gaps(ranks[codes[known]], own[known], len(left))
    return np.asarray(by_prior[lacking])


def _first_gaps(numbers: Ints, owner: Ints, groups: int) -> Ints:
    """Return the least number from 0 on that each group lacks; it has none twice.

    >>> _first_gaps(np.array([2, 0, 1, 1, 7, 0]), np.array([0, 0, 0, 1, 1, 2]), 4).tolist()
    [3, 0, 1, 0]
    """
    # no number from that of the group's entries on can be the first gap: a place for each other
    room = np.bincount(owner, minlength=groups) + 1
    start = np.cumsum(room) - room
    is_there = np.zeros(int(room.sum()), np.bool_)
    small = numbers < room[owner]
    is_there[start[owner[small]] + numbers[small]] = True
    gaps = np.flatnonzero(~is_there)
    return np.asarray(gaps[np.searchsorted(gaps, start)] - start)


def _repeats(statistics: GroupStatistics) -> Ints:
    if statistics.repeats is None:
        raise ParameterError(
            "alpha-beta-gamma-delta is about quasi-identifiers in tables of their own"
        )
    return statistics.repeats


def _largest(histogram: Histogram, null_code: int) -> Ints:
    """Return how many people of each group share the commonest value."""
    return _greatest(histogram.counts * (histogram.codes != null_code), histogram)


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
