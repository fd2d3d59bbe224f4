"""The page of a hierarchy: built, uploaded, grouped by hand, and what it lacks."""

from __future__ import annotations

import html
import re

import pytest

from sfumato.jobs.check import check
from sfumato.jobs.policy import Policy
from sfumato.web.policy_form import PolicyForm

AGE, SEX, DISEASE = 1, 2, 3


@pytest.fixture
def opened(house):
    """A table of 80 people aged 20 to 59, and someone who looks at it."""
    visitor = house.visitor()
    diseases = ("Flu", "Fever", "HIV", "<i>Gout</i>")
    rows = [f"Person {n},{20 + n // 2},{'FM'[n % 2]},{diseases[n % 4]}" for n in range(80)]
    content = "\n".join(["name,age,sex,disease", *rows, ""]).encode()
    return visitor, house.opened(visitor, content)


def at(project, number: int, rest: str = "") -> str:
    return f"/p/{project.id}/hierarchy/{number}{rest}"


def given(project, name: str):
    return PolicyForm.load(project).attributes[name].get("hierarchy")


def test_intervals_are_tried_before_they_are_kept(opened):
    visitor, project = opened
    before = project.policy.read_bytes()
    fields = {"builder": "width", "number": "10", "levels": "2"}
    answer = visitor.post(at(project, AGE), fields | {"do": "try"})
    assert answer.status == 200
    assert "not saved" in answer.words
    assert "[20, 29]" in answer.words
    assert project.policy.read_bytes() == before
    answer = visitor.post(at(project, AGE), fields | {"do": "save"})
    assert given(project, "age") == {"width": 10, "levels": 2}
    assert "[20, 39] (40)" in answer.words  # what stands on level 2, with its rows
    assert 'name="number" value="10"' in answer.text
    assert re.search(
        r"values as they are 40 2 .* 1 4 20 .* 2 2 40 .* everything 1 80", answer.words
    )


def test_bins_on_two_levels(opened):
    visitor, project = opened
    fields = {"builder": "bins", "edges": "0, 30, 40, 60\r\n0, 40, 60\r\n", "do": "save"}
    answer = visitor.post(at(project, AGE), fields)
    assert given(project, "age") == {"bins": [[0, 30, 40, 60], [0, 40, 60]]}
    assert "[40, 60] (40)" in answer.words
    assert "0, 30, 40, 60\n0, 40, 60</textarea>" in answer.text


NOT_BUILT = [
    ({"builder": "bins", "edges": "0, old, 60"}, "number"),
    ({"builder": "bins", "edges": "0, 30"}, "outside the outer edges"),
    ({"builder": "bins", "edges": ""}, "needs a list of edges"),
    ({"builder": "width", "number": ""}, "say a number"),
    ({"builder": "width", "number": "-1"}, "above 0"),
    ({"builder": "quantiles", "number": "1"}, "2 or more"),
    ({"builder": "mask", "side": "middle"}, "`right` or `left`"),
    ({"builder": "mask", "char": "1"}, "mask character"),
]


def test_what_cannot_be_built_is_told_in_its_form(opened):
    visitor, project = opened
    for fields, words in NOT_BUILT:
        answer = visitor.post(at(project, AGE), fields | {"do": "save"})
        assert answer.status == 422, fields
        beside = answer.text.split(f'id="problem-{fields["builder"]}">')[1].split("</p>")[0]
        assert words in beside, fields
        assert given(project, "age") is None


def test_dates_and_masks_are_offered_where_they_fit(opened):
    visitor, project = opened
    assert 'value="bins"' not in visitor.get(at(project, DISEASE)).text
    assert 'value="mask"' in visitor.get(at(project, DISEASE)).text
    assert 'value="dates"' not in visitor.get(at(project, AGE)).text


def test_dates(house):
    visitor = house.visitor()
    rows = [f"{n},20{10 + n % 9}-0{1 + n % 9}-11,x{n % 4}" for n in range(40)]
    project = house.opened(visitor, "\n".join(["age,seen,disease", *rows, ""]).encode())
    fields = {"builder": "dates", "month": "yes", "year": "yes", "do": "save"}
    answer = visitor.post(at(project, 1), fields)
    assert given(project, "seen") == {"dates": ["month", "year"]}
    assert "2011 (5)" in answer.words
    answer = visitor.post(at(project, 1), {"builder": "dates", "do": "save"})
    assert answer.status == 422


def test_a_tree_is_grouped_by_ticks_and_a_run_takes_it(opened):
    visitor, project = opened
    page = visitor.get(at(project, DISEASE))
    assert "<i>" not in page.text
    assert "style=" not in page.text
    answer = tick(visitor, project, page, ["Flu", "Fever"], "Infection")
    assert answer.status == 200, answer.words
    assert "In Infection" in answer.words
    assert given(project, "disease") == "hierarchies/column-3.csv"
    answer = tick(visitor, project, answer, ["HIV", "<i>Gout</i>"], "Other; <b>")
    assert "Other; &lt;b&gt;" in answer.text
    page = visitor.get(at(project, DISEASE) + "?level=2")
    answer = tick(visitor, project, page, ["Infection", "Other; <b>"], "All of them", level=2)
    assert answer.status == 200
    rows = Policy.load(project.policy).schema()["disease"].hierarchy.rows()
    assert ("Flu", "Infection", "All of them", "*") in rows
    assert len(rows) == 4
    assert check(project.data, project.policy).missing == {}


def tick(visitor, project, page, items, label, level=1, do="group"):
    fields = {"level": str(level), "label": label, "do": do}
    fields["stamp"] = re.search(r'name="stamp" value="(\w+)"', page.text)[1]
    for item in items:
        own = f"<bdi>{html.escape(item)}</bdi>"
        name = re.search(rf'name="(item-\d+)" value="yes"> {re.escape(own)}', page.text)
        fields[name[1]] = "yes"
    return visitor.post(at(project, DISEASE, "/tree"), fields)


def test_a_tree_form_of_another_tree_is_refused(opened):
    visitor, project = opened
    page = visitor.get(at(project, DISEASE) + "?level=1")
    answer = visitor.post(
        at(project, DISEASE, "/tree"),
        {"level": "1", "stamp": "0" * 16, "item-0": "yes", "label": "A", "do": "group"},
    )
    assert answer.status == 422
    assert "has changed since" in answer.words
    answer = tick(visitor, project, page, [], "A")
    assert answer.status == 422
    assert "tick what is to be grouped" in answer.words
    assert given(project, "disease") is None


def test_an_uploaded_file_is_checked_and_its_missing_values_are_listed_and_mended(opened):
    visitor, project = opened
    visitor.get(at(project, DISEASE))
    answer = visitor.upload(
        at(project, DISEASE, "/upload"), "tree.csv", b"Flu;Infection;*\nHIV;Infection;*\n"
    )
    assert answer.status == 200
    assert "2 of 4 values have no line" in answer.words
    assert "Fever" in answer.words
    assert "&lt;i&gt;Gout" in answer.text
    assert set(check(project.data, project.policy).missing["disease"]) == {"Fever", "<i>Gout</i>"}
    answer = visitor.post(at(project, DISEASE, "/tree"), {"do": "fill", "label": "Rest"})
    assert answer.status == 200
    assert "have no line" not in answer.words
    assert "Rest (40)" in answer.words
    assert check(project.data, project.policy).missing == {}


def test_labels_that_do_not_hold_their_values_are_told(opened):
    visitor, project = opened
    lines = "".join(f"{age};{'[20, 30]' if age < 40 else '>=40'};*\n" for age in range(20, 60))
    visitor.get(at(project, AGE))
    answer = visitor.upload(at(project, AGE, "/upload"), "ages.csv", lines.encode())
    assert "9 labels read as intervals that do not hold their value" in answer.words


NO_HIERARCHY = [
    ("tree.csv", b"Flu;A;*\nFlu;B;*\n", "hierarchy 'tree.csv'"),
    ("tree.csv", b"", "not empty"),
    ("tree.csv", b"\xff\xfe;\n", "UTF-8"),
    ("tree.exe", b"Flu;A;*\n", "text file"),
]


def test_a_file_that_is_no_hierarchy_changes_nothing(opened):
    visitor, project = opened
    visitor.get(at(project, DISEASE))
    visitor.upload(at(project, DISEASE, "/upload"), "good.csv", b"Flu;A;*\nHIV;B;*\n")
    kept = (project.hierarchies / "column-3.csv").read_bytes()
    for name, content, words in NO_HIERARCHY:
        answer = visitor.upload(at(project, DISEASE, "/upload"), name, content)
        assert answer.status == 422, name
        assert words in answer.words
        assert (project.hierarchies / "column-3.csv").read_bytes() == kept
        assert [each.name for each in project.hierarchies.iterdir()] == ["column-3.csv"]


def test_a_hierarchy_of_another_column_does_not_take_the_place_of_its_own(opened):
    visitor, project = opened
    visitor.get(at(project, DISEASE))
    visitor.upload(at(project, DISEASE, "/upload"), "good.csv", b"Flu;A;*\nHIV;B;*\n")
    kept = (project.hierarchies / "column-3.csv").read_bytes()
    answer = visitor.upload(at(project, DISEASE, "/upload"), "jobs.csv", b"Baker;A;*\nSmith;B;*\n")
    assert answer.status == 422
    assert "0 of 4 values of 'disease' match a line of 'jobs.csv'" in answer.words
    assert (project.hierarchies / "column-3.csv").read_bytes() == kept
    # where there was none, none is kept either
    answer = visitor.upload(at(project, AGE, "/upload"), "jobs.csv", b"Baker;A;*\nSmith;B;*\n")
    assert answer.status == 422
    assert [each.name for each in project.hierarchies.iterdir()] == ["column-3.csv"]
    # one value that matches is enough: the others are listed, to be mended
    answer = visitor.upload(at(project, DISEASE, "/upload"), "some.csv", b"Flu;A;*\nBaker;B;*\n")
    assert "3 of 4 values have no line" in answer.words


def test_an_upload_needs_the_form_token(opened, house):
    visitor, project = opened
    visitor.get(at(project, DISEASE))
    visitor.last.body = re.sub(rb'value="[0-9a-f]{32,}"', b'value="00"', visitor.last.body)
    answer = visitor.upload(at(project, DISEASE, "/upload"), "tree.csv", b"Flu;A;*\n")
    assert answer.status == 403
    assert list(project.hierarchies.iterdir()) == []


def test_there_is_a_way_back_to_none_and_to_the_file(opened):
    visitor, project = opened
    visitor.get(at(project, DISEASE))
    visitor.upload(at(project, DISEASE, "/upload"), "good.csv", b"Flu;A;*\nHIV;B;*\n")
    answer = visitor.post(at(project, DISEASE), {"do": "none"})
    assert given(project, "disease") is None
    assert "Use the last file again" in answer.words
    visitor.post(at(project, DISEASE), {"do": "file"})
    assert given(project, "disease") == "hierarchies/column-3.csv"


def test_a_column_that_is_not_there_is_not_found(opened):
    visitor, project = opened
    for number in ("9", "-1", "x", "..%2f"):
        assert visitor.get(f"/p/{project.id}/hierarchy/{number}").status == 404


def test_values_are_those_that_recoding_leaves(opened):
    visitor, project = opened
    policy = PolicyForm.load(project)
    policy.set("age", recode=[{"round": 10}], hierarchy={"width": 20, "levels": 1})
    policy.save(project, check=False)
    page = visitor.get(at(project, AGE))
    assert re.search(r"values as they are 5 \d+ 40 \(\d+\)", page.words)
    policy.set("age", recode=[{"truncate": "month"}])  # which is for dates
    policy.save(project, check=False)
    assert "There is nothing to show" in visitor.get(at(project, AGE)).words
