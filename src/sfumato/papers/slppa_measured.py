"""What is measured of SLPPA, Slicing and ASN on one table."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

import numpy as np

from sfumato.answers import Answerer, Count
from sfumato.columns.k_medoids import column_blocks
from sfumato.columns.tables import divide_columns
from sfumato.errors import SfumatoError
from sfumato.methods import ASN, SLPPA, Method, Slicing
from sfumato.models import AlphaBetaGammaDelta, LDiversity
from sfumato.models.counting import group_statistics, table_totals
from sfumato.predicates import And, Predicate, evaluate
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.rows.divide import divide
from sfumato.rows.eligible_runs import largest_counts
from sfumato.rows.merge_groups import Limits, combinations, merge_groups
from sfumato.rows.mondrian import mondrian
from sfumato.table import Column, Groups, Table
from sfumato.utility.workload import random_condition

TABLES = 3
ALPHA, BETA, GAMMA, DELTA = 0.5, 0.05, 0.005, 0.05  # its Table 7
ASN_GAMMA = 0.005
L = 20
DIMENSIONS = {"1-3": (1, 3), "4-6": (4, 6), "7+": (7, 99)}
_CHANGED = {  # the schemes that have the parameter
    "alpha": ("SLPPA",),
    "beta": ("SLPPA", "Slicing", "ASN"),
    "gamma": ("SLPPA", "ASN"),
    "delta": ("SLPPA",),
}


def methods(changes: Mapping[str, float]) -> dict[str, Method]:
    """Return the three schemes with the parameters of its Table 7, or as its Table 8 has them."""
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
        "ASN": ASN(beta=beta, gamma=changes.get("gamma", ASN_GAMMA)),
    }


def changed(changes: Mapping[str, float]) -> dict[str, Method]:
    """Return the schemes that have the changed parameter."""
    (parameter,) = changes
    return {name: methods(changes)[name] for name in _CHANGED[parameter]}


def relaxed(beta: float) -> dict[str, Method]:
    """Return the three schemes for all rows: the least beta, and Slicing by distinct values."""
    return {
        "SLPPA": SLPPA(alpha=ALPHA, beta=beta, delta=DELTA, tables=TABLES),
        "Slicing": Slicing(l=L, columns=TABLES, variant="distinct"),
        "ASN": ASN(beta=beta, gamma=1.0),
    }


def loose(beta: float, delta: float, tables: int) -> Method:
    """Return SLPPA that asks nothing of alpha and gamma, which depend on the tables."""
    return SLPPA(alpha=1.0, beta=beta, gamma=1.0, delta=delta, tables=tables)


def commonest(table: Table, sensitive: str) -> float:
    """Return the share of the commonest sensitive value."""
    counts = np.bincount(table[sensitive].codes)
    return float(counts.max() / counts.sum())


def refusal(table: Table, method: Method) -> dict[str, str]:
    """Return why the method refuses the table; nothing if it does not."""
    try:
        method.release(table, Randomness.test(0))
    except SfumatoError as error:
        return {"refused": str(error)}
    return {}


def division(columns: Sequence[Column], tables: int, rounds: int) -> dict[str, Any]:
    """Return how many attributes each table gets, and the least seconds of some rounds."""
    ways: dict[str, Callable[[], list[list[Column]]]] = {
        "SLPPA": lambda: divide_columns(columns, tables, None),
        "SLPPA, even": lambda: divide_columns(columns, tables),
        "Slicing": lambda: column_blocks(columns, tables),
    }
    found: dict[str, dict[str, Any]] = {name: {"seconds": np.inf} for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.process_time()
            divided = way()
            seconds = time.process_time() - start
            found[name]["seconds"] = min(seconds, found[name]["seconds"])
            found[name]["sizes"] = sorted(map(len, divided))
    return {"attributes": len(columns), "methods": found}


def compare(
    table: Table, asked: Mapping[str, Method], *, queries: int, draws: int
) -> dict[str, dict[str, Any]]:
    """Return groups, seconds, what is kept and RECQ of every method, or why it refuses.

    RECQ is the mean over draws; seconds are the processor's, the least of the draws, in which
    methods take turns.
    """
    questions = {name: random_counts(table, ends, queries) for name, ends in DIMENSIONS.items()}
    measured: dict[str, list[dict[str, Any]]] = {name: [] for name in asked}
    refused: dict[str, dict[str, Any]] = {}
    for number in range(draws):
        for name, method in asked.items():
            if name in refused:
                continue
            try:
                start = time.process_time()
                release = method.release(table, Randomness.test(number))
                seconds = time.process_time() - start
            except SfumatoError as error:
                refused[name] = {"refused": str(error)}
                continue
            groups = int(next(iter(release.tables.values()))["group"].to_numpy().max())
            errors = {each: errors_of(release, some) for each, some in questions.items()}
            own = {"seconds": seconds, "groups": groups, "recq": errors}
            measured[name].append(own | grouping(table, method, Randomness.test(number)))
    return {name: refused.get(name) or _together(measured[name]) for name in asked}


def _together(measured: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "seconds": min(each["seconds"] for each in measured),
        "division_seconds": min(each["division_seconds"] for each in measured),
        "groups": fmean(each["groups"] for each in measured),
        "reached": {
            key: max(each["reached"][key] for each in measured)
            for key in ("alpha", "beta", "gamma", "delta")
        },
        "recq": {
            kind: {
                what: fmean(each["recq"][kind][what] for each in measured)
                for what in ("mean", "median")
            }
            for kind in DIMENSIONS
        },
    }


def grouping(table: Table, method: Method, randomness: Randomness) -> dict[str, Any]:
    """Return the seconds of group division alone, and what its groups keep of the four shares."""
    sensitive = table.sensitive[0]
    start = time.process_time()
    if isinstance(method, Slicing):
        model = LDiversity(sensitive.name, method.l, method.variant)
        groups = mondrian(table, [model], rng=randomness.generator("mondrian ties"))
        seconds = time.process_time() - start
        divided = column_blocks(table.quasi_identifiers, TABLES)
    else:
        assert isinstance(method, SLPPA | ASN)
        assert method.beta is not None
        alpha, delta = 1.0, 1.0
        divided = [[column] for column in table.quasi_identifiers]
        if isinstance(method, SLPPA):
            divided = divide_columns(table.quasi_identifiers, method.tables, method.cap)
            alpha, delta = method.alpha or 1.0, method.delta or method.beta
        start = time.process_time()
        shares = {sensitive.name: (method.beta, delta)}
        groups = divide(table, shares, rng=randomness.generator("group division"))
        limits = Limits(alpha, np.array([method.gamma or 1.0]))
        values = combinations(divided, [sensitive])
        groups = merge_groups(values, groups, limits, rng=randomness.generator("merging")).groups
        seconds = time.process_time() - start
    return {"division_seconds": seconds, "reached": reached(table, groups, divided)}


def reached(table: Table, groups: Groups, divided: Sequence[Sequence[Column]]) -> dict[str, float]:
    """Return the greatest alpha, beta, gamma and delta of all groups."""
    name = table.sensitive[0].name
    repeats = largest_counts(combinations(divided, [table[name]]), groups)[: len(divided)]
    bound = AlphaBetaGammaDelta(name, ALPHA, BETA, GAMMA, DELTA).bind(table_totals(table, [name]))
    found = bound.reached(group_statistics(table, groups, [name], repeats))
    keys = ("alpha", "beta", "gamma", "delta")
    return {key: float(values.max()) for key, values in zip(keys, found, strict=True)}


def random_counts(table: Table, ends: tuple[int, int], count: int) -> list[tuple[Predicate, int]]:
    """Return queries on so many quasi-identifiers, and the sensitive one, that some rows meet."""
    rng = repeatable(17)
    columns = table.quasi_identifiers
    found: list[tuple[Predicate, int]] = []
    while len(found) < count:
        many = int(rng.integers(ends[0], min(ends[1], len(columns)) + 1))
        chosen = rng.choice(len(columns), many, replace=False)
        parts = [random_condition(columns[i], rng) for i in chosen]
        predicate = And((*parts, random_condition(table.sensitive[0], rng)))
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
    return {"mean": fmean(errors), "median": median(errors)}
