"""The experiments of section VI of the sensitive-QID paper, on Adult and the US Census of 1990.

    python -m benchmarks.papers.sensitive_qid [--folder DATA] [--quick] [--out FILE]

prints the tables of `docs/papers/sensitive-qid.md` as Markdown and writes all numbers as JSON.
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
from statistics import mean
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.papers.lgb import ROOT
from sfumato.answers import reconstruct
from sfumato.attacks.joint_bayes import joint_bayes
from sfumato.attacks.set_adversary import SetAdversary
from sfumato.datasets import load_adult
from sfumato.measures.distances import hellinger, l1, l2
from sfumato.methods import Rating, SensitiveQID
from sfumato.methods.sensitive_qid import SetProtection
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.schema import Attribute, Kind, Role, Schema
from sfumato.table import encode

RESULTS = ROOT / "benchmarks" / "results" / "sensitive_qid.json"
LS = tuple(range(2, 11))
TS = (0.1, 0.2, 0.3, 0.4, 0.5)
WIDTHS = (1, 2, 3, 4)  # its q'
BINS = 40
DATA = ("adult", "census")
CENSUS_ROWS = 2_458_285
POSTERIORS = RESULTS.with_name("sensitive_qid_posteriors.json")
ATTACKED = (
    *("age", "workclass", "education", "marital-status"),
    *("occupation", "relationship", "race", "native-country"),
)
RIVALS = ("value-adding", "rating", "random")  # the paper's
DISTANCES = {"L1": l1, "L2": l2, "Hellinger": hellinger}


@dataclass(frozen=True, slots=True)
class Data:
    """A table of categories, all of whose columns are sensitive quasi-identifiers."""

    name: str
    rows: pa.Table
    queries: int

    def size(self, name: str) -> int:
        """Return the number of different values of a column."""
        return len(self.rows[name].unique())

    def chosen(self, width: int) -> list[list[str]]:
        """Return random sets of so many columns, always the same ones."""
        rng = np.random.Generator(np.random.PCG64(100 + width))
        names = self.rows.column_names
        return [
            [names[i] for i in rng.choice(len(names), width, replace=False)]
            for _ in range(self.queries)
        ]

    def schema(self, names: Sequence[str]) -> Schema:
        """Return the roles; what has two values is exact where l is asked for, as in the paper."""
        return Schema(
            tuple(
                Attribute(name, Role.SENSITIVE_QUASI_IDENTIFIER, kind=Kind.CATEGORICAL)
                for name in names
            )
        )


def adult(folder: Path) -> Data:
    """Return the complete rows of Adult, its numbers cut into at most 40 equally wide parts."""
    rows = load_adult(folder / "adult.parquet")
    rows = rows.filter(reduce(pc.and_, [column.is_valid() for column in rows.columns]))
    columns = {}
    for name in rows.column_names:
        column = rows[name]
        if pa.types.is_integer(column.type) and len(column.unique()) > BINS:
            numbers = column.to_numpy()
            edges = np.linspace(numbers.min(), numbers.max(), BINS + 1)[1:-1]
            column = pa.array(np.digitize(numbers, edges))
        columns[name] = pc.cast(column, pa.string())
    return Data("Adult", pa.table(columns), 15)


def census(folder: Path, count: int = CENSUS_ROWS) -> Data:
    """Return the sample of the census, blown up by resampling to the paper's number of rows."""
    rows = pq.read_table(folder / "uscensus1990_sample.parquet")
    chosen = np.random.Generator(np.random.PCG64(7)).integers(0, rows.num_rows, count)
    columns = {}
    for name in rows.column_names:
        column = pc.cast(rows[name], pa.string()).combine_chunks().dictionary_encode()
        if len(column.dictionary) > 1:
            columns[name] = column.take(pa.array(chosen))
    return Data("US Census 1990", pa.table(columns), 5)


def truth(data: Data, names: Sequence[str], values: Sequence[Sequence[Any]]) -> np.ndarray:
    """Return the true cross table, its axes in the order of the values."""
    codes = []
    for name, texts in zip(names, values, strict=True):
        column = pc.cast(data.rows[name], pa.string()).combine_chunks()
        codes.append(pc.index_in(column, pa.array(texts, pa.string())).to_numpy())
    shape = tuple(len(each) for each in values)
    flat = np.ravel_multi_index(codes, shape)
    return np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape).astype(float)


def measure(data: Data, release: Release, names: Sequence[str], methods: Sequence[str]) -> Any:
    """Return the distances of reconstructions from the true cross table, and their seconds."""
    found: dict[str, Any] = {}
    rng = np.random.Generator(np.random.PCG64(3))
    true = None
    for method in methods:
        start = time.perf_counter()
        result = reconstruct(release, names, method, rng)
        seconds = time.perf_counter() - start
        if true is None:
            true = truth(data, names, [each.to_pylist() for each in result.values])
        counts = np.maximum(result.counts, 0)
        found[method] = {
            **{name: distance(true, counts) for name, distance in DISTANCES.items()},
            "seconds": seconds,
        }
    return found


def protections(data: Data, names: Sequence[str], l: int) -> dict[str, SetProtection]:  # noqa: E741
    """Return the l of each column: where the domain is no larger, one less than it."""
    return {name: SetProtection(l=max(1, min(l, data.size(name) - 1))) for name in names}


def cell(data: Data, width: int, **asked: Any) -> dict[str, Any]:
    """Return the mean distances over random queries of so many columns, by method."""
    by: dict[str, list[dict[str, float]]] = {}
    for number, names in enumerate(data.chosen(width)):
        schema = data.schema(names)
        table = encode(data.rows.select(names), schema)
        if "l" in asked:
            method = SensitiveQID(l=1, protection=protections(data, names, asked["l"]))
        else:
            method = SensitiveQID(**asked)
        release = method.release(table, Randomness.test(number))
        found = measure(data, release, names, ("bayes", "inverse", "value-adding", "random"))
        if "l" in asked:
            # as in its paper: what no group has room for is published all the same
            rating = Rating(protection=protections(data, names, asked["l"]), left_over="repeat")
            rated = rating.release(table, Randomness.test(number))
            found["rating"] = measure(data, rated, names, ("value-adding",))["value-adding"]
        for name, numbers in found.items():
            by.setdefault(name, []).append(numbers)
    return {
        name: {key: mean(each[key] for each in numbers) for key in numbers[0]}
        for name, numbers in by.items()
    }


def experiments(data: Data, *, quick: bool) -> dict[str, Any]:
    """Return the numbers of all cells."""
    widths, ls, ts = (WIDTHS[:1], LS[:1], TS[:1]) if quick else (WIDTHS, LS, TS)
    cells = {}
    for width in widths:
        for l in ls:  # noqa: E741
            cells[f"l/{l}/{width}"] = cell(data, width, l=l)
        for t in ts:
            cells[f"t/{t}/{width}"] = cell(data, width, t=t)
    return {"data": data.name, "queries": data.queries, "cells": cells}


def posteriors(folder: Path) -> dict[str, dict[str, float]]:
    """Return for how many people the joint-Bayes adversary gives the own value more than 1/l.

    On eight attributes of Adult, l = 3; by attack, of the attribute with the fewest and the most.
    """
    rows = load_adult(folder / "adult.parquet").select(list(ATTACKED))
    schema = Schema(tuple(Attribute(n, Role.SENSITIVE_QUASI_IDENTIFIER) for n in ATTACKED))
    release = SensitiveQID(l=3).release(encode(rows, schema), Randomness.test(1))
    eyes = SetAdversary.of(release, rows, sample=2_000, rng=repeatable(1))
    by: dict[str, list[float]] = {}
    for outcome in joint_bayes(eyes, rng=repeatable(2)):
        by.setdefault(outcome.attack, []).append(outcome.figures["share_above_one_over_l"])
    return {attack: {"fewest": min(found), "most": max(found)} for attack, found in by.items()}


def exceptions(cell: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return by which rivals and distances the paper's claim fails: that `bayes` is the lowest.

    Where all attributes are published as they are (l = 1 for two values), all are 0.
    """
    return [
        f"{rival} ({distance})"
        for rival in RIVALS
        if rival in cell
        for distance in DISTANCES
        if cell[rival][distance] <= cell["bayes"][distance] and cell[rival][distance] > 0
    ]


def summary(results: Mapping[str, Any]) -> dict[str, dict[str, tuple[int, int]]]:
    """Return by rival and distance in how many cells, of how many, `bayes` is lower."""
    cells = results["cells"].values()
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for rival in (*RIVALS, "inverse"):
        having = [cell for cell in cells if rival in cell]
        found[rival] = {
            name: (sum(cell["bayes"][name] < cell[rival][name] for cell in having), len(having))
            for name in DISTANCES
        }
    return found


def markdown(results: Mapping[str, Any]) -> str:
    """Return the tables of one data set: how often the claim holds, and each cell."""
    counted = [
        [rival, *(f"{lower} of {cells}" for lower, cells in found.values())]
        for rival, found in summary(results).items()
    ]
    parts = [
        f"### {results['data']}",
        f"Means over {results['queries']} random queries a cell. `bayes` is lower than",
        _table(["", *DISTANCES], counted),
    ]
    cells = results["cells"]
    for what in ("l", "t"):
        for width in WIDTHS:
            keys = [
                key for key in cells if key.startswith(f"{what}/") and key.endswith(f"/{width}")
            ]
            if keys:
                names = list(cells[keys[0]])
                head = [what, *(f"{name}: {', '.join(DISTANCES)}" for name in names), "bayes is"]
                lines = [_line(key.split("/")[1], cells[key]) for key in keys]
                parts.append(f"q′ = {width}:\n\n{_table(head, lines)}")
    return "\n\n".join(parts) + "\n"


def _line(parameter: str, cell: Mapping[str, Mapping[str, float]]) -> list[str]:
    numbers = [
        ", ".join(f"{each[distance]:,.0f}" for distance in DISTANCES) for each in cell.values()
    ]
    above = exceptions(cell)
    return [parameter, *numbers, f"not below {', '.join(above)}" if above else "lowest"]


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiments, print the tables and write down the numbers."""
    shared = Path(os.environ.get("SFUMATO_SHARED", ROOT.parent / "shared"))
    parser = argparse.ArgumentParser(prog="benchmarks.papers.sensitive_qid", description=__doc__)
    parser.add_argument("--folder", type=Path, default=shared / "data", help="where the data lie")
    parser.add_argument("--quick", action="store_true", help="few cells")
    parser.add_argument("--data", nargs="+", choices=DATA, default=DATA, help="which of the data")
    parser.add_argument("--out", type=Path, help="where to write the JSON")
    options = parser.parse_args(arguments)
    results = []
    loaders = {"adult": adult, "census": census}
    for name in options.data:
        results.append(experiments(loaders[name](options.folder), quick=options.quick))
        print(markdown(results[-1]), flush=True)
    if not options.quick:
        POSTERIORS.write_text(json.dumps(posteriors(options.folder), indent=1) + "\n")
    whole = not options.quick and tuple(options.data) == DATA
    out = options.out or (RESULTS if whole else None)
    if out is not None:
        out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
