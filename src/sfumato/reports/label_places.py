"""Where the names of points stand in a chart, so that none covers another or a point.

Places are tried in turn, near ones first, and the first that is free is taken: points at the
right edge or in a crowd have their names further off, with a line that leads there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import cos, hypot, pi, sin
from typing import Final

CHARACTER: Final = 5.8  # the mean width of one at the size of labels, in pixels
LINE: Final = 13.0
_POINT: Final = 6.0
_STEPS: Final = (9, 14, 20, 28, 38, 50, 64, 80, 98, 118, 140)
_DIRECTIONS: Final = 24


@dataclass(frozen=True, slots=True)
class Place:
    """Where a name begins, or ends if it stands to the left; and whether a line leads there."""

    x: float
    y: float
    is_left: bool
    is_far: bool


@dataclass(frozen=True, slots=True)
class _Box:
    left: float
    right: float
    top: float
    bottom: float

    def meets(self, other: _Box) -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def is_within(self, width: float, height: float) -> bool:
        return self.left >= 0 and self.right <= width and self.top >= 0 and self.bottom <= height


def label_places(
    points: Sequence[tuple[float, float]], names: Sequence[str], width: float, height: float
) -> list[Place]:
    """Return a place for the name of each point of a chart of this size, in pixels from its top.

    >>> [(round(p.x), round(p.y)) for p in label_places([(10, 10)], ["a"], 100, 50)]
    [(19, 10)]
    """
    taken = [_Box(x - _POINT, x + _POINT, y - _POINT, y + _POINT) for x, y in points]
    found: list[Place] = []
    for (x, y), name in zip(points, names, strict=True):
        long = len(name) * CHARACTER
        spots = list(_spots(x, y, long))
        free = [box for box in spots if box.is_within(width, height)]
        box = next((b for b in free if not any(b.meets(t) for t in taken)), (free or spots)[0])
        taken.append(box)
        middle = (box.top + box.bottom) / 2
        is_left = box.right < x
        end = box.right if is_left else box.left
        found.append(Place(end, middle, is_left, hypot(end - x, middle - y) > _STEPS[1]))
    return found


def _spots(x: float, y: float, long: float) -> Iterator[_Box]:
    """Yield boxes around a point, near ones first, to the right before all others."""
    for far in _STEPS:
        for turn in range(_DIRECTIONS):
            # right, then a little up and down, and so on to the left
            angle = (turn + 1) // 2 * (1 if turn % 2 else -1) * 2 * pi / _DIRECTIONS
            near, middle = x + far * cos(angle), y + far * sin(angle)
            left = near if cos(angle) >= -0.01 else near - long
            yield _Box(left, left + long, middle - LINE / 2, middle + LINE / 2)
