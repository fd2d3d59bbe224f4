"""Risk against utility: all runs of a project as points, each a link to its run.

Drawn here and not by the reports' library: points are links, and the page need not load it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sfumato.markup import Html, join, tag
from sfumato.reports.error_scale import Errors
from sfumato.reports.label_places import label_places
from sfumato.reports.page import figure, figures
from sfumato.web.judgement import Judgement

_WIDTH: Final = 340
_HEIGHT: Final = 210
_LEFT, _TOP, _RIGHT, _BOTTOM = 58, 14, 26, 46
_STEPS: Final = 4


@dataclass(frozen=True, slots=True)
class Point:
    """A finished run: what it is called in the chart, its words and its address."""

    name: str
    words: str
    address: str
    judged: Judgement


def risk_utility_map(points: Sequence[Point]) -> Html:
    """Return two charts, re-identification and inference; nothing where no run has the numbers."""
    drawn = [
        _chart(points, lambda each: each.reidentified, "Re-identification, mean chance"),
        _chart(points, lambda each: each.inferred, "Sensitive values guessed rightly"),
    ]
    shown = [each for each in drawn if each is not None]
    return figures(shown) if shown else Html("")


def _chart(
    points: Sequence[Point], risk: Callable[[Judgement], float | None], title: str
) -> Html | None:
    placed = [
        (each, error, height)
        for each in points
        if (error := each.judged.error) is not None and (height := risk(each.judged)) is not None
    ]
    if not placed:
        return None
    errors = Errors.of([error for _, error, _ in placed], _WIDTH)
    most = _rounded_up(max(height for _, _, height in placed))
    spots = [(errors.place(error), _HEIGHT * (1 - height / most)) for _, error, height in placed]
    labels = label_places(spots, [each.name for each, _, _ in placed], _WIDTH + _RIGHT, _HEIGHT)
    marks = []
    for (point, error, height), (x, y), label in zip(placed, spots, labels, strict=True):
        said = f"Run {point.name}, {point.words}: {title.lower()} {height:.1%}, error {error:.1%}"
        name = tag(
            "text", point.name, x=f"{label.x:.1f}", y=f"{label.y + 4:.1f}", font_size=12,
            fill="currentColor", text_anchor="end" if label.is_left else "start",
        )  # fmt: skip
        dot = tag("circle", tag("title", said), cx=f"{x:.1f}", cy=f"{y:.1f}", r=6, class_="dot")
        marks.append(tag("a", join([dot, name]), href=point.address, aria_label=said))
    size = (_LEFT + _WIDTH + _RIGHT, _TOP + _HEIGHT + _BOTTOM)
    inner = tag("g", join([*_axes(errors, most), *marks]), transform=f"translate({_LEFT},{_TOP})")
    drawing = tag(
        "svg", inner, viewBox=f"0 0 {size[0]} {size[1]}", width=size[0], height=size[1],
        role="group", aria_label=f"Map of runs: {title.lower()} against query error", class_="map",
    )  # fmt: skip
    caption = f"{title}, against the error of COUNT queries: left is more useful, low is safer"
    return figure(drawing, caption)


def _axes(errors: Errors, most: float) -> list[Html]:
    lines = []
    for step in range(_STEPS + 1):
        y = _HEIGHT * (1 - step / _STEPS)
        lines.append(_line(0, y, _WIDTH, y))
        lines.append(_word(f"{most * step / _STEPS:.3g}", -8, y + 4, "end", percent=True))
    for tick in errors.ticks:
        x = errors.place(tick)
        lines.append(_line(x, _HEIGHT, x, _HEIGHT + 5))
        lines.append(_word(f"{tick:.3g}", x, _HEIGHT + 19, "middle", percent=True))
    lines.append(_word("mean error of COUNT queries", _WIDTH / 2, _HEIGHT + 39, "middle"))
    return lines


def _line(x1: float, y1: float, x2: float, y2: float) -> Html:
    return tag(
        "line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}",
        stroke="var(--line)",
    )  # fmt: skip


def _word(words: str, x: float, y: float, anchor: str, percent: bool = False) -> Html:
    if percent:
        words = f"{float(words) * 100:.3g}%"
    return tag(
        "text", words, x=f"{x:.1f}", y=f"{y:.1f}", font_size=11, fill="currentColor",
        text_anchor=anchor, aria_hidden="true",
    )  # fmt: skip


def _rounded_up(share: float) -> float:
    """Return the share at the top of an axis, a little above the highest.

    >>> _rounded_up(0.034), _rounded_up(0.41), _rounded_up(0.97)
    (0.04, 0.5, 1.0)
    """
    steps = (0.001, 0.002, 0.004, 0.01, 0.02, 0.04, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
    return next((each for each in steps if share <= each * 0.98), 1.0)
