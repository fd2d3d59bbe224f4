"""The experiments of section 4 of the LGB paper, on Adult and on the synthetic census.

    python -m benchmarks.papers.lgb [--data adult.parquet] [--quick] [--out FILE]

prints the tables of `docs/papers/lgb.md` as Markdown and writes all numbers as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from functools import cache, reduce
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.papers.lgb_tables import markdown
from benchmarks.papers.literal_top_down import literal_rule
from benchmarks.papers.unrounded import UnroundedSums, values_left_open
from sfumato.answers import Answerer, Sum
from sfumato.datasets import census, census_schema, load_adult
from sfumato.methods import LGB
from sfumato.models import LUniqueBuckets, TCloseBuckets
from sfumato.papers.queries import random_queries
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import Table, encode
from sfumato.utility import discernibility, ncp
from sfumato.utility.workload import Probe

ROOT = Path(__file__).resolve().parent.parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "lgb.json"

KS = (5, 8, 10)
LS = (5, 8, 10, 12, 15, 18, 20)
DENSITIES = (0.1, 0.2, 0.3, 0.4)
DENSITY = 0.2
T, OCCUPATION_L = 0.2, 5
QUERIES = 1_000
CENSUS_ROWS = 45_222  # as many as Adult has
# What is compared: the paper's two algorithms by the paper's rules, and our defaults.
VARIANTS: dict[str, dict[str, Any]] = {
    "MDP": {"generalize": "mdp", "choose": "widest", "categories": "value"},
    "NCP": {"generalize": "ncp"},
    "ours": {"generalize": "mdp"},
}
LITERAL = "NCP to the letter"


@dataclass(frozen=True, slots=True)
class Data:
    """A table with its roles: which attributes are semi-sensitive, and which one is summed."""

    name: str
    rows: pa.Table
    attributes: tuple[Attribute, ...]
    semi_sensitive: tuple[str, ...]
    sensitive: str

    def coded(self, density: float) -> Table:
        """Return the coded table, in which that share of semi-sensitive cells is flagged."""
        roles = [
            replace(a, role=Role.SEMI_SENSITIVE, density=density)
            if a.name in self.semi_sensitive
            else a
            for a in self.attributes
        ]
        return encode(self.rows, Schema(tuple(roles)))

    @property
    def asked(self) -> tuple[str, ...]:
        """The attributes that queries are about."""
        return tuple(a.name for a in self.attributes if a.name != self.sensitive)


@dataclass(frozen=True, slots=True)
class Run:
    """What was measured of one release; errors are None where no queries were asked."""

    variant: str
    k: int
    l: int  # noqa: E741 -- the parameter's name in every paper
    density: float
    c_dm: int
    ncp_sum: float
    ncp_mean: float
    error_mean: float | None = None
    error_median: float | None = None
    error_range: float | None = None


def adult(path: Path) -> Data:
    """Return the complete rows of Adult with the roles of the paper; weights stand for salaries."""
    quasi = ("relationship", "marital-status", "race", "education", "hours-per-week")
    semi = ("sex", "age", "occupation")
    data = _complete(load_adult(path)).select([*quasi, *semi, "fnlwgt"])
    attributes = [Attribute(name, Role.QUASI_IDENTIFIER) for name in (*quasi, *semi)]
    attributes.append(Attribute("fnlwgt", Role.SENSITIVE))
    return Data("Adult", data, tuple(attributes), semi, "fnlwgt")


def synthetic(rows: int) -> Data:
    """Return complete rows of the synthetic census, generalised along its hierarchies."""
    quasi = ("relationship", "marital_status", "birthplace", "education", "hours_per_week")
    semi = ("sex", "age", "occupation")
    names = [*quasi, *semi, "salary"]
    data = _complete(census(rows * 2 + rows // 2, seed=1).select(names)).slice(0, rows)
    schema = census_schema((*quasi, *semi), ("salary",))
    return Data("census", data, tuple(schema[name] for name in names), semi, "salary")


def _complete(table: pa.Table) -> pa.Table:
    return table.filter(reduce(pc.and_, [column.is_valid() for column in table.columns]))


class Experiments:
    """All releases of one table, with the same flags and the same queries."""

    def __init__(self, data: Data, queries: int) -> None:
        self.data = data
        self.tables = cache(data.coded)
        table = self.tables(DENSITY)
        self.queries = random_queries(table, data.asked, data.sensitive, queries)

    def release(self, variant: str, k: int, ell: int, density: float = DENSITY) -> Release:
        """Return the release; flags and groups depend on neither l nor the order of runs."""
        method = LGB(
            k=k,
            l=ell,
            protection={
                "sex": TCloseBuckets("sex", T),
                "occupation": LUniqueBuckets("occupation", OCCUPATION_L),
            },
            **VARIANTS["NCP" if variant == LITERAL else variant],
        )
        with literal_rule() if variant == LITERAL else nullcontext():
            return method.release(self.tables(density), Randomness.test(1))

    def run(
        self, variant: str, k: int, ell: int, density: float = DENSITY, ask: bool = True
    ) -> Run:
        """Return the measurements of one release; with `ask`, those of the queries too."""
        release = self.release(variant, k, ell, density)
        loss = ncp(release, self.tables(density))
        run = Run(variant, k, ell, density, discernibility(release), loss.total, loss.mean)
        if not ask:
            return run
        errors, ranges = self._errors(release)
        return replace(
            run,
            error_mean=mean(errors),
            error_median=median(errors),
            error_range=median(ranges),
        )

    def _errors(self, release: Release) -> tuple[list[float], list[float]]:
        """Return R_error of every query, and what it would be without rounding.

        R_error is the width of the paper's interval over the true sum.
        """
        answerer = Answerer(release)
        unrounded = UnroundedSums(release, self.data.sensitive)
        errors, ranges = [], []
        for query in self.queries:
            low, high = answerer.paper_interval(self.data.sensitive, query.predicate)
            errors.append((high - low) / query.truth)
            low, high = unrounded.interval(query.predicate)
            ranges.append((high - low) / query.truth)
        return errors, ranges

    def bounds(self, variant: str, k: int, ell: int) -> dict[str, Any]:
        """Return how the paper's interval, hard bounds and the estimate do on all queries."""
        answerer = Answerer(self.release(variant, k, ell))
        columns = np.array([self._judged(answerer, query) for query in self.queries]).T
        return {
            "variant": variant,
            "k": k,
            "l": ell,
            "paper_holds": float(columns[0].mean()),
            "paper_width": float(np.median(columns[1])),
            "bounds_hold": float(columns[2].mean()),
            "bounds_width": float(np.median(columns[3])),
            "estimate_error": float(np.median(columns[4])),
        }

    def _judged(self, answerer: Answerer, query: Probe) -> tuple[float, ...]:
        true = query.truth
        low, high = answerer.paper_interval(self.data.sensitive, query.predicate)
        found = answerer.answer(Sum(self.data.sensitive), query.predicate)
        return (
            low <= true <= high,
            (high - low) / true,
            found.low <= true <= found.high,
            (found.high - found.low) / true,
            abs(found.value - true) / true,
        )


def experiments(data: Data, *, quick: bool) -> dict[str, Any]:
    """Return the numbers of all experiments on one table."""
    ks, ls = ((5, 10), (5, 20)) if quick else (KS, LS)
    lab = Experiments(data, 50 if quick else QUERIES)
    grid = [lab.run(variant, k, ell) for variant in VARIANTS for k in ks for ell in ls]
    literal = [lab.run(LITERAL, k, ls[0], ask=False) for k in ks]
    ends = [(k, ell) for k in (ks[0], ks[-1]) for ell in (ls[0], ls[-1])]
    density = [lab.run("MDP", k, ell, share) for share in DENSITIES for k, ell in ends]
    return {
        "data": data.name,
        "rows": data.rows.num_rows,
        "queries": len(lab.queries),
        "grid": [asdict(run) for run in grid],
        "literal": [asdict(run) for run in literal],
        "density": [asdict(run) for run in density],
        "open_values": [
            {"variant": variant, "k": k, "l": ls[0]}
            | values_left_open(lab.release(variant, k, ls[0]), data.semi_sensitive)
            for variant in VARIANTS
            for k in (ks[0], ks[-1])
        ],
        "bounds": [lab.bounds(variant, ks[0], ls[0]) for variant in VARIANTS],
    }


def default_data() -> Path:
    """Return where Adult lies beside this checkout."""
    folder = Path(os.environ.get("SFUMATO_SHARED", ROOT.parent / "shared"))
    return folder / "data" / "adult.parquet"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiments, print the tables and write down the numbers."""
    parser = argparse.ArgumentParser(prog="benchmarks.papers.lgb", description=__doc__)
    parser.add_argument("--data", type=Path, default=default_data(), help="Adult as Parquet")
    parser.add_argument("--quick", action="store_true", help="few parameters, rows and queries")
    parser.add_argument("--out", type=Path, help="where to write the JSON")
    options = parser.parse_args(arguments)
    tables = [synthetic(5_000 if options.quick else CENSUS_ROWS)]
    if options.data.is_file():
        tables.insert(0, adult(options.data))
    else:
        print("Adult is left out: no such file (set SFUMATO_SHARED, or --data)", file=sys.stderr)
    results = []
    for data in tables:
        results.append(experiments(data, quick=options.quick))
        print(markdown(results[-1]), flush=True)
    out = options.out or (None if options.quick else RESULTS)
    if out is not None:
        out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
