"""A missing value that is to count as one is not silently left out."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.errors import Infeasible, ParameterError
from sfumato.methods import METHODS, Method
from sfumato.models import LDiversity
from sfumato.schema import Attribute, EqualWidth, Role, Schema

PARAMETERS = {
    "mondrian": {"k": 2},
    "full-domain": {"k": 2},
    "top-down": {"k": 2},
    "anatomy": {"l": 2},
    "lgb": {"k": 2, "l": 2},
    "arp": {"l": 2},
    "aip": {"l": 2},
    "ng": {"l": 2},
    "slppa": {"beta": 0.5},
    "slicing": {"l": 2},
    "asn": {"beta": 0.5},
    "merging": {"l": 2},
    "composition": {"k": 2},
    "probabilistic": {"k": 2},
    "hybrid": {"k": 2},
    "dp": {"epsilon": 1.0},
    "pram": {},
    "mdav": {"k": 2},
    "local-suppression": {"k": 2},
    "sensitive-qid": {"l": 2},
    "rating": {"l": 2, "left_over": "repeat"},
}
DATA = pa.table({"age": list(range(12)), "disease": ["Flu", "Cold", *[None] * 10]})
QUASI = Attribute("age", Role.QUASI_IDENTIFIER)


def schema(disease: Attribute) -> Schema:
    return Schema((QUASI, disease))


def test_a_quasi_identifier_counts_them_anyway():
    data = pa.table({"age": [1, 2, None, 4], "disease": ["Flu", "Cold"] * 2})
    quasi = Attribute("age", Role.QUASI_IDENTIFIER, missing="value")
    assert METHODS["top-down"](k=2).publish(
        data, Schema((quasi, Attribute("disease", Role.SENSITIVE)))
    )


@pytest.mark.parametrize("name", METHODS)
def test_missing_values_that_count_are_refused_where_they_would_not(name):
    method: Method = METHODS[name](**PARAMETERS[name])
    counted = schema(Attribute("disease", Role.SENSITIVE, missing="value"))
    if method.counts_missing:
        stated = Attribute("disease", Role.SENSITIVE, missing="value", domain=("Cold", "Flu"))
        ages = Attribute("age", Role.QUASI_IDENTIFIER, domain=(0, 12))
        if name == "full-domain":  # which needs one
            ages = Attribute("age", Role.QUASI_IDENTIFIER, hierarchy=EqualWidth(width=4))
        assert method.publish(DATA, Schema((ages, stated))).manifest.method == name
        return
    with pytest.raises(ParameterError, match="does not count missing values of 'disease'"):
        method.publish(DATA, counted)


def test_those_of_semi_sensitive_attributes_too():
    semi = Attribute("disease", Role.SEMI_SENSITIVE, density=0.5, missing="value")
    with pytest.raises(ParameterError, match="use mondrian"):
        METHODS["lgb"](k=2, l=2).publish(DATA, schema(semi))


def test_mondrian_counts_them_as_its_models_say():
    counted = schema(Attribute("disease", Role.SENSITIVE, missing="value"))
    models = (LDiversity("disease", 2, missing="value"),)
    with pytest.raises(Infeasible, match="largest feasible l is 1"):
        METHODS["mondrian"](k=2, models=models).publish(DATA, counted)
