"""How long steps will take, by how long others of their kind took on other numbers of rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log
from statistics import median
from typing import Final

# How times grow with rows, as a power, before two sizes have been seen, and how much at most.
_USUAL: Final = 0.8
_BOUNDS: Final = (0.3, 1.3)


@dataclass(slots=True)
class Pace:
    """Seconds of steps by kind and number of rows: the latest of each count.

    What a kind takes first is mostly to load compiled code.

    >>> pace = Pace()
    >>> pace.took("lgb", 1_000, 2.0)
    >>> pace.took("lgb", 4_000, 4.0)
    >>> pace.expected("lgb", 16_000)
    8.0
    """

    _seconds: dict[str, dict[int, float]] = field(default_factory=dict)

    def took(self, kind: str, rows: int, seconds: float) -> None:
        """Take down a step."""
        self._seconds.setdefault(kind, {})[max(rows, 1)] = seconds

    def expected(self, kind: str, rows: int) -> float:
        """Return how long a step may take; 0 before anything was seen."""
        if kind in self._seconds:
            return _at(self._seconds[kind], max(rows, 1))
        return self.usual(rows)

    def usual(self, rows: int) -> float:
        """Return how long a step of any kind may take."""
        return median([_at(each, max(rows, 1)) for each in self._seconds.values()] or [0.0])


def _at(seen: dict[int, float], rows: int) -> float:
    """Return the seconds on so many rows: as seen, or by the last two numbers of rows."""
    if rows in seen:
        return seen[rows]
    sizes = sorted(seen)
    power = _USUAL
    if len(sizes) > 1:
        small, large = sizes[-2:]
        growth = max(seen[large], 1e-9) / max(seen[small], 1e-9)
        power = min(max(log(growth) / log(large / small), _BOUNDS[0]), _BOUNDS[1])
    return float(seen[sizes[-1]] * (rows / sizes[-1]) ** power)
