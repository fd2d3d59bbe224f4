"""ASN: every quasi-identifier in a table of its own, under beta and gamma."""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from arbitrary.associated import associated
from arbitrary.coded import samples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import association as oracle
from oracles.models import exact
from oracles.release import Published, group_values, read_release
from oracles.transactions import ATTRIBUTES

from sfumato.audit import audit
from sfumato.errors import Infeasible, ParameterError
from sfumato.methods.asn import ASN
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.schema import Attribute, Role, Schema

SHARES = (0.05, 0.1, 0.2, 0.25, 0.3, 0.3334, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0)
FOUR = Schema.of(
    name="identifier",
    gender="quasi-identifier",
    job="quasi-identifier",
    age="quasi-identifier",
    zipcode="quasi-identifier",
    salary="sensitive",
)


def check(release: Release, beta: float, gamma: float) -> Published:
    """Check a release by the literal definitions and by the audit; return it as it was read."""
    assert (release.manifest.method, release.manifest.layout) == ("asn", "anatomized")
    quasi = [e for e in release.manifest.tables if e.name.startswith("qi_")]
    assert all(len(entry.attributes) == 1 for entry in quasi)
    assert release.manifest.parameters == {"tables": len(quasi)}
    with tempfile.TemporaryDirectory() as home:
        release.save(Path(home) / "release", format="csv")
        published = read_release(Path(home) / "release")
    named = {name for entry in quasi for name in entry.attributes}
    assert named == set(published.with_role("quasi-identifier"))
    for name, claim in zip(
        published.with_role("sensitive"), release.manifest.guarantees, strict=True
    ):
        asked = {"alpha": 1.0, "beta": beta, "gamma": gamma, "delta": 1.0}
        assert claim == {"model": oracle.MODEL, "attribute": name} | asked
        assert all(oracle.within(f, claim) for f in oracle.of_release(published, name).values())
    assert audit(release).exit_code == 0
    return published


def test_each_attribute_of_the_example_has_a_table():
    release = ASN(beta=0.5).publish(pa.table(ATTRIBUTES), FOUR)
    published = check(release, 0.5, 1.0)
    tables = [entry.attributes for entry in release.manifest.tables]
    assert tables == [("gender",), ("job",), ("age",), ("zipcode",), ("salary",)]
    for values in group_values(published, "salary").values():
        assert len(set(values)) == len(values) >= 2


def test_gamma_is_the_product_of_all_tables():
    """Four of eight groups of two would have 1/2 to the fifth; a smaller gamma merges them."""
    release = ASN(beta=0.5, gamma=0.01).publish(pa.table(ATTRIBUTES), FOUR)
    published = check(release, 0.5, 0.01)
    assert all(
        found.gamma <= Fraction(1, 100) for found in oracle.of_release(published, "salary").values()
    )


@settings(max_examples=100)
@given(associated(max_rows=24), st.sampled_from(SHARES), st.sampled_from(SHARES))
def test_either_the_release_holds_or_it_is_refused(case, beta, gamma):
    try:
        release = ASN(beta=beta, gamma=gamma).publish(case.frame, case.schema)
    except (Infeasible, ParameterError) as error:
        assert str(error)
        return
    check(release, beta, gamma)


@settings(max_examples=60)
@given(associated(max_rows=24), st.data())
def test_a_beta_that_the_whole_table_keeps_is_never_refused(case, data):
    whole = case.whole()
    assume(whole is not None)
    beta = data.draw(st.sampled_from([s for s in SHARES if exact(s) >= whole.beta]))
    check(ASN(beta=beta).publish(case.frame, case.schema), beta, 1.0)


@settings(max_examples=40)
@given(samples(people=False), st.sampled_from(SHARES))
def test_two_sensitive_attributes(sample, beta):
    try:
        release = ASN(beta=beta).publish(sample.frame, sample.schema)
    except (Infeasible, ParameterError):
        return
    check(release, beta, 1.0)


def people(rows: int = 400) -> pa.Table:
    rng = repeatable(8)
    return pa.table(
        {
            "age": rng.integers(20, 60, rows),
            "job": [f"job {i}" for i in rng.integers(0, 5, rows)],
            "illness": [f"illness {i}" for i in rng.integers(0, 12, rows)],
            "ward": [f"ward {i}" for i in rng.integers(0, 3, rows)],
        }
    )


PEOPLE = Schema(
    (
        Attribute("age", Role.QUASI_IDENTIFIER),
        Attribute("job", Role.QUASI_IDENTIFIER),
        Attribute("illness", Role.SENSITIVE),
        Attribute("ward", Role.INSENSITIVE, keep=True),
    )
)


@pytest.mark.parametrize("gamma", [1.0, 0.02, 0.005])
def test_a_table_of_some_size(gamma):
    release = ASN(beta=0.2, gamma=gamma).publish(people(), PEOPLE)
    published = check(release, 0.2, gamma)
    assert len(group_values(published, "illness")) > 1
    assert [entry.name for entry in release.manifest.tables][-1] == "kept_1"


def test_a_smaller_gamma_makes_larger_groups():
    groups = [
        len(group_values(check(ASN(0.2, gamma).publish(people(), PEOPLE), 0.2, gamma), "illness"))
        for gamma in (1.0, 0.01, 0.004)
    ]
    assert groups == sorted(groups, reverse=True) and groups[0] > groups[-1]


def test_a_seeded_release_repeats():
    one, same, other = (
        ASN(beta=0.2).publish(people(), PEOPLE, randomness=Randomness.test(n)) for n in (1, 1, 2)
    )
    assert one.tables["qi_1"].equals(same.tables["qi_1"])
    assert not one.tables["qi_1"].equals(other.tables["qi_1"])


def test_an_infeasible_beta_is_answered_with_the_least():
    data = pa.table({"age": range(5), "illness": ["telltale", "telltale", "b", "c", "d"]})
    schema = Schema.of(age="quasi-identifier", illness="sensitive")
    with pytest.raises(Infeasible) as refusal:
        ASN(beta=0.3).publish(data, schema)
    message = str(refusal.value)
    assert "beta = 0.3 is infeasible" in message and "`illness` has 40.0%" in message
    assert "use beta >= 0.4" in message and "telltale" not in message
    check(ASN(beta=0.4).publish(data, schema), 0.4, 1.0)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "0.5", True, None, float("nan")])
def test_a_parameter_that_is_no_share(wrong):
    with pytest.raises(ParameterError, match="asn: `beta` must be a number above 0"):
        ASN(beta=wrong)
    with pytest.raises(ParameterError, match="asn: `gamma` must be a number above 0"):
        ASN(beta=0.5, gamma=wrong)


@pytest.mark.parametrize(
    ("roles", "reason"),
    [({"illness": "sensitive"}, "quasi-identifier"), ({"age": "quasi-identifier"}, "sensitive")],
)
def test_tables_of_another_shape_are_refused(roles, reason):
    with pytest.raises(ParameterError, match=f"asn needs at least one {reason}"):
        ASN(beta=0.5).publish(people().select(list(roles)), Schema.of(roles))
