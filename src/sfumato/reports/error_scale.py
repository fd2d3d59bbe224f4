"""The scale of errors in charts of risk and utility."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Final, Self

_LEAST_ERROR: Final = 1e-4
_TICKS: Final = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100)


@dataclass(frozen=True, slots=True)
class Errors:
    """The scale of errors, which differ by orders of magnitude; smaller ones count as `least`.

    >>> [round(Errors(0.01, 1.0, 200).place(each)) for each in (0.001, 0.1, 1)]
    [0, 100, 200]
    """

    least: float
    most: float
    width: float

    @classmethod
    def of(cls, errors: Sequence[float], width: float) -> Self:
        """Return the scale on which all of some errors stand."""
        least = max(min(errors) / 1.4, _LEAST_ERROR)
        return cls(least, max(max(errors) * 1.4, 10 * least), width)

    def place(self, error: float) -> float:
        """Return how far to the right an error stands, in pixels."""
        return log(max(error, self.least) / self.least) / log(self.most / self.least) * self.width

    def at(self, place: float) -> float:
        """Return the error that stands there."""
        return float(self.least * (self.most / self.least) ** (place / self.width))

    @property
    def ticks(self) -> list[float]:
        """Errors that are written beside the scale."""
        return [each for each in _TICKS if self.least <= each <= self.most]
