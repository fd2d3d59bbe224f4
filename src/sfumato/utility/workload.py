"""Random queries to a table whose true answers are known, to hold those of a release against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers.estimate import Asked, Average, Count
from sfumato.errors import ParameterError
from sfumato.predicates import And, Between, Comparison, OneOf, Predicate, evaluate
from sfumato.predicates.expression import Operator
from sfumato.schema import Kind
from sfumato.table import Column, Table

Reals = npt.NDArray[np.float64]

# An attribute takes part in a condition with so many values at most: longer lists say no more of a
# release, and take long to go through.
MOST_VALUES = 100
_OPERATORS: tuple[Operator, ...] = (">", "<", "=", ">=", "<=", "!=")
# How many queries are drawn for one that some row satisfies.
_TRIES = 1_000


@dataclass(frozen=True, slots=True)
class Probe:
    """A query and its true answer on the original; that of an average over no numbers is NaN.

    Where the original has weights, rows count as much as these say.
    """

    aggregate: Asked
    predicate: Predicate
    truth: float


def workload(
    original: Table,
    attributes: Sequence[str],
    *,
    queries: int,
    dimension: int,
    selectivity: float | None,
    aggregate: Asked | None = None,
    nonzero: bool = False,
    rng: np.random.Generator,
) -> list[Probe]:
    """Return random queries with conditions on so many different attributes (`dimension`) each.

    `selectivity` is the share of all rows that a query is expected to meet if the attributes are
    independent: each condition is met by about selectivity^(1/dimension) of them. A number or
    ordinal value lies in a range, at a random place of the attribute's distribution; any other is
    one of some random values, 100 at most. Conditions meet shares of whole values, and missing
    ones meet none, so this is approximate. Without a selectivity (None), a number stands in a
    random relation to a random value, and any other is one of several random values, how many
    being random too.

    With `nonzero`, queries whose true answer is 0 (or none) are drawn anew. Without an aggregate,
    rows are counted. The same generator gives the same queries.

    Refuses (ParameterError) dimensions and selectivities that make no sense for the attributes,
    sums of what are no numbers, and to look further for queries that are all 0.
    """
    asked = Count() if aggregate is None else aggregate
    _check(original, attributes, queries, dimension, selectivity)
    truth = _Truth(original, asked)
    share = None if selectivity is None else selectivity ** (1 / dimension)
    makers = {name: _Conditions(original[name]) for name in attributes}
    probes: list[Probe] = []
    tries = 0
    while len(probes) < queries:
        tries += 1
        if tries > queries * _TRIES:
            raise ParameterError("nearly all random queries are 0; ask for a larger selectivity")
        chosen = rng.choice(len(attributes), dimension, replace=False)
        parts = tuple(
            random_condition(original[name], rng)
            if share is None
            else makers[name].of_share(share, rng)
            for name in (attributes[i] for i in chosen)
        )
        predicate = parts[0] if dimension == 1 else And(parts)
        value = truth.of(predicate)
        if not nonzero or (value != 0 and not np.isnan(value)):
            probes.append(Probe(asked, predicate, value))
    return probes


def probe_of(original: Table, predicate: Predicate, aggregate: Asked | None = None) -> Probe:
    """Return a given query with its true answer; without an aggregate, rows are counted.

    Refuses (ParameterError) sums of what are no numbers.
    """
    asked = Count() if aggregate is None else aggregate
    return Probe(asked, predicate, _Truth(original, asked).of(predicate))


def random_condition(column: Column, rng: np.random.Generator) -> Predicate:
    """Return a random relation to a random number, or one of several random values.

    *Source*: the LGB paper, section 4.2.
    """
    values = column.values
    if column.kind is Kind.NUMERIC:
        operator = _OPERATORS[rng.integers(len(_OPERATORS))]
        return Comparison(column.name, operator, values[int(rng.integers(len(values)))].as_py())
    some = rng.choice(len(values), rng.integers(1, len(values) + 1), replace=False)
    return OneOf(column.name, tuple(values.take(pa.array(some)).to_pylist()))


def can_be_asked(column: Column) -> bool:
    """Return whether values of a column can be literals of a query: there are some that can."""
    dtype = column.values.type
    outlandish = pa.types.is_time(dtype) or pa.types.is_duration(dtype) or pa.types.is_null(dtype)
    too_fine = pa.types.is_timestamp(dtype) and dtype.unit == "ns"
    return column.cardinality > 0 and not outlandish and not too_fine


def numbers_of(column: Column) -> Reals:
    """Return the numbers of a column's rows, NaN where one is missing.

    Refuses (ParameterError) values that are no numbers to be added up.
    """
    dtype = column.values.type
    if not (
        pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_decimal(dtype)
    ):
        raise ParameterError(f"column '{column.name}' does not hold numbers that can be added up")
    values = column.values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(np.append(values, nan)[column.codes])


class _Truth:
    """True answers; the column of numbers is looked at once."""

    def __init__(self, original: Table, aggregate: Asked) -> None:
        self._original = original
        self._weights = original.weights
        self._is_mean = isinstance(aggregate, Average)
        self._numbers: Reals | None = None
        if not isinstance(aggregate, Count):
            self._numbers = numbers_of(original[aggregate.attribute])
            self._is_there = ~np.isnan(self._numbers)

    def of(self, predicate: Predicate) -> float:
        rows = evaluate(predicate, self._original)
        if self._numbers is None:
            weighed = np.count_nonzero(rows) if self._weights is None else self._weights[rows].sum()
            return float(weighed)
        rows = rows & self._is_there
        numbers = self._numbers[rows]
        weights = None if self._weights is None else self._weights[rows]
        if self._is_mean:
            return float(np.average(numbers, weights=weights)) if len(numbers) else nan
        return float((numbers if weights is None else numbers * weights).sum())


class _Conditions:
    """Conditions on one attribute that a given share of the rows meets, about."""

    def __init__(self, column: Column) -> None:
        self._column = column
        self._mass = column.counts[:-1] / max(len(column.codes), 1)

    def of_share(self, share: float, rng: np.random.Generator) -> Predicate:
        """Return a range, or one of some values."""
        if self._column.kind is Kind.CATEGORICAL:
            return self._one_of(share, rng)
        mass = self._mass  # codes are in the order of the values
        ends = np.cumsum(mass)
        start = rng.random() * max(float(ends[-1]) - share, 0.0)
        middles = ends - mass / 2
        inside = np.flatnonzero((middles >= start) & (middles <= start + share))
        if len(inside) == 0:  # a single value has more than the whole share
            inside = np.array([np.searchsorted(ends, start + share / 2)]).clip(0, len(mass) - 1)
        low, high = (self._column.values[int(i)].as_py() for i in inside[[0, -1]])
        return Between(self._column.name, low, high)

    def _one_of(self, share: float, rng: np.random.Generator) -> Predicate:
        order = rng.permutation(len(self._mass))
        ends = np.cumsum(self._mass[order])
        many = int(np.argmin(np.abs(ends - share))) + 1
        some = self._column.values.take(pa.array(order[: min(many, MOST_VALUES)]))
        return OneOf(self._column.name, tuple(some.to_pylist()))


def _check(
    original: Table,
    attributes: Sequence[str],
    queries: int,
    dimension: int,
    selectivity: float | None,
) -> None:
    for name in attributes:
        if not can_be_asked(original[name]):
            raise ParameterError(f"no query is made on '{name}', which has no values to compare")
    if len(set(attributes)) < len(attributes):
        raise ParameterError("an attribute is named twice")
    if queries < 1:
        raise ParameterError("a workload has at least one query")
    if not 1 <= dimension <= len(attributes):
        raise ParameterError(
            f"queries have conditions on 1 to {len(attributes)} attributes, and were asked for "
            f"with {dimension}"
        )
    if selectivity is not None and not 0 < selectivity <= 1:
        raise ParameterError("a selectivity is a share of the rows: above 0, 1 at most")
