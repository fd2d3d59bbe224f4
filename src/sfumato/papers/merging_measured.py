"""What is measured of Merging and its rivals on sets with people in common."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from statistics import fmean, median
from typing import Any

import pyarrow as pa

from sfumato.answers import Answerer, Count, to_microdata
from sfumato.attacks import compose
from sfumato.attacks.narrowed import narrowed
from sfumato.errors import Infeasible
from sfumato.methods import DP, Composition, Hybrid, Merging, Method, Mondrian, Probabilistic
from sfumato.papers.merging_sets import Sets
from sfumato.predicates import And, evaluate
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.release.origin import fakes_of
from sfumato.schema import Schema
from sfumato.table import encode
from sfumato.utility import distortion_ratio, learning_accuracy
from sfumato.utility.workload import random_condition

DEGREES = (4, 6)  # its k and its l
EPSILON = 0.3


def methods(degree: int) -> dict[str, list[Method]]:
    """Return the methods; of several, the first that is feasible is taken."""
    return {
        "Merging": [
            Merging(l=degree, k=degree, variant=variant, expected=expected)
            for variant in ("frequency", "distinct")
            for expected in (5.0, None)
        ],
        "Merging, literal": [literal(degree)],
        "Mondrian": [Mondrian(k=degree)],
        "Composition": [Composition(k=degree)],
        "Probabilistic": [Probabilistic(k=degree)],
        "Hybrid": [Hybrid(k=degree)],
        "DP": [DP(epsilon=EPSILON, cells=500)],
    }


def literal(degree: int) -> Merging:
    """Return the method as the paper's text has it."""
    return Merging(l=degree, k=degree, variant="distinct", expected=None, collapse=None)


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


def risks(
    data: Sets, *, secret: str, degree: int, overlap: int, sets: int, set_rows: int
) -> dict[str, Any]:
    """Return what the composition attack finds in all pairs of sets, by method."""
    schema = data.schema(secret)
    rows = [data.set_of(number, overlap, secret, set_rows) for number in range(sets)]
    return {
        name: _attacked(asked, rows, schema, secret, degree, overlap)
        for name, asked in methods(degree).items()
    }


def _attacked(
    asked: Sequence[Method],
    rows: Sequence[pa.Table],
    schema: Schema,
    secret: str,
    degree: int,
    overlap: int,
) -> dict[str, Any]:
    made = [
        published(asked, each, schema, 1000 * overlap + number) for number, each in enumerate(rows)
    ]
    common = rows[0].slice(rows[0].num_rows - overlap)
    found: dict[str, list[float]] = {
        key: [] for key in ("classes", "records", "disclosed", "people", "fewer", "left", "guess")
    }
    for one, other in combinations(range(len(rows)), 2):
        people = compose(
            [made[one][0], made[other][0]],
            secret,
            originals=[rows[one], rows[other]],
            identifier="person",
        )[secret].people
        narrow = narrowed(made[one][0], [made[other][0]], common, secret, degree)
        assert people is not None
        assert narrow is not None
        found["classes"].append(people.matches.risk or 0.0)
        found["records"].append(people.matches.record_risk or 0.0)
        found["disclosed"].append(people.disclosed)
        found["people"].append(people.examined)
        found["fewer"].append(narrow.broken)
        found["left"].append(people.after)
        found["guess"].append(people.guess)
    groups = [int(each.tables["records"]["group"].to_numpy().max()) for each, _ in made]
    people_seen = sum(found["people"])
    return {
        "parameters": _parameters(made[0][1]),
        "groups": fmean(groups),
        "records": fmean(each.manifest.rows for each, _ in made),
        "fakes": fmean(fakes_of(each.manifest) for each, _ in made),
        "class_risk": fmean(found["classes"]),
        "record_risk": fmean(found["records"]),
        "disclosed": int(sum(found["disclosed"])),
        "people": int(people_seen),
        "fewer_than_l": sum(found["fewer"]) / people_seen,
        "candidates_left": fmean(found["left"]),
        "guess": fmean(found["guess"]),
    }


def _parameters(method: Method) -> str:
    if not isinstance(method, Merging):
        return repr(method)
    return f"{method.variant}, expected={method.expected}, collapse={method.collapse}"


def losses(
    data: Sets, *, secret: str, degree: int, overlap: int, sets: int, set_rows: int
) -> dict[str, float]:
    """Return the mean distortion ratio of the sets, by method."""
    schema = data.schema(secret)
    rows = [data.set_of(number, overlap, secret, set_rows) for number in range(sets)]
    return {
        name: fmean(
            distortion_ratio(published(asked, each, schema, number)[0], data.about.hierarchies)
            for number, each in enumerate(rows)
        )
        for name, asked in methods(degree).items()
    }


def query_errors(
    data: Sets,
    *,
    secret: str,
    degree: int,
    attributes: int,
    queries: int,
    set_rows: int,
    overlap: int,
) -> dict[str, Any]:
    """Return the relative error of counts over some quasi-identifiers and the secret, by method."""
    schema, rows = data.schema(secret), data.set_of(0, overlap, secret, set_rows)
    table = encode(rows, schema)
    rng = repeatable(8, attributes)
    quasi = data.about.quasi
    asked_of: list[tuple[And, int]] = []
    while len(asked_of) < queries:
        chosen = rng.choice(len(quasi), attributes, replace=False)
        parts = [random_condition(table[quasi[i]], rng) for i in chosen]
        predicate = And((*parts, random_condition(table[secret], rng)))
        true = int(evaluate(predicate, table).sum())
        if true:
            asked_of.append((predicate, true))
    found: dict[str, Any] = {}
    compared = methods(degree) | {"Merging, no fakes": [replace(literal(degree), fakes=0)]}
    for name, asked in compared.items():
        answerer = Answerer(published(asked, rows, schema, 1)[0])
        errors = [
            abs(answerer.answer(Count(), predicate).value - true) / true
            for predicate, true in asked_of
        ]
        found[name] = {"mean": fmean(errors), "median": median(errors)}
    return found


def learned(
    data: Sets, *, target: str, degree: int, folds: int, set_rows: int, overlap: int
) -> dict[str, Any]:
    """Return the accuracy of trees that learn from releases of the education data, by method."""
    rows = data.set_of(0, overlap, "education", set_rows).drop_columns(["person"])
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
            rng=repeatable(9),
            folds=folds,
        )
        found[name] = result.mean
        # of the first, which repeats: DP's noise takes no seed, and moves what is drawn after it
        found.setdefault("original", result.original)
        found.setdefault("majority", result.baseline)
    found["tested"] = rows.num_rows
    return found


def seconds_of_merging(data: Sets, *, rows: int, rounds: int) -> dict[str, Any]:
    """Return the processor's seconds of Merging with l = 6, the least of some rounds."""
    schema = data.schema("occupation")
    names = ["person", *data.about.quasi, "occupation"]
    sample = data.rows.select(names).take(data.order[:rows])
    table = encode(sample, schema)
    chosen = {
        name: published(methods(DEGREES[-1])[name], sample, schema, 0)[1]
        for name in ("Merging", "Merging, literal")
    }
    found: dict[str, float] = {}
    for number in range(rounds):
        for name, method in chosen.items():
            start = time.process_time()
            method.release(table, Randomness.test(number))
            seconds = time.process_time() - start
            found[name] = min(seconds, found.get(name, seconds))
    return {"rows": table.rows, "seconds": found}
