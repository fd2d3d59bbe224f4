"""What is run: the tables, their schemas, and the methods with the stages that they consist of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import sfumato.methods.anatomy
import sfumato.methods.arp
import sfumato.methods.associated
import sfumato.methods.merging
import sfumato.methods.mondrian
from sfumato.datasets import adult_schema, census, census_schema, load_adult
from sfumato.methods import ARP, SLPPA, Anatomy, Merging, Method, Mondrian
from sfumato.schema import Hierarchy, Schema

K = 10
L = 5
SIZES = (100_000, 1_000_000, 10_000_000)
QUICK_SIZES = (100_000,)
SEED = 1

ADULT_QUASI_IDENTIFIERS = (
    "age",
    "workclass",
    "education-num",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
)
ADULT_NUMBERS = ("age", "education-num")  # generalised to ranges, measured by their width
ADULT_SENSITIVE = "salary-class"


@dataclass(frozen=True, slots=True)
class Case:
    """A method, and which functions of its module make up which stage."""

    method: Method
    module: ModuleType
    stage_of: Mapping[str, str]


CASES: dict[str, Case] = {
    "mondrian": Case(
        Mondrian(k=K),
        sfumato.methods.mondrian,
        {"mondrian": "partition", "generalized_records": "publish", "assemble": "publish"},
    ),
    "anatomy": Case(
        Anatomy(l=L),
        sfumato.methods.anatomy,
        {"anatomy": "partition", "anatomized_tables": "publish", "assemble": "publish"},
    ),
    "arp": Case(
        ARP(l=L),
        sfumato.methods.arp,
        {
            "initial_partition": "partition",
            "refine": "partition",
            "anatomized_tables": "publish",
            "assemble": "publish",
        },
    ),
    "slppa": Case(
        SLPPA(alpha=0.5, beta=1 / L, gamma=0.02, delta=1 / L, tables=3),
        sfumato.methods.associated,
        {
            "divide": "partition",
            "merge_groups": "partition",
            "anatomized_tables": "publish",
            "assemble": "publish",
        },
    ),
    "merging": Case(
        Merging(l=L),
        sfumato.methods.merging,
        {
            "blocks_of": "partition",
            "incompatible_pairs": "partition",
            "mondrian": "partition",
            "with_fakes": "partition",
            "sliced_records": "publish",
            "assemble": "publish",
        },
    ),
}


def synthetic_schema() -> Schema:
    """Return the schema of the synthetic census: eight quasi-identifiers, salary sensitive."""
    return census_schema()


def write_synthetic(rows: int, path: Path) -> None:
    """Write the synthetic census of so many rows as Parquet."""
    pq.write_table(census(rows, seed=SEED), path)


def complete_adult(path: Path) -> pa.Table:
    """Return the rows of Adult that miss nothing, the columns that either side looks at."""
    table = load_adult(path)
    complete = reduce(pc.and_, [column.is_valid() for column in table.columns])
    return table.filter(complete).select([*ADULT_QUASI_IDENTIFIERS, ADULT_SENSITIVE])


def adult_cases(folder: Path) -> dict[str, Schema]:
    """Return the schemas of our runs on Adult: value sets, and the hierarchies that peers use.

    Numbers are free ranges in both.
    """
    found = adult_hierarchies(folder)
    plain = adult_schema(ADULT_QUASI_IDENTIFIERS, (ADULT_SENSITIVE,))
    names = (*ADULT_QUASI_IDENTIFIERS, ADULT_SENSITIVE)
    kept = [attribute for attribute in plain if attribute.name in names]
    with_trees = [
        replace(attribute, hierarchy=found[attribute.name])
        if attribute.name in found and attribute.name not in ADULT_NUMBERS
        else attribute
        for attribute in kept
    ]
    return {"value sets": Schema(tuple(kept)), "hierarchies": Schema(tuple(with_trees))}


def adult_hierarchies(folder: Path) -> dict[str, Hierarchy]:
    """Return a hierarchy for each quasi-identifier of Adult; that of education-num is built."""
    hierarchies = {
        name: Hierarchy.read_csv(folder / f"adult_{name}.csv")
        for name in ADULT_QUASI_IDENTIFIERS
        if name != "education-num"
    }
    return hierarchies | {"education-num": _doubling_intervals("education-num", 16)}


def _doubling_intervals(name: str, largest: int) -> Hierarchy:
    """Return the hierarchy of 1..largest in intervals of 2, 4, 8 … values below the root."""
    widths = [2**level for level in range(1, largest.bit_length()) if 2**level < largest]
    return Hierarchy.from_rows(
        [
            [str(value), *(_interval(value, width) for width in widths), "*"]
            for value in range(1, largest + 1)
        ],
        name,
    )


def _interval(value: int, width: int) -> str:
    low = (value - 1) // width * width + 1
    return f"[{low}, {low + width - 1}]"
