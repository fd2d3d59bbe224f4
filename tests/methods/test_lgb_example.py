"""The worked example of the LGB paper, by the algorithm (its own figure shows other buckets)."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.csv as pv
import pytest

from sfumato.audit import audit
from sfumato.methods import LGB
from sfumato.models import KAnonymity
from sfumato.predicates.flags import flagged
from sfumato.randomness import Randomness
from sfumato.rows.local_buckets import unique_buckets
from sfumato.rows.local_groups import local_groups
from sfumato.rows.mondrian import mondrian
from sfumato.rows.patterns import Patterns
from sfumato.rows.top_down import top_down
from sfumato.schema import Attribute, Role, Schema
from sfumato.schema.builders import Mask
from sfumato.table import Groups, Table, encode

SCHEMA = Schema(
    (
        Attribute("id", Role.IDENTIFIER),
        Attribute("age", Role.SEMI_SENSITIVE, flag="age.sensitive"),
        Attribute("gender", Role.SEMI_SENSITIVE, flag="gender.sensitive"),
        Attribute(
            "zipcode", Role.SEMI_SENSITIVE, flag="zipcode.sensitive", hierarchy=Mask("right")
        ),
        Attribute("disease", Role.SENSITIVE),
        Attribute("disease.sensitive", Role.INSENSITIVE),
    )
)
GENERALIZED = ("age", "gender", "zipcode")
SEEDS = range(12)


@pytest.fixture(scope="module")
def patients(shared) -> pa.Table:
    """The paper's microdata: every disease is sensitive, some ages and zip codes are."""
    options = pv.ConvertOptions(column_types={"zipcode": pa.string()})
    data = pv.read_csv(shared / "vectors" / "hospital_flags.csv", convert_options=options)
    assert data["disease.sensitive"].to_pylist() == [True] * 8
    return data


@pytest.fixture(scope="module")
def table(patients) -> Table:
    return flagged(encode(patients, SCHEMA), patients)


def people(groups: Groups) -> set[frozenset[int]]:
    """Return the groups by the ids of their people, which are 1001, 1002 … in order."""
    return {frozenset(1001 + i for i in groups.members(g).tolist()) for g in range(groups.count)}


def test_the_quasi_identifiers_part_people_by_their_flags(table):
    patterns = Patterns.of([table.flags[name] for name in GENERALIZED], table.rows)
    assert people(patterns.groups) == {
        frozenset({1001, 1002}),
        frozenset({1003, 1006}),
        frozenset({1004, 1005, 1007, 1008}),
    }


@pytest.mark.parametrize("way", ["mdp", "ncp"])
def test_the_local_equivalence_groups(table, way):
    columns = [table[name] for name in GENERALIZED]
    for seed in SEEDS:
        rng = Randomness.test(seed).generator("groups")

        def partition(masked, within, rng=rng):
            if way == "ncp":
                return top_down(table, 2, rng=rng, quasi_identifiers=masked, within=within)
            return mondrian(
                table, [KAnonymity(2)], rng=rng, quasi_identifiers=masked, within=within
            )

        groups = local_groups(columns, [table.flags[name] for name in GENERALIZED], 2, partition)
        assert people(groups) == {
            frozenset({1001, 1002}),
            frozenset({1003, 1006}),
            frozenset({1004, 1008}),
            frozenset({1005, 1007}),
        }


def test_the_local_buckets(table):
    expected = {
        "age": [[24, 29], [31, 34]],
        "zipcode": [["21344", "21357"]],
        "disease": [
            ["Bronchitis", "Dyspepsia"],
            ["Bronchitis", "Flu"],
            ["Gastritis", "Pneumonia"],
            ["Hepatitis", "Pneumonia"],
        ],
    }
    for seed in SEEDS:
        for name, buckets in expected.items():
            column = table[name]
            codes = column.codes[table.flags[name]] if name in table.flags else column.codes
            rng = Randomness.test(seed).generator(name)
            groups = unique_buckets(codes, column.cardinality, 2, rng=rng)
            values = column.values.to_pylist()
            found = [
                sorted(values[code] for code in codes[groups.members(b)])
                for b in range(groups.count)
            ]
            assert sorted(found) == buckets


@pytest.mark.parametrize("way", ["mdp", "ncp"])
def test_the_release(patients, way):
    release = LGB(k=2, l=2, generalize=way).publish(patients, SCHEMA)
    records = release.tables["records"].to_pylist()
    assert release.manifest.parameters["withheld_cells"] == 0
    shown = {}
    for row in records:
        cells = [
            row[name] if row[f"{name}.bucket"] is None else "in a bucket" for name in GENERALIZED
        ]
        assert shown.setdefault(row["group"], cells) == cells
    assert sorted(shown.values()) == [
        ["[16, 22]", "Male", "2135*"],
        ["[25, 28]", "{Female, Male}", "in a bucket"],
        ["in a bucket", "Female", "21328"],
        ["in a bucket", "Male", "213**"],
    ]
    ages: dict[int, set[str]] = {}
    for row in records:
        if row["age.bucket"] is not None:
            ages.setdefault(row["age.bucket"], set()).add(row["age"])
    assert sorted(map(sorted, ages.values())) == [["24", "29"], ["31", "34"]]
    assert audit(release).ok


def test_within_a_bucket_values_are_anybodys(patients):
    """Group of 1004 and 1008: whose ages lie in different buckets, each of two equal chances."""
    seen = set()
    for seed in range(40):
        release = LGB(k=2, l=2).publish(patients, SCHEMA, randomness=Randomness.test(seed))
        (ages,) = {
            frozenset(r["age"] for r in release.tables["records"].to_pylist() if r["group"] == g)
            for g in {
                row["group"]
                for row in release.tables["records"].to_pylist()
                if row["age.bucket"] is not None and row["gender"] == "Male"
            }
        }
        seen.add(ages)
    assert seen == {frozenset({a, b}) for a in ("24", "29") for b in ("31", "34")}
