"""The demonstration: inputs, releases and pages that its own commands accept."""

from __future__ import annotations

import re
import shutil

import pytest
from reports.reading import Page

from sfumato.audit import audit
from sfumato.errors import InputError
from sfumato.jobs.check import check
from sfumato.jobs.demo import PAGE, demo
from sfumato.jobs.demo_policies import METHODS
from sfumato.randomness import Randomness
from sfumato.release import Release

SCHEMES = {"lgb", "arp", "merging", "slppa", "sensitive-qid"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return demo(tmp_path_factory.mktemp("demo") / "demo", rows=600)


def test_all_schemes_publish_what_their_audit_confirms(made):
    assert [each.trial.method for each in made.shown] == list(METHODS)
    assert set(METHODS) >= SCHEMES
    assert made.ok
    for each in made.shown:
        method = each.trial.method
        assert each.trial.refused is None
        assert each.is_saved
        assert audit(made.path / method).ok
        assert Release.load(made.path / method).manifest.method == method
        assert check(made.path / "hospital.parquet", made.path / f"{method}.yaml").fits


def test_the_comparison_is_about_the_saved_releases(made):
    for each in made.shown:
        saved = Release.load(made.path / each.trial.method)
        assert saved.manifest.rows == each.trial.rows
        assert [dict(claim) for claim in saved.manifest.guarantees] == [
            {key: claim[key] for key in claim if key not in ("holds", "worst", "note")}
            for claim in each.trial.guarantees
        ]
        assert {inferred.attribute for inferred in each.trial.inference} == {"disease"}
    kept = {
        trial.method: {claim["model"] for claim in trial.kept} for trial in made.comparison.trials
    }
    assert kept["mondrian"] == kept["lgb"] == {"k-anonymity", "l-diversity"}
    assert kept["arp"] == kept["slppa"] == kept["merging"] == {"l-diversity"}
    assert kept["sensitive-qid"] == set()


def test_shown_rows_are_of_one_group_of_the_release(made):
    for each in made.shown:
        release = Release.load(made.path / each.trial.method)
        groups = set()
        for name, rows in each.rows.items():
            assert 0 < rows.num_rows <= 3
            published = release.tables[name].to_pylist()
            assert all(row in published for row in rows.to_pylist())
            if "group" in rows.column_names:
                groups |= set(rows["group"].to_pylist())
        assert len(groups) <= 1


def test_the_page_needs_nothing_but_its_folder(made):
    text = (made.path / PAGE).read_text("utf-8")
    page = Page(text)
    links = [each.attributes.get("href", "") for each in page.elements if each.tag == "a"]
    files = [link for link in links if not link.startswith("#")]
    assert sorted(files) == sorted(f"{method}.html" for method in METHODS)
    assert all((made.path / file).is_file() for file in files)
    assert not re.search(r'(src|href)="(https?:|/|file:)', text)
    assert str(made.path) not in text
    assert "\N{REPLACEMENT CHARACTER}" not in text
    assert text.count("<svg") == 1
    for method in METHODS:
        assert f'id="by-{method}"' in text


def test_it_is_replaced_only_by_force_and_nothing_else_is(made, tmp_path):
    with pytest.raises(InputError, match="exists"):
        demo(made.path, rows=300)
    out = tmp_path / "demo"
    shutil.copytree(made.path, out)
    (out / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="not replaced"):
        demo(out, rows=300, force=True)
    with pytest.raises(InputError, match="at least 100"):
        demo(tmp_path / "new", rows=3)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["demo"]


def test_without_the_extra_there_are_no_charts_and_all_else(made, tmp_path, monkeypatch):
    out = tmp_path / "demo"
    shutil.copytree(made.path, out)
    monkeypatch.setattr("sfumato.reports.charts.find_spec", lambda name: None)
    again = demo(out, rows=300, force=True, randomness=Randomness.test(1))
    assert "sfumato[reports]" in again.missing
    assert not list(out.glob("*/*.html"))
    assert [path.name for path in out.glob("*.html")] == [PAGE]
    assert all(each.is_saved for each in again.shown)
    assert again.comparison.is_test


def test_processes_give_what_one_gives(tmp_path):
    seed = Randomness.test(2)
    alone = demo(tmp_path / "alone", rows=200, randomness=seed)
    shared = demo(tmp_path / "shared", rows=200, randomness=seed, workers=2)
    for one, other in zip(alone.shown, shared.shown, strict=True):
        assert one.trial.method == other.trial.method
        assert (one.trial.linkage, one.trial.utility) == (other.trial.linkage, other.trial.utility)
        assert one.rows == other.rows
