"""Recommend for me: limits are checked at once, reasons are shown, the policy can be used."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sfumato.web.policy_form import PolicyForm
from sfumato.web.runs import Kind, runs_of
from sfumato.web.small_files import write_json
from sfumato.web.status import State
from sfumato.web.work.names import FOUND, RECOMMENDED

POLICY = """\
attributes:
  name: {role: identifier}
  age: {role: quasi-identifier}
  sex: {role: quasi-identifier}
  disease: {role: sensitive, l: 2}
method: {name: mondrian, k: 5}
"""


def attempt(**more) -> dict:
    return {
        "candidate": "mondrian, k = 5, <i>",
        "method": "mondrian",
        "reidentification": 0.2,
        "inference": 0.5,
        "error": 0.031,
    } | more  # fmt: skip


def outcome(**more) -> dict:
    """What a search leaves; how much it finds in a test depends on the machine."""
    return {
        "ok": False, "rows": 40, "queries": "360 random COUNT queries", "choice": None,
        "frontier": [], "tried": [attempt()], "binds": [], "relaxations": [], "refusals": {},
        "notes": [],
    } | more  # fmt: skip


def searched(house, visitor, people, content: dict):
    """Return a project and a search that ended with an outcome."""
    project = house.opened(visitor, people)
    run = house.bench.runner.submit(project, Kind.RECOMMEND, {"preset": "none"})
    assert house.bench.runner.wait(run, 60).state is State.REFUSED
    replace(run.status, state=State.FINISHED).write(run.folder)
    write_json(run.folder / FOUND, content)
    return project, run


def test_a_search_runs_to_its_end_and_is_listed(house, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    page = visitor.get(f"/p/{project.id}/recommend")
    assert "Highest chance that anybody is recognised" in page.words
    limits = {"preset": "", "max_reidentification": "1/5", "max_inference": "0.5", "minutes": "0.5"}
    answer = visitor.post(f"/p/{project.id}/recommend", limits)
    (run,) = runs_of(project, Kind.RECOMMEND)
    assert answer.address == f"/p/{project.id}/recommend/{run.id}"
    assert house.bench.runner.wait(run, 180).state is State.FINISHED
    page = visitor.get(answer.address)
    assert page.status == 200
    found = run.result(FOUND)
    assert found["limits"]["k"] == 5
    assert ("Why this one" in page.words) == found["ok"] == (run.folder / RECOMMENDED).is_file()
    assert "guessed 0.5" in visitor.get(f"/p/{project.id}/recommend").words


def test_a_choice_has_its_reasons_and_can_be_used(house, people):
    visitor = house.visitor()
    choice = attempt(error_held_out=0.04, reasons=["it is <b>best</b>"], policy=POLICY)
    content = outcome(ok=True, choice=choice, frontier=[attempt()], notes=["a note"])
    project, run = searched(house, visitor, people, content)
    address = f"/p/{project.id}/recommend/{run.id}"
    page = visitor.get(address)
    for words in ("Why this one", "it is <b>best</b>", "The best of what was tried", "a note"):
        assert words in page.words or words in page.text.replace("&lt;", "<").replace("&gt;", ">")
    assert "<b>best" not in page.text
    assert "<i>" not in page.text
    assert "role: identifier" in page.words
    assert visitor.post(f"{address}/use").status == 404  # no such file in the folder
    (run.folder / RECOMMENDED).write_text(POLICY)
    assert visitor.post(f"{address}/use").address.partition("?")[0] == f"/p/{project.id}/protect"
    assert PolicyForm.load(project).method == {"name": "mondrian", "k": 5}


def test_too_little_time_is_not_told_as_limits_that_nothing_keeps(house, people):
    visitor = house.visitor()
    project, run = searched(house, visitor, people, outcome(frontier=[attempt()]))
    page = visitor.get(f"/p/{project.id}/recommend/{run.id}")
    assert "more minutes" in page.words
    assert "Nothing that was tried keeps" not in page.words
    write_json(run.folder / FOUND, outcome(binds=["the value is common"]))
    page = visitor.get(f"/p/{project.id}/recommend/{run.id}")
    assert "Nothing that was tried keeps these limits" in page.words
    assert "the value is common" in page.words
    assert "Use this policy" not in page.words


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"preset": ""}, "state a limit"),
        ({"preset": "none"}, "no preset"),
        ({"max_inference": "often"}, "must be a number"),
        ({"max_reidentification": "2"}, "is a probability"),
        ({"preset": "strict", "minutes": "500"}, "from 0.5 to 60 minutes"),
        ({"preset": "strict", "minutes": "soon"}, "must be a number"),
    ],
)
def test_limits_that_are_none_are_refused_at_once(house, people, fields, words):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    answer = visitor.post(f"/p/{project.id}/recommend", fields)
    assert answer.status == 422
    assert words in answer.words
    assert "--" not in answer.words
    assert runs_of(project, Kind.RECOMMEND) == []


def test_notes_speak_of_fields_not_of_options(house, people):
    visitor = house.visitor()
    notes = ["no time was left; give more --minutes", "ask for; state --max-inference"]
    binds = ["without --max-reidentification 0.2"]
    project, run = searched(house, visitor, people, outcome(notes=notes, binds=binds))
    page = visitor.get(f"/p/{project.id}/recommend/{run.id}")
    assert "--" not in page.words
    assert "search again with more minutes" in page.words
    assert "state “Highest chance that a secret is guessed”" in page.words
    assert "“Highest chance that anybody is recognised” 0.2" in page.words
    assert "1 candidate was tried on 40 rows" in page.words


def test_a_refused_search_speaks_of_fields(house, people):
    visitor = house.visitor()
    project, run = searched(house, visitor, people, outcome())
    said = "limits; give more --minutes (the first runs also compile)"
    replace(run.status, state=State.REFUSED, message=said).write(run.folder)
    page = visitor.get(f"/p/{project.id}/recommend/{run.id}")
    assert "limits; search again with more minutes (the first" in page.words
