"""The common shape of a privacy model: parameters in, a bound predicate on groups out."""

from __future__ import annotations

import math
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.measures.compiled import loop
from sfumato.models import kernels, sums
from sfumato.models.kernels import Ints, Reals, Rule
from sfumato.models.statistics import GroupStatistics, Total

# Far above any table, far below where a product of a count and a parameter would overflow.
LARGEST = 2**31 - 1
FINEST_SHARE = 10**9
_FEW = 1 << 16  # groups, for which no thread is worth while
_NO_REALS = np.zeros(0, dtype=np.float64)
_NO_LINKS = np.zeros(0, dtype=np.int64)


class Model(ABC):
    """A privacy model: a predicate on one group, given the whole table.

    Subclasses are frozen dataclasses whose fields are the keys of the manifest's claim.
    """

    name: ClassVar[str]
    monotone: ClassVar[bool] = True  # holds for a union of groups that hold
    checkable: ClassVar[bool] = True  # published files can show it
    at_least: ClassVar[bool] = True  # a larger level protects more
    compares_with_whole: ClassVar[bool] = False  # needs the distribution of the whole table
    of_tables: ClassVar[bool] = False  # looks at quasi-identifiers in tables of their own

    @property
    def needs(self) -> tuple[str, ...]:
        """The attributes whose histograms the model looks at."""
        attribute = getattr(self, "attribute", None)
        return () if attribute is None else (attribute,)

    @property
    def minimum_rows(self) -> int:
        """A number of rows below which no group can hold."""
        return 1

    @abstractmethod
    def claim(self) -> dict[str, Any]:
        """Return the model as a guarantee of the manifest."""

    @abstractmethod
    def bind(self, totals: Mapping[str, Total]) -> BoundModel:
        """Return the predicate for groups of the table with these totals."""

    def _bound(
        self,
        kind: int,
        *,
        whole: int = 0,
        real: float = 0.0,
        skip: int = -1,
        reals: Reals = _NO_REALS,
        links: Ints = _NO_LINKS,
    ) -> BoundModel:
        return BoundModel(self, Rule(kind, whole, real, skip, reals, links))


@dataclass(frozen=True, slots=True, eq=False)
class BoundModel:
    """A model bound to one table; `rule` is what compiled loops check."""

    model: Model
    rule: Rule

    def holds(self, statistics: GroupStatistics) -> npt.NDArray[np.bool_]:
        """Return for every group whether the model holds."""
        known = self._sums(statistics)
        if known is not None:
            return sums.hold(self.rule, known)
        found: npt.NDArray[np.bool_] = self._of_groups(kernels.holds_each, statistics)
        return found

    def levels(self, statistics: GroupStatistics) -> Reals:
        """Return the level that every group reaches: a size, an l, a distance, a share."""
        known = self._sums(statistics)
        if known is not None:
            return sums.levels(self.rule, known)
        found: Reals = self._of_groups(kernels.level_each, statistics)
        return found

    def worst(self, statistics: GroupStatistics) -> float:
        """Return the level of the least protected group."""
        levels = self.levels(statistics)
        return float(levels.min() if self.model.at_least else levels.max())

    def _sums(self, statistics: GroupStatistics) -> sums.Sums | None:
        """Return what decides the model without a kernel, if anything does."""
        shown = [statistics.histograms[name] for name in self.model.needs]
        return sums.sums_of(self.rule, statistics.sizes, shown[0] if shown else None)

    def _of_groups(self, kernel: Callable[..., Any], statistics: GroupStatistics) -> Any:
        """Return what a kernel finds of every group; many groups are shared out to threads."""
        sizes, offsets, codes, counts, present = self._arguments(statistics)
        step = max(_FEW, -(-len(sizes) // (os.cpu_count() or 1)))

        def found(start: int) -> Any:
            own = slice(start, start + step)
            ends = offsets[start : start + step + 1]
            return kernel(self.rule, sizes[own], ends, codes, counts, present[own])

        if len(sizes) <= step:
            return np.asarray(found(0))
        with ThreadPoolExecutor() as threads:
            return np.concatenate(list(threads.map(found, range(0, len(sizes), step))))

    def _arguments(self, statistics: GroupStatistics) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        # kernels are compiled anew for arrays that cannot be written to
        sizes = statistics.sizes if statistics.sizes.flags.writeable else statistics.sizes.copy()
        if not self.model.needs:
            empty = np.zeros(len(sizes) + 1, dtype=np.int64)
            return sizes, empty, empty[:0], empty[:0], empty[1:]
        histogram = statistics.histograms[self.model.needs[0]]
        return sizes, histogram.offsets, histogram.codes, histogram.counts, histogram.present


class RuleBook(NamedTuple):
    """A conjunction of rules as arrays, so that one compiled loop serves any number of them.

    `column[r]` is the position, among the sensitive columns given to the loop, of the one that
    rule r looks at (-1: none). Row r of `reals` and `links` is padded; `extents` has the lengths.
    """

    kind: Ints
    column: Ints
    whole: Ints
    real: Reals
    skip: Ints
    reals: Reals
    links: Ints
    extents: Ints


def rule_book(bound: tuple[BoundModel, ...], columns: tuple[str, ...]) -> RuleBook:
    """Return the conjunction of bound models over the named sensitive columns."""
    rules = [each.rule for each in bound]
    reals = np.zeros((len(rules), max((len(r.reals) for r in rules), default=0)))
    links = np.zeros((len(rules), max((len(r.links) for r in rules), default=0)), dtype=np.int64)
    for r, rule in enumerate(rules):
        reals[r, : len(rule.reals)] = rule.reals
        links[r, : len(rule.links)] = rule.links
    looked_at = [columns.index(each.model.needs[0]) if each.model.needs else -1 for each in bound]
    return RuleBook(
        np.array([r.kind for r in rules], dtype=np.int64),
        np.array(looked_at, dtype=np.int64),
        np.array([r.whole for r in rules], dtype=np.int64),
        np.array([r.real for r in rules], dtype=np.float64),
        np.array([r.skip for r in rules], dtype=np.int64),
        reals,
        links,
        np.array([(len(r.reals), len(r.links)) for r in rules], dtype=np.int64).reshape(-1, 2),
    )


@loop
def rule_at(book: RuleBook, r: int) -> Rule:
    """Return rule r of the book."""
    return Rule(
        book.kind[r],
        book.whole[r],
        book.real[r],
        book.skip[r],
        book.reals[r, : book.extents[r, 0]],
        book.links[r, : book.extents[r, 1]],
    )


def positive_integer(value: Any, key: str, model: str) -> None:
    """Refuse anything but an integer from 1 to LARGEST."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParameterError(f"{model}: `{key}` must be a whole number of at least 1")
    if value > LARGEST:
        raise ParameterError(f"{model}: `{key}` must not be above {LARGEST:,}")


def positive_number(value: Any, key: str, model: str, *, most: float = float("inf")) -> None:
    """Refuse anything but a finite number above 0 and at most `most`."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 < value <= most or value > sys.float_info.max:
        upper = "" if most == float("inf") else f" and at most {most:g}"
        raise ParameterError(f"{model}: `{key}` must be a number above 0{upper}")


def exact_share(share: float) -> Fraction:
    """Return the fraction that the decimals of a share say, or hardly less.

    Its denominator is small enough for counts to be compared in whole numbers; what is rounded is
    rounded down, which errs towards refusal.
    """
    fraction = Fraction(str(share))
    if fraction.denominator > FINEST_SHARE:
        fraction = Fraction(math.floor(fraction * FINEST_SHARE), FINEST_SHARE)
    return fraction


def one_of(value: Any, allowed: tuple[str, ...], key: str, model: str) -> None:
    """Refuse a word that is not among those allowed."""
    if value not in allowed:
        raise ParameterError(f"{model}: `{key}` must be one of {', '.join(allowed)}")


def shares(total: Total, *, skip: int) -> Reals:
    """Return the share of each code in the whole table, the skipped code's being 0."""
    counts = total.counts.astype(np.float64)
    if skip >= 0:
        counts[skip] = 0.0
    sum_of_counts = counts.sum()
    return counts / sum_of_counts if sum_of_counts > 0 else counts


def skipped(total: Total, missing: str) -> int:
    """Return the code that does not count: the missing one, unless it counts as a value."""
    return total.null_code if missing == "excluded" else -1
