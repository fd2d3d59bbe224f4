"""ARP and AIP as their users call them: claims that hold, requests refused, less loss on Adult."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arbitrary.coded import Sample, samples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import refining as oracle
from oracles.release import group_sizes, group_values, read_release

from sfumato.audit import audit
from sfumato.datasets import adult_schema, load_adult
from sfumato.errors import Infeasible, ParameterError
from sfumato.methods import Anatomy
from sfumato.methods.aip import AIP
from sfumato.methods.arp import ARP
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.rows.initial import INITIAL
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import Groups, encode
from sfumato.utility import glp, mean_probability, reconstruction_error

PUBLISH_BY = ("anatomy", "generalize", "slice")
LAYOUTS = {"anatomy": "anatomized", "generalize": "generalized", "slice": "sliced"}
SCHEMA = Schema(
    (
        Attribute("age", Role.QUASI_IDENTIFIER),
        Attribute("zip", Role.QUASI_IDENTIFIER),
        Attribute("job", Role.QUASI_IDENTIFIER),
        Attribute("illness", Role.SENSITIVE),
        Attribute("ward", Role.INSENSITIVE, keep=True),
        Attribute("name", Role.IDENTIFIER),
    )
)
TWO_SECRETS = Schema.of(age="quasi-identifier", illness="sensitive", pay="sensitive")


def patients(rows: int = 200) -> pa.Table:
    rng = repeatable(4)
    return pa.table(
        {
            "age": rng.integers(20, 80, rows),
            "zip": rng.integers(10, 15, rows),
            "job": [f"job {i}" for i in rng.integers(0, 4, rows)],
            "illness": [f"illness {i}" for i in rng.integers(0, 9, rows)],
            "ward": [f"ward {i}" for i in rng.integers(0, 3, rows)],
            "name": [f"person {i}" for i in range(rows)],
        }
    )


def blocks_of(release: Release, attribute: str = "illness") -> list[list[Any]]:
    """Return the sensitive values of every group, as the published files tell them."""
    with tempfile.TemporaryDirectory() as home:
        release.save(Path(home) / "release", format="csv")
        published = read_release(Path(home) / "release")
    values = group_values(published, attribute)
    for entry in published.manifest["tables"]:
        sizes = group_sizes(published, entry["name"])
        assert sizes == {group: len(each) for group, each in values.items()}
    return list(values.values())


# --- what is claimed ------------------------------------------------------------------------------


@pytest.mark.parametrize("initial", [*INITIAL, ("job",), ["zip", "job"]])
@pytest.mark.parametrize("how", PUBLISH_BY)
def test_a_release_holds_what_it_claims(initial, how):
    release = ARP(3, initial=initial, publish_by=how).publish(patients(), SCHEMA)
    assert release.manifest.layout == LAYOUTS[how]
    claims = [(each["model"], each["attribute"], each["l"]) for each in release.manifest.guarantees]
    expected = [("l-diversity", "illness", 3)]
    if how == "anatomy":
        expected.append(("l-unique-groups", "illness", 3))
    assert claims == expected
    assert release.manifest.guarantees[0]["variant"] == "frequency"
    report = audit(release)
    assert report.ok and report.exit_code == 0
    for values in blocks_of(release):
        assert oracle.is_refined(values, 3)


@pytest.mark.parametrize("initial", [*INITIAL, ["job"]])
def test_aip_claims_diversity_alone(initial):
    release = AIP(3, initial=initial).publish(patients(), SCHEMA)
    assert release.manifest.layout == "anatomized" and release.manifest.method == "aip"
    (claim,) = release.manifest.guarantees
    assert (claim["model"], claim["variant"], claim["l"]) == ("l-diversity", "frequency", 3)
    assert audit(release).ok
    assert all(oracle.eligible(values, 3) for values in blocks_of(release))


@pytest.mark.parametrize("how", PUBLISH_BY)
def test_two_sensitive_attributes_are_claimed_each(how):
    rng = repeatable(5)
    data = pa.table(
        {
            "age": rng.integers(20, 80, 120),
            "illness": [f"illness {i}" for i in rng.integers(0, 9, 120)],
            "pay": rng.integers(0, 12, 120),
        }
    )
    release = ARP(3, publish_by=how).publish(data, TWO_SECRETS)
    claims = [(each["model"], each["attribute"]) for each in release.manifest.guarantees]
    models = ("l-diversity", "l-unique-groups") if how == "anatomy" else ("l-diversity",)
    assert claims == [(model, name) for model in models for name in ("illness", "pay")]
    assert audit(release).ok
    for name in ("illness", "pay"):
        assert all(oracle.is_refined(values, 3) for values in blocks_of(release, name))


def test_blocks_of_columns_are_those_asked_for():
    data = patients()
    one = ARP(2, publish_by="slice", columns=1).publish(data, SCHEMA)
    assert one.manifest.parameters["columns"] == [["age", "zip", "job"], ["illness"], ["ward"]]
    named = ARP(2, publish_by="slice", columns=[["zip", "job"], ["age"]]).publish(data, SCHEMA)
    assert named.manifest.parameters["columns"] == [["zip", "job"], ["age"], ["illness"], ["ward"]]
    many = ARP(2, publish_by="slice", columns=99).publish(data, SCHEMA)
    assert sorted(many.manifest.parameters["columns"]) == sorted(
        [[name] for name in ("age", "zip", "job", "illness", "ward")]
    )
    assert all(audit(release).ok for release in (one, named, many))


def test_groups_of_the_users_own_are_refined():
    """The user's own groups hold two ages each; all blocks but those of residues keep to them."""
    data = pa.table({"age": [1, 2, 3, 4] * 3, "illness": [*"abcdefghijkl"]})
    schema = Schema.of(age="quasi-identifier", illness="sensitive")
    ids = np.array([0, 0, 1, 1] * 3, np.int32)
    release = ARP(3, initial=Groups(ids, 2)).publish(data, schema)
    rows = release.tables["qi_1"].to_pylist()
    ages: dict[int, set[int]] = {}
    for row in rows:
        ages.setdefault(row["group"], set()).add(row["age"])
    assert len(ages) == 4
    assert all(found <= {1, 2} or found <= {3, 4} for found in ages.values())


# --- any table ------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(
    samples(people=False),
    st.integers(1, 4),
    st.sampled_from(INITIAL),
    st.sampled_from(PUBLISH_BY),
)
def test_either_the_release_audits_clean_or_it_is_refused(sample, ell, initial, how):
    """One sensitive attribute, some of its values missing."""
    names = (*sample.quasi, "illness")
    schema = Schema(tuple(sample.schema[name] for name in names))
    data = sample.frame.select(names)
    values = [row["illness"] for row in sample.rows]
    method = ARP(ell, initial=initial, publish_by=how)
    if not oracle.eligible(values, ell):
        with pytest.raises((Infeasible, ParameterError), match="illness"):
            method.publish(data, schema)
        return
    release = method.publish(data, schema)
    assert audit(release).ok
    blocks = blocks_of(release)
    assert all(oracle.is_refined(block, ell) for block in blocks)
    assert Counter(v for block in blocks for v in block) == Counter(values)


@settings(max_examples=40)
@given(samples(people=False), st.integers(1, 4), st.sampled_from(PUBLISH_BY))
def test_two_complete_attributes_are_always_published(sample, ell, how):
    rows = [
        row | {"illness": row["illness"] or "hiccups", "pay": row["pay"] or 0}
        for row in sample.rows
    ]
    full = Sample(rows, sample.quasi, sample.paths, False)
    commonest = max(max(Counter(r[n] for r in rows).values()) for n in ("illness", "pay"))
    release = ARP(min(ell, len(rows) // commonest), publish_by=how).publish(full.frame, full.schema)
    assert audit(release).ok


def test_a_seeded_release_repeats_and_is_marked_a_test():
    one, same, other = (
        ARP(3).publish(patients(), SCHEMA, randomness=Randomness.test(seed)) for seed in (1, 1, 2)
    )
    assert one.tables["qi_1"].equals(same.tables["qi_1"])
    assert not one.tables["qi_1"].equals(other.tables["qi_1"])
    assert audit(one).exit_code == 1


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [ARP, AIP])
@pytest.mark.parametrize("wrong", ["lexicographic", "", [], (), [1], [["age"]], None, 3, {"age"}])
def test_an_initial_partition_that_is_none_is_refused(method, wrong):
    with pytest.raises(
        ParameterError, match=f"{method.name}: `initial` must be one of correlation"
    ):
        method(2, initial=wrong)


@pytest.mark.parametrize("wrong", ["anatomize", "", None, "Slice", 2])
def test_a_way_to_publish_that_is_none_is_refused(wrong):
    with pytest.raises(ParameterError, match="publish"):
        ARP(2, publish_by=wrong)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, None, "age", [], ["age"], [[1]], [["age"], 2]])
def test_columns_that_are_none_are_refused(wrong):
    with pytest.raises(ParameterError, match="arp: `columns`"):
        ARP(2, publish_by="slice", columns=wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        [["age", "zip", "illness"], ["job"]],
        [["age", "zip", "ward"], ["job"]],
        [["age", "zip"], ["job", "height"]],
        [["age", "zip"]],
        [["age", "zip"], ["zip", "job"]],
        [["age", "zip", "job"], []],
    ],
    ids=["sensitive", "kept", "unknown", "too few", "twice", "empty"],
)
def test_columns_must_be_each_quasi_identifier_once(wrong):
    with pytest.raises(ParameterError, match="quasi-identifier"):
        ARP(2, publish_by="slice", columns=wrong).publish(patients(), SCHEMA)


@pytest.mark.parametrize("method", [ARP, AIP])
@pytest.mark.parametrize("ell", [0, -1, 2.5, True, "3"])
def test_an_l_that_is_no_whole_number_is_refused(method, ell):
    with pytest.raises(ParameterError, match="`l` must be a whole number of at least 1"):
        method(ell)


@pytest.mark.parametrize("method", [ARP, AIP])
@pytest.mark.parametrize("initial", [*INITIAL, ["age"]])
def test_an_l_above_the_feasible_is_refused_with_advice(method, initial):
    data = pa.table({"age": range(10), "illness": [*["telltale"] * 4, *"bcdefg"]})
    with pytest.raises(Infeasible) as refusal:
        method(3, initial=initial).publish(
            data, Schema.of(age="quasi-identifier", illness="sensitive")
        )
    message = str(refusal.value)
    assert "`illness`" in message and "40.0%" in message
    assert message.endswith("largest feasible l is 2")
    assert "telltale" not in message


@pytest.mark.parametrize("method", [ARP, AIP])
@pytest.mark.parametrize(
    ("attributes", "unit", "reason"),
    [
        ({"illness": Role.SENSITIVE}, None, "quasi-identifier"),
        ({"age": Role.QUASI_IDENTIFIER}, None, "sensitive attribute"),
        (
            {
                "age": Role.QUASI_IDENTIFIER,
                "illness": Role.SENSITIVE,
                "person": Role.IDENTIFIER,
            },
            "person",
            "one row a person",
        ),
    ],
    ids=["no quasi-identifier", "nothing sensitive", "several rows a person"],
)
def test_tables_of_another_shape_are_refused(method, attributes, unit, reason):
    data = pa.table({"age": [1, 2, 3], "illness": [*"abc"], "person": [1, 1, 2]})
    schema = Schema(tuple(Attribute(name, role) for name, role in attributes.items()), unit)
    with pytest.raises(ParameterError, match=reason):
        method(1).publish(data.select(list(attributes)), schema)


# --- Adult ----------------------------------------------------------------------------------------

ADULT_ROWS = 20_000
ADULT_L = 3


@pytest.fixture(scope="module")
def adult(shared) -> pa.Table:
    """The first complete rows: seven quasi-identifiers, occupation sensitive."""
    complete = load_adult(shared / "data" / "adult.parquet").drop_null()
    return complete.slice(0, ADULT_ROWS)


def test_refining_loses_less_than_its_initial_partition_on_adult(adult):
    schema = adult_schema()
    table = encode(adult, schema)
    loss: dict[str, float] = {}
    for initial in ("correlation", "mondrian"):
        for method in (AIP, ARP):
            release = method(ADULT_L, initial=initial).release(table, Randomness.test(1))
            loss[f"{method.name} {initial}"] = glp(release, table)
    loss["anatomy"] = glp(Anatomy(ADULT_L).release(table, Randomness.test(1)), table)
    for initial in ("correlation", "mondrian"):
        assert loss[f"aip {initial}"] > loss[f"arp {initial}"]
        assert loss["anatomy"] > loss[f"arp {initial}"]


def test_the_error_on_adult_is_within_its_factor_of_the_lower_bound(adult):
    table = encode(adult, adult_schema())
    release = ARP(ADULT_L).release(table, Randomness.test(1))
    sizes = Counter(release.tables["sensitive_1"]["group"].to_pylist())
    left = sum(size - ADULT_L for size in sizes.values())
    lowest = ADULT_ROWS * (1 - 1 / ADULT_L)
    most = lowest * (1 + left / (ADULT_ROWS * (ADULT_L - 1)))
    assert lowest - 1e-6 <= reconstruction_error(release) <= most + 1e-6
    assert mean_probability(release) <= 1 / ADULT_L + 1e-12


def test_the_largest_share_of_an_occupation_makes_eight_infeasible(adult):
    with pytest.raises(Infeasible, match=r"`occupation` .*13\.\d%.*largest feasible l is 7"):
        ARP(8).publish(adult, adult_schema())
    assert audit(ARP(7).publish(adult, adult_schema())).ok
