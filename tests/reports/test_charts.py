"""Charts are drawn offline in three formats, show names and numbers, and refuse what they must."""

from __future__ import annotations

import socket

import pytest
from risk.people import table_of

from sfumato.errors import EngineUnavailable, ParameterError
from sfumato.reports import charts
from sfumato.risk import assess

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

ROWS = [(i, (i // 3, i % 7, i % 2, 77_777)) for i in range(40)]


@pytest.fixture(scope="module")
def found():
    return assess(table_of(ROWS), fraction=0.5)


@pytest.mark.parametrize(
    ("suffix", "start"), [(".svg", b"<svg"), (".png", b"\x89PNG"), (".html", b"<!DOCTYPE html>")]
)
def test_a_chart_is_drawn_without_a_network(found, suffix, start, monkeypatch):
    def refuse(*given, **named):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    content = charts.drawing(charts.risk_chart(found), suffix)
    assert content.lstrip().startswith(start)
    if suffix != ".png":
        text = content.decode()
        assert "share of records" in text
        assert "records that are unique by them" in text
        assert "a + b" in text
        assert "77777" not in text.replace(",", "")
    if suffix == ".html":
        assert 'src="http' not in text


def test_both_charts_hold_the_numbers(found):
    spec = charts.risk_chart(found).to_dict()
    sizes, combinations = spec["vconcat"]
    shares = [each["share"] for each in _values(spec, sizes)]
    assert sum(shares) == pytest.approx(1)
    assert len(shares) == len(found.histogram)
    counted = {each["columns"]: each["uniques"] for each in _values(spec, combinations)}
    assert counted["a + b"] == next(
        each.uniques for each in found.uniques.combinations if each.columns == ("a", "b")
    )


def _values(spec, part):
    data = part.get("data") or part["layer"][0]["data"]
    return data["values"] if "values" in data else spec["datasets"][data["name"]]


def test_nobody_alone_leaves_one_chart():
    alike = assess(table_of([(i, (1, 1)) for i in range(5)]))
    assert len(charts.risk_chart(alike).to_dict()["vconcat"]) == 1


def test_other_formats_and_a_missing_extra_are_refused(monkeypatch):
    with pytest.raises(ParameterError, match=r"\.svg, \.png, \.html"):
        charts.refuse_missing(".pdf")
    monkeypatch.setattr(charts, "find_spec", lambda name: None)
    with pytest.raises(EngineUnavailable, match=r"pip install 'sfumato\[reports\]'"):
        charts.refuse_missing(".svg")
