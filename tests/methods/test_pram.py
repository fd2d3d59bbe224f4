"""PRAM: what is replaced, by which matrix, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import ParameterError
from sfumato.jobs.policy import Policy
from sfumato.methods.pram import PRAM
from sfumato.randomness import Randomness
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import encode

SCHEMA = Schema.of(sex="quasi-identifier", disease="sensitive")


def people(rows=30):
    return pa.table(
        {"sex": ["F", "M", None] * (rows // 3), "disease": ["Flu", "Cold"] * (rows // 2)}
    )


def stated(values, matrix):
    return {"values": values, "matrix": matrix}


def test_a_missing_value_is_a_value():
    release = PRAM(keep=0.5, keep_of={"disease": 0.8}).publish(people(3_000), SCHEMA)
    own = release.manifest.parameters["transitions"]["sex"]
    assert own["values"] == ["F", "M", None]
    assert own["matrix"] == [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
    shown = release.tables["records"]["sex"]
    # a third of all, for any original: 4 standard deviations of 3,000 cells
    assert abs(shown.null_count / 3_000 - 1 / 3) < 4 * math.sqrt(2 / 9 / 3_000)


def test_the_share_that_stays_is_the_one_that_was_asked_for():
    """A column that all rows share shows how many cells were replaced."""
    data = pa.table({"sex": ["F"] * 20_000, "disease": ["Flu"] * 20_000})
    schema = Schema(
        (
            Attribute("sex", Role.QUASI_IDENTIFIER, domain=("F", "M", "X")),
            Attribute("disease", Role.SENSITIVE, domain=("Flu", "Cold")),
        )
    )
    release = PRAM(keep=0.7, keep_of={"disease": 0.9}).publish(data, schema)
    for name, value, keep in (("sex", "F", 0.7), ("disease", "Flu", 0.9)):
        stayed = release.tables["records"][name].to_pylist().count(value) / 20_000
        assert abs(stayed - keep) < 4 * math.sqrt(keep * (1 - keep) / 20_000)


def test_epsilons_are_claimed_and_follow_from_the_matrices():
    release = PRAM(keep=0.6).publish(people(), SCHEMA)
    claims = {claim["attribute"]: claim["epsilon"] for claim in release.manifest.guarantees}
    assert claims["sex"] == pytest.approx(math.log(0.6 / 0.2), abs=1e-5)
    assert claims["disease"] == pytest.approx(math.log(0.6 / 0.4), abs=1e-5)
    assert claims["disease"] >= math.log(0.6 / 0.4)  # rounded up, never down


def test_a_matrix_that_follows_the_data_tells_no_small_count():
    """Two tables that differ by one person of a rare value get the same matrix."""
    many = ["Flu"] * 894 + ["Cold"] * 90
    for kind in ("proportional", "invariant"):
        matrices = []
        for rare in (1, 9):
            disease = [*many, *["HIV"] * rare, *["Flu"] * (10 - rare)]
            data = pa.table({"sex": ["F", "M"] * 497, "disease": disease})
            release = PRAM(kind=kind, keep=0.9).publish(data, SCHEMA)
            matrices.append(release.manifest.parameters["transitions"]["disease"])
        assert matrices[0] == matrices[1]


def test_the_order_of_rows_tells_nothing():
    rows = 3_000
    data = pa.table({"sex": ["F"] * 1_500 + ["M"] * 1_500, "disease": ["Flu", "Cold"] * 1_500})
    release = PRAM(keep=0.99).publish(data, SCHEMA)
    first = release.tables["records"]["sex"].to_pylist()[: rows // 2].count("F")
    assert abs(first - 750) < 4 * math.sqrt(rows) / 4


def test_stated_matrices_are_taken_in_the_order_of_the_domain():
    matrix = [[0.6, 0.3, 0.1], [0.0, 0.8, 0.2], [0.1, 0.2, 0.7]]
    method = PRAM(transitions={"sex": stated([None, "M", "F"], matrix)})
    release = method.publish(people(), SCHEMA)
    own = release.manifest.parameters["transitions"]["sex"]
    assert own["values"] == ["M", "F", None]
    assert own["matrix"] == [[0.8, 0.2, 0.0], [0.2, 0.7, 0.1], [0.3, 0.1, 0.6]]
    # a 0 rules values out, so that no epsilon is claimed
    assert [claim["attribute"] for claim in release.manifest.guarantees] == ["disease"]
    assert "has a 0" in method.doubts(encode(people(), SCHEMA))[0]


def test_numbers_and_ordered_values_are_replaced_too():
    data = pa.table({"age": [20, 35, 35, 50] * 5, "grade": ["low", "mid", "high", "mid"] * 5})
    schema = Schema(
        (
            Attribute("age", Role.QUASI_IDENTIFIER, domain=(20, 50)),
            Attribute("grade", Role.SENSITIVE, order=("low", "mid", "high")),
        )
    )
    release = PRAM().publish(data, schema)
    own = release.manifest.parameters["transitions"]
    assert own["age"]["values"] == [str(age) for age in range(20, 51)]  # the whole domain
    assert own["grade"]["values"] == ["low", "mid", "high"]
    matrix = [[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]]
    method = PRAM(transitions={"age": stated([50, 20, 35], matrix)})
    own = method.publish(data, schema).manifest.parameters["transitions"]["age"]
    assert own == {
        "values": ["20", "35", "50"],
        "matrix": [[0.6, 0.2, 0.2], [0.2, 0.7, 0.1], [0.2, 0.1, 0.7]],
    }


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"keep": 0}, "above 0 and below 1"),
        ({"keep": 1}, "above 0 and below 1"),
        ({"keep": True}, "above 0 and below 1"),
        ({"keep_of": {"sex": 1.5}}, "keep_of.sex"),
        ({"kind": "random"}, "`kind` must be one of"),
        ({"attributes": "sex"}, "list of names"),
        ({"transitions": {"sex": {"values": ["F"]}}}, "needs `values` and `matrix`"),
        ({"transitions": {"sex": stated(["F", "M"], [[1, 0]])}}, "a line of numbers"),
        (
            {"keep_of": {"sex": 0.5}, "transitions": {"sex": stated(["F"], [[1]])}},
            "both tell of 'sex'",
        ),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        PRAM(**parameters)


EVEN = [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"keep": 0.5}, "'disease', which has 2 values"),  # the own value no likelier than others
        ({"keep": 0.3334}, "condition number"),
        ({"kind": "invariant", "keep": 0.4}, "drawn anew"),
        ({"attributes": ["disease"]}, "'sex' is a quasi-identifier and would be published as it"),
        ({"attributes": ["sex", "disease", "age"]}, "neither a quasi-identifier nor sensitive"),
        ({"attributes": ["sex"], "keep_of": {"disease": 0.9}}, "which is not replaced"),
        ({"transitions": {"sex": stated(["F", "M"], [[0.9, 0.1], [0.1, 0.9]])}}, "lack values"),
        ({"transitions": {"sex": stated(["F", None, None], EVEN)}}, "twice"),
        ({"transitions": {"sex": stated(["F", "M", None], np.eye(3).tolist())}}, "hides nothing"),
        (
            {"transitions": {"sex": stated(["F", "M", None], [[0.5, 0.5, 0.5]] * 3)}},
            "do not add up to 1",
        ),
    ],
)
def test_what_does_not_fit_the_table_is_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        PRAM(**parameters).publish(people(), SCHEMA)


def test_many_values_and_people_with_several_rows_are_refused_with_advice():
    data = pa.table({"sex": np.arange(300), "disease": ["Flu", "Cold"] * 150})
    with pytest.raises(ParameterError, match="300 values, and a matrix has 200 at most; recode"):
        PRAM().publish(data, SCHEMA)
    schema = Schema((*SCHEMA, Attribute("name", Role.IDENTIFIER)), "name")
    twice = people().append_column("name", pa.array(["a", "b"] * 15))
    with pytest.raises(ParameterError, match="one row a person"):
        PRAM().publish(twice, schema)


def test_a_sensitive_attribute_may_be_left_as_it_is_with_a_warning():
    method = PRAM(attributes=["sex"])
    release = method.publish(people(), SCHEMA, randomness=Randomness.test(1))
    shown = release.tables["records"]["disease"].to_pylist()
    assert sorted(shown) == sorted(people()["disease"].to_pylist())
    assert "published as it is" in method.doubts(encode(people(), SCHEMA))[0]


def test_a_policy_says_all_of_it():
    policy = {
        "attributes": {
            "sex": {"role": "quasi-identifier"},
            "disease": {"role": "sensitive", "missing": "value"},
        },
        "method": {
            "name": "pram",
            "keep": 0.7,
            "kind": "invariant",
            "transitions": {"sex": {"values": ["F", "M", None], "matrix": EVEN}},
        },
    }
    method = Policy.of(policy).method()
    assert (method.keep, method.kind) == (0.7, "invariant")
    release = method.publish(people(), Policy.of(policy).schema())
    assert release.manifest.parameters["transitions"]["sex"]["matrix"] == EVEN
