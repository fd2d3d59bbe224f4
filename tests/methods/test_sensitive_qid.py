"""Random sets as a publishing method: the paper's examples, domains, joints, refusals."""

from __future__ import annotations

import csv
import dataclasses

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import linear_sum_assignment

from sfumato.audit import audit
from sfumato.errors import Infeasible, ParameterError
from sfumato.methods import Rating, SensitiveQID, SetProtection
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


STRICTER = [
    # of two l the larger, in its own variant
    ({"l": 2}, {"l": 3}, {"l": 3}),
    ({"l": 4}, {"l": 2.5, "variant": "entropy"}, {"l": 4}),
    ({"l": 2}, {"l": 2.5, "variant": "entropy"}, {"l": 2.5, "variant": "entropy"}),
    ({"l": 2}, {"t": 0.3}, {"l": 2, "t": 0.3}),
    ({"t": 0.2}, {"t": 0.3}, {"t": 0.2}),
    ({"k": 2, "t": 0.4}, {"k": 5, "l": 3}, {"k": 5, "l": 3, "t": 0.4}),
    ({"l": 2, "max_eta": 9}, {"l": 2, "max_eta": 4}, {"l": 2, "max_eta": 4}),
    ({"l": 2, "max_eta": 9}, {"l": 2}, {"l": 2, "max_eta": 9}),
    # the table's own shares protect only where nobody asked for more
    ({"t": 0.2, "prior": "data"}, {"t": 0.3, "prior": "data"}, {"t": 0.2, "prior": "data"}),
    ({"t": 0.2, "prior": "data"}, {"t": 0.3}, {"t": 0.2}),
    # combinations have no order
    ({"t": 0.2, "distance": "ordered"}, {"t": 0.2, "distance": "ordered"}, {"t": 0.2}),
    ({}, {"k": 2}, {"k": 2}),
]


@pytest.mark.parametrize(("one", "other", "both"), STRICTER)
def test_the_stricter_of_two_protections_keeps_what_both_ask_for(one, other, both):
    for first, second in ((one, other), (other, one)):
        found = SetProtection(**first).stricter(SetProtection(**second))
        assert found == SetProtection(**both)


PAIR = [["a", "b"]]


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (SensitiveQID(l=2, joint=PAIR), SetProtection(l=2)),
        (
            SensitiveQID(l=2, joint=PAIR, protection={"b": SetProtection(t=0.2)}),
            SetProtection(l=2, t=0.2),
        ),
        (
            SensitiveQID(
                joint=PAIR,
                protection={"a": SetProtection(k=3), "b": SetProtection(l=2, t=0.2, prior="data")},
            ),
            SetProtection(l=2, t=0.2, k=3),
        ),
        # what is said of the joint itself wins, be it stricter or not
        (
            SensitiveQID(
                l=4,
                joint=PAIR,
                protection={"a": SetProtection(t=0.1), "a & b": SetProtection(t=0.5, k=2)},
            ),
            SetProtection(t=0.5, k=2),
        ),
        (
            SensitiveQID(
                joint=[["a", "b", "c"]],
                protection={
                    "a": SetProtection(l=2),
                    "b": SetProtection(l=3.5, variant="entropy"),
                    "c": SetProtection(t=0.4),
                },
            ),
            SetProtection(l=3.5, variant="entropy", t=0.4),
        ),
    ],
)
def test_a_joint_is_protected_by_its_own_entry_or_the_stricter_of_its_parts(method, expected):
    (names,) = method.joint
    assert method.protection_of_joint(names) == expected
    rows = 300
    data = pa.table({name: [f"{name}{i % size}" for i in range(rows)] for name, size in SIZES})
    release = published(
        dataclasses.replace(method, protection={"d": SetProtection(l=2)} | dict(method.protection)),
        data.drop_columns([name for name in "abc" if name not in names]),
        Schema.of(dict.fromkeys((*names, "d"), "sensitive")),
    )
    joint = " & ".join(names)
    claims = [claim for claim in release.manifest.guarantees if claim["attribute"] == joint]
    assert claims == [model.claim() for model in expected.models(joint)]
    assert audit(release).ok


SIZES = (("a", 3), ("b", 4), ("c", 5), ("d", 7))


# Doubts


def doubts(method: SensitiveQID, **columns: list[object]) -> tuple[str, ...]:
    schema = Schema.of(dict.fromkeys(columns, "sensitive"))
    return method.doubts(encode(pa.table(columns), schema))


APART = {"a": ["x", "y"] * 200, "b": ["x", "x", "y", "y"] * 100}
IDLE = "what is asked for '{}' is met by publishing it as it is; ask for more"


@pytest.mark.parametrize(
    ("asked", "is_idle"),
    [
        ({"l": 1}, True),
        ({"k": 1}, True),
        ({"t": 1}, True),
        ({"l": 1, "t": 1.0, "k": 1}, True),
        ({"l": 1, "variant": "entropy"}, True),
        ({"l": 1.5, "variant": "entropy"}, False),
        ({"l": 2}, False),
        ({"k": 2}, False),
        ({"t": 0.99}, False),
        ({"l": 1, "t": 0.5}, False),
    ],
)
def test_a_protection_that_asks_for_nothing_is_doubted(asked, is_idle):
    assert SetProtection(**asked).is_idle == is_idle
    expected = (IDLE.format("a"), IDLE.format("b")) if is_idle else ()
    assert doubts(SensitiveQID(**asked), **APART) == expected
    only = SensitiveQID(t=0.5, protection={"b": SetProtection(**asked)})
    assert doubts(only, **APART) == expected[1:]
    # parts of a joint are protected together
    joint = SensitiveQID(joint=PAIR, **asked, protection={"a & b": SetProtection(t=0.5)})
    assert doubts(joint, **APART) == ()


def pairs(agreeing: int) -> dict[str, list[object]]:
    """Return two columns of two values: of 1,000 rows so many agree, both values half of each."""
    same, other = [0, 1] * (agreeing // 2), [0, 1] * ((1000 - agreeing) // 2)
    return {"a": [*same, *other], "b": [*same, *(1 - value for value in other)]}


def test_attributes_that_go_together_are_doubted():
    """Of two values phi squared is (2 s - 1)**2, where the share s agrees."""
    assert doubts(SensitiveQID(t=0.3), **pairs(656)) == ()  # 0.097
    (doubt,) = doubts(SensitiveQID(t=0.3), **pairs(660))  # 0.102
    assert doubt.startswith("'a' and 'b' go together (phi squared above 0.1)")
    assert "list them under `joint`" in doubt
    (doubt,) = doubts(SensitiveQID(t=0.3), **pairs(340))  # which are as much against each other
    assert doubt.startswith("'a' and 'b'")
    assert doubts(SensitiveQID(t=0.3, joint=PAIR), **pairs(1000)) == ()


def test_exact_attributes_tell_of_sets_too_and_only_of_them():
    columns = pairs(1000) | {"c": pairs(1000)["a"]}
    table = encode(
        pa.table(columns),
        Schema.of(a="sensitive", b="quasi-identifier", c="quasi-identifier"),
    )
    (doubt,) = SensitiveQID(t=0.3).doubts(table)
    assert "'a' and 'b', 'a' and 'c' go together" in doubt
    assert "'b' and 'c'" not in doubt


def test_few_of_many_pairs_are_named():
    columns = {name: pairs(1000)["a"] for name in "abcd"}
    (doubt,) = doubts(SensitiveQID(t=0.3), **columns)
    assert doubt.count(" and '") == 5
    assert " and 1 more pairs go together" in doubt


def test_doubts_name_attributes_that_go_together():
    data, schema = joint_table()
    (doubt,) = SensitiveQID(t=0.3).doubts(encode(data, schema))
    assert "'a' and 'b'" in doubt and "'a' and 'c'" in doubt
    (rest,) = SensitiveQID(t=0.3, joint=[["a", "b"]]).doubts(encode(data, schema))
    assert "'a' and 'b'" not in rest and "'a' and 'c'" in rest


@pytest.mark.parametrize(
    ("method", "is_doubted"),
    [
        (SensitiveQID(l=2, joint=PAIR), True),
        (SensitiveQID(k=2, joint=PAIR), True),
        (SensitiveQID(t=0.3, joint=PAIR), False),
        (SensitiveQID(l=2, joint=PAIR, protection={"b": SetProtection(t=0.5)}), False),
        (SensitiveQID(t=0.3, joint=PAIR, protection={"a & b": SetProtection(l=2)}), True),
    ],
)
def test_a_joint_with_sizes_alone_is_doubted(method, is_doubted):
    """Since all combinations of a set may have the same part."""
    expected = (
        "`l` of 'a & b' counts combinations: all of a set may share one part; `t` protects the "
        "parts too",
    )
    assert doubts(method, **APART) == (expected if is_doubted else ())


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


@pytest.mark.parametrize(
    ("asked", "values", "advice"),
    [
        (
            {"l": 2},
            2,
            "'a': an attribute with 2 values has no set of 2 that would tell anything; give it `t` "
            "instead of `l`",
        ),
        (
            {"k": 3},
            1,
            "'a': an attribute with 1 value has no set of 3 that would tell anything; give it `t` "
            "instead of `l`",
        ),
        (
            {"l": 3},
            3,
            "'a': sets of 3 from a domain of 3 values would tell nothing; the largest useful `l` "
            "is 2",
        ),
        (
            {"l": 2, "k": 9, "t": 0.5},
            6,
            "'a': sets of 9 from a domain of 6 values would tell nothing; the largest useful `l` "
            "is 5",
        ),
        (
            {"l": 3.2, "variant": "entropy"},
            4,
            "'a': sets of 4 from a domain of 4 values would tell nothing; the largest useful `l` "
            "is 3",
        ),
        (
            {"t": 1e-13},
            4,
            "'a': `t` is too small for a domain of 4 values: p would vanish",
        ),
    ],
)
def test_what_is_infeasible_is_refused_with_advice(asked, values, advice):
    data = pa.table({"a": [str(i % values) for i in range(60)]})
    with pytest.raises(Infeasible) as refusal:
        SensitiveQID(**asked).publish(data, Schema.of(a="sensitive"))
    assert str(refusal.value) == advice


@pytest.mark.parametrize("values", [2, 3, 7])
def test_the_advice_can_be_followed(values):
    data = pa.table({"a": [str(i % values) for i in range(60)]})
    asked = {"t": 0.3} if values == 2 else {"l": values - 1}
    assert audit(published(SensitiveQID(**asked), data, Schema.of(a="sensitive"))).ok


def test_sets_that_are_kept_too_small_are_refused():
    data = pa.table({"a": [str(i % 6) for i in range(60)]})
    with pytest.raises(ParameterError, match="'a': `max_eta` must be at least 4"):
        SensitiveQID(l=4, max_eta=3).publish(data, Schema.of(a="sensitive"))


def test_a_p_of_next_to_nothing_is_kept():
    """Smaller than one word of 32 bits can tell from 0."""
    data = pa.table({"a": [str(i % 4) for i in range(2000)]})
    release = published(SensitiveQID(t=1e-11), data, Schema.of(a="sensitive"))
    assert 0 < release.manifest.parameters["sets"]["a"]["p"] < 2**-32
    assert audit(release).ok


@pytest.mark.parametrize("method", [SensitiveQID(l=3), Rating(l=3)])
def test_a_hierarchy_file_of_numbers_states_the_domain(method):
    """Which ages occur would otherwise show in the manifest."""
    tree = Hierarchy.from_rows([[str(age), "*"] for age in range(15, 40)], "ages.csv")
    age = Attribute("age", Role.SENSITIVE_QUASI_IDENTIFIER, hierarchy=tree)
    people = pa.table({"age": [20 + i % 10 for i in range(90)]})
    manifest = method.publish(people, Schema((age,))).manifest
    assert manifest.attribute("age").domain == tuple(str(n) for n in range(15, 40))


@pytest.mark.parametrize(
    "protection",
    [
        {"a": SetProtection(max_eta=9), "b": SetProtection(k=2)},
        {"a & b": SetProtection(max_eta=3), "a": SetProtection(t=0.1)},
    ],
)
def test_protection_that_asks_for_nothing_is_refused(protection):
    with pytest.raises(ParameterError, match="asks for nothing"):
        SensitiveQID(l=4, joint=[["a", "b"]], protection=protection)
