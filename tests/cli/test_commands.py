"""The commands in this process: what they print, as text and as JSON, and their exit codes."""

from __future__ import annotations

import json

import pytest

from cli.cli_files import SECRET, write_policy
from sfumato.cli.app import app, run

RUN = ("anonymize", "data.csv", "--policy", "policy.yaml", "--out", "release")


def test_from_a_draft_to_an_audit(place, sfumato):
    code, out, err = sfumato("init", "data.csv", "-o", "draft.yaml")
    assert (code, err) == (0, [])
    assert "wrote draft.yaml" in out
    assert "sfumato anonymize data.csv --policy draft.yaml --out release" in out
    code, out, err = sfumato("check", "data.csv", "--policy", "draft.yaml")
    assert (code, out, err) == (0, "the policy fits the data\n", [])
    code, out, err = sfumato("anonymize", "data.csv", "--policy", "draft.yaml", "--out", "release")
    assert (code, err) == (0, [])
    assert "mondrian: 24 rows in " in out
    assert "k-anonymity (k = 5)" in out
    assert "mean NCP: " in out
    assert out.endswith("next: sfumato audit release\n")
    code, out, err = sfumato("audit", "release")
    assert (code, err) == (0, [])
    assert "holds" in out
    assert out.endswith("the audit passed\n")


def test_json(place, sfumato):
    code, out, err = sfumato(*RUN, "--json")
    assert (code, err) == (0, [])
    made = json.loads(out)
    assert (made["method"], made["rows"], made["suppressed"]) == ("mondrian", 24, 0)
    assert made["ncp"].keys() == {"total", "mean"}
    assert made["withheld_cells"] is None
    code, out, err = sfumato("audit", "release", "--json")
    assert code == 0
    report = json.loads(out)
    assert report["ok"]
    assert report["problems"] == []
    first = report["guarantees"][0]
    assert first.pop("worst") >= 3
    assert first == {"model": "k-anonymity", "k": 3, "holds": True}
    code, out, _ = sfumato("init", "data.csv", "--json", "-o", "draft.yaml")
    assert (code, json.loads(out)) == (0, {"policy": "draft.yaml", "warnings": []})
    code, out, _ = sfumato("check", "data.csv", "--policy", "policy.yaml", "--json")
    assert (code, json.loads(out)["fits"]) == (0, True)


def test_withheld_cells_are_counted(place, sfumato):
    write_policy(place, method="{name: lgb, k: 3, l: 2}")
    code, out, _ = sfumato(*RUN)
    assert code == 0
    assert "withheld: 0 cells (*)\n" in out
    rows = [f"{20 + n},{'true' if n == 0 else 'false'},d{n % 3}" for n in range(9)]
    (place / "data.csv").write_text("\n".join(["age,private,disease", *rows]) + "\n")
    semi = "{role: semi-sensitive, flag: private}"
    write_policy(place, "{name: lgb, k: 3, l: 2}", name="", sex="", age=semi)
    code, out, _ = sfumato(*RUN, "--force")
    assert code == 0
    assert "withheld: 5 cells (*), where too few rows share a flag pattern\n" in out
    assert json.loads(sfumato(*RUN, "--force", "--json")[1])["withheld_cells"] == 5


def test_cells_that_local_suppression_withholds_are_counted(place, sfumato):
    write_policy(place, "{name: local-suppression, k: 3}", disease="{role: sensitive}")
    code, out, _ = sfumato(*RUN, "--force")
    manifest = json.loads((place / "release" / "manifest.json").read_text())
    total = manifest["parameters"]["suppressed_cells"]["total"]
    assert code == 0
    assert total > 0
    assert f"withheld: {total} cells (*)\n" in out
    assert json.loads(sfumato(*RUN, "--force", "--json")[1])["withheld_cells"] == total


def test_a_draft_on_stdout_is_a_policy(place, sfumato):
    code, out, _ = sfumato("init", "data.csv", "-o", "-")
    assert code == 0
    (place / "policy.yaml").write_text(out)
    assert sfumato(*RUN)[0] == 0


def test_an_audit_that_fails(place, sfumato):
    assert sfumato(*RUN, "--test-seed", 7)[0] == 0
    code, out, err = sfumato("audit", "release")
    assert (code, err) == (1, [])
    assert "problem: the release was made with a public test seed" in out
    assert out.endswith("the audit failed\n")


def test_a_damaged_release(place, sfumato):
    sfumato(*RUN)
    (place / "release" / "records.parquet").unlink()
    code, out, err = sfumato("audit", "release")
    assert (code, out) == (2, "")
    assert err == ["error: the file of table 'records' is missing"]
    code, out, err = sfumato("audit", "release", "--json")
    assert (code, len(err)) == (2, 1)
    assert json.loads(out) == {
        "ok": False,
        "guarantees": [],
        "problems": ["the file of table 'records' is missing"],
    }


def test_declared_guarantees_are_not_said_to_hold(place, sfumato):
    write_policy(place, more="guarantees: [{model: delta-presence, minimum: 0, maximum: 0.5}]")
    assert sfumato(*RUN)[0] == 0
    code, out, _ = sfumato("audit", "release")
    assert code == 0
    (line,) = [line for line in out.splitlines() if line.startswith("delta-presence")]
    assert "declared, not checked" in line
    assert "holds" not in line


def test_warnings_are_lines_on_stderr_or_in_the_json(place, sfumato):
    write_policy(place, disease="{role: sensitive}")
    (place / "seed").write_bytes(b"0123456789abcdef")
    (place / "seed").chmod(0o644)
    code, out, err = sfumato(*RUN, "--seed-file", "seed", "--record", "record.json")
    assert code == 0
    assert err[0] == "warning: seed: others can read the seed; restrict it with `chmod 600`"
    assert err[1].startswith("warning: k-anonymity alone does not protect 'disease'")
    assert "0123456789abcdef" not in out + "".join(err)
    assert len(json.loads((place / "record.json").read_text())["warnings"]) == 2
    code, out, err = sfumato(*RUN, "--force", "--json")
    assert (code, err) == (0, [])
    assert len(json.loads(out)["warnings"]) == 1


def test_formats(place, sfumato):
    assert sfumato(*RUN, "--format", "csv", "--no-formula-guard")[0] == 0
    assert (place / "release" / "records.csv").exists()
    manifest = json.loads((place / "release" / "manifest.json").read_text())
    assert manifest["parameters"]["formula_guard"] is False
    assert sfumato("audit", "release")[0] == 0


def test_check_lists_on_stdout_what_errors_must_not_name(place, sfumato):
    (place / "sex.csv").write_text("Male;*\nFemale;*\n")
    write_policy(place, sex="{role: quasi-identifier, hierarchy: sex.csv}")
    code, out, err = sfumato("check", "data.csv", "--policy", "policy.yaml")
    assert (code, err) == (1, [])
    assert f"  {SECRET}-F\n  {SECRET}-M\n" in out
    assert "problem: hierarchy 'sex.csv': 2 of 2 values have no entry" in out
    assert out.endswith("the policy does not fit the data\n")
    (place / "age.csv").write_text("".join(f"{age};20-42;*\n" for age in range(20, 44)))
    write_policy(place, age="{role: quasi-identifier, hierarchy: age.csv}")
    code, out, _ = sfumato("check", "data.csv", "--policy", "policy.yaml")
    assert code == 0
    assert "  43 under 20-42\n" in out


def test_demo(place, sfumato, monkeypatch):
    monkeypatch.setattr("sfumato.cli.demo.workers", lambda: 1)
    code, out, err = sfumato("demo", "--rows", 300)
    assert (code, err) == (0, [])
    assert "everything lies in sfumato-demo" in out
    assert max(map(len, out.splitlines())) <= 100
    shown = [line.split()[0] for line in out.splitlines() if " holds " in line]
    assert shown == ["mondrian", "anatomy", "lgb", "arp", "merging", "slppa", "sensitive-qid"]
    monkeypatch.setattr("sfumato.reports.charts.find_spec", lambda name: None)
    code, out, err = sfumato("demo", "--rows", 300, "--out", "other", "--json")
    assert code == 0
    assert len(err) == 1
    assert "pip install 'sfumato[reports]'" in err[0]
    found = json.loads(out)
    assert [each["method"] for each in found["releases"]] == shown
    assert all(each["audit"]["ok"] and each["report"] is None for each in found["releases"])
    assert [each["method"] for each in found["comparison"]["trials"]] == shown
    code, out, err = sfumato("demo", "--rows", 300)
    assert (code, out) == (2, "")
    assert err == ["error: 'sfumato-demo' exists; use --force to replace it"]


def test_help_and_version(sfumato):
    code, out, _ = sfumato("--help")
    assert code == 0
    for command in ("init", "check", "anonymize", "audit", "query", "reconstruct", "demo"):
        assert command in out
        code, text, err = sfumato(command, "--help")
        assert (code, err) == (0, [])
        assert f"Example: sfumato {command}" in text
        assert "--json" in text
    assert sfumato()[0] == 0
    assert sfumato("--version")[1].startswith("sfumato ")


def test_an_unexpected_error_is_one_line_without_its_message(place, sfumato, monkeypatch):
    def fail(*arguments, **options):
        raise RuntimeError(f"{SECRET} in row 7")

    monkeypatch.setattr("sfumato.jobs.anonymize.open_table", fail)
    code, out, err = sfumato(*RUN)
    assert (code, out) == (70, "")
    (line,) = err
    assert line.startswith("internal error: RuntimeError at sfumato.jobs.anonymize:")
    assert SECRET not in line


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_interrupts_and_exhaustion(place, sfumato, monkeypatch, error):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr("sfumato.jobs.anonymize.open_table", fail)
    code, out, err = sfumato(*RUN)
    assert (code, out) == ({KeyboardInterrupt: 130, MemoryError: 2}[error], "")
    assert len(err) == 1
    assert err[0].startswith("error: ")
    assert sorted(path.name for path in place.iterdir()) == ["data.csv", "policy.yaml"]


def test_whatever_a_library_says_where_memory_is_short(place, sfumato, monkeypatch):
    def fail(*arguments, **options):
        raise ImportError("failed to map segment from shared object")

    monkeypatch.setattr("sfumato.jobs.anonymize.open_table", fail)
    monkeypatch.setattr("sfumato.short_memory._room_left", lambda: 1000)
    assert sfumato(*RUN) == (2, "", ["error: not enough memory for this table"])


def test_names_that_steer_a_terminal_are_shown_without_effect(place, sfumato):
    (place / "data.csv").write_bytes(b"a\x1b[31m,b\n1,2\n")
    _, _, err = sfumato(*RUN)
    assert "\x1b" not in err[0]
    code, out, _ = sfumato("init", "data.csv", "-o", "draft.yaml")
    assert code == 0
    assert "\x1b" not in out + (place / "draft.yaml").read_text()


CANARIES = {
    "domain": {"age": "{role: quasi-identifier, domain: {min: 0, max: 1}}"},
    "list domain": {"sex": "{role: quasi-identifier, domain: [F]}"},
    "order": {"sex": "{role: quasi-identifier, order: [F, M]}"},
    "order of another type": {"age": "{role: quasi-identifier, order: [young, old]}"},
    "kind": {"sex": "{role: quasi-identifier, kind: numeric}"},
    "bins": {"age": "{role: quasi-identifier, hierarchy: {bins: [0, 1]}}"},
    "bins of text": {"sex": "{role: quasi-identifier, hierarchy: {bins: [0, 1]}}"},
    "dates of text": {"sex": "{role: quasi-identifier, hierarchy: {dates: [year]}}"},
    "mask": {"sex": "{role: quasi-identifier, hierarchy: {mask: right, char: S}}"},
    "kept": {"age": "{role: insensitive, keep: true}"},
    "unit": {"more": "unit: nam"},
    "ordered distance": {"disease": "{role: sensitive, t: 0.2, distance: ordered}"},
    "hierarchical distance": {"disease": "{role: sensitive, t: 0.2, distance: hierarchical}"},
    "width of text": {"disease": "{role: sensitive, min_width: 3}"},
    "no quasi-identifier": dict.fromkeys(["age", "sex"], "{role: insensitive}"),
    "two sensitive for anatomy": {"method": "{name: anatomy, l: 2}", "sex": "{role: sensitive}"},
    "forgotten": {"age": ""},
}


@pytest.mark.parametrize("case", CANARIES)
def test_no_error_holds_a_cell(place, sfumato, case):
    write_policy(place, **CANARIES[case])
    code, out, err = sfumato(*RUN)
    assert (code, out, len(err)) == (2, "", 1), err
    assert err[0].startswith("error: ")
    assert SECRET not in err[0]
    assert sorted(path.name for path in place.iterdir()) == ["data.csv", "policy.yaml"]


def test_repeated_and_missing_identifiers_hold_no_cell(place, sfumato):
    text = (place / "data.csv").read_text()
    (place / "data.csv").write_text(text + text.splitlines()[-1] + "\n")
    code, _, err = sfumato(*RUN)
    assert (code, len(err)) == (2, 1)
    assert "identifier 'name' repeats in 1 of 25 rows" in err[0]
    (place / "data.csv").write_text(text + ",50,F,Flu\n")
    code, _, err = sfumato(*RUN)
    assert (code, len(err)) == (2, 1)
    assert "missing in 1 of 25 rows" in err[0]
    assert SECRET not in err[0]


def test_every_command_is_in_the_app():
    names = {command.name for command in app.registered_commands}
    assert names == {
        "init",
        "check",
        "anonymize",
        "apply",
        "link",
        "audit",
        "attack",
        "compare",
        "compose",
        "query",
        "recommend",
        "reconstruct",
        "reproduce",
        "risk",
        "serve",
        "utility",
        "report",
        "demo",
    }
    assert run(["--version"]) == 0
