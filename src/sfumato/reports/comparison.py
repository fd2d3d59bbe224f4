"""A comparison as a chart of risk and utility, as a page, and as a piece of a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from sfumato.errors import EngineUnavailable
from sfumato.markup import Html, join, table, tag
from sfumato.reports.charts import drawing, refuse_missing
from sfumato.reports.comparison_words import (
    HEADERS,
    MEANINGS,
    cells,
    heading,
    of_the_stated,
    parameters,
    refusals,
    remarks,
    strongest,
)
from sfumato.reports.error_scale import Errors
from sfumato.reports.label_places import label_places
from sfumato.reports.page import badge, figure, formula, note, page, paragraph, section
from sfumato.reports.svg import INK, SERIES, configured, inline

Facts = Mapping[str, Any]

_HEIGHT: Final = 330
# A chart of few methods is narrow, so that its words can be read on a phone.
_FEW, _NARROW, _WIDE = 8, 330, 560
_ALL, _PART, _NONE = "all of the stated protection", "a part of it", "none of it, or nothing stated"
_KINDS: Final = {_ALL: SERIES[0], _PART: SERIES[1], _NONE: SERIES[4]}
_SHAPES: Final = ("circle", "triangle-up", "square")
_SIDES: Final[tuple[tuple[str, Literal["left", "right"]], ...]] = (
    ("true", "right"),
    ("false", "left"),
)
TITLE: Final = "Methods side by side"


def risk_utility_chart(found: Facts) -> Any:
    """Return two charts, one above the other: re-identification and inference against query error.

    A method that published nothing, or whose answers have no error, is left out.
    """
    import altair as alt

    linked = _points(found, lambda trial: (trial["linkage"] or {}).get("mean"))
    inferred = _points(found, lambda trial: (strongest(trial) or {}).get("success"))
    blind = max(
        (each["blind"] for trial in found["trials"] if (each := strongest(trial))), default=None
    )
    width = _NARROW if len(found["trials"]) <= _FEW else _WIDE
    parts = [
        _scatter(linked, "people re-identified, mean chance", None, "Re-identification", width),
        _scatter(inferred, "sensitive values guessed rightly", blind, "Inference", width),
    ]
    chosen = [part for part in parts if part is not None]
    if not chosen:
        return alt.Chart(alt.InlineData(values=[])).mark_point()
    return alt.vconcat(*chosen, spacing=28)


def _points(found: Facts, risk: Any) -> list[dict[str, Any]]:
    points = []
    for trial in found["trials"]:
        error = (trial["utility"] or {}).get("count_mean")
        height = risk(trial)
        if error is None or height is None:
            continue
        kept = of_the_stated(trial)
        kind = _ALL if kept == "all" else _NONE if kept == "nothing" else _PART
        points.append({"method": trial["method"], "error": error, "risk": height, "promises": kind})
    return points


def _scatter(
    points: Sequence[dict[str, Any]], risk: str, blind: float | None, title: str, width: int
) -> Any | None:
    import altair as alt

    if not points:
        return None
    errors = Errors.of([each["error"] for each in points], width)
    top = max(each["risk"] for each in points)
    top = min(1.0, max(1.15 * top, 0.1)) if top < 0.87 else 1.0
    # names stand above the highest points, so there is room above the last line
    space = top * 1.06
    across = [errors.place(each["error"]) for each in points]
    down = [_HEIGHT * (1 - each["risk"] / space) for each in points]
    names = [each["method"] for each in points]
    places = label_places(list(zip(across, down, strict=True)), names, width + 60, _HEIGHT)
    rows = [
        point
        | {
            "error": max(point["error"], errors.least),
            "x": errors.at(place.x),
            "y": space * (1 - place.y / _HEIGHT),
            "left": place.is_left,
            "far": place.is_far,
        }
        for point, place in zip(points, places, strict=True)
    ]
    scale = alt.Scale(type="log", domain=[errors.least, errors.most], nice=False)
    axis = alt.Axis(format="~%", values=errors.ticks)
    height = alt.Scale(domain=[0, space], nice=False)
    base = alt.Chart(alt.InlineData(values=rows), width=width, height=_HEIGHT, title=_title(title))
    dots = base.mark_point(filled=True, size=75, opacity=1).encode(
        x=alt.X(
            "error:Q",
            scale=scale,
            axis=axis,
            title="mean relative error of COUNT queries (log scale)",
        ),
        y=alt.Y("risk:Q", scale=height, axis=alt.Axis(format=".0%"), title=risk),
        color=_by_promise(alt, "color"),
        shape=_by_promise(alt, "shape"),
    )
    lines = (
        base.transform_filter("datum.far")
        .mark_rule(strokeWidth=0.8, color=INK, strokeOpacity=0.45)
        .encode(
            x=alt.X("error:Q", scale=scale), x2="x:Q", y=alt.Y("risk:Q", scale=height), y2="y:Q"
        )
    )
    words = [
        base.transform_filter(f"datum.left == {is_left}")
        .mark_text(align=align, baseline="middle", fontSize=11, color=INK)
        .encode(x=alt.X("x:Q", scale=scale), y=alt.Y("y:Q", scale=height), text="method:N")
        for is_left, align in _SIDES
    ]
    layers = [lines, dots, *words]
    if blind is not None:
        layers.insert(0, _blind(blind, height, width))
    return alt.layer(*layers)


def _title(words: str) -> Any:
    import altair as alt

    return alt.TitleParams(
        f"{words} against query error",
        subtitle="left is more useful, low is safer",
        anchor="start",
        fontSize=14,
        subtitleFontSize=12,
        color=INK,
        subtitleColor=INK,
    )


def _by_promise(alt: Any, channel: str) -> Any:
    ranges = list(_KINDS.values()) if channel == "color" else list(_SHAPES)
    made = alt.Color if channel == "color" else alt.Shape
    return made(
        "promises:N",
        title="audited guarantees keep",
        scale=alt.Scale(domain=list(_KINDS), range=ranges),
        legend=alt.Legend(orient="bottom", columns=1),
    )


def _blind(share: float, height: Any, width: int) -> Any:
    import altair as alt

    data = alt.InlineData(values=[{"blind": share, "says": "blind guess: the commonest value"}])
    base = alt.Chart(data)
    line = base.mark_rule(strokeDash=[5, 4], color=SERIES[2]).encode(
        y=alt.Y("blind:Q", scale=height)
    )
    words = base.mark_text(
        align="right", baseline="top", dy=3, fontSize=11, color=SERIES[2]
    ).encode(y=alt.Y("blind:Q", scale=height), x=alt.value(width), text="says:N")
    return line + words


def as_picture(found: Facts, suffix: str) -> bytes:
    """Return the chart as the content of a file, on white.

    Refuses (EngineUnavailable) a missing extra.
    """
    refuse_missing(suffix)
    return drawing(configured(risk_utility_chart(found)).properties(background="white"), suffix)


# Pages


def as_page(found: Facts) -> str:
    """Return the comparison as one HTML file, which fetches nothing."""
    trials = found["trials"]
    refused = refusals(trials)
    settings = [[t["method"], parameters(t)] for t in trials if not t["refused"]]
    sections = [
        section("table", "All methods", comparison_table(trials), columns_meaning()),
        section("chart", "Risk and utility", risk_utility_figure(found)),
        section(
            "promises",
            "What each method promises",
            paragraph(
                "The same protection was asked of all, as far as a method can be asked for it. "
                "What is not the same stands here."
            ),
            table(["method", "what to know"], remarks(trials)),
        ),
    ]
    if refused:
        sections.append(section("refused", "Not published", table(["method", "why not"], refused)))
    sections.append(section("parameters", "Parameters", table(["method", "parameters"], settings)))
    lead = [tag("p", heading(found), class_="lead")]
    if not found["ok"]:
        lead.append(note("The audit of a release failed: see the table.", kind="bad"))
    if found["test"]:
        lead.append(note("Made with a public test seed, so that it can be repeated."))
    return page(
        TITLE,
        sections,
        lead=lead,
        banner="For the steward: numbers about the original data",
        footer=[
            paragraph(
                "Attacks are simulated, on a sample of the people: that one fails shows that this "
                "attack fails, and nothing here makes data safe."
            )
        ],
    )


def as_fragment(found: Facts) -> str:
    """Return the table alone, for notebooks."""
    refused = refusals(found["trials"])
    parts: list[Html] = [paragraph(heading(found)), comparison_table(found["trials"])]
    if refused:
        parts.append(table(["method", "why not"], refused))
    return str(tag("div", join(parts)))


def comparison_table(trials: Sequence[Facts]) -> Html:
    """Return the table of a comparison, a row for every method."""
    rows: list[list[object]] = []
    for trial in trials:
        row: list[object] = list(cells(trial))
        if trial["refused"]:
            row[1] = badge("refused", "warning")
        elif trial["audit"] == "broken":
            row[1] = badge(row[1], "bad")
        rows.append(row)
    return table(HEADERS, rows)


def columns_meaning() -> Html:
    """Return what the columns are, one click away."""
    return formula("what the columns are", *(f"{name}: {what}" for name, what in MEANINGS))


def risk_utility_figure(found: Facts) -> Html:
    """Return the chart with its caption, or what it needs where it cannot be drawn."""
    try:
        refuse_missing(".svg")
    except EngineUnavailable as error:
        return note(str(error))
    label = "risk against query error, one point a method"
    caption = (
        "Each point is a method. Whoever wants both reads the lower left: a method to the left of "
        "and below another is better in both."
    )
    return figure(inline(risk_utility_chart(found), label), caption)
