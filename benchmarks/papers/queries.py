"""Random SUM queries as section 4.2 of the LGB paper generates them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.predicates import And, Comparison, OneOf, Predicate, evaluate
from sfumato.schema import Kind
from sfumato.table import Column, Table

CONDITIONS = 4
_OPERATORS = (">", "<", "=", ">=", "<=", "!=")


@dataclass(frozen=True, slots=True)
class Query:
    """A WHERE clause, and the true sum over the rows that satisfy it, or their number."""

    predicate: Predicate
    true_sum: float


def random_queries(
    table: Table, names: Sequence[str], summed: str | None, count: int
) -> list[Query]:
    """Return queries with four conditions on different attributes each, always the same ones.

    A categorical (or ordinal) attribute is one of several random values, how many being random
    too; a number stands in a random relation to a random value. Queries whose true sum is 0 are
    drawn anew, since the relative error divides by it.
    """
    rng = np.random.Generator(np.random.PCG64(42))
    numbers = np.ones(table.rows) if summed is None else _numbers(table[summed])
    queries: list[Query] = []
    while len(queries) < count:
        chosen = rng.choice(len(names), CONDITIONS, replace=False)
        predicate = And(tuple(random_condition(table[names[i]], rng) for i in chosen))
        total = float(numbers[evaluate(predicate, table)].sum())
        if total > 0:
            queries.append(Query(predicate, total))
    return queries


def random_condition(column: Column, rng: np.random.Generator) -> Predicate:
    """Return a random relation to a random number, or one of several random values."""
    values = column.values.to_pylist()
    if column.kind is Kind.NUMERIC:
        operator = _OPERATORS[rng.integers(len(_OPERATORS))]
        return Comparison(column.name, operator, values[rng.integers(len(values))])
    some = rng.choice(len(values), rng.integers(1, len(values) + 1), replace=False)
    return OneOf(column.name, tuple(values[i] for i in some))


def _numbers(column: Column) -> npt.NDArray[np.float64]:
    return np.append(column.points, 0.0)[column.codes]
