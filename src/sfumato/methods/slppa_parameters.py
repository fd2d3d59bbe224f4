"""The four parameters of SLPPA, those that nobody gave derived from the others."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import NamedTuple

from sfumato.errors import ParameterError

_UPWARDS = Context(prec=4, rounding=ROUND_CEILING)
# Where nobody says: what alpha allows, over the least that the whole table allows.
_ROOM = Fraction(3, 2)


class Asked(NamedTuple):
    """The four parameters for one sensitive attribute, all known."""

    alpha: float
    beta: float
    gamma: float
    delta: float


def derived(
    alpha: float | None,
    beta: float | None,
    gamma: float | None,
    delta: float | None,
    *,
    tables: int,
    least_alpha: Fraction,
) -> Asked:
    """Return all four parameters, those not given derived from the others.

    `delta` is `beta`, and the other way round: groups of values that all differ keep both. `gamma`
    is alpha to the number of quasi-identifier tables, times beta, which always suffices. `alpha`
    is what gamma leaves for it; without gamma, half as much again as the least that is feasible,
    and at least what two people in a group of different values have.

    >>> derived(0.5, 0.05, None, None, tables=3, least_alpha=Fraction(1, 5))
    Asked(alpha=0.5, beta=0.05, gamma=0.00625, delta=0.05)
    """
    if beta is None and delta is None and gamma is not None and alpha is not None:
        if gamma >= alpha**tables:
            raise ParameterError("slppa: `alpha` and `gamma` leave beta free; say `beta`")
        beta = float(f"{gamma / alpha**tables:.4g}")
    if beta is None:
        beta = delta
    if beta is None:
        raise ParameterError("slppa needs `beta` or `delta`, or both `alpha` and `gamma`")
    if delta is None:
        delta = beta
    if alpha is None:
        room = max(_ROOM * least_alpha, 2 * Fraction(str(beta)))
        if gamma is not None:
            left = gamma / beta if gamma < beta else 1.0
            room = Fraction(f"{left ** (1 / tables):.12g}")
        alpha = min(rounded_up(room), 1.0)
    if gamma is None:
        gamma = min(rounded_up(Fraction(str(alpha)) ** tables * Fraction(str(beta))), 1.0)
    return Asked(alpha, beta, gamma, delta)


def rounded_up(value: Fraction) -> float:
    """Return a number of four digits that is not smaller.

    >>> rounded_up(Fraction(2, 3)), rounded_up(Fraction(3, 10))
    (0.6667, 0.3)
    """
    return float(_UPWARDS.divide(Decimal(value.numerator), Decimal(value.denominator)))
