"""`sfumato compare`: a table, JSON, files, refusals, exit codes."""

from __future__ import annotations

import json

import pytest

from cli.cli_files import SECRET
from sfumato.methods import METHODS

ASK = ("compare", "data.csv", "--policy", "policy.yaml", "--queries", "3", "--test-seed", "1")


def test_a_table_with_a_row_a_method_and_reasons(place, sfumato):
    code, out, err = sfumato(*ASK, "--methods", "mondrian,anatomy,mdav")
    assert (code, err) == (0, [])
    lines = out.splitlines()
    assert lines[0].startswith("3 methods on 24 rows; stated protection: k ")
    rows = {line.split()[0]: line for line in lines[2:5]}
    assert rows.keys() == {"mondrian", "anatomy", "mdav"}
    assert "  all  " in rows["mondrian"]
    assert rows["mdav"].split() == ["mdav", "refused"]
    assert "Not published" in lines
    assert any(line.startswith("mdav") and "mdav publishes means" in line for line in lines)
    assert any(line.startswith("NCP: ") for line in lines)
    assert SECRET not in out


def test_json_and_files(place, sfumato):
    code, out, err = sfumato(*ASK, "--methods", "top-down,anatomy", "--out", "compared", "--json")
    assert (code, err) == (0, [])
    found = json.loads(out)
    assert found.pop("out") == "compared"
    assert found == json.loads((place / "compared" / "results.json").read_text())
    assert [trial["method"] for trial in found["trials"]] == ["top-down", "anatomy"]
    assert found["test"] is True
    assert SECRET not in out + (place / "compared" / "compare.html").read_text()
    again = sfumato(*ASK, "--methods", "anatomy", "--out", "compared")
    assert again[0] == 2 and "use --force" in again[2][0]
    assert sfumato(*ASK, "--methods", "anatomy", "--out", "compared", "--force")[0] == 0


def test_all_is_every_method(place, sfumato, monkeypatch):
    from sfumato.jobs import compare as job

    monkeypatch.setattr(job, "_tried", lambda name, *given: job.refusal(name, "not tried here"))
    code, out, _ = sfumato(*ASK, "--json")
    assert code == 0
    assert [trial["method"] for trial in json.loads(out)["trials"]] == list(METHODS)


def test_a_broken_audit_is_exit_1(place, sfumato, monkeypatch):
    from dataclasses import replace

    from sfumato.jobs import compare as job

    monkeypatch.setattr(
        job,
        "_tried",
        lambda name, *given: replace(job.refusal(name, ""), refused=None, audit="broken"),
    )
    code, out, _ = sfumato(*ASK, "--methods", "anatomy")
    assert code == 1
    assert "BROKEN" in out


def test_without_the_extra_a_line_says_what_is_missing(place, sfumato, monkeypatch):
    from sfumato.errors import EngineUnavailable
    from sfumato.jobs import compare as job

    def missing(suffix):
        raise EngineUnavailable("charts need the extra `reports`")

    monkeypatch.setattr(job, "refuse_missing", missing)
    monkeypatch.setattr("sfumato.reports.comparison.refuse_missing", missing)
    code, _, err = sfumato(*ASK, "--methods", "anatomy", "--out", "compared")
    assert code == 0
    assert err == ["warning: no chart was drawn: charts need the extra `reports`"]
    assert not (place / "compared" / "chart.svg").exists()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--methods", "mondrain"), "mondrian"),
        (("--queries", "0"), "1 query or more"),
        (("--sample", "0"), "1 row or more"),
        (("--out", "no/such/place"), "create it first"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(place, sfumato, more, says):
    code, out, err = sfumato(*ASK, *more)
    assert (code, out, len(err)) == (2, "", 1)
    assert says in err[0]
