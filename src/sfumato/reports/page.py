"""The frame of every HTML page: one file, without script and without anything fetched.

A page is a list of sections; a section holds pieces of HTML (`markup.py`): paragraphs, tables,
figures, formulas one click away. All that comes from data is escaped by the functions here and
there, so that no caller ever writes a tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sfumato.markup import Html, details, join, plain, tag, text
from sfumato.reports.style import CSS

# Nothing is loaded from anywhere, nothing runs, no form is sent. Pictures are inside the page.
POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page with a heading of its own; `id` is what links point to."""

    id: str
    title: str
    content: tuple[Html, ...]

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9-]*", self.id):
            raise ValueError("the id of a section is a word of small letters")


def section(id: str, title: str, *content: Html | None) -> Section:
    """Return a section of what there is of the content."""
    return Section(id, title, tuple(each for each in content if each))


def page(
    title: str,
    sections: Sequence[Section],
    *,
    lead: Iterable[Html] = (),
    banner: str | None = None,
    footer: Iterable[Html] = (),
) -> str:
    """Return a whole page: heading, banner, lead, contents, sections, footer.

    The `banner` says who the page is for; the `lead` is what to read if nothing else. It is one
    file that needs no network, and the same content gives the same bytes.
    """
    if len({each.id for each in sections}) < len(sections):
        raise ValueError("two sections of a page have the same id")
    contents = tag(
        "nav",
        tag(
            "ul",
            join(tag("li", tag("a", each.title, href=f"#{each.id}")) for each in sections),
        ),
        aria_label="Contents",
    )
    header = tag(
        "header",
        join(
            [
                tag("p", banner, class_="banner", role="note") if banner else "",
                tag("h1", title),
                *lead,
            ]
        ),
    )
    main = tag("main", join(map(_section, sections), "\n"), id="main")
    foot = tag("footer", join(footer)) if footer else ""
    head = join(
        [
            Html('<meta charset="utf-8">'),
            Html(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
            Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            Html('<meta name="color-scheme" content="light dark">'),
            Html('<meta name="referrer" content="no-referrer">'),
            tag("title", title),
            Html(f"<style>{CSS}</style>"),
        ],
        "\n",
    )
    body = join([header, contents if len(sections) > 2 else "", main, foot], "\n")
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{body}\n</body>\n'
        "</html>\n"
    )


def _section(each: Section) -> Html:
    heading = f"{each.id}-heading"
    return tag(
        "section",
        join([tag("h2", each.title, id=heading), *each.content], "\n"),
        id=each.id,
        aria_labelledby=heading,
    )


def heading(title: object) -> Html:
    """Return a heading inside a section."""
    return tag("h3", title)


def paragraph(*parts: object) -> Html:
    """Return a paragraph."""
    return tag("p", join(parts))


def note(*parts: object, kind: str = "note") -> Html:
    """Return a paragraph that stands out: a `note`, a `warning`, or `good` news."""
    return tag("p", join(parts), class_=f"box {kind}")


def bullets(items: Iterable[object]) -> Html:
    """Return a list; nothing where there are no items."""
    lines = [tag("li", item) for item in items]
    return tag("ul", join(lines)) if lines else Html("")


def name(value: object) -> Html:
    """Return a name or value from data inside a sentence, apart from the words around it."""
    return tag("bdi", value, class_="name")


def badge(words: object, kind: str = "note") -> Html:
    """Return a word with a colour: `good`, `warning`, `bad` or `note`; the word says it all."""
    return tag("span", words, class_=f"badge {kind}")


def formula(summary: object, *lines: object) -> Html:
    """Return how a number is computed, one click away; each line is a formula or a sentence."""
    return details(summary, *(tag("p", line, class_="formula") for line in lines))


def command(line: str) -> Html:
    """Return a command to type."""
    return Html(f'<pre class="scroll" tabindex="0"><code>{text(line)}</code></pre>')


def cards(pairs: Iterable[tuple[object, object]]) -> Html:
    """Return a few numbers that stand out: each with what it is."""
    return tag(
        "dl",
        join(tag("div", join([tag("dt", what), tag("dd", value)])) for what, value in pairs),
        class_="cards",
    )


def figure(svg: Html, caption: object, *below: Html) -> Html:
    """Return a chart (`reports/svg.py`) with its caption, and what stands below, such as a table.

    The chart's own label is what a screen reader says; the caption is for all.
    """
    return tag(
        "figure", join([tag("div", svg, class_="chart"), tag("figcaption", caption), *below])
    )


def figures(each: Iterable[Html]) -> Html:
    """Return figures side by side, as many as the page is wide for."""
    return tag("div", join(each, "\n"), class_="figures")


def label_of(caption: object) -> str:
    """Return a caption as the label of a chart."""
    return plain(caption)
