"""Policies: what they ask for, and refusals that name the key and the nearest valid one."""

from __future__ import annotations

import pytest

from sfumato.errors import HierarchyError, ParameterError, SchemaError, SfumatoError
from sfumato.jobs.policy import Policy
from sfumato.methods import Anatomy, Mondrian, Rating, SetProtection
from sfumato.models import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaPresence,
    KAnonymity,
    LDiversity,
    TCloseness,
)
from sfumato.schema import Bins, Kind, Mask, Role


def policy(disease=None, method=None, age=None, **more) -> Policy:
    content = {
        "attributes": {
            "age": {"role": "quasi-identifier", **(age or {})},
            "disease": {"role": "sensitive", **(disease or {})},
        },
        "method": {"name": "mondrian", "k": 5} if method is None else method,
        **more,
    }
    return Policy.of(content)


LONG = 10**39


@pytest.mark.parametrize(
    ("place", "given"),
    [
        ("attributes.age.domain", {"age": {"domain": {"min": 0, "max": LONG}}}),
        ("attributes.age.domain", {"age": {"domain": {"min": -LONG, "max": 9}}}),
        ("attributes.age.recode", {"age": {"recode": {"top": LONG}}}),
        ("attributes.age.recode", {"age": {"recode": [{"bottom": -LONG}]}}),
        ("attributes.age.recode", {"age": {"recode": {"round": LONG}}}),
        ("attributes.age.recode", {"age": {"recode": {"bins": [0, 5, LONG]}}}),
        ("attributes.age.recode", {"age": {"recode": {"map": {"17": LONG}}}}),
        ("attributes.disease.c", {"disease": {"l": 2, "variant": "recursive", "c": LONG}}),
        ("method.k", {"method": {"name": "mondrian", "k": LONG}}),
        ("guarantees.k", {"guarantees": [{"model": "k-anonymity", "k": LONG}]}),
    ],
)
def test_numbers_that_no_release_can_state(place, given):
    with pytest.raises(SchemaError, match=f"`{place}` has a whole number of 40 digits") as caught:
        policy(**given)
    assert "000" not in str(caught.value)
    assert "17" not in str(caught.value)


def test_long_numbers_that_a_release_can_state():
    bounds = {"min": -(LONG - 1), "max": LONG - 1}
    assert policy(age={"domain": bounds}).schema()["age"].domain == tuple(bounds.values())
    assert policy(age={"domain": {"min": 0, "max": 1e300}}).schema()["age"].domain == (0, 1e300)


def models(**arguments) -> tuple:
    method = policy(**arguments).method()
    assert isinstance(method, Mondrian)
    return method.models


def test_the_policy_of_the_product_page(tmp_path):
    (tmp_path / "zip.csv").write_text("13021;1302*;*\n13024;1302*;*\n")
    (tmp_path / "policy.yaml").write_text(
        """
attributes:
  name:       {role: identifier}
  age:        {role: quasi-identifier, kind: numeric, hierarchy: {bins: [0, 18, 65, 120]}}
  zipcode:    {role: quasi-identifier, hierarchy: zip.csv}     # or hierarchy: {mask: right}
  occupation: {role: quasi-identifier, domain: [Nurse, no, 007]}
  income:     {role: sensitive, domain: {min: 0, max: 9000}, min_width: 0.1, missing: value, t: 0.2}
  disease:    {role: sensitive, l: 4}
  note:       {role: insensitive, keep: yes}
unit: name
method: {name: mondrian, k: 5, l: 3, strict: no}
on_infeasible: error
output: {format: csv, formula_guard: false}
"""
    )
    loaded = Policy.load(tmp_path / "policy.yaml")
    schema = loaded.schema()
    assert schema.unit == "name"
    assert schema["age"].hierarchy == Bins([0, 18, 65, 120])
    assert schema["zipcode"].hierarchy.leaves == ("13021", "13024")
    assert schema["occupation"].domain == ("Nurse", "no", "007")
    assert schema["income"].kind is Kind.NUMERIC
    assert (schema["income"].domain, schema["income"].min_width) == ((0, 9000), 0.1)
    assert schema["note"].keep
    assert loaded.method() == Mondrian(
        5,
        (
            LDiversity("income", 3, missing="value"),
            TCloseness("income", 0.2, missing="value"),
            LDiversity("disease", 4),
        ),
        strict=False,
    )
    assert loaded.content.output.format == "csv"
    assert not loaded.content.output.formula_guard
    assert loaded.warnings() == ()


def test_keys_of_the_attribute_win_over_those_of_the_method():
    asked = models(disease={"l": 4}, method={"name": "mondrian", "k": 5, "l": 2, "t": 0.3})
    assert asked == (LDiversity("disease", 4), TCloseness("disease", 0.3))


def test_every_model_by_its_keys():
    assert models(disease={"l": 2.5, "variant": "entropy"}) == (
        LDiversity("disease", 2.5, "entropy"),
    )
    assert models(disease={"l": 3, "variant": "recursive", "c": 2}) == (
        LDiversity("disease", 3, "recursive", 2),
    )
    assert models(disease={"t": 0.2, "distance": "hierarchical"}) == (
        TCloseness("disease", 0.2, "hierarchical"),
    )
    assert models(disease={"alpha": 0.5}) == (AlphaKAnonymity("disease", 0.5, 5),)
    assert models(disease={"beta": 1, "variant": "enhanced"}) == (
        BetaLikeness("disease", 1, "enhanced"),
    )
    assert models(disease={"beta": 1, "l": 3, "variant": "distinct"}) == (
        LDiversity("disease", 3, "distinct"),
        BetaLikeness("disease", 1),
    )


def test_a_c_for_all_steers_only_recursive_attributes():
    method = {"name": "mondrian", "k": 5, "l": 3, "variant": "recursive", "c": 2}
    assert models(method=method) == (LDiversity("disease", 3, "recursive", 2),)
    assert models(method=method, disease={"variant": "distinct"}) == (
        LDiversity("disease", 3, "distinct"),
    )


def test_guarantees_in_the_words_of_the_manifest():
    asked = policy(
        guarantees=[
            {"model": "beta-likeness", "attribute": "disease", "beta": 1},
            {"model": "k-anonymity", "k": 7},
            {"model": "delta-presence", "minimum": 0.1, "maximum": 0.5},
        ]
    )
    assert asked.method().models == (BetaLikeness("disease", 1), KAnonymity(7))
    assert asked.declared() == (DeltaPresence(0.1, 0.5),)
    assert asked.warnings() == ()


def test_anatomy_takes_l_from_the_attribute_or_the_method():
    assert policy(disease={"l": 3}, method={"name": "anatomy"}).method() == Anatomy(3)
    assert policy(method={"name": "anatomy", "l": 4}).method() == Anatomy(4)
    assert policy(disease={"l": 3}, method={"name": "anatomy", "l": 4}).method() == Anatomy(3)


def test_anatomy_accepts_guarantees_that_it_gives_anyway():
    claims = [
        {"model": "l-diversity", "attribute": "disease", "l": 2},
        {"model": "l-unique-groups", "attribute": "disease", "l": 3},
        {"model": "delta-presence", "minimum": 0, "maximum": 0.5},
    ]
    asked = policy(method={"name": "anatomy", "l": 3}, guarantees=claims)
    assert asked.method() == Anatomy(3)
    assert asked.declared() == (DeltaPresence(0, 0.5),)


def test_k_anonymity_alone_draws_a_warning():
    assert policy().warnings() == (
        "k-anonymity alone does not protect 'disease': a group may share one value; "
        "add `l` or `t` to it",
    )
    assert policy(method={"name": "mondrian", "k": 5, "t": 0.2}).warnings() == ()


def test_a_list_as_domain_makes_numbers_categories():
    schema = policy(age={"domain": [1, 2, 3]}).schema()
    assert schema["age"].kind is Kind.CATEGORICAL
    assert policy(age={"hierarchy": {"mask": "left"}}).schema()["age"].hierarchy == Mask("left")
    assert policy(age={"order": ["low", "high"]}).schema()["age"].order == ("low", "high")


WRONG = {
    "unknown section": ({"atributes": {}}, "`atributes`: unknown key; did you mean `attributes`?"),
    "unknown key": (
        {"age": {"hierachy": "x.csv"}},
        "`attributes.age.hierachy`: unknown key; did you mean `hierarchy`?",
    ),
    "unknown role": (
        {"age": {"role": "quasi-identifer"}},
        "`attributes.age.role`: unknown word; did you mean `quasi-identifier`?",
    ),
    "unknown kind": ({"age": {"kind": "numerical"}}, "did you mean `numeric`?"),
    "unknown method": ({"method": {"name": "mondrain"}}, "did you mean `mondrian`?"),
    "no method at all": ({"method": {"name": "no-such-thing"}}, "known are mondrian, "),
    "unknown parameter": (
        {"method": {"name": "mondrian", "k": 5, "strickt": True}},
        "`method.strickt`: mondrian has no such key; did you mean `strict`?",
    ),
    "parameter of another method": (
        {"method": {"name": "anatomy", "l": 3, "k": 5}},
        "`method.k`: anatomy has no such key",
    ),
    "models are no parameter": ({"method": {"name": "mondrian", "k": 5, "models": []}}, "no such"),
    "no k": ({"method": {"name": "mondrian"}}, "mondrian needs `k`"),
    "no l": ({"method": {"name": "anatomy"}}, "anatomy needs `l`"),
    "k below 1": ({"method": {"name": "mondrian", "k": 0}}, "`k` must be a whole number"),
    "k is text": ({"method": {"name": "mondrian", "k": "five"}}, "`k` must be a whole number"),
    "no truth value": (
        {"method": {"name": "mondrian", "k": 5, "strict": "perhaps"}},
        "`method.strict` must be true or false",
    ),
    "wrong choice": (
        {"method": {"name": "mondrian", "k": 5, "cut": "worst"}},
        "`cut` must be one of best, median",
    ),
    "method is no mapping": ({"method": []}, "`method` must be a mapping"),
    "l is text": ({"disease": {"l": "many"}}, "`attributes.disease.l` must be a number"),
    "l below 1": ({"disease": {"l": 0}}, "`attributes.disease`: l-diversity: `l` must be"),
    "l of a quasi-identifier": ({"age": {"l": 3}}, "'age': `l` is for sensitive attributes"),
    "t of a quasi-identifier": ({"age": {"t": 0.3}}, "'age': `t` is for sensitive attributes"),
    "width of a quasi-identifier": ({"age": {"min_width": 3}}, "`min_width` is for sensitive"),
    "variant of nothing": ({"disease": {"variant": "entropy"}}, "`variant` needs `l` or `beta`"),
    "variant of the other": (
        {"disease": {"variant": "entropy", "beta": 1}},
        "`variant` must be one of basic, enhanced",
    ),
    "beta's variant without beta": (
        {"disease": {"variant": "enhanced", "l": 3}},
        "`variant: enhanced` needs `beta`",
    ),
    "c of nothing": ({"disease": {"c": 2}}, "`c` needs `l`"),
    "c without recursion": ({"disease": {"c": 2, "l": 3}}, "`c` belongs to the recursive"),
    "distance of nothing": ({"disease": {"distance": "equal"}}, "`distance` needs `t`"),
    "t for anatomy": (
        {"disease": {"t": 0.2}, "method": {"name": "anatomy", "l": 3}},
        "`attributes.disease.t`: anatomy cannot be asked for it",
    ),
    "missing for anatomy": (
        {"disease": {"missing": "value"}, "method": {"name": "anatomy", "l": 3}},
        "anatomy does not count missing values",
    ),
    "unknown model": ({"guarantees": [{"model": "k-anonimity"}]}, "entry 1: unknown privacy model"),
    "model of a stranger": (
        {"guarantees": [{"model": "beta-likeness", "attribute": "diseases", "beta": 1}]},
        "'diseases' is not a sensitive attribute; did you mean `disease`?",
    ),
    "too much for anatomy": (
        {
            "method": {"name": "anatomy", "l": 3},
            "guarantees": [{"model": "l-diversity", "attribute": "disease", "l": 4}],
        },
        "anatomy does not give l-diversity to this degree",
    ),
    "suppression by mondrian": ({"on_infeasible": "suppress"}, "is not for mondrian"),
    "unknown answer": ({"on_infeasible": "supress"}, "did you mean `suppress`?"),
    "unknown format": ({"output": {"format": "xlsx"}}, "known are parquet, csv"),
    "domain upside down": ({"age": {"domain": {"min": 9, "max": 1}}}, "`min` of its domain"),
    "domain with a slip": ({"age": {"domain": {"mn": 9, "max": 1}}}, "did you mean `min`?"),
    "domain of another kind": (
        {"age": {"kind": "numeric", "domain": [1, 2]}},
        "the domain of a numeric attribute is {min: ..., max: ...}",
    ),
    "semi-sensitive without flags": (
        {"age": {"role": "semi-sensitive"}, "method": {"name": "lgb", "k": 2, "l": 2}},
        "column 'age' is semi-sensitive: say which cells are sensitive",
    ),
    "semi-sensitive under two rules": (
        {"age": {"role": "semi-sensitive", "flag": "hide", "density": 0.2}},
        "by one of `flag`",
    ),
    "a density that is none": (
        {"age": {"role": "semi-sensitive", "density": 20}},
        "`density` must lie between 0 and 1",
    ),
    "buckets of both kinds": (
        {"disease": {"l": 3, "t": 0.2}, "method": {"name": "lgb", "k": 2}},
        "either l-unique or t-close",
    ),
    "buckets of no kind": (
        {"disease": {"beta": 3}, "method": {"name": "lgb", "k": 2}},
        "lgb knows only `l` and `t`",
    ),
    "width of both at once": (
        {"age": {"role": "sensitive-quasi-identifier", "min_width": 3}},
        "`min_width` is for sensitive attributes",
    ),
    "sets of a method without": (
        {"disease": {"max_eta": 3}},
        "`attributes.disease.max_eta`: mondrian cannot be asked for it; use sensitive-qid",
    ),
    "sets by alpha": (
        {"disease": {"alpha": 0.5}, "method": {"name": "sensitive-qid", "l": 2}},
        "`attributes.disease`.alpha: sensitive-qid knows only `l`, `t`, `k`",
    ),
    "a prior of nothing": (
        {"disease": {"prior": "data"}, "method": {"name": "sensitive-qid", "l": 2}},
        "`attributes.disease`: `prior` needs `t`",
    ),
    "an unknown prior": (
        {"disease": {"prior": "none", "t": 0.2}, "method": {"name": "sensitive-qid"}},
        "`attributes.disease`: set-closeness: `prior` must be one of",
    ),
    "rating by t": (
        {"disease": {"t": 0.2}, "method": {"name": "rating", "l": 2}},
        "rating knows only `l`",
    ),
    "sets that are not so close": (
        {
            "method": {"name": "sensitive-qid", "t": 0.3},
            "guarantees": [
                {"model": "set-closeness", "attribute": "disease", "t": 0.2, "prior": "free"}
            ],
        },
        "sensitive-qid does not give set-closeness to this degree; ask the method for more, or "
        "change the entry",
    ),
    "close sets of rating": (
        {
            "method": {"name": "rating", "l": 3},
            "guarantees": [{"model": "set-closeness", "attribute": "disease", "t": 0.2}],
        },
        "rating does not give set-closeness to this degree; use sensitive-qid, or change",
    ),
    "diverse sets of rating that repeats them": (
        {
            "method": {"name": "rating", "l": 3, "left_over": "repeat"},
            "guarantees": [{"model": "set-diversity", "attribute": "disease", "l": 3}],
        },
        "rating does not give set-diversity to this degree; use sensitive-qid, or change",
    ),
    "groups of sensitive-qid": (
        {
            "method": {"name": "sensitive-qid", "l": 3},
            "guarantees": [{"model": "k-anonymity", "k": 2}],
        },
        "sensitive-qid does not give k-anonymity to this degree; use mondrian, or change",
    ),
    **{
        f"sets as a guarantee of {method['name']}": (
            {
                "method": method,
                "guarantees": [
                    {"model": "k-anonymity", "k": 1},
                    {"model": "set-diversity", "attribute": "disease", "l": 2},
                ],
            },
            f"`guarantees`, entry 2: set-diversity is about random sets, which {method['name']} "
            "does not publish; use sensitive-qid, or drop the entry",
        )
        for method in (
            {"name": "mondrian", "k": 2},
            {"name": "anatomy", "l": 2},
            {"name": "lgb", "k": 2, "l": 2},
            {"name": "dp", "epsilon": 1},
        )
    },
    **{
        f"missing values that {name} leaves out": (
            {"disease": {"missing": "excluded"}, "method": {"name": name, "l": 2}},
            f"`attributes.disease`.missing: {name} counts a missing value like any other; leave "
            "the key out, or make it `value`",
        )
        for name in ("sensitive-qid", "rating")
    },
    "flag": ({"age": {"flag": "age_private"}}, "`flag` is for semi-sensitive columns"),
    "rule": ({"age": {"when": "age > 3"}}, "`when` is for semi-sensitive columns"),
    "keep": ({"age": {"keep": True}}, "`keep` is for insensitive columns"),
    "unknown builder": ({"age": {"hierarchy": {"masc": "right"}}}, "did you mean 'mask'?"),
    "unit that is not there": ({"unit": "nam"}, "the unit is column 'nam'"),
    "not even a mapping": ({"age": {"role": None}}, "`attributes.age.role`: unknown word"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_policies_are_refused_by_key(case):
    arguments, expected = WRONG[case]
    with pytest.raises(SfumatoError) as refused:
        wrong = policy(**arguments)
        wrong.method()
        wrong.schema()
    assert expected in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("content", [None, [], "text", 3, {"attributes": []}])
def test_what_is_no_policy_at_all(content):
    with pytest.raises(SchemaError):
        Policy.of(content)


def test_a_column_may_be_called_like_a_key():
    content = {"attributes": {"order": None}, "method": {"name": "mondrian", "k": 2}}
    with pytest.raises(SchemaError, match=r"`attributes.order` must be a mapping such as"):
        Policy.of(content)
    content["attributes"] = {"order": {"role": "sensitive"}, "role": {"role": "quasi-identifier"}}
    assert [a.role for a in Policy.of(content).schema()] == [Role.SENSITIVE, Role.QUASI_IDENTIFIER]


def test_hierarchy_files_lie_beside_the_policy(tmp_path, monkeypatch):
    folder = tmp_path / "rules"
    folder.mkdir()
    path = folder / "policy.yaml"
    path.write_text(
        "attributes: {age: {role: quasi-identifier, hierarchy: age.csv}}\n"
        "method: {name: mondrian, k: 2}\n"
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HierarchyError, match=r"'age.csv': no such file"):
        Policy.load("rules/policy.yaml").schema()
    (folder / "age.csv").write_text("1;*\n2;*\n")
    assert Policy.load("rules/policy.yaml").schema()["age"].hierarchy.name == "age.csv"
    (folder / "age.csv").write_bytes(b"1;\xff\n")
    with pytest.raises(HierarchyError, match="line 1 is not UTF-8"):
        Policy.load("rules/policy.yaml").schema()


def test_models_for_all_need_someone_to_protect():
    content = {
        "attributes": {"age": {"role": "quasi-identifier"}},
        "method": {"name": "mondrian", "k": 2, "l": 2},
    }
    with pytest.raises(ParameterError, match="there are none"):
        Policy.of(content).method()


def test_missing_as_a_value_is_refused_where_it_would_not_count():
    for key in ("alpha", "beta"):
        wrong = policy(disease={"missing": "value", key: 0.7})
        with pytest.raises(ParameterError, match="do not count missing values"):
            wrong.method()


def test_an_empty_key_is_no_silence():
    with pytest.raises(SchemaError, match="`l` is empty"):
        policy(disease={"l": None})


# --- buckets --------------------------------------------------------------------------------------

SEMI = {"role": "semi-sensitive", "flag": "age_private"}
BUCKETS = {"model": "l-unique-buckets", "attribute": "age"}
CLOSE = {"model": "t-close-buckets", "attribute": "disease", "distance": "equal"}


def lgb(*guarantees, age=None, disease=None, **method) -> Policy:
    return policy(
        disease=disease,
        method={"name": "lgb", "k": 5, **method},
        age={**SEMI, **(age or {})},
        guarantees=list(guarantees),
    )


@pytest.mark.parametrize(
    ("claim", "keys"),
    [
        (BUCKETS | {"l": 3}, {"l": 3}),
        (BUCKETS | {"l": 2}, {"l": 3}),
        (BUCKETS | {"l": 4}, {"l": 3, "age": {"l": 4}}),
        (CLOSE | {"t": 0.2}, {"t": 0.2}),
        (CLOSE | {"t": 0.3}, {"l": 2, "disease": {"t": 0.2}}),
        ({"model": "k-anonymity", "k": 5}, {"l": 3}),
    ],
)
def test_a_guarantee_that_lgb_gives_may_be_stated(claim, keys):
    assert lgb(claim, **keys).method() == lgb(**keys).method()


@pytest.mark.parametrize(
    ("claim", "keys"),
    [
        (BUCKETS | {"l": 4}, {"l": 3}),
        (BUCKETS | {"l": 3}, {"l": 3, "age": {"l": 2}}),
        (BUCKETS | {"l": 2}, {"t": 0.2}),
        (CLOSE | {"t": 0.1}, {"t": 0.2}),
        (CLOSE | {"t": 0.3}, {"l": 2}),
        (CLOSE | {"t": 0.3, "distance": "ordered"}, {"t": 0.2}),
        ({"model": "k-anonymity", "k": 6}, {"l": 3}),
        (
            {"model": "l-diversity", "attribute": "disease", "l": 2, "variant": "frequency"},
            {"l": 3},
        ),
    ],
)
def test_a_guarantee_that_lgb_does_not_give_is_refused(claim, keys):
    with pytest.raises(ParameterError, match=r"does not give .* to this degree"):
        lgb(claim, **keys).method()


def test_guarantees_are_about_sensitive_attributes():
    with pytest.raises(ParameterError, match="'ag' is not a sensitive or semi-sensitive"):
        lgb(BUCKETS | {"attribute": "ag", "l": 2}, l=3).method()
    with pytest.raises(ParameterError, match="does not give l-unique-buckets"):
        policy(
            guarantees=[BUCKETS | {"attribute": "disease", "l": 2}],
            method={"name": "anatomy", "l": 3},
        ).method()


def test_an_l_that_asks_for_nothing_draws_a_warning():
    (of_age, of_disease) = lgb(l=1).warnings()
    assert of_age.startswith("l = 1 does not protect 'age'")
    assert "'disease'" in of_disease
    assert lgb(l=2).warnings() == ()
    assert lgb(l=1, age={"l": 2}, disease={"t": 0.2}).warnings() == ()
    (warning,) = lgb(l=3, disease={"l": 1}).warnings()
    assert "'disease'" in warning
    (warning,) = policy(disease={"l": 1}).warnings()
    assert "'disease'" in warning


def test_flags_drawn_at_random_draw_a_warning_but_in_a_test():
    drawn = policy(
        age={"role": "semi-sensitive", "density": 0.2}, method={"name": "lgb", "k": 5, "l": 2}
    )
    (warning,) = drawn.warnings()
    assert warning.startswith("the sensitive cells of 'age' are drawn at random")
    assert drawn.warnings(is_test=True) == ()
    assert lgb(l=2).warnings() == ()


def test_a_column_cannot_flag_itself():
    with pytest.raises(SchemaError, match="'age' cannot hold its own flags"):
        lgb(l=2, age={"flag": "age"}).schema()


# Random sets


def test_attributes_ask_for_sets_of_their_own():
    method = policy(
        age={"role": "sensitive-quasi-identifier", "t": 0.3, "distance": "ordered"},
        disease={"t": 0.2},
        method={"name": "sensitive-qid", "l": 3, "max_eta": 5, "prior": "data"},
    ).method()
    assert method.protection["age"] == SetProtection(
        t=0.3, distance="ordered", max_eta=5, prior="data"
    )
    assert method.protection["disease"] == SetProtection(t=0.2, max_eta=5, prior="data")
    assert method.l == 3
    steered = policy(
        disease={"max_eta": 4}, method={"name": "sensitive-qid", "l": 3, "variant": "entropy"}
    ).method()
    assert steered.protection == {"disease": SetProtection(l=3, max_eta=4, variant="entropy")}


def test_rating_takes_l_of_attributes():
    method = policy(disease={"l": 4}, method={"name": "rating", "l": 2, "bins": 9}).method()
    assert method == Rating(l=2, bins=9, protection={"disease": SetProtection(l=4)})


@pytest.mark.parametrize(
    "claim",
    [
        {"model": "set-diversity", "l": 2, "variant": "frequency"},
        {"model": "set-anonymity", "k": 3},
        {"model": "set-closeness", "t": 0.3, "distance": "ordered", "prior": "data"},
    ],
)
def test_sets_keep_guarantees_that_ask_for_no_more(claim):
    method = policy(
        method={"name": "sensitive-qid", "l": 3, "t": 0.3},
        guarantees=[claim | {"attribute": "disease"}],
    ).method()
    assert method.l == 3


def test_l_of_one_is_warned_of():
    asked = policy(
        age={"role": "sensitive-quasi-identifier", "l": 1},
        method={"name": "sensitive-qid", "l": 3},
    )
    (warning,) = asked.warnings()
    assert "'age'" in warning


def test_sets_may_say_that_missing_values_count():
    for name in ("sensitive-qid", "rating"):
        asked = policy(disease={"missing": "value"}, method={"name": name, "l": 2})
        assert asked.method().l == 2
        assert asked.method() == policy(method={"name": name, "l": 2}).method()


def test_rating_may_repeat_sets_and_then_keeps_their_size_alone():
    repeat = {"name": "rating", "l": 3, "left_over": "repeat"}
    size = {"model": "set-anonymity", "attribute": "disease", "k": 3}
    assert policy(method=repeat, guarantees=[size]).method() == Rating(l=3, left_over="repeat")
    with pytest.raises(ParameterError, match="`left_over` must be one of refuse, repeat"):
        policy(method=repeat | {"left_over": "keep"}).method()
