"""Texts become HTML in one place, escaped; pages fetch and run nothing."""

from __future__ import annotations

import pytest
from reports.reading import Page

from sfumato.markup import LONGEST_CELL, Html, details, join, plain, table, tag, text
from sfumato.reports.page import (
    POLICY,
    badge,
    bullets,
    cards,
    command,
    figure,
    figures,
    formula,
    heading,
    name,
    note,
    page,
    paragraph,
    section,
)

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</td></table></style></svg>",
    "&lt;b&gt;",
    "\u202eabc\u200f",
    "a\x00b\ud800",
    "javascript:alert(1)",
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_of_a_text_becomes_an_element(hostile):
    shown = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in hostile)
    made = page(
        hostile,
        [
            section(
                "one",
                hostile,
                paragraph(hostile, name(hostile)),
                heading(hostile),
                note(hostile),
                bullets([hostile]),
                formula(hostile, hostile),
                command(hostile),
                cards([(hostile, hostile)]),
                details(hostile, badge(hostile)),
                table([hostile, "n"], [[hostile, 1]], hostile),
                figures([figure(Html("<svg></svg>"), hostile)]),
            )
        ],
        banner=hostile,
        lead=[paragraph(hostile)],
        footer=[paragraph(hostile)],
    )
    made.encode("utf-8")
    found = Page(made)
    known = {
        "html", "head", "meta", "title", "style", "body", "header", "p", "h1", "h2", "h3", "main",
        "section", "bdi", "ul", "li", "details", "summary", "pre", "code", "dl", "dt", "dd", "div",
        "span", "table", "caption", "thead", "tbody", "tr", "th", "td", "figure", "figcaption",
        "svg", "footer",
    }  # fmt: skip
    assert {each.tag for each in found.elements} <= known
    assert not any(key.startswith("on") for each in found.elements for key in each.attributes)
    assert found.of("h1")[0].text == shown
    assert found.of("code")[0].text == shown
    assert found.of("td")[0].text == "1"
    assert found.of("title")[0].text == shown


def test_a_page_fetches_and_runs_nothing():
    made = page("T", [section("a", "A", paragraph("x"))])
    assert f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">' in made
    assert POLICY.startswith("default-src 'none'")
    assert "script" not in POLICY
    assert "url(" not in made
    assert "@import" not in made
    assert made.startswith("<!DOCTYPE html>")
    found = Page(made)
    assert found.of("html")[0].attributes == {"lang": "en"}
    assert "viewport" in [each.attributes.get("name") for each in found.of("meta")]


def test_sections_have_ids_of_their_own():
    with pytest.raises(ValueError, match="same id"):
        page("T", [section("a", "A"), section("a", "B")])
    with pytest.raises(ValueError, match="small letters"):
        section('a" onload="x', "A")


def test_a_table_aligns_numbers_and_cuts_long_cells():
    long = "x" * (LONGEST_CELL + 1)
    found = Page(table(["name", "count", "share"], [["a", "1,200", "<0.1%"], [long, None, "–"]]))
    heads = [each.attributes.get("class") for each in found.of("th")[:3]]
    assert heads == [None, "n", "n"]
    cut = found.of("th")[-1]
    assert cut.attributes["title"] == long
    assert len(cut.text) == LONGEST_CELL
    assert found.of("td")[2].text == "–"


def test_a_title_of_a_cut_cell_is_escaped_once():
    long = "<&" * LONGEST_CELL
    assert Page(table(["n"], [[long]])).of("th")[-1].attributes["title"] == long


def test_html_is_not_escaped_twice():
    assert text(text("<")) == "&lt;"
    assert join(["<", Html("<b></b>")]) == "&lt;<b></b>"
    assert tag("p", Html("<b></b>")) == "<p><b></b></p>"
    assert plain(Html("a <b>&lt;</b>")) == "a <"
