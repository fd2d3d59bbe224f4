"""Households: every group holds so many of them, counted by hand from whose rows are where."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.audit import audit
from sfumato.errors import Infeasible, ParameterError, ReleaseDamaged, SchemaError
from sfumato.jobs.same_cuts import reapply
from sfumato.models import LDiversity, TCloseness
from sfumato.release import Release
from sfumato.schema import Attribute, EqualWidth, Schema
from sfumato.table import encode

ROLES = {"age": "quasi-identifier", "sex": "quasi-identifier", "who": "sensitive"}


def schema(**more: str | None) -> Schema:
    return Schema(Schema.of(ROLES).attributes, household="home", **more)


def recoded_schema() -> Schema:
    age = Attribute("age", "quasi-identifier", hierarchy=EqualWidth(width=10))
    sex = Attribute("sex", "quasi-identifier")
    return Schema((age, sex, Attribute("who", "sensitive")), household="home")


@st.composite
def crowds(draw) -> pa.Table:
    """People of a few households, with a number that tells whose row is whose."""
    homes = draw(st.lists(st.integers(0, 9), min_size=4, max_size=30))
    n = len(homes)
    ages = draw(st.lists(st.integers(20, 40), min_size=n, max_size=n))
    sexes = draw(st.lists(st.sampled_from("FM"), min_size=n, max_size=n))
    return pa.table({"age": ages, "sex": sexes, "who": list(range(n)), "home": homes})


def households_of_groups(release: Release, data: pa.Table) -> dict[int, set[int]]:
    """Return which households each group holds, read off the numbers of people."""
    homes = data["home"].to_pylist()
    found = defaultdict(set)
    records = release.tables["records"]
    for group, who in zip(records["group"].to_pylist(), records["who"].to_pylist(), strict=True):
        found[group].add(homes[int(who)])
    return found


@settings(max_examples=80)
@given(crowds(), st.integers(2, 4), st.sampled_from(["mondrian", "full-domain"]))
def test_every_group_holds_k_households(data, k, name):
    method = sf.Mondrian(k=k) if name == "mondrian" else sf.FullDomain(k=k, suppression=0.3)
    asked = schema() if name == "mondrian" else recoded_schema()
    assume(len(set(data["home"].to_pylist())) >= k)
    try:
        release = method.publish(data, asked)
    except Infeasible:
        assert name == "full-domain"
        return
    found = households_of_groups(release, data)
    assert all(len(homes) >= k for homes in found.values())
    report = audit(release)
    assert report.ok
    assert report.guarantees[0].worst == min((len(h) for h in found.values()), default=None)
    if "units" in release.tables:
        stated = release.tables["units"].to_pydict()
        counts = dict(zip(stated["group"], stated["count"], strict=True))
        assert counts == {group: len(homes) for group, homes in found.items()}
    assert release.manifest.parameters["household"] is True
    assert "home" not in release.tables["records"].column_names


@settings(max_examples=40)
@given(crowds())
def test_values_are_counted_once_a_household(data):
    """Of l households that a value is to be spread over, no two people of one count twice."""
    values = [str(int(who) % 3) for who in data["who"].to_pylist()]
    data = data.append_column("illness", pa.array(values))
    asked = Schema((*schema().attributes, Attribute("illness", "sensitive")), household="home")
    method = sf.Mondrian(k=2, models=(LDiversity("illness", 2),))
    try:
        release = method.publish(data, asked)
    except Infeasible:
        return
    assert audit(release).ok
    homes = data["home"].to_pylist()
    held = defaultdict(lambda: defaultdict(set))
    for row in release.tables["records"].to_pylist():
        held[row["group"]][row["illness"]].add(homes[int(row["who"])])
    for by_value in held.values():
        everybody = set().union(*by_value.values())
        assert all(2 * len(those) <= len(everybody) for those in by_value.values())


def test_without_households_people_would_do():
    data = pa.table(
        {"age": [20, 20, 40, 40], "sex": list("FFFF"), "who": [0, 1, 2, 3], "home": [1, 1, 2, 2]}
    )
    plain = sf.Mondrian(k=2).publish(data.drop_columns(["home"]), Schema.of(ROLES))
    assert len(set(plain.tables["records"]["group"].to_pylist())) == 2
    counted = sf.Mondrian(k=2).publish(data, schema())
    assert set(counted.tables["records"]["age"].to_pylist()) == {"[20, 40]"}
    with pytest.raises(Infeasible):
        sf.Mondrian(k=3).publish(data, schema())


def test_a_household_a_row_needs_no_tables_of_them():
    data = pa.table({"age": [20, 20], "sex": list("FF"), "who": [0, 1], "home": [5, 4]})
    release = sf.TopDown(k=2).publish(data, schema())
    assert list(release.tables) == ["records"]
    assert release.manifest.parameters["household"] is True
    (note,) = (each.note for each in audit(release).guarantees)
    assert note == "counts households; given that no two rows share one"


def test_the_audit_says_that_it_counts_households():
    data = pa.table(
        {"age": [20, 20, 20], "sex": list("FFF"), "who": [0, 1, 2], "home": ["a", "a", "b"]}
    )
    release = sf.Mondrian(k=2).publish(data, schema())
    report = audit(release)
    (note,) = [each.note for each in report.guarantees]
    assert note == "counts households; given the stated counts"
    assert (report.guarantees[0].worst, report.ok) == (2, True)
    notes = release.query("SELECT COUNT(*)").notes
    assert "households have several rows here, and answers count rows" in notes
    wrong = release.manifest.model_copy(
        update={"parameters": {**release.manifest.parameters, "household": "yes"}}
    )
    with pytest.raises(ReleaseDamaged, match="'household' is not true"):
        audit(Release(wrong, release.tables))


def test_people_with_several_rows_lie_in_one_household():
    data = pa.table(
        {
            "name": ["A", "A", "B", "C"],
            "age": [20, 21, 22, 23],
            "home": ["x", "x", "x", "y"],
        }
    )
    roles = Schema.of(name="identifier", age="quasi-identifier").attributes
    asked = Schema(roles, unit="name", household="home")
    one, two, three, other = encode(data, asked).units.tolist()
    assert one == two == three != other
    alone = Schema(roles, unit="name", household="name")
    assert encode(data.drop_columns(["home"]), alone).unit_count == 3
    torn = data.set_column(2, "home", pa.array(["x", "y", "x", "y"]))
    with pytest.raises(SchemaError, match="1 people of column 'name' are in several households"):
        encode(torn, asked)
    missing = data.set_column(2, "home", pa.array(["x", "x", None, "y"]))
    with pytest.raises(SchemaError, match="are missing in 1 of 4 rows"):
        encode(missing, asked)
    with pytest.raises(SchemaError, match="identifier 'name' repeats"):
        encode(data, Schema(roles, household="home"))


@pytest.mark.parametrize(
    "method",
    [sf.TopDown(k=2), sf.MDAV(k=2), sf.LocalSuppression(k=2), sf.Anatomy(l=2), sf.LGB(k=2, l=2)],
    ids=lambda method: method.name,
)
def test_methods_of_one_row_each_say_that_households_have_several(method):
    data = pa.table({"age": [20, 20, 30], "sex": list("FFM"), "who": [0, 1, 2], "home": [1, 1, 2]})
    with pytest.raises(ParameterError, match="counts rows, and some households have several"):
        method.publish(data, schema())


def test_models_of_the_whole_table_speak_of_households():
    data = pa.table({"age": [20, 20, 30], "sex": list("FFM"), "who": [0, 1, 2], "home": [1, 1, 2]})
    with pytest.raises(ParameterError, match="some households have several"):
        sf.Mondrian(k=2, models=(TCloseness("who", 0.9),)).publish(data, schema())


def test_households_and_pseudonyms_do_not_go_together():
    name = Attribute("name", "identifier", pseudonym="person")
    with pytest.raises(SchemaError, match="leave out `household` or `pseudonym`"):
        Schema((name, *Schema.of(ROLES).attributes), household="home")


def test_cuts_are_applied_by_households_again():
    rng = np.random.default_rng(4)

    def month() -> pa.Table:
        return pa.table(
            {
                "age": rng.integers(20, 60, 120),
                "sex": rng.choice(list("FM"), 120),
                "who": np.arange(120),
                "home": rng.integers(0, 60, 120),
                "w": rng.random(120) + 0.5,
            }
        )

    may, june = month(), month()
    asked = schema(weight="w")
    release = sf.Mondrian(k=6).publish(may, asked)
    again = reapply(release, june, asked, suppression=0.9)
    assert all(len(homes) >= 6 for homes in households_of_groups(again, june).values())
    assert again.manifest.parameters["household"] is True
    assert audit(again).ok
    assert again.tables["records"].column_names[-1] == "w"
    with pytest.raises(ParameterError, match="only one of the policy and the earlier release"):
        reapply(release, june.drop_columns(["home"]), Schema(asked.attributes, weight="w"))
    with pytest.raises(ParameterError, match="do not have the same weights"):
        reapply(release, june.drop_columns(["w"]), schema())


def test_refusals_speak_of_what_is_counted():
    data = pa.table(
        {"home": [1, 1, 1, 2, 3], "age": [1, 2, 3, 4, 5], "ill": ["a", "a", "a", "a", "b"]}
    )
    attributes = Schema.of(age="quasi-identifier", ill="sensitive", home="identifier").attributes
    with pytest.raises(Infeasible, match=r"has 66\.7% of the households;"):
        sf.Mondrian(k=1, models=(LDiversity("ill", 2),)).publish(
            data, Schema(attributes, household="home")
        )
    with pytest.raises(Infeasible, match="more than the 3 households in the table"):
        sf.Mondrian(k=4).publish(data, Schema(attributes, household="home"))
    with pytest.raises(Infeasible, match=r"has 66\.7% of the people;"):
        sf.Mondrian(k=1, models=(LDiversity("ill", 2),)).publish(
            data, Schema(attributes, unit="home")
        )
