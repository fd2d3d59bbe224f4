"""Reports of every layout: complete, self-contained, the same every time; nothing private."""

from __future__ import annotations

import getpass
import re
import shutil
import socket
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from answers.test_plausible import CASES, people, published
from reports.reading import Page

import sfumato as sf
from sfumato.errors import EngineUnavailable, ParameterError
from sfumato.jobs.report import report
from sfumato.methods import METHODS
from sfumato.models import MODELS
from sfumato.release import Release
from sfumato.reports import charts
from sfumato.reports.guarantee_words import known_models, words_of
from sfumato.reports.method_words import known_methods, method_limits, method_words
from sfumato.reports.metric_words import METRICS
from sfumato.schema import Attribute, Role, Schema

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

# Elements and attributes by which a page could fetch or run something.
FETCHING = {"script", "link", "img", "iframe", "object", "embed", "form", "base", "audio", "video"}
POINTING = {"src", "srcset", "action", "data", "xlink:href", "background", "poster"}
ANONYMOUS = re.compile(r"\b(?:is|are|be|fully|truly) anonymous|anonymous data", re.IGNORECASE)


def read(html: str) -> Page:
    """Read a page, and check what holds for every one."""
    page = Page(html)
    assert not FETCHING & {each.tag for each in page.elements}
    for each in page.elements:
        assert not POINTING & each.attributes.keys(), each
        assert not any(key.startswith("on") for key in each.attributes), each
        assert "style" not in each.attributes, each  # pages may allow no inline styles
    ids = [each.attributes["id"] for each in page.elements if "id" in each.attributes]
    assert len(set(ids)) == len(ids)
    links = [each.attributes["href"] for each in page.of("a")]
    assert links
    assert all(link.startswith("#") and link[1:] in ids for link in links)
    for chart in page.of("svg"):
        assert chart.attributes["role"] == "img"
        assert chart.attributes["aria-label"]
        assert "figure" in chart.inside
    assert len(page.of("figcaption")) == len(page.of("svg")) == len(page.of("figure"))
    assert [len(page.of(tag)) for tag in ("h1", "main", "header", "footer", "nav")] == [1] * 5
    assert not ANONYMOUS.search(html)
    assert "http:" not in html.replace("http://www.w3.org/2000/svg", "")
    assert "https:" not in html
    return page


def titles(page: Page) -> list[str]:
    return [each.text for each in page.of("h2")]


@pytest.fixture(scope="module")
def releases() -> dict[str, Release]:
    return {case: published(case) for case in CASES}


@pytest.mark.parametrize("case", CASES)
def test_every_layout_has_a_public_report(case, releases):
    made = report(releases[case], audience="public")
    page = read(made.html)
    assert "Public" in page.of("p")[0].text
    assert titles(page)[:2] == ["What was published", "Guarantees"]
    assert "Distributions, as the release tells them" in titles(page)
    assert "How attributes go together" in titles(page)
    assert "What the release is worth" not in titles(page)
    text = page.of("body")[0].text
    for entry in releases[case].manifest.attributes:
        assert entry.name in text
    for claim in releases[case].manifest.guarantees:
        assert words_of(claim).formula in text
    assert made.facts.undone == ()
    assert page.inside("p", "details")  # formulas, one click away


@pytest.fixture(scope="module")
def steward(releases):
    return report(releases["generalized"], people())


def test_a_stewards_report_compares_and_attacks(steward):
    made = steward
    page = read(made.html)
    assert "steward only" in page.of("p")[0].text
    assert {
        "Distributions, before and after",
        "Simulated attacks",
        "What the release is worth",
    } <= set(titles(page))
    assert made.facts.attacked is not None
    text = page.of("body")[0].text
    for outcome in made.facts.attacked.outcomes:
        assert outcome.attack in text
        assert outcome.verdict in text
    assert made.facts.compared is not None
    for margin in made.facts.compared.margins:
        assert f"{margin.hellinger:.4f}" in text


# Published by methods whose releases look like no other's.
def special(method: str) -> tuple[Release, pa.Table]:
    rng = np.random.default_rng(4)
    rows = 120
    table = pa.table(
        {
            "age": rng.integers(20, 60, rows),
            "wage": rng.integers(10, 50, rows) * 100,
            "sex": rng.choice(["F", "M"], rows),
            "illness": rng.choice(["Flu", "Cold", "Gout", "Asthma"], rows),
        }
    )
    known, secret = Role.QUASI_IDENTIFIER, Role.SENSITIVE
    roles = {"age": known, "wage": known, "sex": known, "illness": secret}
    if method == "mdav":
        del roles["sex"]
    schema = Schema(tuple(Attribute(name, role) for name, role in roles.items()))
    table = table.select(list(roles))
    made = {
        "mdav": sf.MDAV(k=3),
        "pram": sf.PRAM(),
        "sensitive-qid": sf.SensitiveQID(l=2),
        "local-suppression": sf.LocalSuppression(k=3),
    }[method].publish(table, schema)
    return made, table


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("mdav", "mean of a group 100.0%"),
        ("pram", "replaced at random 100.0%"),
        ("sensitive-qid", "random set 100.0%"),
        ("local-suppression", "cells that could be anything"),
    ],
)
def test_special_cells_are_told(method, said):
    release, table = special(method)
    made = report(release, table)
    assert said in read(made.html).of("body")[0].text
    assert made.facts.undone == ()


def test_the_public_report_is_a_function_of_the_published_files(tmp_path, monkeypatch, releases):
    """Made elsewhere, by another name, at another time, it has the same bytes."""
    first = tmp_path / "first-place"
    releases["generalized"].save(first)
    one = report(first, audience="public").html
    second = tmp_path / "other" / "second-name"
    shutil.copytree(first, second)
    shutil.rmtree(first)
    monkeypatch.chdir(second.parent)
    monkeypatch.setenv("USER", "somebody-else")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert report(Path("second-name"), audience="public").html == one
    for private in ("first-place", "second-name", str(tmp_path), socket.gethostname()):
        assert private not in one
    if len(getpass.getuser()) > 4:
        assert getpass.getuser() not in one
    for dates in re.findall(r"\b20\d\d-\d\d-\d\d\b", one):
        assert dates == releases["generalized"].manifest.created.isoformat()
    assert not re.search(r"\b\d\d:\d\d\b", one)


def test_the_public_report_holds_no_original_value():
    """Values that only the original has are not in it, and its numbers are those of the files."""
    rows = 60
    table = pa.table(
        {
            "name": [f"Person-{n:05d}" for n in range(rows)],
            "income": [100_003 + 7 * n for n in range(rows)],
            "illness": [f"illness-{n % 4}" for n in range(rows)],
        }
    )
    roles = {"name": "identifier", "income": "quasi-identifier", "illness": "sensitive"}
    release = sf.Mondrian(k=6).publish(table, Schema.of(**roles))
    html = report(release, audience="public").html
    shown = release.tables["records"]["income"].unique().to_pylist()
    ends = {end for cell in shown for end in re.findall(r"\d+", cell)}
    ends |= set(re.findall(r"\d+", str(release.manifest.attribute("income").domain)))
    exact = {str(value) for value in table["income"].to_pylist()} - ends
    drawn = sf.answers.to_microdata(release, sf.randomness.repeatable(10))["income"]
    texts = set(re.findall(r"\b1\d{5}\b", html))
    assert "Person" not in html
    # the ends of a plausible table may be anybody's by chance; no other number is looked at
    assert not texts & exact - {str(value) for value in drawn.to_pylist()} - texts_of_edges(drawn)


def texts_of_edges(drawn: pa.ChunkedArray) -> set[str]:
    values = drawn.to_numpy()
    edges = np.floor(np.linspace(values.min(), values.max(), 11)).astype(int)
    return set(map(str, edges))


def test_the_public_report_takes_no_original(releases):
    with pytest.raises(ParameterError, match="leave the original out"):
        report(releases["generalized"], people(), audience="public")
    with pytest.raises(ParameterError, match="leave the policy out"):
        report(releases["generalized"], policy="policy.yaml", audience="public")
    with pytest.raises(ParameterError, match="give the original, too"):
        report(releases["generalized"], policy="policy.yaml")
    with pytest.raises(ParameterError, match="there are steward, public"):
        report(releases["generalized"], audience="everyone")


def test_the_same_input_makes_the_same_page(releases, steward):
    assert report(releases["generalized"], people()).html == steward.html


def test_no_row_of_the_original_is_shown():
    rows = 80
    table = pa.table(
        {
            "age": [20 + n % 40 for n in range(rows)],
            "note": [f"free-text-{n:04d}" for n in range(rows)],
        }
    )
    release = sf.Mondrian(k=4).publish(table, Schema.of(age="quasi-identifier", note="sensitive"))
    lines = report(release, table).html.split("<tr>")[1:]
    cells = [set(re.findall(r"<t[dh][^>]*>([^<]*)<", line)) for line in lines]
    assert any("free-text-0005" in own for own in cells)  # a value with its share, for the steward
    for n in range(rows):
        assert not any({f"free-text-{n:04d}", str(20 + n % 40)} <= own for own in cells)


HOSTILE = '"><script>alert(1)</script>\u202e'


def test_names_and_values_cannot_become_elements():
    rows = 40
    table = pa.table(
        {
            f"a{HOSTILE}": [20 + n for n in range(rows)],
            f"b{HOSTILE}": [f"{HOSTILE}{n % 2}" for n in range(rows)],
            f"c{HOSTILE} and a long name": [f"</svg>{HOSTILE}{n % 4}" for n in range(rows)],
        }
    )
    names = table.column_names
    schema = Schema.of(
        **dict(zip(names, ["quasi-identifier", "quasi-identifier", "sensitive"], strict=True))
    )
    release = sf.Mondrian(k=4, models=(sf.LDiversity(names[2], 2),)).publish(table, schema)
    for made in (report(release, table, title=HOSTILE), report(release, audience="public")):
        page = read(made.html)
        assert "\u202e" not in made.html
        assert "<script>alert(1)</script>" in page.of("main")[0].text
    assert not FETCHING & {each.tag for each in Page(made._repr_html_()).elements} - {"iframe"}


def test_a_cut_name_has_its_full_name_as_title():
    rows = 40
    long = "a value that goes on and on until nobody reads it"
    table = pa.table({"age": list(range(rows)), "v": [f"{long} {n % 3}" for n in range(rows)]})
    release = sf.Mondrian(k=4).publish(table, Schema.of(age="quasi-identifier", v="sensitive"))
    page = read(report(release, audience="public").html)
    told = {each.text for each in page.inside("title", "svg")}
    assert {f"{long} {n}" for n in range(3)} <= told


def test_charts_take_their_colours_from_the_page(releases):
    """Fixed colours would not be readable on a dark page."""
    page = read(report(releases["local"], audience="public").html)
    drawn = [each for each in page.elements if "svg" in each.inside]
    for each in drawn:
        for key in ("fill", "stroke"):
            colour = each.attributes.get(key, "none")
            invisible = each.attributes.get("stroke-width") == "0"
            is_ours = colour in ("none", "transparent", "currentColor") or colour.startswith("var(")
            assert is_ours or invisible, each
    assert any("var(--series-" in each.attributes.get("fill", "") for each in drawn)


def test_a_broken_release_is_called_so(releases):
    release = releases["generalized"]
    claim = {"model": "k-anonymity", "k": 50}
    manifest = release.manifest.model_copy(update={"guarantees": (claim,), "test": True})
    made = report(Release(manifest, release.tables, release.hierarchies), audience="public")
    text = read(made.html).of("body")[0].text
    assert "audit not passed" in text
    assert "does not hold" in text
    assert "must not be published" in text


def test_a_missing_extra_is_told(monkeypatch, releases):
    monkeypatch.setattr(charts, "find_spec", lambda name: None)
    with pytest.raises(EngineUnavailable, match=r"pip install 'sfumato\[reports\]'"):
        report(releases["generalized"])


def test_no_network_is_asked(monkeypatch, releases):
    def refuse(*given, **named):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert report(releases["sliced"], audience="public").html


def test_a_report_is_saved_and_shown(tmp_path, releases):
    made = sf.report(releases["generalized"], audience="public")
    assert isinstance(made, sf.Report)
    made.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") == made.html
    frame = Page(made._repr_html_()).of("iframe")[0]
    assert frame.attributes["srcdoc"] == made.html
    assert frame.attributes["sandbox"] == ""
    assert repr(made) == "Report(mondrian, for public)"


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_words(method):
    assert method in known_methods()
    assert method_words(method)
    assert method_limits(method)


def test_every_model_has_words():
    declared = {"differential-privacy", "local-differential-privacy"}
    assert set(known_models()) >= {*MODELS, *declared}


def test_every_metric_has_a_formula(steward):
    found = steward.facts.compared
    assert found is not None
    assert {name.partition(" of ")[0] for name in found.metrics} <= METRICS.keys()
