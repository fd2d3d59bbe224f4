"""Results show themselves in notebooks: tables with their numbers, names escaped."""

from __future__ import annotations

import pyarrow as pa
import pytest
from reports.reading import Page
from risk.people import table_of

import sfumato as sf
from sfumato.answers.reconstruction import reconstruct
from sfumato.randomness import repeatable
from sfumato.risk import assess
from sfumato.utility.original import coded_original
from sfumato.utility.overview import overview

NAME = "<b>age"


@pytest.fixture(scope="module")
def table():
    rows = 40
    return pa.table(
        {NAME: [20 + n % 20 for n in range(rows)], "ill": [f"<i>{n % 4}" for n in range(rows)]}
    )


@pytest.fixture(scope="module")
def release(table):
    schema = sf.Schema.of(**{NAME: "quasi-identifier", "ill": "sensitive"})
    return sf.Mondrian(k=4).publish(table, schema)


def cells(shown) -> list[str]:
    page = Page(shown._repr_html_())
    assert not {"b", "i", "script"} & {each.tag for each in page.elements}
    return [each.text for each in page.elements if each.tag in ("td", "th", "caption", "p")]


def test_an_audit(release):
    found = cells(sf.audit(release))
    assert found[0] == "the audit passed"
    assert {"k-anonymity", "k = 4", "holds"} <= set(found)


def test_attacks(release, table):
    report = sf.attack(release, table, attacks=["record-linkage"], rng=repeatable(1))
    found = cells(report)
    assert found[0] == report.sentence()
    assert {each.attack for each in report.outcomes} <= set(found)


def test_utility(release, table):
    measured = overview(release, coded_original(table, release), queries=2, rng=repeatable(1))
    assert {"ncp", NAME, f"{measured.metrics['ncp']['mean']:.4f}"} <= set(cells(measured))


def test_answers(release):
    assert cells(release.count())[4:] == ["40", "40", "40", "0"]
    assert "<i>0" in cells(release.query("SELECT ill, COUNT(*) GROUP BY ill"))
    assert "<i>0" in cells(reconstruct(release, ["ill"], rng=repeatable(1)))


def test_risk():
    found = assess(table_of([(i, (i // 3, i % 7)) for i in range(40)]))
    assert "prosecutor" in cells(found)
