"""The page of the data: types, missing values, how values are spread, and the first rows."""

from __future__ import annotations

import re
from dataclasses import replace

from sfumato.web.runs import Kind, runs_of
from sfumato.web.work import inspect
from sfumato.web.work.names import SAMPLE_FILE, SEEN
from sfumato.web.worker import known_names


def opened(house):
    visitor = house.visitor()
    rows = [
        f"P{n},{20 + n % 30},{'' if n % 4 == 0 else 'Flu' if n % 3 else '<b>Gout</b>'},{n % 2 == 0}"
        for n in range(80)
    ]
    content = "\n".join(["name,age,disease,<u>well</u>", *rows, ""]).encode()
    project = house.opened(visitor, content)
    return visitor.get(f"/p/{project.id}/data")


def test_columns_have_types_and_missing_values_on_a_scale(house):
    page = opened(house)
    assert "80 rows and 4 columns" in page.words
    assert "age whole numbers 0 30" in page.words
    assert "disease text 20 25.0% 2" in page.words
    assert re.search(
        r'<meter [^>]*value="20"[^>]*aria-label="Missing of disease: 25.0%"', page.text
    )
    assert "yes or no" in page.words


def test_charts_have_words_and_counts_for_those_who_do_not_see_them(house):
    page = opened(house)
    assert 'role="img" aria-label="from 20, in 12 steps of equal width to above' in page.text
    assert "Counts of disease" in page.words
    assert re.search(r"Value Rows Flu \d+ <b>Gout</b> \d+", page.words)
    assert "no value twice" in page.words  # of names


def test_fifty_rows_are_shown_and_everything_is_escaped(house):
    page = opened(house)
    assert "The first 50 rows" in page.words
    assert "50 P49" in page.words
    assert "P50 " not in page.words
    assert "<b>" not in page.text
    assert "<u>" not in page.text
    assert "style=" not in page.text
    assert re.search(r"<script(?! src=)", page.text) is None


def test_first_rows_are_shown_while_columns_are_counted(house, people):
    house.bench.runner._at_once = 0  # nothing starts by itself
    visitor = house.visitor()
    page = visitor.upload("/new/upload", "people.csv", people)
    assert 'id="seen" data-waiting=""' in page.text
    project = house.bench.workspace.project(page.address.split("/")[2])
    (run,) = runs_of(project, Kind.INSPECT)
    inspect._glance(run)
    page = visitor.get(page.address)
    assert "40 rows and 4 columns of people.csv" in page.words
    assert "roles can be chosen once that is done" in page.words
    assert "1 Person 0 20 F Flu" in page.words
    assert page.text.count("data-waiting") == 3 * 4  # all but the types
    assert re.search(r'<div id="type-1">whole numbers</div>', page.text)
    assert "Next: roles" not in page.words
    # columns are filled in one by one
    seen = run.result(SEEN)
    seen["columns"][1] |= {"missing": 0, "distinct": 10, "bars": [["20", 40]], "others": 0}
    inspect._leave(run, seen["rows"], seen["columns"], seen["preview"])
    page = visitor.get(page.address)
    assert page.text.count("data-waiting") == 3 * 3
    assert '<div id="different-1">10</div>' in page.text
    assert visitor.get(f"/p/{project.id}/roles").address.endswith("/data")


def test_what_was_known_early_does_not_stay(house, people):
    project = house.opened(house.visitor(), people)
    (run,) = runs_of(project, Kind.INSPECT)
    assert run.result(SEEN) is None
    assert "data-waiting" not in house.visitor().get(f"/p/{project.id}/data").text


def test_a_file_that_cannot_be_read_is_told_by_the_name_it_was_uploaded_under(house):
    visitor = house.visitor()
    visitor.get("/")
    answer = visitor.upload("/new/upload", "Patients 2024.csv", b"a,b\n1,2\n1,2,3\n")
    project = house.bench.workspace.project(answer.address.split("/")[2])
    (run,) = runs_of(project, Kind.INSPECT)
    assert house.bench.runner.wait(run, 60).state == "refused"
    page = visitor.get(f"/p/{project.id}/data")
    assert "Patients 2024.csv: " in page.words
    assert str(house.bench.workspace.folder) not in page.text
    assert "table.csv" not in page.text


def test_messages_name_no_path_of_the_workspace(house, people):
    project = house.opened(house.visitor(), people, "People.xlsx.csv")
    (run,) = runs_of(project, Kind.INSPECT)
    said = known_names(run, f"{run.data}: no; '{run.data.name}#1'; {run.folder / SAMPLE_FILE}: no")
    assert said == "People.xlsx.csv: no; 'People.xlsx.csv#1'; People.xlsx.csv: no"
    files = f"{run.folder}/policy.yaml, {project.hierarchies}/column-1.csv"
    assert known_names(run, files) == "policy.yaml, hierarchies/column-1.csv"
    in_place = replace(run, data=project.folder.parent.parent / "data" / "x.csv")
    assert known_names(in_place, f"{in_place.data}: no") == f"{in_place.data}: no"
