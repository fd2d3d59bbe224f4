"""Numbers of answers in few digits, rounded so that bounds stay bounds."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from math import isfinite, isnan

from sfumato.answers.estimate import Estimate


def spelled(found: Estimate) -> tuple[str, str, str, str]:
    """Return value, low, high and standard error as texts; what is not known is empty.

    >>> spelled(Estimate(1234.5678, 1234.5678, 1234.5678, 0.12345))
    ('1234.57', '1234.56', '1234.57', '0.1235')
    """
    return (
        "no value" if isnan(found.value) else _number(found.value, ROUND_HALF_EVEN),
        _number(found.low, ROUND_FLOOR),
        _number(found.high, ROUND_CEILING),
        "" if found.se is None else _number(found.se, ROUND_CEILING),
    )


def _number(number: float, rounding: str) -> str:
    """Return a number in few digits.

    >>> _number(1234.5678, ROUND_FLOOR), _number(0.12345, ROUND_CEILING), _number(7.0, ROUND_FLOOR)
    ('1234.56', '0.1235', '7')
    """
    if not isfinite(number):
        return "" if isnan(number) else "no bound"
    if number == int(number):
        return str(int(number))
    places = Decimal("0.01") if abs(number) >= 100 else Decimal("0.0001")
    return f"{Decimal(number).quantize(places, rounding).normalize():f}"
