"""The experiments of section 5 of the Merging paper, on Adult.

    python -m benchmarks.papers.merging [--folder DATA] [--quick] [--out FILE]

prints the tables of `docs/papers/merging.md` as Markdown and writes all numbers as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.papers.lgb import ROOT
from sfumato.answers import Answerer, Count, to_microdata
from sfumato.attacks import compose, wilson
from sfumato.attacks.narrowed import narrowed
from sfumato.datasets import load_adult
from sfumato.errors import Infeasible
from sfumato.methods import DP, Composition, Hybrid, Merging, Method, Mondrian, Probabilistic
from sfumato.predicates import And, evaluate
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import Attribute, Hierarchy, Role, Schema
from sfumato.table import encode
from sfumato.utility import distortion_ratio, learning_accuracy
from sfumato.utility.workload import random_condition

RESULTS = ROOT / "benchmarks" / "results" / "merging.json"
QUASI = ("age", "sex", "marital-status", "workclass", "relationship", "salary-class")
SECRETS = ("occupation", "education")
DEGREES = (4, 6)  # its k and its l
SETS, SET_ROWS = 10, 4_000
OVERLAPS = (100, 200, 300, 400, 500)
EPSILON = 0.3
QUERIES = 1_000
FOLDS = 10


@dataclass(frozen=True, slots=True)
class Data:
    """Adult's rows without missing values, cut into disjoint sets and a pool of further rows.

    Every person has a number. A missing value is not protected, so nothing is said of it.
    """

    rows: pa.Table
    order: np.ndarray[Any, Any]
    hierarchies: Mapping[str, Hierarchy]

    @classmethod
    def load(cls, folder: Path) -> Data:
        """Return the data of a folder with Adult and its hierarchies."""
        rows = load_adult(folder / "adult.parquet").select([*QUASI, *SECRETS])
        rows = rows.filter(reduce(pc.and_, [column.is_valid() for column in rows.columns]))
        rows = rows.append_column("person", pa.array(np.arange(rows.num_rows)))
        order = np.random.Generator(np.random.PCG64(6)).permutation(rows.num_rows)
        names = ("age", "sex", "marital-status", "workclass", "salary-class")
        files = {name: folder / "hierarchies" / f"adult_{name}.csv" for name in names}
        return cls(rows, order, {name: Hierarchy.read_csv(file) for name, file in files.items()})

    def set_of(self, number: int, overlap: int, secret: str) -> pa.Table:
        """Return a disjoint set with so many rows of the pool, which all sets have in common."""
        own = self.order[number * SET_ROWS : (number + 1) * SET_ROWS]
        common = self.order[SETS * SET_ROWS :][:overlap]
        return self.rows.select(["person", *QUASI, secret]).take(np.append(own, common))

    def schema(self, secret: str, *, identified: bool = True) -> Schema:
        """Return the roles, with hierarchies and the domains that differential privacy needs."""
        attributes = [Attribute("person", Role.IDENTIFIER)] if identified else []
        for name in (*QUASI, secret):
            role = Role.SENSITIVE if name == secret else Role.QUASI_IDENTIFIER
            if name in self.hierarchies and name != secret:
                attributes.append(Attribute(name, role, hierarchy=self.hierarchies[name]))
                continue
            values = sorted(self.rows[name].drop_null().unique().to_pylist())
            attributes.append(Attribute(name, role, domain=tuple(values)))
        return Schema(tuple(attributes))


def methods(degree: int) -> dict[str, list[Method]]:
    """Return the methods; of several, the first that is feasible is taken."""
    return {
        "Merging": [
            Merging(l=degree, k=degree, variant=variant, expected=expected)
            for variant in ("frequency", "distinct")
            for expected in (5.0, None)
        ],
        "Merging (paper)": [
            Merging(l=degree, k=degree, variant="distinct", expected=None, collapse=None)
        ],
        "Mondrian": [Mondrian(k=degree)],
        "Composition": [Composition(k=degree)],
        "Probabilistic": [Probabilistic(k=degree)],
        "Hybrid": [Hybrid(k=degree)],
        "DP": [DP(epsilon=EPSILON, cells=500)],
    }


def published(
    asked: Sequence[Method], rows: pa.Table, schema: Schema, seed: int
) -> tuple[Release, Method]:
    """Return the release of the first method that is feasible, and that method."""
    table = encode(rows, schema)
    for method in asked[:-1]:
        try:
            return method.release(table, Randomness.test(seed)), method
        except Infeasible:
            continue
    return asked[-1].release(table, Randomness.test(seed)), asked[-1]


def risks(data: Data, secret: str, degree: int, overlap: int, sets: int) -> dict[str, Any]:
    """Return what the composition attack finds in all pairs of sets, by method."""
    schema = data.schema(secret)
    rows = [data.set_of(number, overlap, secret) for number in range(sets)]
    found = {}
    for name, asked in methods(degree).items():
        made = [
            published(asked, each, schema, 1000 * overlap + number)
            for number, each in enumerate(rows)
        ]
        disclosed = people = fewer = 0
        common = rows[0].slice(SET_ROWS)
        after, guess, classes, records = [], [], [], []
        for one, other in combinations(range(sets), 2):
            result = compose(
                [made[one][0], made[other][0]],
                secret,
                originals=[rows[one], rows[other]],
                identifier="person",
            )[secret].people
            assert result is not None
            classes.append(result.matches.risk or 0.0)
            records.append(result.matches.record_risk or 0.0)
            disclosed, people = disclosed + result.disclosed, people + result.examined
            narrow = narrowed(made[one][0], [made[other][0]], common, secret, degree)
            assert narrow is not None
            fewer += narrow.broken
            after.append(result.after)
            guess.append(result.guess)
        groups = [int(each[0].tables["records"]["group"].to_numpy().max()) for each in made]
        found[name] = {
            "parameters": _parameters(made[0][1]),
            "groups": mean(groups),
            "records": mean(each[0].manifest.rows for each in made),
            "class_risk": mean(classes),
            "record_risk": mean(records),
            "disclosed": disclosed,
            "people": people,
            "disclosed_interval": wilson(disclosed, people),
            "fewer_than_l": fewer / people,
            "candidates_left": mean(after),
            "guess": mean(guess),
        }
    return found


def _parameters(method: Method) -> str:
    if not isinstance(method, Merging):
        return repr(method)
    return f"{method.variant}, expected={method.expected}, collapse={method.collapse}"


def losses(data: Data, secret: str, degree: int, sets: int) -> dict[str, float]:
    """Return the mean distortion ratio of the largest sets, by method."""
    schema = data.schema(secret)
    return {
        name: mean(
            distortion_ratio(
                published(asked, data.set_of(number, OVERLAPS[-1], secret), schema, number)[0],
                data.hierarchies,
            )
            for number in range(sets)
        )
        for name, asked in methods(degree).items()
    }


def query_errors(data: Data, secret: str, degree: int, queries: int) -> dict[str, Any]:
    """Return the relative error of counts over one to five quasi-identifiers and the secret."""
    schema, rows = data.schema(secret), data.set_of(0, OVERLAPS[-1], secret)
    table = encode(rows, schema)
    answerers = {
        name: Answerer(published(asked, rows, schema, 1)[0])
        for name, asked in methods(degree).items()
    }
    found: dict[str, Any] = {name: {} for name in answerers}
    rng = np.random.Generator(np.random.PCG64(8))
    for many in range(1, 6):
        asked_of: list[tuple[And, int]] = []
        while len(asked_of) < queries:
            chosen = rng.choice(len(QUASI), many, replace=False)
            parts = [random_condition(table[QUASI[i]], rng) for i in chosen]
            predicate = And((*parts, random_condition(table[secret], rng)))
            true = int(evaluate(predicate, table).sum())
            if true:
                asked_of.append((predicate, true))
        for name, answerer in answerers.items():
            errors = [
                abs(answerer.answer(Count(), predicate).value - true) / true
                for predicate, true in asked_of
            ]
            found[name][str(many)] = {"mean": mean(errors), "median": median(errors)}
    return found


def learned(data: Data, degree: int, target: str, folds: int) -> dict[str, Any]:
    """Return the accuracy of trees that learn from releases of the education data, by method."""
    rows = data.set_of(0, OVERLAPS[-1], "education").drop_columns(["person"])
    schema = data.schema("education", identified=False)
    features = [name for name in rows.column_names if name != target]
    found: dict[str, Any] = {}
    for name, asked in methods(degree).items():

        def publish(part: pa.Table, asked: Sequence[Method] = asked) -> Release:
            return published(asked, part, schema, 1)[0]

        result = learning_accuracy(
            rows,
            publish,
            target,
            features=features,
            rows_of=to_microdata,
            rng=np.random.Generator(np.random.PCG64(9)),
            folds=folds,
        )
        found[name] = result.mean
        found["original"], found["majority"] = result.original, result.baseline
    return found


def experiments(data: Data, *, quick: bool) -> dict[str, Any]:
    """Return the numbers of all experiments; two at a time, since machines have two cores."""
    sets = 2 if quick else SETS
    overlaps = OVERLAPS[:1] if quick else OVERLAPS
    queries, folds = (10, 2) if quick else (QUERIES, FOLDS)
    degrees, secrets = (DEGREES[:1], SECRETS[:1]) if quick else (DEGREES, SECRETS)
    cases: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}
    for secret in secrets:
        for degree in degrees:
            for overlap in overlaps:
                key = f"risk/{secret}/{degree}/{overlap}"
                cases[key] = risks, (secret, degree, overlap, sets)
            cases[f"loss/{secret}/{degree}"] = losses, (secret, degree, sets)
            cases[f"queries/{secret}/{degree}"] = query_errors, (secret, degree, queries)
    for degree in degrees:
        for target in ("education", "relationship"):
            cases[f"learning/{target}/{degree}"] = learned, (degree, target, folds)
    if quick:
        return {key: run(data, *rest) for key, (run, rest) in cases.items()}
    # not forked: locks that threads of this process hold would stay locked in the copies
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        waiting = {key: pool.submit(run, data, *rest) for key, (run, rest) in cases.items()}
        return {key: future.result() for key, future in waiting.items()}


def markdown(results: Mapping[str, Any]) -> str:
    """Return the tables."""
    parts = []
    for key, found in results.items():
        kind, *rest = key.split("/")
        if kind == "risk" and rest[2] == str(OVERLAPS[0]):
            parts.append(_risks(results, rest[0], rest[1]))
        elif kind == "queries":
            parts.append(_queries(found, rest[0], rest[1]))
    parts += [_losses(results), _learning(results)]
    return "\n\n".join(parts) + "\n"


def _table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _risks(results: Mapping[str, Any], secret: str, degree: str) -> str:
    by = {
        overlap: results[f"risk/{secret}/{degree}/{overlap}"]
        for overlap in OVERLAPS
        if f"risk/{secret}/{degree}/{overlap}" in results
    }
    lines = []
    for name in next(iter(by.values())):
        last = by[max(by)][name]
        given = last["disclosed"] / max(last["people"], 1)
        low, high = last["disclosed_interval"]
        lines.append(
            [
                name,
                f"{last['groups']:,.0f}",
                *(f"{by[overlap][name]['record_risk']:.2%}" for overlap in by),
                f"{last['class_risk']:.1%}",
                f"{given:.2%} ({low:.2%} to {high:.2%})",
                f"{last['fewer_than_l']:.1%}",
                f"{last['candidates_left']:.2f}",
                f"{last['guess']:.1%}",
            ]
        )
    head = ["method", "classes", *(f"records, {overlap}" for overlap in by), "classes match"]
    head += ["given away", f"fewer than {degree} left", "candidates left", "guessed"]
    return f"### {secret}, k = l = {degree}: privacy risk\n\n" + _table(head, lines)


def _queries(found: Mapping[str, Any], secret: str, degree: str) -> str:
    names = list(next(iter(found.values())))
    lines = [
        [method, *(f"{each[n]['mean']:.3f} ({each[n]['median']:.3f})" for n in names)]
        for method, each in found.items()
    ]
    head = ["method", *(f"{name} QI" for name in names)]
    title = f"### {secret}, k = l = {degree}: relative error of counts, mean (median)"
    return f"{title}\n\n" + _table(head, lines)


def _losses(results: Mapping[str, Any]) -> str:
    cases = {key: found for key, found in results.items() if key.startswith("loss/")}
    lines = [
        [method, *(f"{found[method]:.4f}" for found in cases.values())]
        for method in next(iter(cases.values()))
    ]
    head = ["method", *(key.removeprefix("loss/").replace("/", ", ") for key in cases)]
    return "### Distortion ratio\n\n" + _table(head, lines)


def _learning(results: Mapping[str, Any]) -> str:
    cases = {key: found for key, found in results.items() if key.startswith("learning/")}
    first = next(iter(cases.values()))
    order = ["original", *(name for name in first if name not in ("original", "majority"))]
    lines = [
        [method, *(f"{100 * found[method]:.2f}" for found in cases.values())]
        for method in (*order, "majority")
    ]
    head = ["method", *(key.removeprefix("learning/").replace("/", ", ") for key in cases)]
    return "### Accuracy of trees (%)\n\n" + _table(head, lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiments, print the tables and write down the numbers."""
    shared = Path(os.environ.get("SFUMATO_SHARED", ROOT.parent / "shared"))
    parser = argparse.ArgumentParser(prog="benchmarks.papers.merging", description=__doc__)
    parser.add_argument("--folder", type=Path, default=shared / "data", help="where the data lie")
    parser.add_argument("--quick", action="store_true", help="few sets and queries")
    parser.add_argument("--out", type=Path, help="where to write the JSON")
    options = parser.parse_args(arguments)
    results = experiments(Data.load(options.folder), quick=options.quick)
    print(markdown(results), flush=True)
    out = options.out or (None if options.quick else RESULTS)
    if out is not None:
        out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
