"""Schemes: what the data allow of them, what they make of the policy, and what is refused."""

from __future__ import annotations

import copy
import re
from fractions import Fraction

import pytest

from sfumato.errors import ParameterError
from sfumato.methods import METHODS
from sfumato.schema import Role
from sfumato.web.forms import Form
from sfumato.web.knobs import K, L
from sfumato.web.policy_form import PolicyForm
from sfumato.web.runs import Kind, runs_of
from sfumato.web.scheme_fields import FieldError
from sfumato.web.scheme_fit import Fit
from sfumato.web.scheme_form import SchemeForm
from sfumato.web.schemes import SCHEMES
from sfumato.web.status import State
from web.form_reader import fields_of, fields_of_scheme

MAIN = ["lgb", "arp", "merging", "slppa", "sensitive-qid"]

STATED = {"age": {"min": 0, "max": 120}, "sex": ["F", "M"], "disease": ["Flu", "HIV", "Gout"]}


def column(name: str, distinct: int, commonest: int, missing: int = 0, type: str = "text"):
    return {
        "name": name, "type": type, "missing": missing, "distinct": distinct,
        "commonest": commonest, "bars": [], "others": 0,
    }  # fmt: skip


PROFILE = {
    "rows": 100,
    "columns": [
        column("age", 60, 5, type="whole numbers"),
        column("sex", 2, 55),
        column("disease", 8, 24, missing=4),
    ],
}


def policy(tmp_path, method: str = "mondrian", **roles: dict) -> PolicyForm:
    attributes = {
        "age": {"role": "quasi-identifier", "kind": "numeric"},
        "sex": {"role": "quasi-identifier"},
        "disease": {"role": "sensitive", "l": 3},
        **roles,
    }
    content = {"attributes": attributes, "method": {"name": method, "k": 5}}
    return PolicyForm(content, tmp_path, {})


def applied(form: PolicyForm, scheme: str, **typed: str) -> dict:
    """Return the policy's content after a scheme was chosen and its fields sent."""
    fit = Fit(form.content, PROFILE)
    fields = {f"{scheme}-{re.sub('_(?=[0-9])', '-', key)}": v for key, v in typed.items()}
    SchemeForm(SCHEMES[scheme], form, fit).apply(Form(fields))
    form.checked()
    return form.content


def test_the_five_schemes_stand_first_and_all_are_methods():
    assert [each.name for each in SCHEMES.values() if each.is_main] == MAIN
    assert set(SCHEMES) <= set(METHODS)


def test_the_largest_l_is_what_the_commonest_value_allows(tmp_path):
    fit = Fit(policy(tmp_path).content, PROFILE)
    # 24 of 96 that are not missing: four equal shares, no five
    assert (fit.of_knob(L, ["disease"]).low, fit.of_knob(L, ["disease"]).high) == (2, 4)
    assert "disease" in fit.of_knob(L, ["disease"]).why
    assert fit.of_knob(L, ["sex"]).is_empty
    assert fit.of_knob(K, []).high == 100
    beta = next(knob for knob in SCHEMES["slppa"].knobs if knob.key == "beta")
    assert fit.of_knob(beta, ["disease"]).low == 0.25
    assert Fraction(str(fit.of_knob(beta, ["sex"]).low)) >= Fraction(55, 100)


def test_ranges_are_not_told_where_the_profile_does_not_show_them(tmp_path):
    recoded = policy(tmp_path, disease={"role": "sensitive", "recode": [{"round": 5}]})
    assert Fit(recoded.content, PROFILE).of_knob(L, ["disease"]).high is None
    people = policy(tmp_path)
    people.content["unit"] = "age"
    assert Fit(people.content, PROFILE).of_knob(L, ["disease"]).high is None


def test_sets_have_fewer_values_than_the_column(tmp_path):
    fit = Fit(policy(tmp_path).content, PROFILE)
    scheme = SCHEMES["sensitive-qid"]
    assert fit.of_l(scheme, "disease").high == 8  # eight values and a missing one, but one
    assert fit.of_l(scheme, "age").high == 49  # numbers are cut into fifty ranges
    assert fit.of_l(scheme, "sex").is_empty


def test_a_scheme_takes_over_what_was_asked_before(tmp_path):
    content = applied(policy(tmp_path), "arp")
    assert content["method"] == {"name": "arp", "l": 3, "publish": "anatomy"}
    assert "l" not in content["attributes"]["disease"]
    content = applied(policy(tmp_path), "slppa")
    assert content["method"] == {"name": "slppa", "beta": 0.3333, "tables": 2}
    content = applied(policy(tmp_path), "merging", l="4", k="3")
    assert content["method"] == {"name": "merging", "l": 4, "k": 3}


@pytest.mark.parametrize(
    "scheme", [name for name in SCHEMES if name not in ("mdav", "full-domain", "ng")]
)
def test_every_scheme_makes_a_policy_by_its_defaults(tmp_path, scheme):
    form = policy(tmp_path)
    for name, domain in STATED.items():
        form.set(name, domain=domain)
    content = applied(form, scheme)
    assert content["method"]["name"] == scheme


def test_parameters_without_a_field_stay_while_the_scheme_does(tmp_path):
    form = policy(tmp_path)
    form.set_method("mondrian", k=5, strict=False)
    assert applied(form, "mondrian", k="7")["method"] == {
        "name": "mondrian", "k": 7, "strict": False
    }  # fmt: skip
    assert "strict" not in applied(form, "arp")["method"]


@pytest.mark.parametrize(
    ("scheme", "typed", "words"),
    [
        ("arp", {"l": "5"}, "from 2 to 4"),
        ("arp", {"l": "2.5"}, "whole number"),
        ("arp", {"l": "1"}, "from 2"),
        ("mondrian", {"k": "101"}, "from 2 to 100"),
        ("slppa", {"beta": "0.1"}, "0.25"),
        ("lgb", {"l_2": "many"}, "must be a number"),
        ("lgb", {"l_2": "", "t_2": "1"}, "from 0.0001 and below 1"),
        ("mondrian", {"l_2": "", "t_2": "0"}, "from 0.0001 and below 1"),
    ],
)
def test_what_the_data_do_not_allow_is_refused_with_the_range(tmp_path, scheme, typed, words):
    form = policy(tmp_path)
    with pytest.raises(ParameterError, match=re.escape(words)):
        applied(form, scheme, **typed)


def test_a_closeness_just_below_one_is_taken(tmp_path):
    content = applied(policy(tmp_path), "lgb", l_2="", t_2="0.99995")
    assert content["attributes"]["disease"]["t"] == 0.99995


def test_leaving_rows_out_makes_more_possible(tmp_path):
    content = applied(policy(tmp_path), "arp", l="5", withhold="yes")
    assert (content["method"]["l"], content["on_infeasible"]) == (5, "suppress")
    assert "on_infeasible" not in applied(policy(tmp_path), "arp", l="4")


def test_roles_that_a_scheme_does_not_know_are_asked_for(tmp_path):
    semi = {"role": "semi-sensitive", "when": "age > 50", "l": 2}
    with pytest.raises(ParameterError, match="semi-sensitive columns such as 'sex'"):
        applied(policy(tmp_path, "lgb", sex=dict(semi)), "arp")
    with pytest.raises(ParameterError, match="semi-sensitive columns such as 'sex'"):
        applied(policy(tmp_path, "lgb", sex=dict(semi)), "arp", role_1="semi-sensitive")
    content = applied(policy(tmp_path, "lgb", sex=dict(semi)), "arp", role_1="quasi-identifier")
    assert content["attributes"]["sex"] == {"role": "quasi-identifier"}
    # a column that becomes secret is protected like others
    content = applied(
        policy(tmp_path, "lgb", sex=dict(semi)), "mondrian", role_1="sensitive", t_1="0.3"
    )
    assert content["attributes"]["sex"]["role"] == Role.SENSITIVE
    assert content["attributes"]["sex"]["t"] == 0.3


def test_known_columns_are_made_secret_too(tmp_path):
    content = applied(policy(tmp_path), "sensitive-qid", both_0="yes", l_0="6", t_0="")
    assert content["attributes"]["age"]["role"] == "sensitive-quasi-identifier"
    assert content["attributes"]["age"]["l"] == 6
    assert content["attributes"]["sex"]["role"] == "quasi-identifier"
    content = applied(PolicyForm(content, tmp_path, {}), "sensitive-qid")
    assert content["attributes"]["age"] == {"role": "quasi-identifier", "kind": "numeric"}


@pytest.mark.parametrize(
    ("change", "scheme", "words"),
    [
        ({"unit": "age"}, "arp", "one row a person"),
        ({"weight": "age"}, "anatomy", "weights"),
        ({"disease": {"role": "insensitive"}}, "merging", "secret"),
        ({"age": {"role": "sensitive", "l": 2}}, "anatomy", "one secret"),
        ({}, "mdav", "'sex' does not hold numbers"),
        ({}, "full-domain", "hierarchy of the numbers in 'age'"),
        ({"age": {"role": "quasi-identifier", "max_width": 9}}, "lgb", "max_width"),
    ],
)
def test_what_stands_in_the_way_is_said_in_plain_words(tmp_path, change, scheme, words):
    form = policy(tmp_path)
    for key, value in change.items():
        if isinstance(value, dict):
            form.attributes[key] = value
        else:
            form.content[key] = value
    found = Fit(form.content, PROFILE).obstacle(SCHEMES[scheme])
    assert found is not None
    assert words in found
    assert Fit(policy(tmp_path).content, PROFILE).obstacle(SCHEMES["mondrian"]) is None


def test_shared_sets_have_room_for_the_commonest_value(tmp_path):
    fit = Fit(policy(tmp_path).content, PROFILE)
    span = fit.of_l(SCHEMES["rating"], "disease")
    assert (span.low, span.high) == (2, 4)  # 100 rows, 24 with one value: no five groups
    assert fit.of_l(SCHEMES["rating"], "age").high == 49
    content = applied(policy(tmp_path), "rating", both_0="yes", l_0="6", l_2="4")
    assert content["method"] == {"name": "rating"}
    assert content["attributes"]["age"]["l"] == 6
    with pytest.raises(ParameterError, match="from 2 to 4"):
        applied(policy(tmp_path), "rating", l_2="5")


def test_noisy_counts_need_domains_that_the_data_do_not_tell(tmp_path):
    form = policy(tmp_path)
    assert "what 'age' can be" in Fit(form.content, PROFILE).obstacle(SCHEMES["dp"])
    for name, domain in STATED.items():
        form.set(name, domain=domain)
    assert Fit(form.content, PROFILE).obstacle(SCHEMES["dp"]) is None
    assert applied(form, "dp", epsilon="0.5")["method"] == {"name": "dp", "epsilon": 0.5}
    with pytest.raises(ParameterError, match=re.escape("from 0.0001 to 1000")):
        applied(form, "dp", epsilon="0")
    form.attributes["extra"] = {"role": "insensitive", "keep": True}
    assert "'extra' exactly" in Fit(form.content, PROFILE).obstacle(SCHEMES["dp"])


@pytest.mark.parametrize(
    ("scheme", "typed", "parameters"),
    [
        ("slicing", {"columns": "[[age], [sex]]"}, {"columns": [["age"], ["sex"]]}),
        ("slicing", {"columns": "1", "variant": "distinct"}, {"columns": 1, "variant": "distinct"}),
        ("aip", {"initial": "[age]"}, {"initial": ["age"]}),
        ("arp", {"initial": "mondrian", "residues": "neighbours"}, {"initial": "mondrian"}),
        ("merging", {"fakes": "5%", "expected": "null"}, {"fakes": "5%", "expected": None}),
        (
            "merging",
            {"incompatible": "sex = 'M' AND disease = 'X'\n\nage < 9 AND disease = 'Y'"},
            {"incompatible": ["sex = 'M' AND disease = 'X'", "age < 9 AND disease = 'Y'"]},
        ),
        ("mondrian", {"strict": "false", "cut": "median"}, {"strict": False, "cut": "median"}),
        ("mondrian", {"suppression": "0", "distance": "equal"}, {"suppression": 0}),
        ("asn", {"beta": "0.5", "gamma": "0.2"}, {"beta": 0.5, "gamma": 0.2}),
        ("probabilistic", {"d": "1", "sample": "1"}, {"d": 1, "sample": 1}),
        ("hybrid", {"perturb": "0"}, {"perturb": 0}),
        ("pram", {"keep_of": "{sex: 0.6}", "kind": "invariant"}, {"keep_of": {"sex": 0.6}}),
        ("slppa", {"cap": "null"}, {"cap": None}),
    ],
)
def test_rare_parameters_come_into_the_policy(tmp_path, scheme, typed, parameters):
    form = policy(tmp_path)
    if "distance" in typed:
        form.set("disease", l=None, t=0.3)
    found = applied(form, scheme, **typed)["method"]
    assert found.items() >= parameters.items()


@pytest.mark.parametrize(
    ("scheme", "typed", "field"),
    [
        ("slicing", {"columns": "[[age"}, "slicing-columns"),
        ("mondrian", {"cut": "here"}, "mondrian-cut"),
        ("dp", {"epsilon": "none"}, "dp-epsilon"),
        ("mondrian", {"suppression": "1.5"}, "mondrian-suppression"),
    ],
)
def test_what_is_no_value_is_told_with_its_field(tmp_path, scheme, typed, field):
    form = policy(tmp_path)
    for name, domain in STATED.items():
        form.set(name, domain=domain)
    with pytest.raises(FieldError) as told:
        applied(form, scheme, **typed)
    assert told.value.field == field


@pytest.mark.parametrize("scheme", ["lgb", "sensitive-qid", "rating"])
def test_a_secret_that_nothing_protects_is_told_beside_its_field(tmp_path, scheme):
    with pytest.raises(FieldError, match="'disease' is secret, and nothing protects it") as told:
        applied(policy(tmp_path), scheme, l_2="", t_2="")
    assert told.value.field == f"{scheme}-l-2"
    if scheme != "rating":
        assert (
            "l" not in applied(policy(tmp_path), scheme, l_2="", t_2="0.3")["attributes"]["disease"]
        )


def test_what_is_not_secret_or_protected_otherwise_needs_neither_l_nor_t(tmp_path):
    assert "l" not in applied(policy(tmp_path), "mondrian", l_2="", t_2="")["attributes"]["disease"]
    # known and not ticked as secret
    applied(policy(tmp_path), "sensitive-qid", l_0="", t_0="")
    by_sets = policy(tmp_path, "sensitive-qid", disease={"role": "sensitive", "k": 3})
    by_sets.set_method("sensitive-qid")
    assert applied(by_sets, "sensitive-qid", l_2="", t_2="")["attributes"]["disease"]["k"] == 3


def test_a_scheme_that_comes_back_has_its_parameters(tmp_path):
    form = policy(tmp_path)
    form.set("disease", l=2.5, variant="entropy")
    form.set_method("mondrian", k=7, strict=False, cut="median")
    before = copy.deepcopy(form.content)
    applied(form, "arp")
    form.remembered.note(before, form.content)
    assert "variant" not in form.attributes["disease"]
    assert applied(form, "mondrian") == before
    # what only steers goes with what was emptied
    assert "variant" not in applied(form, "mondrian", l_2="")["attributes"]["disease"]


# Pages


def test_all_methods_are_offered_and_further_guarantees_kept(house, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    address = f"/p/{project.id}/protect"
    page = visitor.get(address)
    for name in METHODS:
        assert f'type="radio" name="scheme" value="{name}"' in page.text
    assert page.text.index(">More methods<") < page.text.index(">Methods that papers compare with<")
    claim = "{model: delta-presence, minimum: 0, maximum: 0.5}"
    fields = {"scheme": "mondrian", "output-format": "csv", "guarantees": f"{claim}\r\n"}
    assert visitor.post(address, fields).status == 200
    content = PolicyForm.load(project).content
    assert content["guarantees"] == [{"model": "delta-presence", "minimum": 0, "maximum": 0.5}]
    assert content["output"] == {"format": "csv", "formula_guard": False}
    answer = visitor.post(address, fields | {"guarantees": "always"})
    assert answer.status == 422
    assert 'aria-describedby="problem-guarantees"' in answer.text
    fields = {"scheme": "mondrian", "output-format": "", "output-guard": "yes", "guarantees": ""}
    assert visitor.post(address, fields).status == 200
    content = PolicyForm.load(project).content
    assert "guarantees" not in content
    assert content["output"] == {"formula_guard": True}


def test_a_wrong_parameter_is_told_beside_its_field(house, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    address = f"/p/{project.id}/protect"
    visitor.get(address)
    answer = visitor.post(address, {"scheme": "slicing", "slicing-columns": "[[age"})
    assert answer.status == 422
    assert 'id="problem-slicing-columns"' in answer.text
    assert 'name="slicing-columns" value="[[age"' in answer.text


def test_clearing_both_l_and_t_is_told_on_the_page_and_not_saved(house, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    address = f"/p/{project.id}/protect"
    assert visitor.post(address, {"scheme": "lgb"}).status == 200
    before = project.policy.read_bytes()
    fields = fields_of_scheme(visitor.get(address).text, address)
    (own,) = [key for key in fields if key.startswith("lgb-l-")]
    cleared = {own: "", own.replace("-l-", "-t-"): ""}
    answer = visitor.post(address, fields | cleared)
    assert answer.status == 422
    assert "nothing protects it" in answer.text.split(f'id="problem-{own}">')[1].split("</span>")[0]
    assert project.policy.read_bytes() == before


def test_the_page_shows_plain_words_ranges_and_terms(house, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    page = visitor.get(f"/p/{project.id}/protect")
    assert page.status == 200
    assert page.text.index("Each person's own wishes".replace("'", "&#x27;")) < page.text.index(
        "Nobody stands alone"
    )
    assert "refining partition" in page.words
    assert "from 2 to 4: more is impossible, so common is one value of 'disease'" in page.words
    assert re.search(r'value="mondrian" required [^>]*checked', page.text)
    assert " style=" not in page.text
    assert "onclick" not in page.text
    # every field has a label around it
    for field in re.findall(r'<input name="[^"]*"', page.text):
        before = page.text[: page.text.index(field)]
        assert before.rindex("<label") > before.rindex("</label>")


def test_names_from_the_data_are_escaped(house):
    visitor = house.visitor()
    rows = "\n".join(f"{20 + n},{'abcd'[n % 4]}" for n in range(40))
    project = house.opened(visitor, f"age,<b>disease</b>\n{rows}\n".encode())
    page = visitor.get(f"/p/{project.id}/protect")
    assert "<b>" not in page.text
    assert "&lt;b&gt;disease" in page.text


def test_a_refused_field_shows_what_was_typed(house, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    before = project.policy.read_text()
    answer = visitor.post(f"/p/{project.id}/protect", {"scheme": "arp", "arp-l": "77"})
    assert answer.status == 422
    assert "it may be from 2 to 4" in answer.words
    assert 'name="arp-l" value="77"' in answer.text
    assert re.search(r'value="arp" required [^>]*checked', answer.text)
    assert project.policy.read_text() == before


def test_a_preview_shows_rows_before_and_after_and_changes_nothing(house, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    before = project.policy.read_text()
    fields = {"scheme": "anatomy", "anatomy-l": "3", "next": "preview"}
    answer = visitor.post(f"/p/{project.id}/protect", fields)
    (run,) = runs_of(project, Kind.PREVIEW)
    assert answer.address == f"/p/{project.id}/preview/{run.id}"
    assert house.bench.runner.wait(run, 180).state is State.FINISHED
    page = visitor.get(answer.address)
    assert "All 40 rows." in page.words
    assert "Before: rows of the data" in page.words
    assert "After: the published table" in page.words
    assert page.text.count('id="preview"') == 1
    assert project.policy.read_text() == before
    assert runs_of(project, Kind.PUBLISH) == []
    # nothing of it is left to be handed out by mistake
    assert not list(run.folder.rglob("*.parquet"))
    # the next takes its place, and can be kept
    answer = visitor.post(f"/p/{project.id}/protect", fields | {"anatomy-l": "2"})
    (second,) = runs_of(project, Kind.PREVIEW)
    assert second.id != run.id
    visitor.post(f"/p/{project.id}/preview/{second.id}/use")
    assert PolicyForm.load(project).method == {"name": "anatomy", "l": 2}
    assert visitor.get(f"/p/{project.id}/runs/{second.id}", follow=False).status == 303


def test_runs_of_other_kinds_are_no_previews(house, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    (run,) = runs_of(project, Kind.INSPECT)
    for place in ("preview", "recommend"):
        assert visitor.get(f"/p/{project.id}/{place}/{run.id}").status == 404
        assert visitor.post(f"/p/{project.id}/{place}/{run.id}/use").status == 404


def test_a_page_that_shows_an_older_policy_neither_saves_nor_publishes(house, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    roles, protect = f"/p/{project.id}/roles", f"/p/{project.id}/protect"
    old_roles = fields_of(visitor.get(roles).text, roles)
    old_protect = fields_of_scheme(visitor.get(protect).text, protect)
    # in another window a column becomes secret, and its scheme another
    changed = old_roles | {"role-1": "sensitive", "l-1": "3"}
    assert visitor.post(roles, changed).status == 200
    after = project.policy.read_bytes()
    for address, fields in ((roles, old_roles), (protect, old_protect | {"next": "publish"})):
        answer = visitor.post(address, fields)
        assert answer.status == 422
        assert "the policy was changed since this page was loaded" in answer.words
        # the page shows what is kept, and can be sent
        assert fields_of(answer.text, address) == fields_of(visitor.get(address).text, address)
    assert project.policy.read_bytes() == after
    assert runs_of(project, Kind.PUBLISH) == []


def test_a_preview_of_an_older_policy_does_not_take_the_place_of_the_new_one(house, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    roles = f"/p/{project.id}/roles"
    fields = {"scheme": "anatomy", "anatomy-l": "2", "next": "preview"}
    visitor.post(f"/p/{project.id}/protect", fields)
    (run,) = runs_of(project, Kind.PREVIEW)
    shown = fields_of(visitor.get(roles).text, roles)
    assert visitor.post(roles, shown | {"role-1": "sensitive", "l-1": "3"}).status == 200
    after = project.policy.read_bytes()
    answer = visitor.post(f"/p/{project.id}/preview/{run.id}/use", {"next": "publish"})
    assert answer.status == 422
    assert "the policy was changed since this preview" in answer.words
    assert project.policy.read_bytes() == after
    assert runs_of(project, Kind.PUBLISH) == []


def test_a_hierarchy_file_that_changed_makes_pages_and_previews_stale(house, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    roles, protect = f"/p/{project.id}/roles", f"/p/{project.id}/protect"
    tree = f"/p/{project.id}/hierarchy/2"
    visitor.get(tree)
    assert visitor.upload(f"{tree}/upload", "sex.csv", b"F;A;*\nM;A;*\n").status == 200
    chosen = {"scheme": "anatomy", "anatomy-l": "2"}
    # a preview of the policy as it is, and one of another
    assert visitor.post(protect, chosen).status == 200
    for scheme in ("anatomy", "mondrian"):
        use = visitor.post(protect, {"scheme": scheme, "next": "preview"}).address + "/use"
        old_roles = fields_of(visitor.get(roles).text, roles)
        old_protect = fields_of_scheme(visitor.get(protect).text, protect)
        before = project.policy.read_bytes()
        label = f"{scheme};*"
        visitor.upload(f"{tree}/upload", "sex.csv", f"F;{label}\nM;{label}\n".encode())
        assert project.policy.read_bytes() == before  # its name in the policy is the same
        for address, fields in ((roles, old_roles), (protect, old_protect)):
            assert "was changed since this page" in visitor.post(address, fields).words
        answer = visitor.post(use, {"next": "publish"})
        assert answer.status == 422
        assert "the policy was changed since this preview" in answer.words
    assert runs_of(project, Kind.PUBLISH) == []


def test_a_preview_that_was_kept_can_still_be_published(house, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    visitor.get(f"/p/{project.id}/protect")
    fields = {"scheme": "anatomy", "anatomy-l": "2", "next": "preview"}
    visitor.post(f"/p/{project.id}/protect", fields)
    (run,) = runs_of(project, Kind.PREVIEW)
    use = f"/p/{project.id}/preview/{run.id}/use"
    assert visitor.post(use).status == 200
    assert PolicyForm.load(project).method["name"] == "anatomy"
    assert visitor.post(use, {"next": "publish"}).status == 200
    assert len(runs_of(project, Kind.PUBLISH)) == 1


def flagged_table(tmp_path):
    """Return a file whose flagged cells of `city` are 4 A, 4 B, 2 C and 2 missing."""
    cells = ["A"] * 4 + ["B"] * 4 + ["C"] * 2 + [""] * 2
    rows = [f"{each},{age},true" for age, each in enumerate(cells)]
    rows += [f"A,{50 + n},false" for n in range(30)]
    path = tmp_path / "cities.csv"
    path.write_text("\n".join(["city,age,hide", *rows, ""]))
    profile = {"rows": 42, "columns": [column("city", 3, 34, 2), column("age", 42, 1)]}
    return path, profile


def flagged_span(path, profile, **keys):
    own = {"role": "semi-sensitive", **keys}
    attributes = {"city": own, "age": {"role": "quasi-identifier", "kind": "numeric"}}
    content = {"attributes": attributes, "method": {"name": "lgb", "k": 2}}
    return Fit(content, profile, path).of_l(SCHEMES["lgb"], "city")


def test_the_largest_l_of_flagged_cells_is_what_their_commonest_value_allows(tmp_path):
    path, profile = flagged_table(tmp_path)
    for keys in ({"flag": "hide"}, {"when": "age < 12"}):
        span = flagged_span(path, profile, **keys)
        assert (span.low, span.high) == (2, 2)  # 4 of 10 that are not missing
        assert "flagged cells of 'city'" in span.words()
    assert flagged_span(path, profile, when="age >= 3 AND age < 9").is_empty  # 4 of 6
    assert flagged_span(path, profile, when="age IN (0, 4, 8)").high == 3
    assert flagged_span(path, profile, when="age > 49").is_empty
    # another file under the same name is counted anew
    path.write_text("city,age,hide\n" + "".join(f"{n},{n},true\n" for n in "12345"))
    assert flagged_span(path, profile, flag="hide").high == 5


def test_flagged_cells_that_are_not_known_beforehand_are_left_to_the_preview(tmp_path):
    path, profile = flagged_table(tmp_path)
    for keys in (
        {"density": 0.5},
        {"flag": "nowhere"},
        {"when": "age <"},
        {"flag": "hide", "recode": [{"map": {"A": "B"}}]},
        {"when": "age > 10 AND age < 12"},  # all of them are missing
    ):
        span = flagged_span(path, profile, **keys)
        assert (span.high, span.is_empty) == (None, False), keys
        assert "the preview tells" in span.words()
    assert flagged_span(path, profile | {"rows": 10**6}, flag="hide").high is None
    assert flagged_span(tmp_path / "gone.csv", profile, flag="hide").high is None


def test_the_page_shows_what_flagged_cells_allow_and_refuses_more(house, tmp_path):
    path, _ = flagged_table(tmp_path)
    visitor = house.visitor()
    project = house.opened(visitor, path.read_bytes(), "cities.csv")
    form = PolicyForm.load(project)
    form.attributes.pop("hide", None)
    form.set("age", role="quasi-identifier")
    form.set("city", role="semi-sensitive", flag="hide", kind=None, order=["A", "B", "C"], l=2)
    form.set_method("lgb", k=2)
    form.save(project)
    address = f"/p/{project.id}/protect"
    page = visitor.get(address)
    said = "more is impossible, so common is one value among the flagged cells of 'city'"
    assert f"from 2 to 2: {said}" in page.words
    fields = fields_of_scheme(page.text, address)
    (own,) = [key for key in fields if key.startswith("lgb-l-")]
    answer = visitor.post(address, fields | {own: "3"})
    assert answer.status == 422
    assert "cannot be 3" in answer.text.split(f'id="problem-{own}">')[1]
