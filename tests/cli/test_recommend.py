"""`sfumato recommend`: what it prints and writes, and its exit codes."""

from __future__ import annotations

import json

import pytest

from cli.cli_files import SECRET
from sfumato.jobs.candidates import first_candidates

RUN = ("recommend", "data.csv", "--policy", "policy.yaml", "--test-seed", "1")


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try one candidate of each method: enough to see what is printed."""

    def few(content, limits):
        found = {each.method: each for each in reversed(first_candidates(content, limits))}
        return [found[name] for name in ("lgb", "mondrian", "anatomy") if name in found]

    monkeypatch.setattr("sfumato.jobs.search.first_candidates", few)
    monkeypatch.setattr("sfumato.jobs.asked.QUERIES", 12)
    monkeypatch.setattr("sfumato.jobs.search._ROUNDS", 0)
    monkeypatch.setattr("sfumato.jobs.search._BEST_OF_METHODS", 0)


def test_a_policy_is_written_and_publishes_as_it_is(place, sfumato):
    limits = ("--max-reidentification", "0.25", "--max-inference", "0.5")
    code, out, err = sfumato(*RUN, *limits, "--out", "best.yaml")
    assert (code, err) == (0, [])
    assert "Limits: re-identification 0.25 (k = 4), inference 0.5 (l = 2)" in out
    assert "The frontier" in out
    assert "Recommended: " in out
    assert "queries that the search never saw" in out
    assert "wrote best.yaml" in out
    assert SECRET not in out
    code, _, err = sfumato("anonymize", "data.csv", "--policy", "best.yaml", "--out", "release")
    assert (code, err) == (0, [])
    code, out, _ = sfumato("audit", "release")
    assert (code, out.endswith("the audit passed\n")) == (0, True)


def test_presets_say_where_they_are_from(place, sfumato):
    code, out, _ = sfumato(*RUN, "--preset", "cms", "--max-inference", "0.5")
    assert code == 0
    assert "(k = 11)" in out
    assert "Centers for Medicare & Medicaid Services" in out
    code, out, _ = sfumato(*RUN, "--preset", "ema")
    assert code == 0
    assert "European Medicines Agency" in out
    assert "note: no limit of inference was stated" in out
    code, _, err = sfumato(*RUN, "--preset", "hipaa")
    assert code == 2
    assert "--preset" in err[0]


def test_json(place, sfumato):
    code, out, err = sfumato(*RUN, "--max-inference", "0.5", "--json")
    assert (code, err) == (0, [])
    found = json.loads(out)
    assert found["ok"]
    assert found["limits"]["max_reidentification"] is None
    assert found["choice"]["inference"] <= 0.5
    assert found["out"] is None
    assert found["choice"]["policy"].startswith("# Recommended by")


def test_when_nothing_keeps_the_limits_the_answer_is_no(place, sfumato):
    code, out, err = sfumato(*RUN, "--max-inference", "0.2", "--out", "best.yaml")
    assert (code, err) == (1, [])
    assert "Nothing that was tried keeps the limits." in out
    assert "binds: inference: one value of 'disease' belongs to 0.25" in out
    assert "would do: a limit of inference of at least 0.25 (--max-inference 0.25)" in out
    assert SECRET not in out
    assert not (place / "best.yaml").exists()
    code, _, _ = sfumato(*RUN, "--max-inference", "0.25")
    assert code == 0


def test_what_is_wrong_takes_one_line(place, sfumato):
    code, _, err = sfumato(*RUN)
    assert (code, len(err)) == (2, 1)
    assert "no limit is stated" in err[0]
    (place / "best.yaml").write_text("there: already\n")
    code, _, err = sfumato(*RUN, "--max-inference", "0.5", "--out", "best.yaml")
    assert (code, len(err)) == (2, 1)
    assert "--force" in err[0]
    (place / "workload.sql").write_text("SELECT AVG(age) WHERE age > 3\n")
    code, _, err = sfumato(*RUN, "--max-inference", "0.5", "--queries", "workload.sql")
    assert (code, len(err)) == (2, 1)
    assert "workload.sql, line 1" in err[0]


def test_a_chart(place, sfumato):
    pytest.importorskip("altair", reason="charts need the extra `reports`")
    code, out, _ = sfumato(*RUN, "--max-inference", "0.5", "--chart", "frontier.svg")
    assert code == 0
    assert "wrote frontier.svg" in out
    assert (place / "frontier.svg").read_text().startswith("<svg")
