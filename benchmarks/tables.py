"""The tables of the side-by-side runs as files: data, policies, and what peers must know."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import yaml

from benchmarks.machine import shared_folder
from sfumato.datasets import census, census_schema
from sfumato.schema import Schema

SEED = 1
LARGE = 5_000_000  # rows from which on one run of anything is enough: long ones are steadier


@dataclass(frozen=True, slots=True)
class RealTable:
    """A real table: its file, quasi-identifiers and sensitive attribute, and which l that allows.

    No value may be more frequent than one in l (`diversity`): real attributes have fewer, and
    commoner, values than the synthetic salary. LGB flags people by `flagged`, which must allow
    its l, too.
    """

    file: str
    known: tuple[str, ...]
    hidden: str
    diversity: int
    flagged: tuple[str, ...]

    @property
    def methods(self) -> dict[str, dict[str, Any]]:
        """The method of each case."""
        return {
            **METHODS,
            "anatomy": {"name": "anatomy", "l": self.diversity},
            "arp": {"name": "arp", "l": self.diversity},
            "slppa": {"name": "slppa", "beta": 0.5, "tables": 2},
            "lgb": {"name": "lgb", "k": 10, "l": self.diversity},
            "merging": {"name": "merging", "l": 2, "expected": None, "collapse": None},
            "slicing": {"name": "slicing", "l": self.diversity},
        }


REAL: Mapping[str, RealTable] = {
    "adult": RealTable(
        "adult.parquet",
        (
            "age",
            "workclass",
            "education-num",
            "marital-status",
            "race",
            "sex",
            "native-country",
            "salary-class",
        ),
        "occupation",
        3,
        ("age",),
    ),
    "census-income": RealTable(
        "census_income.parquet",
        ("age", "class-of-worker", "education", "marital-stat", "race", "sex"),
        "detailed-household-and-family-stat",
        3,
        ("age", "education"),
    ),
    "covid": RealTable(
        "covid_mexico.parquet",
        ("AGE", "SEX", "DIABETES", "OBESITY", "TOBACCO", "HIPERTENSION"),
        "CLASIFFICATION_FINAL",
        2,
        ("AGE",),
    ),
}
SYNTHETIC = "synthetic"
_FEW_VALUES = 4
_WARM_ROWS = (
    20_000  # enough to show pairs that never go together, so that Merging needs all kernels
)
# By case: the method of the policy, and the role of all quasi-identifiers if it is another.
METHODS: Mapping[str, dict[str, Any]] = {
    "mondrian": {"name": "mondrian", "k": 10},
    "anatomy": {"name": "anatomy", "l": 5},
    "arp": {"name": "arp", "l": 5},
    "slppa": {
        "name": "slppa",
        "alpha": 0.5,
        "beta": 0.2,
        "gamma": 0.02,
        "delta": 0.2,
        "tables": 3,
    },
    "lgb": {"name": "lgb", "k": 10, "l": 5},
    "merging": {"name": "merging", "l": 5},
    "slicing": {"name": "slicing", "l": 5},
    "sensitive_qid": {"name": "sensitive-qid", "l": 3},
    "top_down": {"name": "top-down", "k": 10},
}


@dataclass(frozen=True, slots=True)
class Files:
    """One table on disk: for us (Parquet, a policy a case), for Polars, and for peers (CSV)."""

    name: str
    rows: int
    folder: Path
    published: tuple[str, ...]

    @property
    def source(self) -> Path:
        """The table."""
        return self.folder / "data.parquet"

    def policy(self, case: str) -> Path:
        """The policy of a case."""
        return self.folder / f"{case}.yaml"


def write(name: str, rows: int | None, folder: Path) -> Files:
    """Write a table (its first rows, if so many are asked for) with policies, and return it."""
    folder.mkdir(parents=True)
    if name == SYNTHETIC:
        schema = census_schema()
        data = census(rows or 100_000, seed=SEED)
        known = tuple(each.name for each in schema.quasi_identifiers)
        hidden, methods, flagged = "salary", METHODS, (known[0], known[-2])
        trees = _hierarchies(schema, folder)
    else:
        real = REAL[name]
        known, hidden, methods, flagged = real.known, real.hidden, real.methods, real.flagged
        data = pq.read_table(shared_folder() / "data" / real.file, columns=[*known, hidden])
        data, trees = data.slice(0, rows), {}
    data = data.select([*known, hidden])
    data = data.filter(data[hidden].is_valid())
    pq.write_table(data, folder / "data.parquet")
    pq.write_table(data.slice(0, _WARM_ROWS), folder / "few.parquet")
    pa.csv.write_csv(data, folder / "data.csv")
    plan = {"quasi_identifiers": known, "sensitive": hidden}
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    few = {name for name in (*known, hidden) if len(data[name].unique()) <= _FEW_VALUES}
    for case, method in methods.items():
        text = yaml.safe_dump(
            _policy(case, method, known, hidden, trees, few, flagged), sort_keys=False
        )
        (folder / f"{case}.yaml").write_text(text, encoding="utf-8")
    return Files(name, data.num_rows, folder, (*known, hidden))


def _policy(
    case: str,
    method: dict[str, Any],
    known: tuple[str, ...],
    hidden: str,
    trees: Mapping[str, str],
    few: set[str],
    flagged: tuple[str, ...],
) -> dict[str, Any]:
    attributes: dict[str, dict[str, Any]] = {}
    for name in known:
        attributes[name] = {"role": "quasi-identifier"}
        if name in trees:
            attributes[name]["hierarchy"] = trees[name]
        if case == "lgb" and name in flagged:
            attributes[name] |= {"role": "semi-sensitive", "density": 0.2}
    attributes[hidden] = {"role": "sensitive"}
    if case == "sensitive_qid":
        method = {"name": method["name"]}
        for name in (*known, hidden):
            # a set of three values of three tells nothing
            protection = {"t": 0.5} if name in few else {"l": 3}
            attributes[name] = {"role": "sensitive-quasi-identifier", **protection}
    return {"attributes": attributes, "method": method}


def _hierarchies(schema: Schema, folder: Path) -> dict[str, str]:
    """Write the hierarchies of a schema and return their files by attribute."""
    found = {}
    for attribute in schema.quasi_identifiers:
        if attribute.hierarchy is not None:
            found[attribute.name] = f"{attribute.name}.csv"
            with (folder / found[attribute.name]).open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, delimiter=";").writerows(attribute.hierarchy.rows())
    return found
