"""Answers as tables: estimates with bounds and error bars, and cross tables of two columns."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Final

from sfumato.markup import Html, join, table, tag
from sfumato.reports.page import bullets, paragraph

if TYPE_CHECKING:
    from sfumato.answers import Estimate, Reconstruction, Result
    from sfumato.answers.estimate import Label

_MOST_ROWS: Final = 500
_MOST_COLUMNS: Final = 30
_BAR: Final = 180
_HIGH: Final = 16


def result_table(result: Result) -> list[Html]:
    """Return the answer to a query: a line a group, with its bounds drawn."""
    from sfumato.answers.digits import spelled

    shown = result.rows[:_MOST_ROWS]
    scale = _Scale([each.estimate for each in shown])
    rows = [
        [*map(label_words, each.group), *spelled(each.estimate), scale.bar(each.estimate)]
        for each in shown
    ]
    headers = [*result.group_by, "value", "low", "high", "se", "bounds"]
    return [
        table(headers, rows, "the answer"),
        *_left_out(len(result.rows), len(shown)),
        bullets(result.notes),
    ]


def cross_estimates(result: Result) -> list[Html]:
    """Return a cross table of counts with their bounds and standard errors.

    Combinations that no row can be in are not in the result, and 0 here.
    """
    columns = list(dict.fromkeys(each.group[-1] for each in result.rows))
    if len(result.group_by) < 2 or len(columns) > _MOST_COLUMNS:
        return result_table(result)
    lines = list(dict.fromkeys(each.group[0] for each in result.rows))
    found = {each.group: each.estimate for each in result.rows}
    rows: list[list[object]] = [
        [label_words(line), *(_cell(found.get((line, column))) for column in columns)]
        for line in lines[:_MOST_ROWS]
    ]
    one, other = result.group_by
    return [
        table([f"{one} by {other}", *map(label_words, columns)], rows, _CROSS),
        *_left_out(len(lines), len(rows)),
        bullets(result.notes),
    ]


def cross_counts(found: Reconstruction) -> list[Html]:
    """Return a cross table of estimated counts, with standard errors where there are any."""
    if found.counts.ndim < 2 or found.counts.shape[1] > _MOST_COLUMNS:
        headers = [*found.attributes, "count", "se"]
        largest = found.largest(_MOST_ROWS)
        listed: list[list[object]] = [
            [*map(label_words, labels), f"{count:,.1f}", None if se is None else f"{se:,.1f}"]
            for labels, count, se in largest
        ]
        return [
            table(headers, listed, f"the largest counts, by {found.method}"),
            *_left_out(found.counts.size, len(listed)),
            bullets(found.warnings),
        ]
    (lines, columns), errors = found.labels, found.se
    rows: list[list[object]] = []
    for place, line in enumerate(lines[:_MOST_ROWS]):
        cells = [
            _two(
                f"{found.counts[place, at]:,.1f}",
                "" if errors is None else f"± {errors[place, at]:,.1f}",
            )
            for at in range(len(columns))
        ]
        rows.append([label_words(line), *cells])
    one, other = found.attributes
    return [
        table(
            [f"{one} by {other}", *map(label_words, columns)], rows, f"counts, by {found.method}"
        ),
        *_left_out(len(lines), len(rows)),
        bullets(found.warnings),
    ]


_CROSS: Final = "counts; below each its bounds, and its standard error where it has one"


def label_words(label: Label) -> str:
    """Return a value that rows are grouped by."""
    if label is None:
        return "missing"
    return str(label).lower() if isinstance(label, bool) else str(label)


def _cell(found: Estimate | None) -> Html:
    from sfumato.answers.digits import spelled

    if found is None:
        return _two("0", "0–0")
    value, low, high, se = spelled(found)
    return _two(value, f"{low}–{high}" + (f", ± {se}" if se else ""))


def _two(value: str, below: str) -> Html:
    return join([value, tag("small", below) if below else ""], " ")


def _left_out(all_rows: int, shown: int) -> list[Html]:
    if all_rows <= shown:
        return []
    return [paragraph(f"The first {shown:,} of {all_rows:,} lines are shown.")]


class _Scale:
    """The line on which the bounds of several answers are drawn."""

    def __init__(self, found: list[Estimate]) -> None:
        ends = [e for each in found for e in (each.low, each.high, each.value) if isfinite(e)]
        self._low, self._high = min([0.0, *ends]), max([0.0, *ends])

    def bar(self, found: Estimate) -> Html | str:
        """Return the bounds as a line, twice the standard error as a thick one, and the value."""
        if not isfinite(found.value):
            return "–"
        low, high = self._at(found.low, self._low), self._at(found.high, self._high)
        at, middle = self._at(found.value, 0.0), _HIGH / 2
        parts = [_line(low, middle, high, middle, 2), _line(low, 3, low, _HIGH - 3, 2)]
        parts.append(_line(high, 3, high, _HIGH - 3, 2))
        if found.se is not None and isfinite(found.se):
            left = self._at(max(found.value - 2 * found.se, found.low), self._low)
            right = self._at(min(found.value + 2 * found.se, found.high), self._high)
            parts.append(_line(left, middle, right, middle, 6))
        dot = tag("circle", cx=f"{at:.1f}", cy=middle, r=3, fill="currentColor")
        return tag(
            "svg", join([*parts, dot]), viewBox=f"-5 0 {_BAR + 10} {_HIGH}", width=_BAR + 10,
            height=_HIGH, aria_hidden="true",
        )  # fmt: skip

    def _at(self, value: float, otherwise: float) -> float:
        span = self._high - self._low
        if not isfinite(value):
            value = otherwise
        return 0.0 if span <= 0 else (value - self._low) / span * _BAR


def _line(x1: float, y1: float, x2: float, y2: float, width: int) -> Html:
    return tag(
        "line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}",
        stroke="var(--series-1)", stroke_width=width,
    )  # fmt: skip
