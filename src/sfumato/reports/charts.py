"""Charts, drawn on this machine alone: nothing is fetched, and no cell is shown.

Needs Altair and vl-convert (extra `reports`), which holds the drawing library and its fonts.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from sfumato.errors import EngineUnavailable, ParameterError
from sfumato.risk import Risk
from sfumato.risk.uniques import Uniques, most_telling

SUFFIXES = (".svg", ".png", ".html")
_WIDTH = 460
_BLUE, _RED = "#4c78a8", "#c44e52"
_LISTED = 8  # combinations of each size
_PNG_SCALE = 2


def refuse_missing(suffix: str) -> None:
    """Refuse (ParameterError) a format that is none, and (EngineUnavailable) a missing extra."""
    if suffix.lower() not in SUFFIXES:
        raise ParameterError(f"a chart is written as {', '.join(SUFFIXES)}: end its name in one")
    if find_spec("altair") is None or find_spec("vl_convert") is None:
        raise EngineUnavailable("charts need the extra `reports`: pip install 'sfumato[reports]'")


def drawing(chart: Any, suffix: str) -> bytes:
    """Return a chart as the content of a file; HTML holds all that it needs."""
    import altair
    import vl_convert

    refuse_missing(suffix)
    spec = chart.to_dict()
    version = ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    if suffix.lower() == ".png":
        return bytes(vl_convert.vegalite_to_png(spec, vl_version=version, scale=_PNG_SCALE))
    if suffix.lower() == ".svg":
        return str(vl_convert.vegalite_to_svg(spec, vl_version=version)).encode()
    return str(vl_convert.vegalite_to_html(spec, vl_version=version, bundle=True)).encode()


def risk_chart(found: Risk) -> Any:
    """Return the classes by size above the columns and combinations that single out most."""
    import altair as alt

    parts = [_sizes(found)]
    if most_telling(found.uniques, [1], 1) or any(c.uniques for c in found.uniques.combinations):
        parts.append(_combinations(found.uniques))
    return (
        alt.vconcat(*parts, spacing=30)
        .resolve_scale(color="independent")
        .configure_view(strokeWidth=0)
        .configure_axis(labelFontSize=12, titleFontSize=12, labelLimit=420)
        .configure_title(fontSize=15, subtitleFontSize=12, anchor="start", frame="group")
    )


def _sizes(found: Risk) -> Any:
    import altair as alt

    rows: list[dict[str, Any]] = [
        {
            "people": bar.label,
            "share": bar.share,
            "text": f"{bar.share:.1%}" if bar.records else "",
            "unique": "alone" if bar.high == 1 else "with others",
        }
        for bar in found.histogram
    ]
    order = [row["people"] for row in rows]
    base = alt.Chart(
        alt.InlineData(values=rows),
        width=_WIDTH,
        height=220,
        title=alt.TitleParams(
            "How many people share a record's values",
            subtitle=f"{found.records:,} records, by {len(found.columns)} known columns",
        ),
    ).encode(
        x=alt.X(
            "people:N",
            sort=order,
            title="people with the same values (class size)",
            axis=alt.Axis(labelAngle=-40),
        ),
        y=alt.Y(
            "share:Q",
            title="share of records",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(format="%", tickCount=5),
        ),
    )
    bars = base.mark_bar().encode(
        color=alt.Color(
            "unique:N",
            scale=alt.Scale(domain=["alone", "with others"], range=[_RED, _BLUE]),
            legend=None,
        )
    )
    return bars + base.mark_text(dy=-7, fontSize=11).encode(text="text:N")


def _combinations(uniques: Uniques) -> Any:
    import altair as alt

    sizes = range(1, uniques.max_size + 1)
    rows: list[dict[str, Any]] = [
        {
            "columns": " + ".join(each.columns),
            "uniques": each.uniques,
            "text": f"{each.uniques:,}",
            "size": f"{len(each.columns)}",
        }
        for each in most_telling(uniques, sizes, _LISTED)
    ]
    order = [row["columns"] for row in rows]
    base = alt.Chart(
        alt.InlineData(values=rows),
        width=_WIDTH,
        height=alt.Step(20),
        title=alt.TitleParams(
            "Columns that single people out",
            subtitle=f"up to {_LISTED} combinations of each size, up to {uniques.max_size} columns",
        ),
    ).encode(
        y=alt.Y("columns:N", sort=order, title=None),
        x=alt.X(
            "uniques:Q",
            title="records that are unique by them",
            axis=alt.Axis(format=",d", tickCount=5),
        ),
    )
    bars = base.mark_bar().encode(
        color=alt.Color(
            "size:N",
            title="columns",
            sort=[str(size) for size in sizes],
            scale=alt.Scale(scheme="blues" if uniques.max_size > 2 else "tableau10"),
            # below, where it is in nobody's way: numbers stand to the right of long bars
            legend=alt.Legend(orient="bottom"),
        )
    )
    return bars + base.mark_text(align="left", dx=4, fontSize=11).encode(text="text:N")
