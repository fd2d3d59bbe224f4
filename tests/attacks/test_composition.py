"""The composition attack over all layouts, against its slow and literal form."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from oracles import composition as oracle

from sfumato.attacks import People, Regions, compose
from sfumato.errors import Infeasible
from sfumato.methods.lgb import LGB
from sfumato.publish.anatomize import anatomized_tables
from sfumato.publish.assemble import assemble
from sfumato.publish.records import generalized_records
from sfumato.publish.slice import block_names, sliced_records
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import Attribute, Hierarchy, Role, Schema
from sfumato.schema.builders import EqualWidth, Mask, Quantiles
from sfumato.table import Groups, encode

LAYOUTS = ("generalized", "anatomized", "sliced", "local")
CITIES = Hierarchy.from_rows(
    [
        *(("Lima", "Peru", "America"), ("Cusco", "Peru", "America"), ("Havana", "Cuba", "America")),
        *(
            ("Luanda", "Angola", "Africa"),
            ("Cairo", "Egypt", "Africa"),
            ("Giza", "Egypt", "Africa"),
        ),
    ],
    "city",
)
GRADES = ("low", "fair", "good", "best")
DISEASES = ("Flu", "Fever", "HIV", "Ovarian Cancer")
RULE = "sex = 'M' AND disease = 'Ovarian Cancer'"
COLUMNS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any], dict[str, Any]]] = {
    "age": (pa.int32(), st.integers(0, 9), {}),
    "pay": (pa.int64(), st.integers(-3, 30), {"hierarchy": Quantiles(3)}),
    "city": (pa.string(), st.sampled_from(CITIES.leaves), {"hierarchy": CITIES}),
    "grade": (pa.string(), st.sampled_from(GRADES), {"order": GRADES}),
    "zip": (pa.string(), st.text("12", min_size=3, max_size=3), {"hierarchy": Mask()}),
    "weight": (pa.float64(), st.sampled_from([0.1, 0.25, 1.5, -2.0, 60.0]), {}),
    "dose": (
        pa.float64(),
        st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0]),
        {"hierarchy": EqualWidth(width=0.5, levels=3)},
    ),
    "sex": (pa.string(), st.sampled_from("FM"), {}),
}


def schema_of(names: list[str], semi: str | None) -> Schema:
    roles = {name: Role.SEMI_SENSITIVE if name == semi else Role.QUASI_IDENTIFIER for name in names}
    flags = {name: {"flag": "private"} if name == semi else {} for name in names}
    known = (Attribute(n, roles[n], **COLUMNS[n][2], **flags[n]) for n in names)
    disease = Attribute("disease", Role.SENSITIVE)
    private = () if semi else (Attribute("private", Role.INSENSITIVE),)
    return Schema((Attribute("name", Role.IDENTIFIER), *known, disease, *private))


def table_of(rows: list[dict[str, Any]], names: list[str]) -> pa.Table:
    types = {name: COLUMNS[name][0] for name in names}
    types |= {"name": pa.string(), "disease": pa.string(), "private": pa.bool_()}
    columns = {n: pa.array([row[n] for row in rows], dtype) for n, dtype in types.items()}
    return pa.table(columns)


def published(data: pa.Table, schema: Schema, layout: str, ids: list[int]) -> Release:
    """Return a release of just these groups, whatever they protect."""
    if layout == "local":
        try:
            return LGB(k=1 + ids[0], t=1.0).publish(data, schema, randomness=Randomness.test(1))
        except Infeasible:  # no bucket hides the only value
            reject()
    table = encode(data, schema)
    _, dense = np.unique(ids, return_inverse=True)
    groups = Groups(dense.astype(np.int32), int(dense.max()) + 1)
    rng, parameters = Randomness.test(0).generator("tables"), {}
    if layout == "generalized":
        tables = generalized_records(table, groups, rng=rng)
    else:
        quasi = list(table.quasi_identifiers)
        blocks = [quasi] if ids[-1] or len(quasi) < 2 else [quasi[:1], quasi[1:]]
        if layout == "anatomized":
            tables = anatomized_tables(table, groups, blocks, rng=rng)
        else:
            parameters = {"columns": block_names(table, blocks)}
            tables = sliced_records(table, groups, blocks, rng=rng)
    return assemble(
        tables, method="test", rows=table.rows, models=[], parameters=parameters, is_test=True
    )


def on_a_line(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the rows of all numbers that there may be, under the labels that hold them."""
    levels = [list(dict.fromkeys(labels)) for labels in zip(*rows, strict=True)][1:]
    return [
        (str(n), *(next((x for x in level if holds(x, n)), f"no label: {n}") for level in levels))
        for n in range(-20, 50)
    ]


def holds(label: str, number: int) -> bool:
    """Whether a label of `Quantiles` holds a whole number."""
    if label == "*" or label == str(number):
        return True
    if label[0] == "<":
        return number < int(label[1:])
    if label[0] == ">":
        return number >= int(label[2:])
    ends = label.strip("[]").split(", ")
    return len(ends) == 2 and int(ends[0]) <= number <= int(ends[1])


class Case:
    """Some releases with their originals, and what the oracle says of them."""

    def __init__(self, tables: list[pa.Table], schemas: list[Schema], releases: list[Release]):
        self.tables, self.schemas, self.releases = tables, schemas, releases
        whole: dict[str, dict[tuple[str, ...], None]] = {}
        for table, schema in zip(tables, schemas, strict=True):
            for attribute in encode(table, schema).schema:
                if isinstance(attribute.hierarchy, Hierarchy):
                    rows = whole.setdefault(attribute.name, {})
                    rows.update(dict.fromkeys(attribute.hierarchy.rows()))
        # intervals that follow the data differ between tables: each has its own
        self.shown = []
        for release, table, schema in zip(releases, tables, schemas, strict=True):
            own = {
                each.name: each.hierarchy.rows()
                for each in encode(table, schema).schema
                if isinstance(each.hierarchy, Hierarchy)
            }
            trees = {n: on_a_line(own[n]) if n == "pay" else list(whole[n]) for n in own}
            self.shown.append(oracle.show(release, trees))
        self.rows = [{row["name"]: row for row in table.to_pylist()} for table in tables]

    def people(self, *places: int) -> list[tuple[dict[str, Any], ...]]:
        names = set.intersection(*(set(self.rows[place]) for place in places))
        return [tuple(self.rows[place][name] for place in places) for name in sorted(names)]


@st.composite
def cases(
    draw: Any,
    *,
    count: int = 2,
    columns: tuple[str, ...] = tuple(COLUMNS),
    layouts: tuple[str, ...] = LAYOUTS,
) -> Case:
    """Return releases of overlapping people, some of whom have changed in between."""
    known = draw(st.lists(st.sampled_from(columns), min_size=1, max_size=3, unique=True))
    cell = {name: st.none() | COLUMNS[name][1] for name in known}
    cell |= {"disease": st.none() | st.sampled_from(DISEASES), "private": st.booleans()}
    people = st.lists(st.fixed_dictionaries(cell), min_size=4, max_size=9)
    population = [{**row, "name": f"p{i}"} for i, row in enumerate(draw(people))]
    tables, schemas, releases = [], [], []
    for _ in range(count):
        chosen = draw(st.permutations(population))[: draw(st.integers(3, len(population)))]
        if draw(st.booleans()):
            changed = draw(st.fixed_dictionaries(cell))
            chosen = [chosen[0] | changed, *chosen[1:]]
        layout = draw(st.sampled_from(layouts))
        follows = known[0] in ("pay", "dose")  # a hierarchy that follows the data is refused
        semi = known[0] if layout == "local" and not follows else None
        schema = schema_of(known, semi)
        data = table_of(chosen, known)
        ids = draw(st.lists(st.integers(0, 2), min_size=len(chosen), max_size=len(chosen)))
        tables.append(data)
        schemas.append(schema)
        releases.append(published(data, schema, layout, ids))
    return Case(tables, schemas, releases)


def check_matches(found, expected) -> None:
    total, true, records, people = (sum(each) for each in zip(*expected, strict=True))
    assert (found.total, found.true, found.people) == (total, true, people)
    assert found.records == pytest.approx(float(records))


def check_people(found: People | None, expected: dict[str, Any]) -> None:
    assert found is not None
    for key in ("examined", "disclosed", "alone", "nothing_left", "changed"):
        assert getattr(found, key) == expected[key], key
    for key in ("after", "covered", "guess"):
        assert getattr(found, key) == pytest.approx(float(expected[key])), key
    assert found.before == pytest.approx([float(mean) for mean in expected["before"]])


def check_regions(found: Regions | None, expected: dict[str, Any]) -> None:
    assert found is not None
    assert not found.is_sample
    for key in ("examined", "collapsed", "nothing_left"):
        assert getattr(found, key) == expected[key], key
    assert found.after == pytest.approx(float(expected["after"]))
    assert found.before == pytest.approx([float(mean) for mean in expected["before"]])


@given(cases())
@settings(max_examples=50)
def test_two_releases_as_the_oracle_has_it(case: Case) -> None:
    found = compose(case.releases, originals=case.tables, identifier="name")["disease"].people
    people = case.people(0, 1)
    check_people(found, oracle.attack(case.shown, people, "disease"))
    assert found is not None
    assert found.covered == 1
    expected = oracle.matches(*case.shown, people, "disease")
    check_matches(found.matches, [expected])
    regions = compose(case.releases)["disease"].regions
    check_regions(regions, oracle.regions(case.shown, "disease"))


@given(cases(layouts=("generalized", "local")))
@settings(max_examples=50)
def test_cells_of_all_kinds_as_the_oracle_has_it(case: Case) -> None:
    people = case.people(0, 1)
    found = compose(case.releases, originals=case.tables, identifier="name")["disease"].people
    check_people(found, oracle.attack(case.shown, people, "disease"))
    assert found is not None
    expected = oracle.matches(*case.shown, people, "disease")
    check_matches(found.matches, [expected])
    regions = compose(case.releases)["disease"].regions
    check_regions(regions, oracle.regions(case.shown, "disease"))


@given(cases(count=3, columns=("age", "sex", "city")))
@settings(max_examples=25)
def test_three_releases_as_the_oracle_has_it(case: Case) -> None:
    found = compose(case.releases, originals=case.tables, identifier="name")["disease"].people
    check_people(found, oracle.attack(case.shown, case.people(0, 1, 2), "disease"))
    pairs = [
        oracle.matches(case.shown[i], case.shown[j], case.people(i, j), "disease")
        for i, j in combinations(range(3), 2)
    ]
    assert found is not None
    check_matches(found.matches, pairs)
    regions = compose(case.releases)["disease"].regions
    check_regions(regions, oracle.regions(case.shown, "disease"))


def subject_to_rule(shown: oracle.Shown, group: int) -> set[Any]:
    """Return what the rule excludes where all cells of a class say that sex is M."""
    for names, combinations_ in shown.blocks:
        if "sex" in names:
            place = list(names).index("sex")
            if {cells[place] for cells in combinations_[group]} == {oracle.Exact("M")}:
                return {"Ovarian Cancer"}
    return set()


@given(cases(columns=("sex", "grade")))
@settings(max_examples=30)
def test_rules_as_the_oracle_has_it(case: Case) -> None:
    if "sex" not in case.shown[0].known:
        return
    case_with_sex = [release for release in case.releases if release.manifest.layout != "local"]
    found = compose(case.releases, originals=case.tables, identifier="name", knows=[RULE])
    expected = oracle.attack(
        case.shown,
        case.people(0, 1),
        "disease",
        lambda person, value: person["sex"] == "M" and value == "Ovarian Cancer",
    )
    check_people(found["disease"].people, expected)
    if len(case_with_sex) == 2:  # what a bucket of men tells is not in the oracle
        regions = compose(case.releases, knows=[RULE])["disease"].regions
        check_regions(regions, oracle.regions(case.shown, "disease", subject_to_rule))


@given(cases(columns=("age", "sex", "zip")))
@settings(max_examples=30)
def test_without_identifier_people_are_those_who_agree(case: Case) -> None:
    names = [*case.shown[0].known, "disease"]
    left = [tuple(row[n] for n in names) for row in case.tables[1].to_pylist()]
    people = []
    for row in case.tables[0].to_pylist():
        key = tuple(row[n] for n in names)
        if key in left:
            left.remove(key)
            people.append((row, row))
    outcome = compose(case.releases, originals=case.tables)
    assert outcome.matched_by == "values"
    check_people(outcome["disease"].people, oracle.attack(case.shown, people, "disease"))
