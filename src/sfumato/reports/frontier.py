"""A recommendation drawn, and as a piece of HTML for notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sfumato.markup import Html, details, join, table, tag
from sfumato.reports.charts import drawing, refuse_missing
from sfumato.reports.error_scale import Errors
from sfumato.reports.svg import INK, SERIES, configured

Facts = Mapping[str, Any]

_WIDTH: Final = 340
_HEIGHT: Final = 220
_CHOICE, _FRONTIER, _OTHER = "the choice", "on the frontier", "within the limits"
_DRAWN: Final = (_OTHER, _FRONTIER, _CHOICE)  # the later ones lie on top
_RISKS: Final = (
    ("reidentification", "max_reidentification", "re-identification"),
    ("inference", "max_inference", "inference"),
)


def frontier_chart(found: Facts) -> Any:
    """Return the candidates within the limits: each of the two risks against the query error."""
    import altair as alt

    points = _points(found)
    if not points:
        nothing = alt.InlineData(values=[{"says": "no candidate keeps the limits"}])
        return (
            alt.Chart(nothing, width=_WIDTH, height=40).mark_text(color=INK).encode(text="says:N")
        )
    parts = [
        _scatter(points, key, found["limits"][limit], name)
        for key, limit, name in _RISKS
        if found["limits"][limit] is not None
    ]
    return alt.vconcat(*parts, spacing=28)


def as_picture(found: Facts, suffix: str) -> bytes:
    """Return the chart as the content of a file, on white.

    Refuses (ParameterError, EngineUnavailable) a format that is none, and a missing extra.
    """
    refuse_missing(suffix)
    return drawing(configured(frontier_chart(found)).properties(background="white"), suffix)


def as_fragment(found: Facts) -> str:
    """Return the recommendation for a notebook: the choice, why, and the frontier."""
    choice = found["choice"]
    parts: list[Html] = []
    if choice is None:
        parts.append(tag("p", "Nothing that was tried keeps the limits."))
        parts += [tag("p", f"What binds: {each}") for each in found["binds"]]
        parts += [tag("p", f"It would take {each['words']}.") for each in found["relaxations"]]
    else:
        parts.append(tag("p", f"Recommended: {choice['candidate']}"))
        parts.append(tag("ul", join(tag("li", each) for each in choice["reasons"])))
    if found["frontier"]:
        rows = [
            [
                each["candidate"],
                f"{each['reidentification']:.3f}",
                f"{each['inference']:.3f}",
                f"{each['error']:.4g}",
            ]
            for each in found["frontier"]
        ]
        parts.append(table(["candidate", "re-identification", "inference", "error"], rows))
    if choice is not None:
        parts.append(details("the policy", tag("pre", choice["policy"])))
    return str(tag("div", join(parts)))


def _points(found: Facts) -> list[dict[str, Any]]:
    frontier = {each["candidate"] for each in found["frontier"]}
    chosen = None if found["choice"] is None else found["choice"]["candidate"]
    points = []
    for each in found["tried"]:
        if each["refused"] or each["breaks"] or each["error"] is None:
            continue
        name = each["candidate"]
        kind = _CHOICE if name == chosen else _FRONTIER if name in frontier else _OTHER
        keys = ("method", "error", "reidentification", "inference")
        points.append({key: each[key] for key in keys} | {"candidate": name, "is": kind})
    return sorted(points, key=lambda point: _DRAWN.index(point["is"]))


def _scatter(points: list[dict[str, Any]], key: str, limit: float, name: str) -> Any:
    import altair as alt

    errors = Errors.of([point["error"] for point in points], _WIDTH)
    shown = [{**point, "error": max(point["error"], errors.least)} for point in points]
    base = alt.Chart(
        alt.InlineData(values=shown),
        width=_WIDTH,
        height=_HEIGHT,
        title=alt.TitleParams(
            f"{name} against query error".capitalize(),
            subtitle="left is more useful, low is safer; the dashed line is the limit",
            anchor="start",
            subtitleColor=INK,
            color=INK,
        ),
    )
    dots = base.mark_point(filled=True, opacity=0.85).encode(
        x=alt.X(
            "error:Q",
            scale=alt.Scale(type="log", domain=[errors.least, errors.most], nice=False),
            axis=alt.Axis(format="~%", values=errors.ticks),
            title="mean error of COUNT queries, relative to the truth",
        ),
        y=alt.Y(
            f"{key}:Q",
            scale=alt.Scale(domain=[0, 1.1 * limit]),
            axis=alt.Axis(format=".0%"),
            title=f"highest probability of {name}",
        ),
        color=alt.Color(
            "is:N",
            title=None,
            scale=alt.Scale(domain=[_CHOICE, _FRONTIER, _OTHER], range=[*SERIES[1::-1], "#999999"]),
        ),
        size=alt.Size(
            "is:N",
            title=None,
            scale=alt.Scale(domain=[_CHOICE, _FRONTIER, _OTHER], range=[160, 80, 40]),
        ),
        tooltip=["candidate:N", "error:Q", f"{key}:Q"],
    )
    data = alt.InlineData(values=[{"limit": limit}])
    line = alt.Chart(data).mark_rule(strokeDash=[5, 4], color=SERIES[2]).encode(y="limit:Q")
    return line + dots
