"""How far the answers of a release are from the truth, and what their bounds are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.answers import Answerer, Estimate
from sfumato.answers.estimate import Asked, Average, Count
from sfumato.errors import ParameterError
from sfumato.table import Table
from sfumato.utility.workload import Probe, numbers_of

Reals = npt.NDArray[np.float64]

# Truths are summed in another order than bounds: by so much of their size they may differ.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class QueryErrors:
    """A summary of the answers to some queries; what cannot be said is None.

    Errors are relative to the truth, |value - truth| / |truth|; queries whose truth is 0 (or an
    average of nothing) have none: they are `zeros` in number, and `error_at_zero` is the mean
    of their absolute errors. Nor have those that the release has no value for, such as an average
    of an estimated 0 rows: they are `unanswered`. `missed` bounds do not contain the truth, which
    must never be; `bounded` were looked at. `width` is the median of (high - low) / |truth|,
    `trivial` the share of bounds that say no more than the number of rows (or the extremes of the
    numbers) does. `with_se` answers have a standard error, and `within_2_se` is the share of those
    whose truth is no further off than twice that. Standard errors cover the layout's own
    randomness only.
    """

    aggregate: str
    dimension: int
    queries: int
    zeros: int
    unanswered: int
    mean: float | None
    median: float | None
    percentile_90: float | None
    error_at_zero: float | None
    bounded: int
    missed: int
    width: float | None
    trivial: float | None
    with_se: int
    within_2_se: float | None

    @property
    def coverage(self) -> float | None:
        """The share of bounds that contain the truth: 1, or there is a fault."""
        return (self.bounded - self.missed) / self.bounded if self.bounded else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, in which what is not finite is None."""
        fields = {name: getattr(self, name) for name in self.__slots__} | {
            "coverage": self.coverage
        }
        return {
            name: None if isinstance(value, float) and not isfinite(value) else value
            for name, value in fields.items()
        }


def query_errors(answerer: Answerer, original: Table, probes: Sequence[Probe]) -> QueryErrors:
    """Return the summary of a release's answers to queries of one kind.

    Answers and truths are about all rows of the original, also those that the release suppressed.

    Refuses (ParameterError) to summarise nothing, and what `Answerer.answer` refuses.
    """
    if not probes:
        raise ParameterError("there are no queries to summarise")
    aggregate = probes[0].aggregate
    least, most = _known_before(original, aggregate)
    truths = np.array([probe.truth for probe in probes])
    found = [answerer.answer(probe.aggregate, probe.predicate) for probe in probes]
    values, lows, highs = (
        np.array([getattr(each, name) for each in found], float)
        for name in ("value", "low", "high")
    )
    off = np.abs(values - truths)
    is_telling = (truths != 0) & ~np.isnan(truths)
    is_told = ~np.isnan(values)
    relative = off[is_telling & is_told] / np.abs(truths[is_telling & is_told])
    at_zero = off[(truths == 0) & is_told]
    judged = ~np.isnan(truths)
    slack = ROUNDING * np.maximum(np.abs(truths), 1.0)
    missed = judged & ~((lows <= truths + slack) & (truths <= highs + slack))
    widths = (highs - lows)[judged & is_telling] / np.abs(truths[judged & is_telling])
    trivial = (lows <= least + slack) & (highs >= most - slack)
    se = np.array([_se(each) for each in found])
    known = ~np.isnan(se) & ~np.isnan(truths) & is_told
    return QueryErrors(
        aggregate=str(aggregate),
        dimension=len(probes[0].predicate.attributes),
        queries=len(probes),
        zeros=int(np.count_nonzero(~is_telling)),
        unanswered=int(np.count_nonzero(~is_told & ~np.isnan(truths))),
        mean=_of(np.mean, relative),
        median=_of(np.median, relative),
        percentile_90=_of(lambda errors: np.percentile(errors, 90), relative),
        error_at_zero=_of(np.mean, at_zero),
        bounded=int(np.count_nonzero(judged)),
        missed=int(np.count_nonzero(missed)),
        width=_of(np.median, widths),
        trivial=_of(np.mean, trivial[judged].astype(float)),
        with_se=int(np.count_nonzero(known)),
        within_2_se=_of(np.mean, (off <= 2 * se + slack)[known].astype(float)),
    )


def _se(estimate: Estimate) -> float:
    return np.nan if estimate.se is None else estimate.se


def _of(statistic: Any, numbers: Reals) -> float | None:
    return float(statistic(numbers)) if len(numbers) else None


def _known_before(original: Table, aggregate: Asked) -> tuple[float, float]:
    """Return the least and greatest answer that anybody knows of beforehand."""
    weights = np.ones(original.rows) if original.weights is None else original.weights
    if isinstance(aggregate, Count):
        return 0.0, float(weights.sum())
    numbers = numbers_of(original[aggregate.attribute])
    is_there = ~np.isnan(numbers)
    numbers, weights = numbers[is_there], weights[is_there]
    if isinstance(aggregate, Average):
        return (float(numbers.min()), float(numbers.max())) if len(numbers) else (-inf, inf)
    numbers = numbers * weights
    return float(np.minimum(numbers, 0).sum()), float(np.maximum(numbers, 0).sum())
