"""Reading the labels of a hierarchy as intervals, to see whether they hold what lies below them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

_NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_EXACT = re.compile(_NUMBER)
_BRACKETS = re.compile(rf"([\[(\]])\s*({_NUMBER})\s*(?:[,;–]|\.\.|-)\s*({_NUMBER})\s*([\])\[])")
_DASH = re.compile(rf"({_NUMBER})\s*[-–]\s*({_NUMBER})")
_ONE_SIDED = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({_NUMBER})")
_PLUS = re.compile(rf"({_NUMBER})\s*\+")


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of numbers; None is an open end."""

    low: Decimal | None
    high: Decimal | None
    has_low: bool = True
    has_high: bool = True

    def __contains__(self, number: Decimal) -> bool:
        if self.low is not None and (
            number < self.low or (number == self.low and not self.has_low)
        ):
            return False
        return self.high is None or number < self.high or (number == self.high and self.has_high)


def read_number(text: str) -> Decimal | None:
    """Return the number that the text is, or None.

    >>> read_number("17"), read_number("seventeen")
    (Decimal('17'), None)
    """
    return Decimal(text) if _EXACT.fullmatch(text) else None


def read_interval(label: str) -> Interval | None:
    """Return the interval that the label reads as, or None.

    `15-19` and `[15, 19]` hold both ends, `[15, 20[` and `[15, 20)` only the lower one,
    `]10, 20]` and `(10, 20]` only the upper one; `>=80`, `80+` and `<18` have one end.

    >>> Decimal(20) in read_interval("[15, 20[")
    False
    >>> Decimal(20) in read_interval(">=20")
    True
    >>> read_interval("Europe") is None
    True
    """
    label = label.strip()
    if match := _BRACKETS.fullmatch(label):
        opening, low, high, closing = match.groups()
        return _between(low, high, has_low=opening == "[", has_high=closing == "]")
    if match := _DASH.fullmatch(label):
        return _between(match[1], match[2])
    if match := _ONE_SIDED.fullmatch(label):
        sign, end = match[1], Decimal(match[2])
        closed = sign in ("<=", ">=", "≤", "≥")
        if sign in ("<", "<=", "≤"):
            return Interval(None, end, has_high=closed)
        return Interval(end, None, has_low=closed)
    if match := _PLUS.fullmatch(label):
        return Interval(Decimal(match[1]), None)
    return None


def _between(low: str, high: str, has_low: bool = True, has_high: bool = True) -> Interval | None:
    # A label such as `2020-01` is a month, not an interval that runs backwards.
    if Decimal(low) > Decimal(high):
        return None
    return Interval(Decimal(low), Decimal(high), has_low, has_high)
