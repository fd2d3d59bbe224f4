"""Charts as SVG inside a page: drawn by Vega on this machine, cleaned, and coloured by the page.

What comes from the drawing library is parsed and written anew: only elements and attributes that
draw remain. Colours become those of the page's style, so that dark pages have light lines; names of
elements are made unique; names that were cut get the full name as their title.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count
from typing import Any, Final
from xml.etree import ElementTree

from sfumato.markup import Html, plain
from sfumato.reports.charts import drawing

_SPACE: Final = "http://www.w3.org/2000/svg"
_DRAWING: Final = frozenset(
    {"svg", "g", "path", "text", "tspan", "rect", "line", "circle", "title"}
)
_ATTRIBUTES: Final = frozenset(
    {
        "viewBox", "width", "height", "transform", "d", "x", "y", "x1", "x2", "y1", "y2", "r",
        "cx", "cy", "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity",
        "fill-opacity", "opacity", "text-anchor", "font-family", "font-size", "font-weight",
        "font-style", "dy", "dx",
    }
)  # fmt: skip
# The colours that charts are specified in, and what they become on a page.
INK, LINE, SERIES = "#111111", "#dddddd", ("#3b6fb0", "#c8702a", "#a3262a", "#3d8b57", "#7a57a8")
_COLOURS: Final = {INK: "currentColor", "#000": "currentColor", "#000000": "currentColor"} | {
    LINE: "var(--line)",
    **{colour: f"var(--series-{place})" for place, colour in enumerate(SERIES, 1)},
}
LONGEST_NAME: Final = 24


def cut(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name that fits beside an axis; names often differ in their last characters alone.

    >>> cut("short"), cut("a name that goes on and on, number 7")
    ('short', 'a name that goes…umber 7')
    """
    shown = plain(name)
    if len(shown) <= longest:
        return shown
    end = (longest - 1) // 3
    return f"{shown[: longest - 1 - end]}…{shown[-end:]}"


def unique_cuts(names: list[str], longest: int = LONGEST_NAME) -> dict[str, str]:
    """Return each name with how it is shown: cut, and told apart where cuts are alike."""
    shown: dict[str, str] = {}
    for each in names:
        own = cut(each, longest)
        numbers = count(2)
        while own in shown.values():
            own = f"{cut(each, longest - 4)} ({next(numbers)})"
        shown[each] = own
    return shown


def configured(chart: Any) -> Any:
    """Return a chart with the fonts and lines that all charts of a page have."""
    return (
        chart.configure(font="sans-serif", background="transparent", padding=4)
        .configure_view(strokeWidth=0)
        .configure_axis(
            labelFontSize=12, titleFontSize=12, labelColor=INK, titleColor=INK, gridColor=LINE,
            domainColor=LINE, tickColor=LINE, titleFontWeight="normal", labelLimit=0,
        )
        .configure_legend(
            labelFontSize=12, titleFontSize=12, labelColor=INK, titleColor=INK, orient="top",
            titleFontWeight="normal", labelLimit=260,
        )
        .configure_text(color=INK, fontSize=11)
    )  # fmt: skip


def inline(chart: Any, label: str, full: Mapping[str, str] | None = None) -> Html:
    """Return a chart as an `svg` element; `full` has the full names of those that were cut.

    Refuses (EngineUnavailable) a missing extra.
    """
    root = ElementTree.fromstring(drawing(configured(chart), ".svg"))
    whole = {shown: name for name, shown in (full or {}).items() if shown != name}
    element = _cleaned(root, whole)
    assert element is not None
    width = float(re.sub(r"[^0-9.]", "", root.get("width", "400")) or 400)
    height = float(re.sub(r"[^0-9.]", "", root.get("height", "300")) or 300)
    element.set("viewBox", root.get("viewBox", f"0 0 {width:g} {height:g}"))
    element.set("width", f"{width:g}")
    element.set("height", f"{height:g}")
    element.set("role", "img")
    element.set("aria-label", plain(label))
    return Html(ElementTree.tostring(element, encoding="unicode"))


def _cleaned(source: ElementTree.Element, whole: Mapping[str, str]) -> ElementTree.Element | None:
    """Return what of an element draws, without names, styles, links and scripts."""
    kind = source.tag.removeprefix(f"{{{_SPACE}}}")
    if kind not in _DRAWING:
        return None
    element = ElementTree.Element(kind)
    for key, value in source.attrib.items():
        if key not in _ATTRIBUTES or "url(" in value:
            continue
        colour = _COLOURS.get(value.lower()) if key in ("fill", "stroke") else None
        # attributes and no style: pages may be shown under a policy that allows no inline styles
        element.set(key, value if colour is None else colour)
    element.text = None if source.text is None else plain(source.text)
    if kind == "text" and (name := whole.get((source.text or "").strip())) is not None:
        title = ElementTree.SubElement(element, "title")
        title.text, title.tail, element.text = plain(name), element.text, None
    for each in source:
        child = _cleaned(each, whole)
        if child is not None:
            element.append(child)
    return element
