"""What averages need of every layout: how far sums of differences may lie off."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from sfumato.predicates.expression import And, IsMissing, Not, Predicate

# The least and greatest SUM(attribute - about), by `about`.
Limits: TypeAlias = Callable[[float], tuple[float, float]]


def with_number(attribute: str, predicate: Predicate | None) -> Predicate:
    """Return the predicate with the condition that the attribute is not missing.

    >>> from sfumato.predicates import parse
    >>> str(with_number("age", parse("sex = 'F'")))
    "sex = 'F' AND age IS NOT NULL"
    """
    known = Not(IsMissing(attribute))
    return known if predicate is None else And((predicate, known))
