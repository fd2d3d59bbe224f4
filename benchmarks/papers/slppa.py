"""The experiments of section 6 of the SLPPA paper, on Adult and Census-Income.

    python -m benchmarks.papers.slppa [--folder DATA] [--quick] [--out FILE]

prints the tables of `docs/papers/slppa.md` as Markdown and writes all numbers as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.papers.lgb import ROOT
from sfumato.answers import Answerer, Count
from sfumato.columns.k_medoids import column_blocks
from sfumato.columns.tables import divide_columns
from sfumato.datasets import load_adult, load_census_income
from sfumato.errors import SfumatoError
from sfumato.jobs.suppress import rows_to_withhold
from sfumato.methods import ASN, SLPPA, Method, Slicing
from sfumato.models.model import exact_share
from sfumato.predicates import And, Predicate, evaluate
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import Schema
from sfumato.table import Table, encode
from sfumato.utility.workload import random_condition

RESULTS = ROOT / "benchmarks" / "results" / "slppa.json"
TABLES = 3
ALPHA, BETA, GAMMA, DELTA = 0.5, 0.05, 0.005, 0.05  # its Table 7
ASN_GAMMA = 0.005
L = 20
QUERIES = 1_000
DIMENSIONS = {"1-3": (1, 3), "4-6": (4, 6), "7+": (7, 99)}


@dataclass(frozen=True, slots=True)
class Data:
    """A table with the attributes of the paper: which are quasi-identifiers, which is sensitive."""

    name: str
    rows: pa.Table
    quasi: tuple[str, ...]
    extra: tuple[str, ...]  # further quasi-identifiers of its Figure 3
    sensitive: str
    sizes: tuple[int, ...]

    def sample(self, rows: int, quasi: Sequence[str] | None = None) -> pa.Table:
        """Return the first rows of a fixed shuffle."""
        names = [*(quasi or self.quasi), self.sensitive]
        chosen = np.random.Generator(np.random.PCG64(5)).permutation(self.rows.num_rows)[:rows]
        return self.rows.select(names).take(chosen)

    def schema(self, quasi: Sequence[str] | None = None) -> Schema:
        """Return the roles."""
        roles = dict.fromkeys(quasi or self.quasi, "quasi-identifier")
        return Schema.of(roles | {self.sensitive: "sensitive"})


def adult(folder: Path) -> Data:
    """Return the complete rows of Adult with the ten attributes of its Table 5."""
    quasi = (
        "age",
        "workclass",
        "education",
        "marital-status",
        "occupation",
        "relationship",
        "race",
        "sex",
        "hours-per-week",
    )
    extra = ("fnlwgt", "education-num", "capital-gain", "capital-loss")
    rows = _complete(
        load_adult(folder / "adult.parquet").select([*quasi, *extra, "native-country"])
    )
    sizes = (5_000, 10_000, 15_000, 20_000, 25_000)
    return Data("Adult", rows, quasi, extra, "native-country", sizes)


def census_income(folder: Path) -> Data:
    """Return Census-Income with the eleven attributes of its Table 6."""
    quasi = (
        "age",
        "class-of-worker",
        "detailed-industry-recode",
        "education",
        "wage-per-hour",
        "marital-stat",
        "major-industry-code",
        "race",
        "sex",
        "full-or-part-time-employment-stat",
    )
    extra = ("capital-losses", "tax-filer-stat", "dividends-from-stocks")
    data = load_census_income(folder / "census_income.parquet")
    rows = _complete(data.select([*quasi, *extra, "capital-gains"]))
    return Data(
        "Census-Income", rows, quasi, extra, "capital-gains", (50_000, 100_000, 150_000, 190_000)
    )


def _complete(table: pa.Table) -> pa.Table:
    return table.filter(reduce(pc.and_, [column.is_valid() for column in table.columns]))


def division(data: Data, rows: int) -> list[dict[str, Any]]:
    """Return how many attributes each table gets, for its nine or ten and for more."""
    found = []
    for quasi in (data.quasi, (*data.quasi, *data.extra)):
        table = encode(data.sample(rows, quasi), data.schema(quasi))
        columns = table.quasi_identifiers
        for tables in (TABLES, TABLES + 1):
            start = time.perf_counter()
            literal = divide_columns(columns, tables, None)
            mine = time.perf_counter() - start
            start = time.perf_counter()
            medoids = column_blocks(columns, tables)
            theirs = time.perf_counter() - start
            even = divide_columns(columns, tables)
            found.append(
                {
                    "attributes": len(quasi),
                    "tables": tables,
                    "slppa": sorted(map(len, literal)),
                    "slppa_even": sorted(map(len, even)),
                    "slicing": sorted(map(len, medoids)),
                    "slppa_seconds": mine,
                    "slicing_seconds": theirs,
                }
            )
    return found


def suppressed(data: Data, rows: int) -> tuple[Table, int]:
    """Return the table without the fewest rows that make beta = 0.05 feasible, and their number."""
    sample, schema = data.sample(rows), data.schema()
    table = encode(sample, schema)
    rng = Randomness.test(1).generator("withheld rows")
    withheld = rows_to_withhold(table, data.sensitive, exact_share(BETA), rng=rng)
    keep = np.ones(rows, np.bool_)
    keep[withheld] = False
    return encode(sample.filter(pa.array(keep)), schema), len(withheld)


def relaxed(data: Data, rows: int) -> tuple[Table, float]:
    """Return the whole table, and the least beta that is feasible on it."""
    table = encode(data.sample(rows), data.schema())
    counts = np.bincount(table[data.sensitive].codes)
    return table, float(np.ceil(counts.max() / counts.sum() * 1000) / 1000)


def methods_suppressed(changes: Mapping[str, float]) -> dict[str, Method]:
    """Return the three schemes with the parameters of its Table 7, or of its Table 8."""
    beta = changes.get("beta", BETA)
    return {
        "SLPPA": SLPPA(
            alpha=changes.get("alpha", ALPHA),
            beta=beta,
            gamma=changes.get("gamma", GAMMA),
            delta=changes.get("delta", DELTA),
            tables=TABLES,
        ),
        "Slicing": Slicing(l=round(1 / beta), columns=TABLES),
        "ASN": ASN(beta=beta, gamma=changes.get("asn_gamma", ASN_GAMMA)),
    }


def methods_relaxed(beta: float) -> dict[str, Method]:
    """Return the three schemes for the whole table: the least beta, Slicing by distinct values."""
    return {
        "SLPPA": SLPPA(alpha=ALPHA, beta=beta, delta=DELTA, tables=TABLES),
        "Slicing": Slicing(l=L, columns=TABLES, variant="distinct"),
        "ASN": ASN(beta=beta, gamma=1.0),
    }


def measure(
    table: Table, methods: Mapping[str, Method], queries: int, sensitive: str
) -> dict[str, Any]:
    """Return groups, seconds and RECQ of every method, or why it refuses."""
    asked = {
        name: random_counts(table, sensitive, ends, queries) for name, ends in DIMENSIONS.items()
    }
    found: dict[str, Any] = {}
    for name, method in methods.items():
        try:
            start = time.perf_counter()
            release = method.release(table, Randomness.test(1))
            seconds = time.perf_counter() - start
        except SfumatoError as error:
            found[name] = {"refused": str(error)}
            continue
        found[name] = {
            "seconds": seconds,
            "groups": int(next(iter(release.tables.values()))["group"].to_numpy().max()),
            "recq": {each: errors_of(release, some) for each, some in asked.items()},
        }
    return found


def random_counts(
    table: Table, sensitive: str, ends: tuple[int, int], count: int
) -> list[tuple[Predicate, int]]:
    """Return queries on so many quasi-identifiers, and the sensitive one, that some rows meet."""
    rng = np.random.Generator(np.random.PCG64(17))
    columns = table.quasi_identifiers
    found: list[tuple[Predicate, int]] = []
    while len(found) < count:
        many = int(rng.integers(ends[0], min(ends[1], len(columns)) + 1))
        chosen = rng.choice(len(columns), many, replace=False)
        parts = [random_condition(columns[i], rng) for i in chosen]
        predicate = And((*parts, random_condition(table[sensitive], rng)))
        true = int(evaluate(predicate, table).sum())
        if true:
            found.append((predicate, true))
    return found


def errors_of(release: Release, asked: Sequence[tuple[Predicate, int]]) -> dict[str, float]:
    """Return the mean and the median relative error of counts."""
    answerer = Answerer(release)
    errors = [
        abs(answerer.answer(Count(), predicate).value - true) / true for predicate, true in asked
    ]
    return {"mean": mean(errors), "median": median(errors)}


TABLE_8: dict[str, dict[str, float]] = {
    "alpha = 0.05": {"alpha": 0.05},
    "beta = 0.1": {"beta": 0.1},
    "gamma = 0.01": {"gamma": 0.01, "asn_gamma": 0.01},
    "delta = 0.02": {"delta": 0.02},
}


def experiments(data: Data, *, quick: bool) -> dict[str, Any]:
    """Return the numbers of all experiments on one table."""
    sizes = data.sizes[:1] if quick else data.sizes
    queries = 20 if quick else QUERIES
    largest = sizes[-1]
    by_size, whole = {}, {}
    for rows in sizes:
        table, withheld = suppressed(data, rows)
        found = measure(table, methods_suppressed({}), queries, data.sensitive)
        by_size[str(rows)] = {"withheld": withheld, "kept": table.rows, "methods": found}
        table, beta = relaxed(data, rows)
        found = measure(table, methods_relaxed(beta), queries, data.sensitive)
        whole[str(rows)] = {"beta": beta, "methods": found}
    table, _ = suppressed(data, largest)
    changed = {
        what: measure(table, methods_suppressed(changes), queries, data.sensitive)
        for what, changes in TABLE_8.items()
    }
    loose = {"alpha": 1.0, "gamma": 1.0}
    return {
        "data": data.name,
        "queries": queries,
        "by_tables": measure(
            table,
            {
                f"{tables} tables": SLPPA(beta=BETA, delta=DELTA, tables=tables, **loose)
                for tables in (1, 2, 3, 4, 5)
            },
            queries,
            data.sensitive,
        ),
        "by_group_size": measure(
            table,
            {
                f"beta = {beta}": SLPPA(beta=beta, delta=beta, tables=TABLES, **loose)
                for beta in (0.2, 0.1, 0.05)
            },
            queries,
            data.sensitive,
        ),
        "division": division(data, largest),
        "suppressed": by_size,
        "relaxed": whole,
        "table_8": changed,
    }


def markdown(results: Mapping[str, Any]) -> str:
    """Return the tables of one data set."""
    parts = [f"### {results['data']}: {results['queries']:,} queries of each kind"]
    parts.append("Attributes per table, smallest first:\n\n" + _division(results["division"]))
    head = "Rows withheld so that beta = 0.05 is feasible (mean and median RECQ):"
    parts.append(f"{head}\n\n" + _runs(results["suppressed"], ("kept", "withheld")))
    head = "All rows, beta relaxed to the least that is feasible (mean and median RECQ):"
    parts.append(f"{head}\n\n" + _runs(results["relaxed"], ("beta",)))
    for key, what in (("by_tables", "tables"), ("by_group_size", "group size")):
        parts.append(
            f"SLPPA by {what}, rows withheld:\n\n" + _runs({"": {"methods": results[key]}}, ())
        )
    changed = {what: {"methods": found} for what, found in results["table_8"].items()}
    parts.append("Other parameters (its Table 8), rows withheld:\n\n" + _runs(changed, ()))
    return "\n\n".join(parts) + "\n"


def _division(found: Sequence[Mapping[str, Any]]) -> str:
    lines = ["| QIs | tables | SLPPA, literal | SLPPA, even | Slicing |", "|---|---|---|---|---|"]
    for each in found:
        counts = [", ".join(map(str, each[key])) for key in ("slppa", "slppa_even", "slicing")]
        lines.append(f"| {each['attributes']} | {each['tables']} | " + " | ".join(counts) + " |")
    return "\n".join(lines)


def _runs(by: Mapping[str, Any], facts: Sequence[str]) -> str:
    names = list(DIMENSIONS)
    header = ["", *facts, "method", "groups", "seconds", *(f"RECQ, {n} QIs" for n in names)]
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    for key, entry in by.items():
        for method, found in entry["methods"].items():
            start = [key, *(f"{entry[fact]:,}" for fact in facts), method]
            if "refused" in found:
                lines.append(
                    "| " + " | ".join(start) + f" | refused: {found['refused']} |" + " |" * 4
                )
                continue
            errors = [
                f"{found['recq'][n]['mean']:.3f} ({found['recq'][n]['median']:.3f})" for n in names
            ]
            numbers = [f"{found['groups']:,}", f"{found['seconds']:.2f}", *errors]
            lines.append("| " + " | ".join([*start, *numbers]) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiments, print the tables and write down the numbers."""
    shared = Path(os.environ.get("SFUMATO_SHARED", ROOT.parent / "shared"))
    parser = argparse.ArgumentParser(prog="benchmarks.papers.slppa", description=__doc__)
    parser.add_argument("--folder", type=Path, default=shared / "data", help="where the data lie")
    parser.add_argument("--quick", action="store_true", help="few sizes and queries")
    parser.add_argument("--out", type=Path, help="where to write the JSON")
    options = parser.parse_args(arguments)
    results = []
    for data in (adult(options.folder), census_income(options.folder)):
        results.append(experiments(data, quick=options.quick))
        print(markdown(results[-1]), flush=True)
    out = options.out or (None if options.quick else RESULTS)
    if out is not None:
        out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
