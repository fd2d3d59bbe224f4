"""What a policy states, and which parameters of each method promise the same."""

from __future__ import annotations

from typing import Any

import pytest

from sfumato.audit.report import Verdict
from sfumato.errors import ParameterError
from sfumato.jobs.policy import Policy
from sfumato.jobs.protection import at_protection
from sfumato.jobs.stated import Stated, kept_by, stated_by
from sfumato.methods import METHODS
from sfumato.models import (
    AlphaKAnonymity,
    KAnonymity,
    LDiversity,
    LUniqueBuckets,
    SetCloseness,
    SetDiversity,
    TCloseness,
)

QUASI = {"role": "quasi-identifier"}


def policy(method: dict[str, Any], disease: dict[str, Any] | None = None, **more: Any) -> Policy:
    attributes = {
        "name": {"role": "identifier"},
        "age": dict(QUASI),
        "disease": {"role": "sensitive", **(disease or {})},
        **more.pop("attributes", {}),
    }
    return Policy.of({"attributes": attributes, "method": method, **more})


@pytest.mark.parametrize(
    ("given", "models"),
    [
        (policy({"name": "mondrian", "k": 5, "l": 3}), [KAnonymity(5), LDiversity("disease", 3)]),
        (policy({"name": "top-down", "k": 5}), [KAnonymity(5)]),
        (policy({"name": "anatomy"}, {"l": 4}), [LDiversity("disease", 4)]),
        (policy({"name": "slppa", "beta": 0.3}), [LDiversity("disease", 3)]),
        (policy({"name": "asn", "beta": 0.2}), [LDiversity("disease", 5)]),
        (policy({"name": "merging", "l": 2, "k": 9}), [LDiversity("disease", 2)]),
        (policy({"name": "rating", "l": 3}), [SetDiversity("disease", 3)]),
        (
            policy({"name": "sensitive-qid", "l": 9}, {"t": 0.3, "prior": "data"}),
            [SetCloseness("disease", 0.3, "equal", "data")],
        ),
        (
            policy({"name": "lgb", "k": 5, "l": 3}, {"t": 0.4}),
            [KAnonymity(5), TCloseness("disease", 0.4)],
        ),
        (
            policy(
                {"name": "lgb", "k": 5, "l": 3, "t": 0.4},
                attributes={"age": {"role": "semi-sensitive", "density": 0.5}},
            ),
            [KAnonymity(5), LUniqueBuckets("age", 3), LDiversity("disease", 3)],
        ),
        (policy({"name": "pram"}), []),
        (
            policy(
                {"name": "mondrian", "k": 5},
                {"alpha": 0.4},
                guarantees=[
                    {"model": "l-diversity", "attribute": "disease", "l": 2, "variant": "distinct"},
                    {"model": "delta-presence", "minimum": 0, "maximum": 0.5},
                ],
            ),
            [
                KAnonymity(5),
                AlphaKAnonymity("disease", 0.4, 5),
                LDiversity("disease", 2, "distinct"),
            ],
        ),
    ],
)
def test_what_a_policy_states_does_not_know_its_method(given, models):
    assert list(stated_by(given).models) == models


def test_every_method_has_its_parameters():
    given = policy({"name": "mondrian", "k": 6}, {"l": 3})
    expected: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        **dict.fromkeys(("anatomy", "arp", "aip", "ng", "slicing"), ({"l": 3}, {})),
        **dict.fromkeys(("slppa", "asn"), ({"beta": 0.3333}, {})),
        **dict.fromkeys(
            ("top-down", "composition", "probabilistic", "hybrid", "mdav", "local-suppression"),
            ({"k": 6}, {}),
        ),
        **dict.fromkeys(("mondrian", "full-domain", "lgb"), ({"k": 6}, {"l": 3})),
        **dict.fromkeys(("sensitive-qid", "rating"), ({}, {"l": 3})),
        "merging": ({"l": 3, "k": 6}, {}),
        "dp": ({"epsilon": 1.0}, {}),
        "pram": ({"keep": 0.8}, {}),
    }
    assert expected.keys() == METHODS.keys()
    for name, (parameters, keys) in expected.items():
        content = at_protection(given, name).policy.content
        assert (content.method.name, content.method.parameters) == (name, parameters), name
        assert content.attributes["disease"].asked() == keys, name
        assert content.attributes["age"] == given.content.attributes["age"]


def test_the_policy_s_own_method_is_left_as_it_is():
    given = policy({"name": "mondrian", "k": 6, "strict": False}, {"l": 3})
    assert at_protection(given, "mondrian").policy is given


def test_another_protection_keeps_the_tuning_of_the_own_method():
    given = policy({"name": "mondrian", "k": 6, "strict": False}, {"l": 3, "t": 0.2})
    stated = Stated((KAnonymity(9), LDiversity("disease", 4, "entropy")))
    content = at_protection(given, "mondrian", stated, {"choose": "widest"}).policy.content
    assert content.method.parameters == {"k": 9, "strict": False, "choose": "widest"}
    assert content.attributes["disease"].asked() == {"l": 4, "variant": "entropy"}


def test_attributes_that_say_different_l_have_their_own_where_a_method_can():
    given = policy(
        {"name": "mondrian", "k": 6},
        {"l": 3},
        attributes={"job": {"role": "sensitive", "l": 2}, "pay": {"role": "sensitive"}},
    )
    assert at_protection(given, "aip").policy.method().l == 3
    slppa = at_protection(given, "slppa").policy.content.method.parameters
    assert slppa == {
        "beta": 0.3333,
        "attributes": {"disease": {"beta": 0.3333}, "job": {"beta": 0.5}},
    }
    with pytest.raises(ParameterError, match="states nothing of 'pay' that lgb could promise"):
        at_protection(given, "lgb")


def test_models_beyond_an_attribute_s_keys_become_guarantees():
    given = policy({"name": "anatomy", "l": 2})
    stated = Stated((LDiversity("disease", 2), LDiversity("disease", 3, "distinct")))
    content = at_protection(given, "mondrian", stated).policy.content
    assert content.attributes["disease"].asked() == {"l": 2}
    assert [claim["variant"] for claim in content.guarantees] == ["distinct"]


def test_without_a_stated_k_it_is_the_l():
    choice = at_protection(policy({"name": "anatomy"}, {"l": 4}), "top-down")
    assert choice.policy.method().k == 4
    assert choice.notes[0] == "the policy states no k: k = 4 as its l has it"


@pytest.mark.parametrize(
    ("given", "method", "why"),
    [
        (policy({"name": "top-down", "k": 5}), "anatomy", "no `l` for a sensitive attribute"),
        (policy({"name": "top-down", "k": 5}), "rating", "nothing of 'disease' that rating"),
        (policy({"name": "pram"}), "mdav", "neither `k` nor `l`"),
        (policy({"name": "pram"}), "mondrain", "there is no method `mondrain`"),
        (
            policy(
                {"name": "lgb", "k": 2, "l": 2},
                attributes={"age": {"role": "semi-sensitive", "density": 0.1}},
            ),
            "mondrian",
            "mondrian cannot protect 'age', which is semi-sensitive",
        ),
    ],
)
def test_a_method_that_cannot_be_asked_says_why(given, method, why):
    with pytest.raises(ParameterError, match=why):
        at_protection(given, method)


def test_withholding_is_asked_only_of_methods_that_know_it():
    given = policy({"name": "anatomy", "l": 2}, on_infeasible="suppress")
    for name, expected in (("arp", "suppress"), ("mondrian", "error"), ("anatomy", "suppress")):
        assert at_protection(given, name).policy.content.on_infeasible == expected


L3 = LDiversity("d", 3)


@pytest.mark.parametrize(
    ("model", "claim", "holds", "kept"),
    [
        (KAnonymity(5), {"model": "k-anonymity", "k": 6}, True, True),
        (KAnonymity(5), {"model": "k-anonymity", "k": 6}, False, False),
        (KAnonymity(5), {"model": "k-anonymity", "k": 6}, None, False),
        (KAnonymity(5), {"model": "k-anonymity", "k": 4}, True, False),
        (L3, LDiversity("d", 3).claim(), True, True),
        (L3, LDiversity("d", 2).claim(), True, False),
        (L3, LDiversity("e", 3).claim(), True, False),
        (L3, LDiversity("d", 3, "distinct").claim(), True, False),
        (LDiversity("d", 3, "distinct"), LDiversity("d", 3).claim(), True, False),
        (
            LDiversity("d", 3, "distinct"),
            {"model": "l-unique-groups", "attribute": "d", "l": 3},
            True,
            True,
        ),
        (
            LDiversity("d", 3, "recursive", 2),
            {"model": "l-unique-groups", "attribute": "d", "l": 3},
            True,
            False,
        ),
        (LDiversity("d", 3, missing="value"), LUniqueBuckets("d", 3).claim(), True, False),
        (L3, AlphaKAnonymity("d", 0.33, 2).claim(), True, True),
        (L3, AlphaKAnonymity("d", 0.34, 2).claim(), True, False),
        (L3, SetDiversity("d", 3).claim(), True, False),
        (SetDiversity("d", 3), LDiversity("d", 3).claim(), True, True),
        (TCloseness("d", 0.3), TCloseness("d", 0.2).claim(), True, True),
        (TCloseness("d", 0.3), TCloseness("d", 0.2, "ordered").claim(), True, False),
        (TCloseness("d", 0.1), TCloseness("d", 0.2).claim(), True, False),
    ],
)
def test_claims_that_hold_keep_what_they_imply(model, claim, holds, kept):
    found = kept_by(Stated((model,)), [Verdict(claim, holds)])
    assert found == ((model,) if kept else ())
