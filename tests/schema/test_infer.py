"""What is proposed for which column, and that the reasons keep the values to themselves."""

from __future__ import annotations

import datetime as dt
import re

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from sfumato.schema import Dates, Kind, Mask, Role, Schema, propose, propose_unit
from sfumato.schema.names import role_by_name, words
from sfumato.table import encode


def proposal(name, cells):
    return propose(pa.table({name: cells}))[0]


def role(name, cells) -> Role:
    return proposal(name, cells).attribute.role


ROWS = 200
MANY = pa.array([f"value {n % 37}" for n in range(ROWS)])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *[(name, "identifier") for name in (
            "id", "ID", "name", "Name", "first_name", "lastName", "patient_id", "PatientID",
            "Patient", "customer number", "ssn", "SSN", "e-mail", "email_address", "phone",
            "Phone Number", "passport_no", "IBAN", "street", "username", "surname", "caseid",
        )],
        *[(name, "quasi-identifier") for name in (
            "age", "AGE", "dAge", "sex", "iSex", "gender", "zip", "zipcode", "ZIP_CODE",
            "postcode", "birth_date", "dateOfBirth", "dob", "race", "marital-status",
            "maritalstatus", "native-country", "country_id", "education", "occupation",
            "job title", "city name", "num-persons-worked-for-employer", "edad",
        )],
        *[(name, "sensitive") for name in (
            "disease", "disease_name", "diagnosis", "salary", "salary-class", "income",
            "capital-gains", "wage_per_hour", "religion", "HIV", "drug name", "treatment",
        )],
        *[(name, None) for name in (
            "x", "fnlwgt", "hours-per-week", "page", "passage", "operating_system", "product name",
            "store_id", "number of persons", "automobile", "statement", "sextant", "embrace",
        )],
    ],
)  # fmt: skip
def test_names_speak_for_roles(name, expected):
    assert role_by_name(name) == expected


def test_words_of_names():
    assert words("dateOfBirth") == ("date", "of", "birth")
    assert words("HTTPServer2") == ("http", "server", "2")
    assert words("Größe_in-cm") == ("größe", "in", "cm")


def test_what_nothing_speaks_for_is_a_quasi_identifier():
    found = proposal("x17", MANY)
    assert found.attribute.role is Role.QUASI_IDENTIFIER
    assert "careful" in found.reason
    assert "37 distinct values in 200 rows" in found.reason
    assert "entropy 5.2 bits" in found.reason


def test_constant_columns_are_dropped_and_missing_values_make_two():
    assert role("disease", pa.array(["Flu"] * 5)) is Role.INSENSITIVE
    assert role("age", pa.nulls(5, pa.int8())) is Role.INSENSITIVE
    assert role("disease", pa.array(["Flu"] * 4 + [None])) is Role.SENSITIVE
    assert role("disease", pa.array(["Flu"])) is Role.SENSITIVE, "one row is no evidence"


@pytest.mark.parametrize(
    ("cells", "what"),
    [
        ([f"p{n}@example.org" for n in range(5)], "e-mail"),
        ([f"https://example.org/{n}" for n in range(5)], "web"),
        ([f"12{n}-45-6789" for n in range(5)], "social security"),
        ([f"+49 30 12345{n}" for n in range(5)], "telephone"),
        ([f"{n:08x}-0000-4000-8000-000000000000" for n in range(5)], "UUIDs"),
        ([f"DE8937040044053201300{n}" for n in range(5)], "bank"),
    ],
)
def test_values_that_name_people_make_an_identifier_under_any_name(cells, what):
    found = proposal("x17", pa.array(cells))
    assert found.attribute.role is Role.IDENTIFIER
    assert what in found.reason and "5 of 5" in found.reason


def test_uniqueness_makes_an_identifier():
    assert role("x17", pa.array([f"text {n}" for n in range(ROWS)])) is Role.IDENTIFIER
    assert role("comment on diagnosis", pa.array([f"t{n}" for n in range(ROWS)])) is Role.IDENTIFIER
    assert role("x17", pa.array(np.random.default_rng(1).permutation(ROWS))) is Role.IDENTIFIER
    assert role("store_id", pa.array([n // 4 for n in range(ROWS)])) is Role.IDENTIFIER
    assert role("store_id", pa.array([n // 40 for n in range(ROWS)])) is Role.QUASI_IDENTIFIER
    assert role("x17", pa.array([n * 1.5 for n in range(ROWS)])) is Role.QUASI_IDENTIFIER
    assert role("x17", pa.array([n * 3 for n in range(ROWS)])) is Role.QUASI_IDENTIFIER
    assert role("x17", pa.array(["a", "b", "c"])) is Role.QUASI_IDENTIFIER, "too few rows to tell"
    assert role("salary", pa.array([n * 1.5 for n in range(ROWS)])) is Role.SENSITIVE


def test_dates_are_quasi_identifiers_that_widen_to_months():
    days = pa.array([dt.date(2020, 1, 1) + dt.timedelta(days=n) for n in range(ROWS)])
    found = proposal("diagnosis_date", days).attribute
    assert found.role is Role.QUASI_IDENTIFIER
    assert found.hierarchy == Dates(("month", "quarter", "year"))
    moments = proposal("x17", days.cast(pa.timestamp("us"))).attribute
    assert moments.hierarchy == Dates(("day", "month", "quarter", "year"))
    assert proposal("x17", pa.array([dt.time(n % 24) for n in range(ROWS)])).attribute.kind == (
        Kind.NUMERIC
    )


@pytest.mark.parametrize(
    ("name", "cells", "masked"),
    [
        ("zipcode", [f"{n % 50:05d}" for n in range(ROWS)], True),
        ("zipcode", [10_000 + n % 50 for n in range(ROWS)], True),
        ("x17", [f"{n % 50:05d}" for n in range(ROWS)], True),
        ("postcode", [f"SW{n % 50} 1AA" for n in range(ROWS)], True),
        ("postcode", [f"SW{n % 50}*" for n in range(ROWS)], False),
        ("zipcode", [-n % 7 - 3 for n in range(ROWS)], False),
        ("x17", [str(n % 50) for n in range(ROWS)], False),
        ("diagnosis", [f"{n % 50:05d}" for n in range(ROWS)], False),
    ],
)
def test_codes_of_digits_are_masked(name, cells, masked):
    found = proposal(name, pa.array(cells)).attribute
    assert isinstance(found.hierarchy, Mask) == masked
    if masked:
        assert found.kind is Kind.CATEGORICAL
        assert encode(pa.table({name: cells}), Schema((found,)))[name].tree is not None


def test_kinds():
    def kind(name, cells):
        return proposal(name, cells).attribute.kind

    assert kind("x17", pa.array([n % 30 for n in range(ROWS)])) is Kind.NUMERIC
    assert kind("x17", pa.array([n % 3 for n in range(ROWS)])) is Kind.CATEGORICAL
    assert kind("occupation code", pa.array([n % 30 for n in range(ROWS)])) is Kind.CATEGORICAL
    assert kind("x17", pa.array([1, 2, 1])) is Kind.NUMERIC, "too few rows to tell codes"
    assert kind("x17", MANY) is Kind.CATEGORICAL
    ordered = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1]), ["b", "a"], ordered=True)
    assert kind("x17", ordered) is Kind.ORDINAL


def test_known_scales_are_ordinal_from_low_to_high():
    found = proposal("pain", pa.array(["Severe", "Mild", None, "Moderate", "Mild"])).attribute
    assert found.kind is Kind.ORDINAL
    assert found.order == ("Mild", "Moderate", "Severe")
    assert proposal("pain", pa.array(["Mild", "mild", "Severe"])).attribute.order is None
    assert proposal("pain", pa.array(["Mild", "Purple"])).attribute.order is None


def test_flags_and_types_that_cannot_be_published_are_dropped():
    data = pa.table({"age": [1, 2], "age.sensitive": [True, False], "tags": [[1], [2]],
                     "id": [[1], [2]], "photo": [b"1", b"2"]})  # fmt: skip
    found = {p.attribute.name: p for p in propose(data)}
    assert found["age.sensitive"].attribute.role is Role.INSENSITIVE
    assert "'age'" in found["age.sensitive"].reason
    assert found["tags"].attribute.role is Role.INSENSITIVE
    assert found["id"].attribute.role is Role.INSENSITIVE, "lists cannot tell people apart"
    assert found["photo"].attribute.role is Role.IDENTIFIER
    encode(data, Schema.infer(data))


def unit(**columns):
    data = pa.table(columns)
    return propose_unit(data, [p.attribute for p in propose(data)])


def test_the_unit_is_the_label_with_the_fewest_people():
    assert unit(age=[1, 2]) is None
    assert unit(patient_id=[1, 2], name=["a", "b"]) is None
    assert unit(visit_id=[1, 2, 3], patient_id=[7, 7, 8]) == "patient_id"
    assert unit(name=["a", "b", "c"], street=["x", "x", "y"]) == "name"
    assert unit(patient_id=[7, None, 7], name=["a", "b", "b"]) == "name"
    assert unit(patient_id=[7, None, 7]) is None


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["id", "name", "age", "zip", "disease", "x17", "when", "age_flag"]),
        st.sampled_from(
            [
                ["Zoé*", None, "a@b.cd", ""],
                ["71234", "71235", "81234", "71234"],
                [910001, 910002, None, 910003],
                [9.25, float("nan"), float("inf"), None],
                [True, None, False, True],
                [None, None, None, None],
                [dt.date(1987, 6, 5), None, dt.date(1988, 6, 5), dt.date(1987, 6, 5)],
                ["Severe", "Mild", "Mild", None],
            ]
        ),
        min_size=1,
    )
)
def test_reasons_hold_numbers_and_never_values(columns):
    data = pa.table(columns)
    for found in propose(data):
        assert found.reason
        for cell in data[found.attribute.name].to_pylist():
            if cell not in (None, True, False, ""):
                assert str(cell) not in found.reason
        assert re.search(r"\d", found.reason)


@pytest.mark.parametrize("file", ["adult", "census_income", "uscensus1990_sample"])
def test_a_proposal_for_real_data_can_be_encoded_as_it_is(shared, file):
    data = pq.read_table(shared / "data" / f"{file}.parquet")
    schema = Schema.infer(data)
    assert schema.names == tuple(data.column_names)
    assert schema.unit is None
    assert schema.quasi_identifiers
    encode(data, schema)


def test_adult(shared):
    schema = Schema.infer(pq.read_table(shared / "data" / "adult.parquet"))
    assert {a.name for a in schema.sensitive} == {"salary-class", "capital-gain", "capital-loss"}
    assert len(schema.quasi_identifiers) == 12
    assert schema["education-num"].kind is Kind.NUMERIC


def test_worked_examples(shared):
    import pyarrow.csv

    for file in ("hospital_a", "hospital_b", "transactions"):
        schema = Schema.infer(pyarrow.csv.read_csv(shared / "vectors" / f"{file}.csv"))
        assert schema["name"].role is Role.IDENTIFIER
        assert [a.name for a in schema.sensitive] in (["disease"], ["salary"])
        assert isinstance(schema["zipcode"].hierarchy, Mask)
