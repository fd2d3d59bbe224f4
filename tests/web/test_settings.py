"""The rarer settings of columns on the page of roles: kept, restored, refused beside the field."""

from __future__ import annotations

import html
import re

import pytest

from sfumato.web.attribute_form import SETTINGS
from sfumato.web.policy_form import PolicyForm
from sfumato.web.recode_form import rows_of, step_of
from sfumato.web.runs import Kind, runs_of
from sfumato.web.status import State
from sfumato.web.typed_values import lines_of, values_of
from web.form_reader import fields_of

QI, OUT = "quasi-identifier", "insensitive"
NAME, AGE, SEX, SEEN, WEIGHT, HOME, DISEASE, HIDE = range(8)


@pytest.fixture
def opened(house):
    """A table of 80 people, and someone who looks at the roles."""
    visitor = house.visitor()
    diseases = ("Flu", "Fever", "HIV", "Gout")
    lines = [
        f"Person {n},{20 + n % 40},{'FM'[n % 2]},2024-0{1 + n % 9}-11,{1 + n % 3}.5,H{n // 2},"
        f"{diseases[n % 4]},{'true' if n % 3 else 'false'}"
        for n in range(80)
    ]
    head = "name,age,sex,seen,weight,home,disease,hide"
    project = house.opened(visitor, "\n".join([head, *lines, ""]).encode())
    form = PolicyForm.load(project)
    for column, role in (("weight", OUT), ("home", OUT), ("hide", OUT), ("sex", QI)):
        form.set(column, role=role)
    form.set("age", role=QI)
    form.set("seen", role=QI, hierarchy=None)
    form.save(project)
    return visitor, project


def address(project) -> str:
    return f"/p/{project.id}/roles"


def saved(opened, **changes: str):
    """Send the page as it is shown, with changes; return the answer."""
    visitor, project = opened
    fields = fields_of(visitor.get(address(project)).text, address(project))
    return visitor.post(address(project), fields | changes)


def keys(opened, column: str) -> dict:
    return PolicyForm.load(opened[1]).attributes[column]


def beside(answer, field: str) -> str:
    """Return what is said beside a field that is marked as wrong."""
    assert f'aria-describedby="problem-{field}"' in answer.text, told(answer)
    return html.unescape(answer.text.split(f'id="problem-{field}">')[1].split("</span>")[0])


def told(answer) -> list[str]:
    """Return all that is said beside fields, and above them."""
    return re.findall(r'class="(?:wrong|box bad)"[^>]*>([^<]*)', answer.text)


def test_values_are_recoded_step_by_step(opened):
    changes = {
        f"step-0-{AGE}": "bottom", f"given-0-{AGE}": "25",
        f"step-1-{AGE}": "round", f"given-1-{AGE}": "5",
        f"step-0-{SEEN}": "truncate", f"given-0-{SEEN}": "quarter",
        f"step-0-{DISEASE}": "map", f"given-0-{DISEASE}": "Flu = Infection\nGout =\n* = Other",
    }  # fmt: skip
    answer = saved(opened, **changes)
    assert answer.status == 200, told(answer)
    assert keys(opened, "age")["recode"] == [{"bottom": 25}, {"round": 5}]
    assert keys(opened, "seen")["recode"] == [{"truncate": "quarter"}]
    assert keys(opened, "disease")["recode"] == [
        {"map": {"Flu": "Infection", "Gout": None}, "otherwise": "Other"}
    ]
    # a third step has room, and steps go when they are emptied
    answer = saved(opened, **{f"step-2-{AGE}": "bins", f"given-2-{AGE}": "25, 40, open"})
    assert keys(opened, "age")["recode"][2] == {"bins": [25, 40, None]}
    gone = {f"{field}-{n}-{AGE}": "" for field in ("step", "given") for n in range(3)}
    saved(opened, **gone)
    assert "recode" not in keys(opened, "age")


@pytest.mark.parametrize(
    "step",
    [
        {"top": "2026-01-31"},
        {"bins": [None, 0.5, 1]},
        {"shift": {"days": 30}},
        {"mask": 3},
        {"map": {"a = b": "c", "*": "x", '"q"': "90", "7": None}, "otherwise": None},
    ],
)
def test_steps_are_read_as_they_are_shown(step):
    ((kind, text),) = rows_of(step)
    assert step_of(kind, text, "x") == step


def test_values_are_read_as_they_are_shown():
    given = ["no", "01", 1, 1.5, True, "true", "a: b", "[x]", " blank ", "", "# 1", "null"]
    assert values_of(lines_of(given)) == given
    assert [type(each) for each in values_of(lines_of(given))] == [type(each) for each in given]


MISFITS = [
    ({f"step-0-{AGE}": "top", f"given-0-{AGE}": ""}, f"given-0-{AGE}", "say a value"),
    ({f"step-0-{AGE}": "", f"given-0-{AGE}": "5"}, f"given-0-{AGE}", "what is to be done"),
    ({f"step-0-{AGE}": "round", f"given-0-{AGE}": "many"}, f"given-0-{AGE}", "`round`"),
    (
        {f"step-0-{AGE}": "top", f"given-0-{AGE}": "50",
         f"step-1-{AGE}": "bins", f"given-1-{AGE}": "30, 40"},
        f"given-1-{AGE}", "leave out",
    ),
    ({f"step-0-{SEX}": "round", f"given-0-{SEX}": "5"}, f"given-0-{SEX}", "numbers"),
    ({f"low-{AGE}": "30", f"high-{AGE}": "90"}, f"low-{AGE}", "different values lie outside"),
    ({f"low-{AGE}": "30"}, f"high-{AGE}", "lowest and the highest"),
    ({f"low-{AGE}": "90", f"high-{AGE}": "0"}, f"low-{AGE}", "above"),
    ({f"domain-{SEX}": "F\nX"}, f"domain-{SEX}", "outside"),
    ({f"low-{SEX}": "1", f"high-{SEX}": "2", f"domain-{SEX}": "F"}, f"domain-{SEX}", "not both"),
    ({f"order-{SEX}": "F"}, f"order-{SEX}", "not in its `order`"),
    ({f"order-{SEX}": "F\nF\nM"}, f"order-{SEX}", "twice"),
    ({f"max_level-{AGE}": "1.5"}, f"max_level-{AGE}", "whole number"),
    ({f"max_width-{AGE}": "0"}, f"max_width-{AGE}", "above 0"),
    ({f"loss_weight-{AGE}": "much"}, f"loss_weight-{AGE}", "no number"),
    ({f"min_width-{DISEASE}": "-1"}, f"min_width-{DISEASE}", "above 0"),
    ({f"missing-{DISEASE}": "lost"}, f"missing-{DISEASE}", "one of the list"),
]  # fmt: skip


def test_what_does_not_fit_is_said_beside_its_field_and_changes_nothing(opened):
    before = opened[1].policy.read_bytes()
    for changes, field, words in MISFITS:
        answer = saved(opened, **changes)
        assert answer.status == 422, changes
        assert words in beside(answer, field), changes
        part = answer.text.split(f'id="problem-{field}"')[0]
        opening = part[part.rindex("<details") :].split(">")[0]
        assert opening.endswith('open=""'), changes  # what is wrong is not hidden
        assert opened[1].policy.read_bytes() == before


def test_settings_are_kept_each_under_its_key(opened):
    said = {
        f"low-{AGE}": "0", f"high-{AGE}": "120", f"loss_weight-{AGE}": "2", f"max_width-{AGE}": "9",
        f"order-{SEX}": "M\nF", f"domain-{DISEASE}": "Flu\nFever\nHIV\nGout\nRare",
        f"l-{DISEASE}": "3", f"variant-{DISEASE}": "recursive", f"c-{DISEASE}": "2",
        f"t-{DISEASE}": "0.4", f"distance-{DISEASE}": "equal", f"alpha-{DISEASE}": "0.6",
        f"beta-{DISEASE}": "3", f"missing-{DISEASE}": "excluded",
    }  # fmt: skip
    answer = saved(opened, **said)
    assert answer.status == 200, told(answer)
    assert keys(opened, "age").items() >= {
        "domain": {"min": 0, "max": 120}, "loss_weight": 2, "max_width": 9
    }.items()  # fmt: skip
    assert keys(opened, "sex")["order"] == ["M", "F"]
    disease = keys(opened, "disease")
    assert disease["domain"] == ["Flu", "Fever", "HIV", "Gout", "Rare"]
    assert disease.items() >= {
        "l": 3, "variant": "recursive", "c": 2, "t": 0.4, "distance": "equal", "alpha": 0.6,
        "beta": 3, "missing": "excluded",
    }.items()  # fmt: skip
    before = PolicyForm.load(opened[1]).content
    assert saved(opened).status == 200
    assert PolicyForm.load(opened[1]).content == before
    # what only steers an l goes with it
    saved(opened, **{f"l-{DISEASE}": "", f"beta-{DISEASE}": ""})
    assert not keys(opened, "disease").keys() & {"l", "variant", "c", "beta"}


def test_a_field_stands_for_every_setting_of_the_role(opened):
    visitor, project = opened
    page = visitor.get(address(project)).text
    for setting in SETTINGS:
        for column, place in (("disease", DISEASE), ("age", AGE)):
            is_there = f'name="{setting.key}-{place}"' in page
            has_use = setting.key != "max_level"  # of a hierarchy, which neither has
            wanted = has_use and keys(opened, column)["role"] in setting.roles
            assert is_there == wanted, setting.key
    assert page.count("<details") == page.count("</details>")


def test_flags_and_their_like_come_back_with_the_role(opened):
    rule = {f"role-{AGE}": "semi-sensitive", f"when-{AGE}": "sex = 'F'", f"l-{AGE}": "3"}
    assert saved(opened, **rule).status == 200
    semi = keys(opened, "age")
    saved(opened, **{f"role-{AGE}": QI})
    assert keys(opened, "age").keys() & {"when", "l"} == set()
    answer = saved(opened, **{f"role-{AGE}": "semi-sensitive"})  # the rule is in its field
    assert answer.status == 200, told(answer)
    assert keys(opened, "age") == semi
    # a setting without a field on the page of the other role comes back as well
    saved(opened, **{f"role-{AGE}": QI})
    saved(opened, **{f"loss_weight-{AGE}": "3"})
    saved(opened, **{f"role-{AGE}": "insensitive"})
    assert "loss_weight" not in keys(opened, "age")
    saved(opened, **{f"role-{AGE}": QI})
    assert keys(opened, "age")["loss_weight"] == 3


def test_flags_come_back_with_the_scheme_that_heeds_them(opened):
    visitor, project = opened
    saved(opened, **{f"role-{AGE}": "semi-sensitive", f"flag-{AGE}": "hide", f"l-{AGE}": "2"})
    protect = f"/p/{project.id}/protect"
    visitor.get(protect)
    fields = {"scheme": "arp", "arp-l": "2", f"arp-role-{AGE}": QI}
    answer = visitor.post(protect, fields)
    assert answer.status == 200, told(answer)
    assert keys(opened, "age")["role"] == QI
    page = visitor.get(protect)
    assert f'name="lgb-again-{AGE}" value="yes" checked' in page.text
    assert "'age' is private where 'hide' says yes, as before" in page.words
    answer = visitor.post(protect, {"scheme": "lgb", f"lgb-again-{AGE}": "yes"})
    assert answer.status == 200, told(answer)
    assert keys(opened, "age").items() >= {
        "role": "semi-sensitive", "flag": "hide", "l": 2
    }.items()  # fmt: skip


def test_weights_and_households_have_no_role_and_come_back(opened):
    project = opened[1]
    before = PolicyForm.load(project).content
    answer = saved(opened, weight="weight", household="home")
    assert answer.status == 200, told(answer)
    content = PolicyForm.load(project).content
    assert (content["weight"], content["household"]) == ("weight", "home")
    assert not {"weight", "home"} & set(content["attributes"])
    assert "say something about rows or cells: home , weight" in answer.words
    assert saved(opened, weight="", household="").status == 200
    assert PolicyForm.load(project).content == before
    answer = saved(opened, weight="nothing")
    assert answer.status == 422
    assert 'id="problem-weight"' in answer.text


def test_a_page_of_other_columns_is_refused(opened):
    visitor, project = opened
    old = fields_of(visitor.get(address(project)).text, address(project))
    saved(opened, weight="weight")
    answer = visitor.post(address(project), old | {f"role-{DISEASE}": QI})
    assert answer.status == 422
    assert "changed since this page was loaded" in answer.words
    assert keys(opened, "disease")["role"] == "sensitive"


def test_tokens_are_published_under_a_key_of_the_project(opened, house):
    visitor, project = opened
    answer = saved(opened, **{f"pseudonym-{NAME}": "yes", f"word-{NAME}": ""})
    assert answer.status == 200, told(answer)
    assert keys(opened, "name")["pseudonym"] is True
    saved(opened, **{f"word-{NAME}": "patients"})
    assert keys(opened, "name")["pseudonym"] == "patients"
    run = house.bench.runner.submit(project, Kind.PUBLISH)
    assert house.bench.runner.wait(run, 300).state is State.FINISHED, run.status
    key = project.folder / "private" / "pseudonyms.key"
    assert (key.stat().st_mode & 0o777, len(key.read_bytes())) == (0o600, 32)
    first = key.read_bytes()
    page = visitor.get(f"/p/{project.id}/runs/{run.id}")
    assert "--key-file pseudonyms.key" in page.words
    again = house.bench.runner.submit(project, Kind.PREVIEW)
    assert house.bench.runner.wait(again, 300).state is State.FINISHED
    assert key.read_bytes() == first
    for place in ("private/pseudonyms.key", "runs/../private/pseudonyms.key"):
        assert visitor.get(f"/p/{project.id}/{place}").status == 404
    assert len(runs_of(project, Kind.PUBLISH)) == 1
    fields = fields_of(visitor.get(address(project)).text, address(project))
    del fields[f"pseudonym-{NAME}"]
    assert visitor.post(address(project), fields).status == 200
    assert "pseudonym" not in keys(opened, "name")
