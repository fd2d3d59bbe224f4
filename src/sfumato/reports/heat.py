"""A matrix of how strongly attributes go together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.markup import Html
from sfumato.reports.alone import Pair
from sfumato.reports.svg import INK, SERIES, inline, unique_cuts

CELL = 30
# With more attributes a matrix cannot be read.
MOST_ATTRIBUTES = 14
# Numbers inside cells, up to so many attributes.
_WRITTEN = 10
# The most opaque cell, under which a number is still readable.
_STRONGEST = 0.6


def association_chart(pairs: Sequence[Pair], names: Sequence[str]) -> Html:
    """Return a matrix: above the diagonal the original (where it is known), below the release."""
    import altair as alt

    chosen = list(names)[:MOST_ATTRIBUTES]
    cuts = unique_cuts(chosen, 14)
    place = {name: number for number, name in enumerate(chosen)}
    rows: list[dict[str, Any]] = []
    for pair in pairs:
        if not all(name in place for name in pair.attributes):
            continue
        first, second = sorted(pair.attributes, key=place.__getitem__)
        rows.append(_cell(cuts[second], cuts[first], pair.release))  # below the diagonal
        if pair.original is not None:
            rows.append(_cell(cuts[first], cuts[second], pair.original))
    order = [cuts[name] for name in chosen]
    rows += [{"row": each, "column": each, "value": 0.0, "text": "·"} for each in order]
    base = alt.Chart(
        alt.InlineData(values=rows), width=alt.Step(CELL), height=alt.Step(CELL)
    ).encode(
        x=alt.X("column:N", sort=order, title=None, axis=alt.Axis(labelAngle=-60, orient="top")),
        y=alt.Y("row:N", sort=order, title=None),
    )
    cells = base.mark_rect(color=SERIES[0]).encode(
        opacity=alt.Opacity(
            "value:Q", scale=alt.Scale(domain=[0, 1], range=[0.03, _STRONGEST]), legend=None
        )
    )
    chart = cells
    if len(chosen) <= _WRITTEN:
        chart = cells + base.mark_text(color=INK, fontSize=10).encode(text="text:N")
    return inline(chart, "matrix: how strongly each two attributes go together, 0 to 1", cuts)


def _cell(row: str, column: str, value: float) -> dict[str, Any]:
    return {"row": row, "column": column, "value": value, "text": f"{value:.2f}"}
