"""A run computes what is missing, and nothing twice; pages say what they rest on."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sfumato.cli.app import run
from sfumato.errors import InputError, ParameterError
from sfumato.papers.claims import Verdict
from sfumato.papers.data import REAL
from sfumato.papers.reproduce import PAPERS, kept, paper_of, reproduce

ROOT = Path(__file__).resolve().parent.parent.parent


def test_a_run_ends_with_verdicts_charts_and_a_page(toys, tmp_path):
    (made,) = reproduce("toy", out=tmp_path)
    assert (made.computed, made.kept) == (3, 0)
    verdicts = [each.judgement.verdict for each in made.judged]
    assert verdicts == [Verdict.HOLDS, Verdict.OPEN, Verdict.OPEN]
    page = made.page.read_text("utf-8")
    assert "*On a synthetic look-alike: the synthetic census (300 rows" in page
    assert "quick" not in page
    assert "Repeat with `sfumato reproduce toy`" in page
    assert "| Ours loses less | 1 | ours less than theirs in 3 of 3 cases" in page
    assert "| **holds** |" in page
    assert "**cannot be checked**: fun has no unit" in page
    assert "3 verdicts: 1 holds, 2 cannot be checked." in page
    assert (
        "![Loss by l (as its Fig. 1), the synthetic census](figures/toy/fig-1-census.svg)" in page
    )
    assert [each.name for each in made.charts] == ["fig-1-census.svg"]  # no points for the other
    assert made.charts[0].read_bytes().startswith(b"<svg")
    assert "| 4 | 0.4 |" in page


def test_nothing_is_computed_twice(toys, tmp_path):
    (first,) = reproduce("toy", out=tmp_path)
    before = first.page.read_bytes(), first.charts[0].read_bytes()
    toys.BENCHES.clear()
    (again,) = reproduce("toy", out=tmp_path)
    assert (again.computed, again.kept) == (0, 3)
    assert toys.BENCHES == []  # not even set up
    assert (again.page.read_bytes(), again.charts[0].read_bytes()) == before


def test_quick_points_are_points_of_their_own(toys, tmp_path):
    reproduce("toy", out=tmp_path)
    (quick,) = reproduce("toy", out=tmp_path, quick=True)
    assert (quick.computed, quick.kept) == (2, 0)
    page = quick.page.read_text("utf-8")
    assert "the quick grid, too small to judge a paper by" in page
    assert "`sfumato reproduce toy --quick`" in page
    assert "the quick grid has no such points: by k" in page


def test_another_version_computes_anew(toys, tmp_path, monkeypatch):
    from dataclasses import replace

    reproduce("toy", out=tmp_path)
    monkeypatch.setattr(toys, "PAPER", replace(toys.PAPER, version="2"))
    (again,) = reproduce("toy", out=tmp_path)
    assert (again.computed, again.kept) == (3, 0)


def test_an_interrupted_run_goes_on_where_it_was(toys, tmp_path, monkeypatch, capsys):
    from dataclasses import replace

    def interrupted(data):
        measure = toys.bench(data)

        def until(point):
            if len(toys.MEASURED) == 2:
                raise KeyboardInterrupt
            return measure(point)

        return until

    whole = toys.PAPER
    monkeypatch.setattr(toys, "PAPER", replace(whole, bench=interrupted))
    assert run(["reproduce", "toy", "--out", str(tmp_path / "cut")]) == 130
    assert capsys.readouterr().err == "error: interrupted\n"
    assert not (tmp_path / "cut" / "toy.md").exists()
    monkeypatch.setattr(toys, "PAPER", whole)
    (resumed,) = reproduce("toy", out=tmp_path / "cut")
    assert (resumed.computed, resumed.kept) == (1, 2)
    assert len(toys.MEASURED) == len(set(toys.MEASURED)) == 3
    (straight,) = reproduce("toy", out=tmp_path / "straight")
    assert resumed.page.read_bytes() == straight.page.read_bytes()


def test_a_page_that_somebody_wrote_is_not_replaced(toys, tmp_path):
    (tmp_path / "toy.md").write_text("# My toys\n")
    with pytest.raises(InputError, match=r"toy\.md"):
        reproduce("toy", out=tmp_path)
    assert (tmp_path / "toy.md").read_text() == "# My toys\n"
    assert (tmp_path / "results" / "toy.jsonl").exists()  # what was computed is not lost


def test_progress_tells_how_many_are_left(toys, tmp_path):
    class Told:
        def __init__(self):
            self.stages = []

        def stage(self, name):
            self.stages.append(name)

    told = Told()
    reproduce("toy", out=tmp_path, progress=told)
    assert told.stages[0] == "toy: 0 of 3 points done, now by l (l = 2, rows = 100)"
    assert told.stages[-1].startswith("toy: 2 of 3 points done")


def test_without_the_extra_there_are_no_charts(toys, tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.papers.figures.can_draw", lambda: False)
    (made,) = reproduce("toy", out=tmp_path)
    assert made.charts == ()
    assert "pip install 'sfumato[reports]'" in made.page.read_text("utf-8")


def test_results_are_read_without_the_data(toys, tmp_path):
    (made,) = reproduce("toy", out=tmp_path)
    file = tmp_path / "results" / "toy.jsonl"
    assert kept(toys.PAPER, file) == list(made.results)
    with pytest.raises(InputError, match="has no numbers of by l"):
        kept(toys.PAPER, file, quick=True)


def test_an_unknown_paper_is_refused():
    with pytest.raises(ParameterError, match="refining-partition"):
        paper_of("refining")


# --- the papers themselves ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quick_runs():
    return {}


@pytest.mark.parametrize("key", PAPERS)
def test_every_paper_runs_quickly_and_judges_every_claim(key, tmp_path_factory, quick_runs, capsys):
    out = tmp_path_factory.mktemp(key)
    assert run(["reproduce", key, "--quick", "--out", str(out), "--json"]) == 0
    (made,) = json.loads(capsys.readouterr().out)["papers"]
    quick_runs[key] = out
    paper = paper_of(key)
    assert made["quick"]
    assert not any(each["real"] for each in made["data"])
    assert len(made["claims"]) == len(paper.claims) * len(made["data"])
    for each in made["claims"]:
        assert each["verdict"] in set(Verdict)
        assert each["why"] if each["verdict"] == Verdict.OPEN else each["numbers"]
    judged = sum(each["verdict"] != Verdict.OPEN for each in made["claims"])
    assert judged * 2 > len(made["claims"])
    assert made["charts"]
    page = (out / f"{key}.md").read_text("utf-8")
    assert "synthetic look-alike" in page
    assert all(claim.text in page for claim in paper.claims)
    assert run(["reproduce", key, "--quick", "--out", str(out)]) == 0
    assert f"points: 0 computed, {made['points']['computed']:,} kept" in capsys.readouterr().out


@pytest.mark.parametrize("key", PAPERS)
def test_a_paper_is_told_completely(key):
    paper = paper_of(key)
    assert paper.key == key
    assert len({claim.key for claim in paper.claims}) == len(paper.claims)
    assert len({figure.key for figure in paper.figures}) == len(paper.figures)
    for data in (*paper.real, *paper.synthetic):
        assert paper.about_data[data]
        for quick in (True, False):
            grid = [str(point) for point in paper.grid(data, quick)]
            assert len(set(grid)) == len(grid) > 0


def test_the_page_of_commands_says_which_data_fit():
    text = (ROOT / "docs" / "commands.md").read_text("utf-8")
    for key in PAPERS:
        titles = ", ".join(REAL[each].title for each in paper_of(key).real)
        assert f"| {key} | {titles} |" in text


def _untimed(page: str, timed: set[str]) -> list[str]:
    """Return the lines of a page that no clock has a part in."""
    page = re.sub(r"^Seconds .*?:\n\n(?:\|.*\n)+", "", page, flags=re.MULTILINE)
    page = re.sub(r"^\d+ verdicts: .*$", "", page, flags=re.MULTILINE)
    return [line for line in page.splitlines() if "".join(line.split("|")[1:2]) not in timed]


def test_a_killed_run_goes_on_where_it_was(tmp_path, quick_runs, capsys):
    key = "refining-partition"
    out = tmp_path / "killed"
    command = ["reproduce", key, "--quick", "--out", str(out)]
    store = out / "results" / f"{key}.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-c", "from sfumato.cli import main; main()", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def points() -> int:
        """Return how many whole lines the store has: the last may be half written."""
        return store.read_bytes().rpartition(b"\n")[0].count(b'\n{"key"') if store.exists() else 0

    while points() < 3:
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    before = points()
    total = len(paper_of(key).grid("census", True))
    assert 3 <= before < total
    assert not (out / f"{key}.md").exists()
    assert run([*command, "--json"]) == 0
    (made,) = json.loads(capsys.readouterr().out)["papers"]
    assert made["points"] == {"computed": total - before, "kept": before}
    if key not in quick_runs:
        quick_runs[key] = tmp_path / "straight"
        assert run(["reproduce", key, "--quick", "--out", str(quick_runs[key])]) == 0
    timed = {f" {claim.text} " for claim in paper_of(key).claims if claim.timed}
    pages = [(folder / f"{key}.md").read_text("utf-8") for folder in (out, quick_runs[key])]
    first, second = (_untimed(page, timed) for page in pages)
    assert first == second
    assert len(first) > 30
