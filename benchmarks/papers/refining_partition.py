"""The experiments of section 5 of the refining-partition paper, on Adult.

    python -m benchmarks.papers.refining_partition [--data adult.parquet] [--quick] [--out FILE]

prints the tables of `docs/papers/refining-partition.md` as Markdown and writes all numbers as JSON.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.papers.lgb import ROOT, default_data
from benchmarks.papers.queries import random_queries
from sfumato.answers import Answerer, Count
from sfumato.columns.association import associations
from sfumato.datasets import load_adult
from sfumato.methods import AIP, ARP, NG, Anatomy, Method
from sfumato.predicates import Predicate, evaluate
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.initial import initial_partition
from sfumato.rows.ring import rings, windows
from sfumato.schema import Schema
from sfumato.table import Table, encode
from sfumato.utility import glp, mean_probability, nlp_of_candidates, reconstruction_error

RESULTS = ROOT / "benchmarks" / "results" / "refining_partition.json"
NSAS = ("age", "sex", "education", "marital-status", "race", "workclass", "relationship")
SENSITIVE = "occupation"
LS = (3, 4, 5, 6, 7)
SIZES = (5_000, 10_000, 15_000, 20_000, 25_000, 30_000)
L, ROWS = 5, 20_000
QUERIES = 1_000
ROUNDS = 5
LEAST = 20  # rows that satisfy a query, or its relative error means nothing


def methods(l: int) -> dict[str, Method]:  # noqa: E741
    """Return what is compared: the paper's four, to its letter and as this project does it."""
    return {
        "AT": Anatomy(l=l),
        "AIP, literal": AIP(l=l, initial="correlation-literal"),
        "ARP, literal": ARP(l=l, initial="correlation-literal", residues="neighbours"),
        "AIP": AIP(l=l),
        "ARP": ARP(l=l),
        "ARP, pooled": ARP(l=l, residues="neighbours"),
        "NG": NG(l=l),
        "AIP on Mondrian": AIP(l=l, initial="mondrian"),
        "ARP on Mondrian": ARP(l=l, initial="mondrian"),
    }


def adult(path: Path) -> pa.Table:
    """Return the complete rows of the paper's eight attributes."""
    data = load_adult(path).select([*NSAS, SENSITIVE])
    return data.filter(reduce(pc.and_, [column.is_valid() for column in data.columns]))


def sample(data: pa.Table, rows: int, nsas: Sequence[str]) -> Table:
    """Return the first rows of a fixed shuffle: a larger sample holds the smaller ones."""
    chosen = np.random.Generator(np.random.PCG64(7)).permutation(data.num_rows)[:rows]
    schema = Schema.of(dict.fromkeys(nsas, "quasi-identifier") | {SENSITIVE: "sensitive"})
    return encode(data.select([*nsas, SENSITIVE]).take(chosen), schema)


def order_of_association(table: Table) -> list[str]:
    """Return the attributes, the one most associated with the sensitive attribute first."""
    found = associations(table.quasi_identifiers, table[SENSITIVE])
    names = [column.name for column in table.quasi_identifiers]
    return [names[i] for i in np.argsort(-np.asarray(found), kind="stable")]


def compare(table: Table, l: int, rounds: int) -> dict[str, dict[str, float]]:  # noqa: E741
    """Return what was measured of every method; seconds are medians of interleaved rounds."""
    seconds: dict[str, list[float]] = {name: [] for name in methods(l)}
    releases: dict[str, Release] = {}
    for number in range(rounds):
        for name, method in methods(l).items():
            start = time.perf_counter()
            releases[name] = method.release(table, Randomness.test(number))
            seconds[name].append(time.perf_counter() - start)
    found = {}
    for name, release in releases.items():
        measured = ring_loss(table, l) if name == "NG" else loss(release, table, l)
        found[name] = measured | {"seconds": median(seconds[name])}
    return found


def loss(release: Release, table: Table, l: int) -> dict[str, float]:  # noqa: E741
    """Return GLP, RE over its lower bound, and the mean probability of one's own value."""
    least = table.rows * (1 - 1 / l)
    return {
        "glp": glp(release, table),
        "groups": int(release.tables["sensitive_1"]["group"].to_numpy().max()),
        "re_ratio": reconstruction_error(release) / least,
        "mean_probability": mean_probability(release),
    }


def ring_loss(table: Table, l: int) -> dict[str, float]:  # noqa: E741
    """Return GLP of NG: each row may have the value of any of l neighbours on its ring."""
    randomness = Randomness.test(1)
    rng = randomness.generator("initial partition")
    groups = initial_partition(table, [SENSITIVE], l, "correlation", rng=rng)
    ring = rings(table[SENSITIVE], groups, l, rng=randomness.generator("rings"))
    candidates = np.empty((table.rows, l), np.int64)
    candidates[ring] = ring[windows(groups, l)]
    return {
        "glp": float(nlp_of_candidates(table, SENSITIVE, candidates).mean()),
        "groups": groups.count,
        "re_ratio": 1.0,
        "mean_probability": 1 / l,
    }


def refining(table: Table, l: int, queries: int) -> list[dict[str, Any]]:  # noqa: E741
    """Return what refining does to other partitions, by GLP and by errors of COUNT queries."""
    asked = random_counts(table, queries)
    cases: dict[str, tuple[Method, Method]] = {
        "correlation": (AIP(l=l), ARP(l=l)),
        "mondrian": (AIP(l=l, initial="mondrian"), ARP(l=l, initial="mondrian")),
        "top-down": (AIP(l=l, initial="top-down"), ARP(l=l, initial="top-down")),
        "anatomy": (Anatomy(l=l), ARP(l=l, initial="anatomy")),
        "anatomy, l = 7": (Anatomy(l=7), ARP(l=l, initial=anatomy_groups(table, 7))),
    }
    found = []
    for name, (before, after) in cases.items():
        entry: dict[str, Any] = {"initial": name, "l": l}
        for when, method in (("before", before), ("after", after)):
            release = method.release(table, Randomness.test(1))
            entry[f"glp_{when}"] = glp(release, table)
            entry[f"mean_probability_{when}"] = mean_probability(release)
            entry[f"error_{when}"] = count_error(release, asked)
        found.append(entry)
    return found


def anatomy_groups(table: Table, l: int) -> Any:  # noqa: E741
    """Return Anatomy's partition for a larger l, as one given by the user."""
    rng = Randomness.test(3).generator("larger groups")
    return initial_partition(table, [SENSITIVE], l, "anatomy", rng=rng)


def random_counts(table: Table, count: int) -> list[tuple[Predicate, int]]:
    """Return predicates on three other attributes and the sensitive one, with their true counts."""
    names = [*(column.name for column in table.quasi_identifiers), SENSITIVE]
    found: list[tuple[Predicate, int]] = []
    for query in random_queries(table, names, None, 50 * count):
        true = int(evaluate(query.predicate, table).sum())
        if SENSITIVE in query.predicate.attributes and true >= LEAST:
            found.append((query.predicate, true))
        if len(found) == count:
            break
    return found


def count_error(release: Release, asked: Sequence[tuple[Predicate, int]]) -> float:
    """Return the median relative error of the estimates."""
    answerer = Answerer(release)
    return median(
        abs(answerer.answer(Count(), predicate).value - true) / true for predicate, true in asked
    )


def experiments(data: pa.Table, *, quick: bool) -> dict[str, Any]:
    """Return the numbers of all experiments."""
    rounds = 1 if quick else ROUNDS
    ls, sizes = ((3, 5), (5_000,)) if quick else (LS, SIZES)
    rows = 5_000 if quick else ROWS
    table = sample(data, rows, NSAS)
    ordered = order_of_association(table)
    compare(sample(data, 1_000, NSAS), 3, 1)  # loads or compiles every kernel
    return {
        "rows": rows,
        "order": ordered,
        "by_l": {str(ell): compare(table, ell, rounds) for ell in ls},
        "by_rows": {str(n): compare(sample(data, n, NSAS), L, rounds) for n in sizes},
        "by_attributes": {
            str(d): compare(sample(data, rows, ordered[:d]), L, rounds)
            for d in range(1, len(ordered) + 1)
        },
        "by_attributes_l_3": {
            str(d): compare(sample(data, rows, ordered[:d]), 3, 1)
            for d in range(1, len(ordered) + 1)
        },
        "refining": [
            entry for ell in (3, 5) for entry in refining(table, ell, 50 if quick else QUERIES)
        ],
    }


def markdown(results: Mapping[str, Any]) -> str:
    """Return all tables."""
    parts = [f"Attributes by association with the sensitive one: {', '.join(results['order'])}."]
    for key, what in (
        ("by_l", "l"),
        ("by_rows", "rows"),
        ("by_attributes", "NSAs (l = 5)"),
        ("by_attributes_l_3", "NSAs (l = 3)"),
    ):
        for measure, digits in (("glp", 4), ("seconds", 3), ("re_ratio", 5)):
            if measure != "glp" and key not in ("by_l", "by_rows", "by_attributes"):
                continue
            parts.append(_table(results[key], what, measure, digits))
    lines = [
        "| l | initial partition | GLP before | after | mean probability before | after |"
        " COUNT error before | after |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for entry in results["refining"]:
        numbers = [
            f"{entry[f'{measure}_{when}']:.4f}"
            for measure in ("glp", "mean_probability", "error")
            for when in ("before", "after")
        ]
        lines.append(f"| {entry['l']} | {entry['initial']} | " + " | ".join(numbers) + " |")
    return "\n\n".join([*parts, "\n".join(lines)]) + "\n"


def _table(by: Mapping[str, Any], what: str, measure: str, digits: int) -> str:
    names = list(next(iter(by.values())))
    lines = [f"{measure} by {what}:", "", f"| {what} | " + " | ".join(names) + " |"]
    lines.append("|---" * (len(names) + 1) + "|")
    for key, found in by.items():
        cells = [f"{found[name][measure]:.{digits}f}" for name in names]
        lines.append(f"| {key} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiments, print the tables and write down the numbers."""
    parser = argparse.ArgumentParser(prog="benchmarks.papers.refining_partition")
    parser.add_argument("--data", type=Path, default=default_data(), help="Adult as Parquet")
    parser.add_argument("--quick", action="store_true", help="few parameters, rows and queries")
    parser.add_argument("--out", type=Path, help="where to write the JSON")
    options = parser.parse_args(arguments)
    results = experiments(adult(options.data), quick=options.quick)
    print(markdown(results))
    out = options.out or (None if options.quick else RESULTS)
    if out is not None:
        out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
