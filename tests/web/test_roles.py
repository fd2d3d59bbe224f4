"""The page of the roles: what it shows, keeps, and refuses beside the field."""

from __future__ import annotations

import pytest

from sfumato.web.policy_form import PolicyForm


@pytest.fixture
def table() -> bytes:
    diseases = ("Flu", "Fever", "HIV", "Gout")
    lines = [
        f"Person {n},{20 + n % 10},{'FM'[n % 2]},{diseases[n % 4]},{'true' if n % 3 else 'false'}"
        for n in range(40)
    ]
    return "\n".join(["name,age,sex,disease,hide <b>", *lines, ""]).encode()


def sent(project, **changes: str) -> dict[str, str]:
    """Return the fields of the page as it is, with changes."""
    fields = {}
    for place, keys in enumerate(PolicyForm.load(project).attributes.values()):
        for key in ("role", "kind", "l", "t", "flag", "when"):
            fields[f"{key}-{place}"] = str(keys.get(key, ""))
    return fields | {key.replace("_", "-"): value for key, value in changes.items()}


def test_every_column_has_its_role_and_its_reason(house, table):
    visitor = house.visitor()
    project = house.opened(visitor, table)
    page = visitor.get(f"/p/{project.id}/roles")
    policy = PolicyForm.load(project)
    assert list(policy.attributes) == ["name", "age", "sex", "disease", "hide <b>"]
    for reason in policy.reasons.values():
        assert reason in page.words
    assert "hide &lt;b&gt;" in page.text
    assert "<b>" not in page.text
    assert "style=" not in page.text
    assert 'value="identifier" selected' in page.text


def test_saving_what_is_shown_changes_nothing(house, table):
    visitor = house.visitor()
    project = house.opened(visitor, table)
    before = PolicyForm.load(project).content
    answer = visitor.post(f"/p/{project.id}/roles", sent(project))
    assert answer.status == 200
    assert PolicyForm.load(project).content == before


def test_a_semi_sensitive_column_has_a_flag_or_a_rule(house, table):
    visitor = house.visitor()
    project = house.opened(visitor, table)
    address = f"/p/{project.id}/roles"
    before = project.policy.read_bytes()
    fields = sent(project, role_1="semi-sensitive", l_1="3", role_4="insensitive")
    answer = visitor.post(address, fields)
    assert answer.status == 422
    assert "say which cells are sensitive" in answer.words
    assert 'aria-invalid="true" aria-describedby="problem-flag-1"' in answer.text
    assert 'value="semi-sensitive" selected' in answer.text  # what was chosen is still there
    assert project.policy.read_bytes() == before

    answer = visitor.post(address, fields | {"flag-1": "hide <b>"})
    assert answer.status == 200, answer.words
    assert PolicyForm.load(project).attributes["age"]["flag"] == "hide <b>"

    answer = visitor.post(address, sent(project, flag_1="", when_1="sex = 'F'"))
    assert answer.status == 200, answer.words
    keys = PolicyForm.load(project).attributes["age"]
    assert (keys["when"], keys["l"], "flag" in keys) == ("sex = 'F'", 3, False)


WRONG = [
    ({"role_1": "king"}, "role-1", "choose a role"),
    ({"l_3": "many"}, "l-3", "no number"),
    ({"l_3": "1"}, "l-3", "2 or more"),
    ({"t_3": "1.5"}, "t-3", "below 1"),
    ({"t_3": "1"}, "t-3", "below 1"),
    ({"kind_1": "round"}, "kind-1", "kind of the list"),
    ({"kind_2": "numeric"}, "kind-2", "stated as numeric"),
    ({"role_1": "semi-sensitive", "flag_1": "sex"}, "flag-1", "yes or no"),
    ({"role_1": "semi-sensitive", "when_1": "sex = "}, "when-1", ""),
    ({"role_1": "semi-sensitive", "when_1": "disease = 'Flu'"}, "when-1", "reads 'disease'"),
    (
        {"role_1": "semi-sensitive", "when_1": "sex = 'F'", "flag_1": "hide <b>"},
        "when-1",
        "not both",
    ),
    (
        {"role_1": "semi-sensitive", "flag_1": "hide <b>", "role_4": "quasi-identifier"},
        "flag-1",
        "never published",
    ),
]


def test_what_is_wrong_stands_beside_its_field(house, table):
    visitor = house.visitor()
    project = house.opened(visitor, table)
    before = project.policy.read_bytes()
    for changes, field, words in WRONG:
        answer = visitor.post(f"/p/{project.id}/roles", sent(project, **changes))
        assert answer.status == 422, changes
        beside = answer.text.split(f'id="problem-{field}">')[1].split("</span>")[0]
        assert words in beside.replace("&#x27;", "'"), changes
        assert "Nothing was saved" in answer.words
        assert project.policy.read_bytes() == before


def test_a_role_takes_its_own_keys_away_and_keep_is_for_insensitive_ones(house, table):
    visitor = house.visitor()
    project = house.opened(visitor, table)
    address = f"/p/{project.id}/roles"
    visitor.post(address, sent(project, role_3="sensitive", l_3="3", keep_3="yes"))
    assert PolicyForm.load(project).attributes["disease"]["l"] == 3
    assert "keep" not in PolicyForm.load(project).attributes["disease"]
    visitor.post(address, sent(project, role_3="insensitive", keep_3="yes"))
    keys = PolicyForm.load(project).attributes["disease"]
    assert keys["keep"] is True
    assert "l" not in keys
    assert 'name="keep-3" value="yes" checked' in visitor.get(address).text


def test_people_may_have_several_rows(house, table):
    visitor = house.visitor()
    project = house.opened(visitor, table)
    address = f"/p/{project.id}/roles"
    assert visitor.post(address, sent(project, unit="name")).status == 200
    assert PolicyForm.load(project).content["unit"] == "name"
    answer = visitor.post(address, sent(project, unit="age"))  # which is published
    assert answer.status == 422
    assert "the unit is column 'age'" in answer.words
    assert PolicyForm.load(project).content["unit"] == "name"
    visitor.post(address, sent(project, unit=""))
    assert "unit" not in PolicyForm.load(project).content
