"""Releases whose files are whole and whose contents contradict themselves are refused."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.audit import audit
from sfumato.audit.layouts import LAYOUTS
from sfumato.errors import ReleaseDamaged
from sfumato.methods import Mondrian
from sfumato.release import AttributeEntry, Bounds, Release, TableEntry
from sfumato.schema import Hierarchy, Kind, Role, Schema

from .conftest import with_attribute, with_cells, with_claims, with_manifest


def refused(release: Release, reason: str) -> None:
    with pytest.raises(ReleaseDamaged, match=reason) as caught:
        audit(release)
    assert "\n" not in str(caught.value)


def renamed(release: Release, names: dict[str, str]) -> Release:
    """Return the release with other names for some tables."""
    entries = tuple(
        each.model_copy(update={"name": names.get(each.name, each.name)})
        for each in release.manifest.tables
    )
    tables = {names.get(name, name): table for name, table in release.tables.items()}
    manifest = release.manifest.model_copy(update={"tables": entries})
    return Release(manifest, tables, release.hierarchies)


def every(old: str, new: str):
    return lambda cells: [new if cell == old else cell for cell in cells]


def first_to(new):
    return lambda cells: [new, *cells[1:]]


# --- layouts and tables ---------------------------------------------------------------------------


def test_a_layout_without_a_judge(generalized, monkeypatch):
    monkeypatch.delitem(LAYOUTS, "generalized")
    refused(generalized, "cannot be audited by this version")


def test_groups_are_not_sets(generalized):
    refused(with_manifest(generalized, layout="sets"), "has groups or counts")


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ({"qi_1": "qi_2"}, "numbered from 1"),
        ({"sensitive_1": "sensitive_01"}, "no table named"),
        ({"kept_1": "other"}, "no table named"),
        ({"qi_1": "sensitive_2"}, "not sensitive"),
    ],
)
def test_tables_with_wrong_names(names, reason, anatomized):
    refused(renamed(anatomized, names), reason)


def test_records_under_another_name(generalized):
    refused(renamed(generalized, {"records": "rows"}), "one table 'records'")


def test_a_role_without_a_place_in_the_layout(generalized):
    refused(with_attribute(generalized, "age", role=Role.SEMI_SENSITIVE), "no place")
    refused(with_attribute(generalized, "age", role=Role.IDENTIFIER), "no place")


def test_fakes_have_no_place_among_people(generalized):
    refused(with_manifest(generalized, parameters={"fakes": 3}), "fake")


def test_a_sensitive_attribute_among_the_quasi_identifiers(anatomized):
    refused(with_attribute(anatomized, "age", role=Role.SENSITIVE), "not quasi-identifier")


def test_a_table_without_counts(anatomized):
    entries = tuple(
        each.model_copy(update={"count": None} if each.name == "kept_1" else {})
        for each in anatomized.manifest.tables
    )
    tables = {**anatomized.tables, "kept_1": anatomized.tables["kept_1"].drop_columns(["count"])}
    manifest = anatomized.manifest.model_copy(update={"tables": entries})
    refused(Release(manifest, tables, anatomized.hierarchies), "of counts")


def test_tables_without_cells(anatomized):
    empty = TableEntry(name="qi_2", attributes=(), group="group", count="count")
    manifest = anatomized.manifest.model_copy(
        update={"tables": (*anatomized.manifest.tables, empty)}
    )
    bare = anatomized.tables["qi_1"].select(["group", "count"])
    tables = {**anatomized.tables, "qi_2": bare}
    refused(Release(manifest, tables, anatomized.hierarchies), "holds no attribute")
    units = empty.model_copy(update={"name": "units"})
    alone = manifest.model_copy(update={"tables": (units,), "attributes": (), "guarantees": ()})
    refused(Release(alone, {"units": bare}), "no tables of cells")


def test_an_attribute_in_two_tables(anatomized):
    entry = next(each for each in anatomized.manifest.tables if each.name == "sensitive_1")
    twin = entry.model_copy(update={"name": "sensitive_2"})
    manifest = anatomized.manifest.model_copy(
        update={"tables": (*anatomized.manifest.tables, twin)}
    )
    tables = {**anatomized.tables, "sensitive_2": anatomized.tables["sensitive_1"]}
    refused(Release(manifest, tables, anatomized.hierarchies), "once")


# --- groups ---------------------------------------------------------------------------------------


def test_a_wild_group_id_costs_no_memory(generalized):
    wild = with_cells(generalized, "records", "group", first_to(2**31 - 1))
    refused(wild, "group ids")


def test_rows_that_miss_a_cell_their_group_has(generalized):
    refused(with_cells(generalized, "records", "age", first_to(None)), "rows differ in 'age'")


# --- cells and domains ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "cell", "reason"),
    [
        ("age", "[30, 20]", "disorder"),
        ("age", "[20, 20]", "grammar"),
        ("age", "[20,30]", "grammar"),
        ("age", "[20, 95]", "outside its domain"),
        ("age", "[10, 30]", "outside its domain"),
        ("age", "007", "do not read as values"),
        ("age", "91", "outside its domain"),
        ("age", "young", "do not read as values"),
        ("age", "{20, null}", "grammar"),
        ("age", "{20}", "grammar"),
        ("age", "{null, [30, 20]}", "disorder"),
        ("age", "[20, null]", "grammar"),
        ("town", "Bonn ", "grammar"),
        ("town", "{Köln, Bonn}", "grammar"),
        ("town", "{Bonn, Bonn}", "grammar"),
        ("town", "{Bonn, Ulm}", "outside its domain"),
        ("town", "[Bonn, Ulm]", "no order"),
        ("town", "Ulm", "outside its domain"),
        ("job", "Heath", "outside its domain"),
        ("job", "{Nurse, Pilot}", "outside its domain"),
        ("severity", "[severe, mild]", "disorder"),
        ("severity", "[mild, dead]", "outside its domain"),
        ("admitted", "[2020-02-01, 2020-01-01]", "disorder"),
        ("admitted", "[2020-02-01, 2020-02-31]", "do not read as values"),
        ("admitted", "[2019-12-31, 2020-01-05]", "outside its domain"),
    ],
)
def test_a_quasi_identifier_cell_that_cannot_be(name, cell, reason, generalized):
    old = generalized.tables["records"][name].to_pylist()[0]
    refused(with_cells(generalized, "records", name, every(old, cell)), f"'{name}' has .*{reason}")


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("age", "*"),
        ("age", "{null, 20}"),
        ("age", None),
        ("town", '{Bonn, "Köln, Süd"}'),
        ("town", ""),
        ("town", None),
        ("job", "Health"),
        ("job", "Nurse"),
        ("severity", "[mild, deadly]"),
        ("admitted", "[2020-01-01, 2020-12-31]"),
    ],
)
def test_a_quasi_identifier_cell_that_can_be(name, cell, generalized):
    column = generalized.tables["records"][name].to_pylist()
    groups = generalized.tables["records"]["group"].to_pylist()
    changed = [cell if g == groups[0] else old for g, old in zip(groups, column, strict=True)]
    assert audit(with_cells(generalized, "records", name, lambda _: changed)).ok


@pytest.mark.parametrize("cell", ["*", "null", "{Flu, Ulcer}", "Lungs", "{null, Flu}"])
def test_a_sensitive_cell_that_is_not_exact(cell, generalized):
    spoilt = with_cells(generalized, "records", "disease", first_to(cell))
    refused(spoilt, "not exact|outside its domain")


@pytest.mark.parametrize("name", ["cost", "ward"])
def test_an_exact_column_as_text_or_out_of_its_domain(name, generalized):
    value = "1e9" if name == "cost" else "north"
    place = generalized.tables["records"].column_names.index(name)
    column = pa.array([value] * generalized.manifest.rows)
    tables = {"records": generalized.tables["records"].set_column(place, name, column)}
    refused(
        Release(generalized.manifest, tables, generalized.hierarchies),
        "not of its type|outside its domain",
    )


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -0.1, 10001.0])
def test_a_number_that_is_none_or_lies_outside(number, generalized):
    refused(with_cells(generalized, "records", "cost", first_to(number)), "'cost' has values")


def test_two_zeros_are_one_value():
    table = pa.table({"age": [20, 20], "cost": [0.0, 1.0]})
    release = Mondrian(k=2).publish(table, Schema.of(age="quasi-identifier", cost="sensitive"))
    claim = {"model": "l-diversity", "attribute": "cost", "variant": "distinct", "l": 2}
    assert audit(with_claims(release, claim)).ok
    spoilt = with_cells(with_claims(release, claim), "records", "cost", lambda _: [0.0, -0.0])
    report = audit(spoilt)
    assert (report.ok, report.guarantees[0].worst) == (False, 1)


@pytest.mark.parametrize(
    ("name", "changes", "reason"),
    [
        ("age", {"domain": Bounds(min=90, max=15)}, "ends make no sense"),
        ("age", {"domain": Bounds(min="low", max="high")}, "ends make no sense"),
        ("age", {"domain": ("20", "30")}, "values make no sense"),
        ("age", {"kind": Kind.CATEGORICAL}, "ends make no sense"),
        ("town", {"kind": Kind.NUMERIC}, "its type is not"),
        ("town", {"domain": ("Bonn", "Bonn")}, "values make no sense"),
        ("town", {"domain": Bounds(min=0, max=1)}, "ends make no sense"),
        ("severity", {"domain": None}, "no order"),
        ("severity", {"kind": Kind.CATEGORICAL}, "no order"),
        ("job", {"domain": ("Nurse", "Doctor", "Clerk", "Health")}, "contradicts its hierarchy"),
        ("disease", {"domain": ("Flu",)}, "outside its domain"),
    ],
)
def test_a_description_that_makes_no_sense(name, changes, reason, generalized):
    refused(with_attribute(generalized, name, **changes), f"'{name}' .*{reason}")


def test_a_hierarchy_that_lacks_a_published_value(generalized):
    fewer = Hierarchy.from_rows([("Flu", "Lungs", "*")], "disease")
    hierarchies = {**generalized.hierarchies, "disease": fewer}
    refused(Release(generalized.manifest, generalized.tables, hierarchies), "outside its domain")


def test_a_hierarchy_of_something_else(generalized):
    other = Hierarchy.from_rows([("young", "any", "*")], "age")
    hierarchies = {**generalized.hierarchies, "age": other}
    refused(Release(generalized.manifest, generalized.tables, hierarchies), "leaves are not values")


def test_a_pruned_hierarchy_explains_its_labels():
    """`[0, 17]` is a label in range form, and a leaf of its own once its values are pruned."""
    ages = Hierarchy.from_rows(
        [("[0, 17]", "[0, 17]", "*"), ("18", "[18, 90]", "*"), ("20", "[18, 90]", "*")], "age"
    )
    entry = AttributeEntry(
        name="age",
        role="quasi-identifier",
        kind="numeric",
        type="int64",
        domain=Bounds(min=0, max=90),
    )
    release = Mondrian(k=1).publish(
        pa.table({"age": [18, 20], "x": ["a", "b"]}),
        Schema.of(age="quasi-identifier", x="sensitive"),
    )
    manifest = release.manifest.model_copy(
        update={"attributes": (entry, release.manifest.attributes[1]), "rows": 4}
    )
    records = pa.table(
        {
            "group": [1, 2, 3, 4],
            "age": ["[0, 17]", "18", "[18, 90]", "*"],
            "x": ["a", "b", "a", "b"],
        }
    )
    assert audit(Release(manifest, {"records": records}, {"age": ages})).ok
    assert not audit(Release(manifest, {"records": records}, {"age": ages})).problems


# --- claims ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ({"model": "l-diversity", "attribute": "age", "l": 2}, "not sensitive"),
        ({"model": "l-diversity", "attribute": "ward", "l": 2}, "not sensitive"),
        ({"model": "l-diversity", "l": 2}, "needs"),
        ({"model": "l-diversity", "attribute": "disease", "l": 2.5}, "whole number"),
        ({"model": "l-diversity", "attribute": "disease", "l": 2, "variant": "odd"}, "variant"),
        ({"model": "l-diversity", "attribute": "disease", "l": 2, "holds": True}, "unknown key"),
        ({"model": "l-diversity", "attribute": "disease", "l": 2**62}, "above"),
        ({"model": "k-anonymity", "k": 10**400}, "above"),
        ({"model": "beta-likeness", "attribute": "disease", "beta": 10**400}, "above"),
        ({"model": "k-anonymity", "k": True}, "whole number"),
        ({"model": "t-closeness", "attribute": "disease", "t": 2}, "at most 1"),
        ({"model": "t-closeness", "attribute": "disease", "t": 1, "distance": "ordered"}, "order"),
        ({"model": "t-closeness", "attribute": "cost", "t": 1, "distance": "hierarchical"}, "hier"),
        ({"model": "minimum-width", "attribute": "disease", "width": 0.1}, "not numeric"),
        ({"model": "delta-presence", "minimum": 2, "maximum": 1}, "minimum"),
    ],
)
def test_a_claim_that_makes_no_sense(claim, reason, generalized):
    refused(with_claims(generalized, claim), reason)


def test_a_table_entry_without_groups(generalized):
    entry = TableEntry(
        name="records", attributes=tuple(e.name for e in generalized.manifest.attributes)
    )
    tables = {"records": generalized.tables["records"].drop_columns(["group"])}
    manifest = generalized.manifest.model_copy(update={"tables": (entry,)})
    refused(Release(manifest, tables, generalized.hierarchies), "column of groups")
