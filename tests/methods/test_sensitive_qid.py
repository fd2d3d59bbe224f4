"""Random sets as a publishing method: the paper's examples, domains, joints, refusals."""

from __future__ import annotations

import csv

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import linear_sum_assignment

from sfumato.audit import audit
from sfumato.errors import Infeasible, ParameterError
from sfumato.methods import SensitiveQID, SetProtection
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import Attribute, Hierarchy, Kind, Role, Schema
from sfumato.table import encode

SECRET = Role.SENSITIVE_QUASI_IDENTIFIER
LEAST_P_VALUE = 0.001  # a fair draw is taken for an unfair one in a run of a thousand

# Domains that hold all values of the paper's Table IV.
AGES = tuple(range(15, 80))
ADDRESSES = (*range(12000, 12005), 13021, 14003, 14053, 16005, 17025)
JOBS = ("Artist", "Driver", "Lawyer", "Programmer", "Researcher", "Teacher", "Writer")
DISEASES = ("Cancer", "Chill", "Cold", "Fever", "Flu", "HIV", "Obesity", "Pus", "Sty")


@pytest.fixture
def patients(shared) -> pa.Table:
    with (shared / "vectors" / "patients.csv").open() as source:
        rows = list(csv.DictReader(source))
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    whole = {name: pa.array(map(int, columns[name])) for name in ("age", "address")}
    return pa.table(columns | whole)


def patient_schema() -> Schema:
    return Schema(
        (
            Attribute("name", Role.IDENTIFIER),
            Attribute("age", SECRET, kind=Kind.CATEGORICAL, domain=AGES),
            Attribute("address", SECRET, kind=Kind.CATEGORICAL, domain=ADDRESSES),
            Attribute("job", SECRET, domain=JOBS),
            Attribute("disease", SECRET, domain=DISEASES),
        )
    )


def published(method: SensitiveQID, data: pa.Table, schema: Schema, seed: int = 1) -> Release:
    return method.publish(data, schema, randomness=Randomness.secret(bytes([seed]) * 32))


def sets_of(release: Release, name: str) -> list[list[object]]:
    return release.tables["records"][name].to_pylist()


# The paper's examples


def test_example_4():
    """Alice alone: two values each, her own among them."""
    alice = pa.table({"name": ["Alice"], "age": [41], "address": [10105], "disease": ["HIV"]})
    schema = Schema(
        (
            Attribute("name", Role.IDENTIFIER),
            Attribute("age", SECRET, kind=Kind.CATEGORICAL, domain=(33, 41, 60)),
            Attribute("address", SECRET, kind=Kind.CATEGORICAL, domain=(10105, 32515, 40000)),
            Attribute("disease", SECRET, domain=("Cold", "Flu", "HIV")),
        )
    )
    release = published(SensitiveQID(l=2), alice, schema)
    (record,) = release.tables["records"].to_pylist()
    assert {name: len(each) for name, each in record.items()} == {
        "age": 2,
        "address": 2,
        "disease": 2,
    }
    assert 41 in record["age"] and 10105 in record["address"] and "HIV" in record["disease"]
    assert audit(release).ok


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 255))
def test_table_4(shared, seed):
    """(2, 2, 2, 3)-diversity of the patients: sizes, own values, sorted members of the domain."""
    with (shared / "vectors" / "patients.csv").open() as source:
        rows = list(csv.DictReader(source))
    data = pa.table(
        {
            **{name: [row[name] for row in rows] for name in ("name", "job", "disease")},
            **{name: [int(row[name]) for row in rows] for name in ("age", "address")},
        }
    )
    method = SensitiveQID(l=2, protection={"disease": SetProtection(l=3)})
    release = published(method, data, patient_schema(), seed)
    domains = {"age": AGES, "address": ADDRESSES, "job": JOBS, "disease": DISEASES}
    records = release.tables["records"].to_pylist()
    assert len(records) == len(rows)
    for name, domain in domains.items():
        entry = release.manifest.attribute(name)
        assert entry.domain == tuple(map(str, domain))
        for record in records:
            places = [domain.index(value) for value in record[name]]
            assert len(places) == (3 if name == "disease" else 2)
            assert places == sorted(set(places))
    # every original is behind a record of its own
    fits = np.array(
        [
            [all(row[n] in record[n] for n in domains) for record in records]
            for row in data.to_pylist()
        ]
    )
    pairs = linear_sum_assignment(fits, maximize=True)
    assert fits[pairs].all()
    assert release.manifest.parameters["sets"]["disease"] == {"p": 1.0, "eta": 3}
    asked = {g["attribute"]: g["l"] for g in release.manifest.guarantees}
    assert asked == {"age": 2, "address": 2, "job": 2, "disease": 3}


def test_added_values_are_uniform():
    rows = 20_000
    data = pa.table({"disease": ["HIV"] * rows})
    schema = Schema((Attribute("disease", Role.SENSITIVE, domain=DISEASES),))
    release = published(SensitiveQID(l=3), data, schema)
    members = [value for each in sets_of(release, "disease") for value in each]
    counts = {disease: members.count(disease) for disease in DISEASES}
    assert counts.pop("HIV") == rows
    # two of eight without repetition: less spread than independent draws, by 6/7
    observed = np.array(list(counts.values()))
    statistic = ((observed - rows / 4) ** 2 / (rows / 4)).sum() * 7 / 6
    assert stats.chi2.sf(statistic, 7) > LEAST_P_VALUE


def test_the_same_seed_gives_the_same_release(patients):
    method = SensitiveQID(t=0.3)
    one, same, other = (
        published(method, patients, patient_schema(), seed).tables["records"] for seed in (1, 1, 2)
    )
    assert one.equals(same)
    assert not one.equals(other)


# Roles and domains


def test_roles():
    data = pa.table(
        {
            "name": ["Ann", "Bob", "Cyd", "Dan"],
            "age": [1, 2, 3, 4],
            "job": ["a", "b", "c", "a"],
            "ward": ["w"] * 4,
            "note": ["n"] * 4,
            "illness": ["x", "y", "z", None],
        }
    )
    schema = Schema(
        (
            Attribute("name", Role.IDENTIFIER),
            Attribute("age", Role.QUASI_IDENTIFIER),
            Attribute("job", SECRET),
            Attribute("ward", Role.INSENSITIVE, keep=True),
            Attribute("note", Role.INSENSITIVE),
            Attribute("illness", Role.SENSITIVE),
        )
    )
    release = published(SensitiveQID(l=2), data, schema)
    records = release.tables["records"]
    assert records.column_names == ["age", "job", "ward", "illness"]
    assert sorted(records["age"].to_pylist()) == [1, 2, 3, 4]
    assert list(release.manifest.parameters["sets"]) == ["job", "illness"]
    by_age = {r["age"]: r for r in records.to_pylist()}
    for age, job, illness in zip(
        *(data[n].to_pylist() for n in ("age", "job", "illness")), strict=True
    ):
        assert job in by_age[age]["job"] and illness in by_age[age]["illness"]
    assert audit(release).ok


def test_a_missing_value_is_one_of_the_domain_where_it_occurs():
    data = pa.table({"a": ["x", "y", None], "b": ["x", "y", "z"]})
    schema = Schema.of(a="sensitive", b="sensitive")
    release = published(SensitiveQID(l=2), data, schema)
    assert release.manifest.attribute("a").domain == ("x", "y", None)
    assert release.manifest.attribute("b").domain == ("x", "y", "z")
    assert any(None in each for each in sets_of(release, "a"))
    assert audit(release).ok


def test_domains_come_from_the_policy_where_it_states_them():
    tree = Hierarchy.from_rows([("x", "p", "*"), ("y", "p", "*"), ("w", "q", "*")], "c")
    data = pa.table({"a": ["x", "y"], "b": ["x", "y"], "c": ["x", "y"], "n": [3, 4]})
    schema = Schema(
        (
            Attribute("a", SECRET, order=("z", "y", "x")),
            Attribute("b", SECRET, domain=("w", "x", "y")),
            Attribute("c", SECRET, hierarchy=tree),
            Attribute("n", SECRET, domain=(1, 5)),
        )
    )
    release = published(SensitiveQID(l=2), data, schema)
    domains = {entry.name: entry.domain for entry in release.manifest.attributes}
    assert domains["a"] == ("z", "y", "x")
    assert domains["b"] == ("w", "x", "y")
    assert set(domains["c"]) == {"w", "x", "y"}
    assert domains["n"] == ("1", "2", "3", "4", "5")
    assert release.hierarchies == {}
    assert audit(release).ok


def test_numbers_with_many_values_become_ranges_of_one_width():
    data = pa.table({"age": list(range(17, 91)), "x": [0.5 * i for i in range(74)]})
    schema = Schema((Attribute("age", SECRET, domain=(0, 120)), Attribute("x", SECRET)))
    release = published(SensitiveQID(l=2, bins=10), data, schema)
    age = release.manifest.attribute("age")
    assert age.type == "string" and age.kind is Kind.ORDINAL
    assert age.domain[0] == "[0, 12]" and age.domain[-1] == "[117, 120]" and len(age.domain) == 10
    bins = release.manifest.parameters["bins"]
    assert bins["age"] == [0, 13, 26, 39, 52, 65, 78, 91, 104, 117, 120]
    assert len(bins["x"]) == 11 and bins["x"][0] <= 0 and bins["x"][-1] >= 36.5
    assert np.allclose(np.diff(bins["x"]), np.diff(bins["x"])[0])
    assert audit(release).ok


def test_numbers_with_few_values_are_listed():
    data = pa.table({"n": [7, 9, 8, 9]})
    release = published(SensitiveQID(l=2), data, Schema.of(n="sensitive"))
    assert release.manifest.attribute("n").domain == ("7", "8", "9")
    assert release.manifest.attribute("n").type == "int64"
    assert "bins" not in release.manifest.parameters


# Choosing p and eta


def test_closeness_lowers_p_and_the_prior_of_the_data_states_its_masses():
    data = pa.table({"a": ["x", "y"] * 500, "b": ["x", "y", "z", "w"] * 250})
    schema = Schema.of(a="sensitive", b="sensitive")
    release = published(SensitiveQID(t=0.2), data, schema)
    assert all(each["p"] < 1 for each in release.manifest.parameters["sets"].values())
    assert audit(release).ok
    known = published(SensitiveQID(t=0.2, prior="data"), data, schema)
    for name, each in known.manifest.parameters["sets"].items():
        assert each["p"] >= release.manifest.parameters["sets"][name]["p"]
        low, high = each["masses"]
        assert 0 <= low <= each["eta"] / len(known.manifest.attribute(name).domain) <= high <= 1
    assert audit(known).ok


def test_all_three_together():
    data = pa.table({"a": [1, 2, 3, 4, 5, 6] * 100})
    method = SensitiveQID(l=2, t=0.3, k=3, max_eta=4, variant="entropy", distance="ordered")
    release = published(method, data, Schema.of(a="sensitive"))
    assert {g["model"] for g in release.manifest.guarantees} == {
        "set-diversity",
        "set-closeness",
        "set-anonymity",
    }
    assert 3 <= release.manifest.parameters["sets"]["a"]["eta"] <= 4
    assert audit(release).ok


# Joint attributes


def joint_table() -> tuple[pa.Table, Schema]:
    data = pa.table(
        {
            "a": ["x", "y & z", "x", None] * 50,
            "b": [1, 2, 1, 1] * 50,
            "c": ["p", "q", "r", "q"] * 50,
        }
    )
    return data, Schema.of(a=str(SECRET), b="sensitive", c="sensitive")


def test_joint_attributes_have_all_combinations():
    data, schema = joint_table()
    method = SensitiveQID(t=0.3, joint=[["a", "b"]], protection={"b": SetProtection(t=0.2)})
    release = published(method, data, schema)
    assert release.tables["records"].column_names == ["a & b", "c"]
    entry = release.manifest.attribute("a & b")
    assert entry.role is SECRET
    assert entry.domain == (
        *("x & 1", "x & 2", '"y & z" & 1', '"y & z" & 2', "null & 1", "null & 2"),
    )
    assert release.manifest.parameters["joint"] == {"a & b": ["a", "b"]}
    claims = {g["attribute"]: g["t"] for g in release.manifest.guarantees}
    assert claims == {"a & b": 0.2, "c": 0.3}
    assert audit(release).ok


def test_the_codes_of_combinations_are_those_of_their_texts():
    data, schema = joint_table()
    method = SensitiveQID(joint=[["a", "b"]], protection={"a & b": SetProtection(l=1)}, l=2)
    found = sorted(each[0] for each in sets_of(published(method, data, schema), "a & b"))
    assert found == sorted(["x & 1", '"y & z" & 2', "x & 1", "null & 1"] * 50)


def test_doubts_name_attributes_that_go_together():
    data, schema = joint_table()
    (doubt,) = SensitiveQID(t=0.3).doubts(encode(data, schema))
    assert "'a' and 'b'" in doubt and "'a' and 'c'" in doubt
    (rest,) = SensitiveQID(t=0.3, joint=[["a", "b"]]).doubts(encode(data, schema))
    assert "'a' and 'b'" not in rest and "'a' and 'c'" in rest
    assert any(
        "combinations" in d
        for d in SensitiveQID(l=2, joint=[["a", "b"]]).doubts(encode(data, schema))
    )
    apart = pa.table({"a": ["x", "y"] * 200, "b": ["x", "x", "y", "y"] * 100})
    assert SensitiveQID(t=0.3).doubts(encode(apart, Schema.of(a="sensitive", b="sensitive"))) == ()


# Refusals


@pytest.mark.parametrize(
    "parameters",
    [
        {"l": 0},
        {"l": 1.5},
        {"t": 0},
        {"t": 1.5},
        {"k": 0},
        {"max_eta": 0},
        {"bins": 1},
        {"prior": "posterior"},
        {"distance": "hierarchical"},
        {"variant": "recursive"},
        {"joint": "ab"},
        {"joint": [["a"]]},
        {"joint": [["a", "b"], ["b", "c"]]},
    ],
)
def test_impossible_parameters_are_refused(parameters):
    with pytest.raises(ParameterError):
        SensitiveQID(**({"l": 2} | parameters))


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (SensitiveQID(), "say `l` or `t` for 'sex'"),
        (SensitiveQID(l=2), "'sex': .*`t`"),
        (
            SensitiveQID(t=0.5, protection={"job": SetProtection(l=3)}),
            "'job': .*largest useful .* 2",
        ),
        (
            SensitiveQID(t=0.5, protection={"age": SetProtection(l=3)}),
            "'age', which is not sensitive",
        ),
        (SensitiveQID(t=0.5, joint=[["sex", "age"]]), "'age', which is not sensitive"),
        (SensitiveQID(t=0.5, protection={"sex": SetProtection(l=2)}), "'sex'"),
        (SensitiveQID(t=0.5, distance="ordered"), "'sex' has none"),
    ],
)
def test_what_no_sets_can_keep_is_refused(method, words):
    data = pa.table({"age": [1, 2, 3], "sex": ["f", "m", "f"], "job": ["a", "b", "c"]})
    schema = Schema.of({"age": "quasi-identifier", "sex": "sensitive", "job": str(SECRET)})
    with pytest.raises((ParameterError, Infeasible), match=words):
        method.publish(data, schema)


def test_tables_that_it_cannot_protect_are_refused():
    data = pa.table({"name": ["a", "a", "b"], "illness": ["x", "y", "z"]})
    several = Schema(
        (Attribute("name", Role.IDENTIFIER), Attribute("illness", Role.SENSITIVE)), unit="name"
    )
    for schema, words in (
        (several, "one row a person"),
        (Schema.of(name="quasi-identifier", illness="quasi-identifier"), "needs a sensitive"),
    ):
        with pytest.raises(ParameterError, match=words):
            SensitiveQID(l=2).publish(data, schema)
    nothing = pa.table({"illness": pa.nulls(3, pa.string())})
    with pytest.raises(ParameterError, match="no value"):
        SensitiveQID(t=0.5).publish(nothing, Schema.of(illness="sensitive"))
    wide = pa.table({"a": [str(i) for i in range(200)], "b": [str(i) for i in range(200)]})
    with pytest.raises(ParameterError, match="combinations"):
        SensitiveQID(t=0.5, joint=[["a", "b"]]).publish(
            wide, Schema.of(a="sensitive", b="sensitive")
        )
    named = pa.table({"a": ["1", "2"], "b": ["1", "2"], "a & b": ["1", "2"]})
    with pytest.raises(ParameterError, match="already"):
        SensitiveQID(t=0.5, joint=[["a", "b"]]).publish(
            named, Schema.of({"a": "sensitive", "b": "sensitive", "a & b": "quasi-identifier"})
        )
