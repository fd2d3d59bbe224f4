"""Charts like the figures of the papers: lines over a parameter, one a method, drawn offline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from sfumato.papers.grid import NotMeasured, Results

_WIDTH, _HEIGHT = 380, 240
_COLUMNS = 2  # panels beside each other
_LETTERS = 66  # of the legend that are as wide as a panel
# Told apart by those who see few colours too; shapes help in black and white.
_COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#000000",
    "#7f7f7f",
    "#8c564b",
    "#bcbd22",
)
_SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
    "stroke",
    "circle",
)


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark of a chart; those of a series are joined. A panel is a chart beside the others."""

    x: float | str
    y: float
    series: str
    panel: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart: what it is like in the paper, its axes with units, and its marks.

    With `bars`, x is a name and bars of the series stand beside each other.
    """

    key: str
    title: str
    like: str
    x: str
    y: str
    marks: Callable[[Results], Sequence[Mark]]
    log: bool = False
    bars: bool = False


def can_draw() -> bool:
    """Return whether the extra `reports` is installed."""
    return find_spec("altair") is not None and find_spec("vl_convert") is not None


def drawn(figure: Figure, results: Results, suffix: str = ".svg") -> bytes | None:
    """Return the chart as the content of a file; None where the grid has no points for it."""
    from sfumato.reports.charts import drawing

    try:
        marks = figure.marks(results)
    except NotMeasured:
        return None
    return drawing(_chart(figure, marks, results.about.title), suffix) if marks else None


def _chart(figure: Figure, marks: Sequence[Mark], data: str) -> Any:
    import altair as alt

    series = list(dict.fromkeys(mark.series for mark in marks))
    panels = list(dict.fromkeys(mark.panel for mark in marks))
    colour = alt.Color(
        "series:N",
        sort=series,
        title=None,
        scale=alt.Scale(domain=series, range=[*_COLOURS][: len(series)]),
        legend=alt.Legend(
            orient="bottom",
            columns=_legend_columns(series, min(len(panels), _COLUMNS)),
            labelLimit=260,
            symbolLimit=0,
        ),
    )

    def panel(name: str) -> Any:
        rows = [
            {"x": mark.x, "y": mark.y, "series": mark.series}
            for mark in marks
            if mark.panel == name
        ]
        base = alt.Chart(alt.InlineData(values=rows), width=_WIDTH, height=_HEIGHT)
        if name:
            base = base.properties(title=alt.TitleParams(name, fontSize=12, fontWeight="normal"))
        return (
            _bars(base, figure, colour, series)
            if figure.bars
            else _lines(base, figure, colour, series, rows)
        )

    return (
        alt.concat(*map(panel, panels), columns=_COLUMNS, spacing=24)
        # panels may have other numbers of names, and so bars of other widths
        .resolve_scale(xOffset="independent")
        .properties(
            title=alt.TitleParams(
                figure.title, subtitle=f"{figure.like}; {data}", anchor="start", fontSize=14
            ),
            background="white",
        )
        .configure_axis(labelFontSize=11, titleFontSize=11, titleFontWeight="normal")
        .configure_view(stroke="#ccc")
    )


def _legend_columns(series: Sequence[str], panels: int) -> int:
    """Return how many names fit beside each other below the panels, at most all."""
    longest = max(map(len, series)) + 6  # its symbol and some room
    return max(1, min(len(series), _LETTERS * panels // longest))


def _y(figure: Figure) -> Any:
    import altair as alt

    scale = alt.Scale(type="log") if figure.log else alt.Scale(zero=figure.bars, nice=True)
    return alt.Y("y:Q", title=figure.y, scale=scale, axis=alt.Axis(tickCount=6))


def _lines(base: Any, figure: Figure, colour: Any, series: list[str], rows: list[Any]) -> Any:
    import altair as alt

    xs = list(dict.fromkeys(row["x"] for row in rows))
    if all(isinstance(x, int | float) for x in xs):
        whole = all(float(x).is_integer() for x in xs)
        x = alt.X(
            "x:Q",
            title=figure.x,
            scale=alt.Scale(zero=False, nice=False, padding=12),
            axis=alt.Axis(values=xs, grid=False, format=",d" if whole else "~g", labelFlush=False),
        )
    else:
        x = alt.X("x:N", title=figure.x, sort=xs, axis=alt.Axis(labelAngle=-30))
    shape = alt.Shape(
        "series:N",
        sort=series,
        title=None,
        scale=alt.Scale(domain=series, range=[*_SHAPES][: len(series)]),
    )
    line = base.mark_line(strokeWidth=1.6).encode(x=x, y=_y(figure), color=colour)
    marks = base.mark_point(size=44, filled=False, strokeWidth=1.6, opacity=1).encode(
        x=x, y=_y(figure), color=colour, shape=shape
    )
    return line + marks


def _bars(base: Any, figure: Figure, colour: Any, series: list[str]) -> Any:
    import altair as alt

    return base.mark_bar().encode(
        x=alt.X("x:N", title=figure.x, sort=None, axis=alt.Axis(labelAngle=-30)),
        xOffset=alt.XOffset("series:N", sort=series),
        y=_y(figure),
        color=colour,
    )
