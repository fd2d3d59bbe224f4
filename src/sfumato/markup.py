"""HTML that is made of texts: whatever comes from data is escaped, in one place.

Result objects use it to show themselves in notebooks, and `reports/` to write whole pages. A text
is escaped when it enters; what has entered is an `Html`, which is not escaped again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape, unescape
from re import sub

# Longer cells are cut; the whole text is in the cell's title.
LONGEST_CELL = 200


class Html(str):
    """A text that is HTML already: only this module and the pages make one."""

    __slots__ = ()


def text(value: object) -> Html:
    """Return a value as HTML that shows it, whatever it is; what is HTML already stays.

    Characters that do not show (which may turn the direction of what follows, or end a line) are
    replaced by a mark: names and values come from files.

    >>> text('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    >>> text(Html("<b>x</b>"))
    '<b>x</b>'
    """
    return value if isinstance(value, Html) else Html(escape(plain(value), quote=True))


def tag(name: str, content: object = "", **attributes: object) -> Html:
    """Return an element; attributes are escaped, and one that is None is left out.

    A trailing underscore is dropped and others become hyphens, since Python has words of its own.

    >>> tag("td", "a < b", class_="n", aria_label=None)
    '<td class="n">a &lt; b</td>'
    """
    listed = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(plain(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{listed}>{text(content)}</{name}>")


def join(parts: Iterable[object], between: str = "") -> Html:
    """Return several pieces as one, texts among them escaped."""
    return Html(between.join(text(part) for part in parts))


def cell(value: object, name: str = "td", **attributes: object) -> Html:
    """Return a cell of a table; a long text is cut, and stands in the cell's title in full."""
    if value is None:
        value = "–"
    if isinstance(value, Html) or len(str(value)) <= LONGEST_CELL:
        return tag(name, value, **attributes)
    whole = str(value)
    return tag(name, whole[: LONGEST_CELL - 1] + "…", **attributes, title=whole)


def table(
    headers: Sequence[object], rows: Iterable[Sequence[object]], caption: object = None
) -> Html:
    """Return a table in a box of its own, in which it scrolls where the page is narrow.

    Columns of which all cells are numbers (as they are printed) stand to the right. The first cell
    of a row is its heading.

    >>> table(["k"], [[2]])  # doctest: +ELLIPSIS
    '<div class="scroll" tabindex="0" role="region" aria-label="table: k"><table>...'
    """
    lines = [list(row) for row in rows]
    right = [bool(lines) and all(_is_number(row[i]) for row in lines) for i in range(len(headers))]
    classes = ["n" if each else None for each in right]
    head = join(
        tag("th", header, scope="col", class_=own)
        for header, own in zip(headers, classes, strict=True)
    )
    body = join(
        tag(
            "tr",
            join(
                cell(value, "td", class_=own)
                if place
                else cell(value, "th", scope="row", class_=own)
                for place, (value, own) in enumerate(zip(row, classes, strict=True))
            ),
        )
        for row in lines
    )
    label = caption if caption is not None else "table: " + ", ".join(map(str, headers))
    titled = tag("caption", caption) if caption is not None else ""
    whole = tag("table", join([titled, tag("thead", tag("tr", head)), tag("tbody", body)]))
    return tag("div", whole, class_="scroll", tabindex=0, role="region", aria_label=plain(label))


def details(summary: object, *content: object) -> Html:
    """Return content that is one click away, without any script."""
    return tag("details", join([tag("summary", summary), *content]))


def plain(value: object) -> str:
    """Return the characters of a text or of HTML without its tags, for an attribute."""
    if not isinstance(value, Html):
        return "".join(e if e.isprintable() else "\N{REPLACEMENT CHARACTER}" for e in str(value))
    return unescape(sub(r"<[^>]*>", "", value))


def _is_number(value: object) -> bool:
    if value is None:
        return True
    shown = plain(value).strip().strip("%<>≤≥~±").replace(",", "").strip()
    if not shown or shown == "–":
        return True
    try:
        float(shown)
    except ValueError:
        return False
    return True
