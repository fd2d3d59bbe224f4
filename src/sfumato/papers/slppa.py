"""The SLPPA paper, section 6: its grid, and how a point is measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from statistics import fmean, median
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.answers import Answerer, Count
from sfumato.columns.k_medoids import column_blocks
from sfumato.columns.tables import divide_columns
from sfumato.errors import SfumatoError
from sfumato.jobs.suppress import rows_to_withhold
from sfumato.methods import ASN, SLPPA, Method, Slicing
from sfumato.models import AlphaBetaGammaDelta, LDiversity
from sfumato.models.counting import group_statistics, table_totals
from sfumato.models.model import exact_share
from sfumato.papers.data import Data, complete
from sfumato.papers.grid import Numbers, Point, points
from sfumato.papers.paper import Measure, Paper
from sfumato.papers.slppa_claims import CLAIMS
from sfumato.papers.slppa_shown import FIGURES, tables
from sfumato.predicates import And, Predicate, evaluate
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.rows.divide import divide
from sfumato.rows.eligible_runs import largest_counts
from sfumato.rows.merge_groups import Limits, combinations, merge_groups
from sfumato.rows.mondrian import mondrian
from sfumato.schema import Schema
from sfumato.table import Column, Groups, Table, encode
from sfumato.utility.workload import random_condition

TABLES = 3
ALPHA, BETA, GAMMA, DELTA = 0.5, 0.05, 0.005, 0.05  # its Table 7
ASN_GAMMA = 0.005
L = 20
QUERIES, DRAWS = 250, 2
# Of many rows all take long, and chance does less.
QUERIES_OF_ALL, DRAWS_OF_ALL = 150, 1
DIMENSIONS = {"1-3": (1, 3), "4-6": (4, 6), "7+": (7, 99)}
CHANGES: Mapping[str, Mapping[str, float]] = {  # its Table 8
    "alpha = 0.05": {"alpha": 0.05},
    "beta = 0.1": {"beta": 0.1},
    "gamma = 0.01": {"gamma": 0.01},
    "delta = 0.02": {"delta": 0.02},
}
_CHANGED = {  # the schemes that have the parameter
    "alpha": ("SLPPA",),
    "beta": ("SLPPA", "Slicing", "ASN"),
    "gamma": ("SLPPA", "ASN"),
    "delta": ("SLPPA",),
}
_WARM_ROWS = 400  # enough to load or compile every kernel


@dataclass(frozen=True, slots=True)
class Attributes:
    """The quasi-identifiers of its tables, those that it adds, the sensitive one; and the sizes."""

    quasi: tuple[str, ...]
    extra: tuple[str, ...]
    sensitive: str
    sizes: tuple[int, ...]
    quick: tuple[int, ...]

    def chosen(self, which: str) -> tuple[str, ...]:
        """Return the quasi-identifiers, with the added ones if `more` are wanted."""
        return (*self.quasi, *self.extra) if which == "more" else self.quasi


ATTRIBUTES: Mapping[str, Attributes] = {
    "adult": Attributes(
        (
            *("age", "workclass", "education", "marital-status", "occupation", "relationship"),
            *("race", "sex", "hours-per-week"),
        ),
        ("fnlwgt", "education-num", "capital-gain", "capital-loss"),
        "native-country",
        (5_000, 10_000, 15_000, 20_000, 25_000),
        (2_000, 4_000),
    ),
    "census-income": Attributes(
        (
            *("age", "class-of-worker", "detailed-industry-recode", "education", "wage-per-hour"),
            *("marital-stat", "major-industry-code", "race", "sex"),
            "full-or-part-time-employment-stat",
        ),
        ("capital-losses", "tax-filer-stat", "dividends-from-stocks"),
        "capital-gains",
        (50_000, 100_000, 150_000, 190_000),
        (10_000, 20_000),
    ),
    "census": Attributes(
        (
            *("age", "sex", "marital_status", "relationship", "education", "employment"),
            *("occupation", "household_size"),
        ),
        ("zipcode", "salary"),
        "birthplace",
        (5_000, 10_000, 15_000, 20_000, 25_000),
        (2_000, 4_000),
    ),
}


def grid(data: str, quick: bool) -> list[Point]:
    """Return the points: the sizes are the data's own."""
    about = ATTRIBUTES[data]
    sizes = about.quick if quick else about.sizes
    some = {"queries": 20, "draws": 1} if quick else {"queries": QUERIES, "draws": DRAWS}
    fewer = some if quick else {"queries": QUERIES_OF_ALL, "draws": DRAWS_OF_ALL}
    last = {"rows": sizes[-1]} | some
    rounds = {"rounds": 1 if quick else 9}
    return [
        *points("as given", {"rows": sizes[-1]}),
        *points(
            "table division",
            *(
                {"rows": n, "attributes": "paper", "tables": TABLES} | rounds
                for n in sizes[: None if quick else -1]
            ),
            *(
                {"rows": sizes[-1], "attributes": which, "tables": tables} | rounds
                for which in ("paper", "more")
                for tables in ((3, 4) if quick else (2, 3, 4, 5, 6))
                if not (quick and which == "paper" and tables == TABLES)
            ),
        ),
        *points("withheld", *({"rows": n, "attributes": "paper"} | some for n in sizes)),
        *points(
            "withheld", *({"rows": n, "attributes": "more"} | some for n in (sizes[0], sizes[-1]))
        ),
        *points("all rows", *({"rows": n} | fewer for n in sizes)),
        *points("parameters", *({"change": change} | last for change in CHANGES)),
        *points("by tables", *({"tables": k} | last for k in ((1, 3) if quick else range(1, 6)))),
        *points(
            "by group size",
            *({"beta": beta} | last for beta in ((0.2, 0.05) if quick else (0.25, 0.2, 0.1, 0.05))),
        ),
    ]


def bench(data: Data) -> Measure:
    """Return the function from a point to its numbers."""
    about = ATTRIBUTES[data.about.key]
    names = [*about.chosen("more"), about.sensitive]
    rows = complete(data.rows, names)
    order = repeatable(5).permutation(rows.num_rows)

    def schema(which: str) -> Schema:
        roles = dict.fromkeys(about.chosen(which), "quasi-identifier")
        return Schema.of(roles | {about.sensitive: "sensitive"})

    @cache
    def sample(count: int, which: str) -> Table:
        """Return the first rows of a fixed shuffle: a larger sample holds the smaller ones."""
        chosen = rows.select([*about.chosen(which), about.sensitive]).take(order[:count])
        return encode(chosen, schema(which))

    @cache
    def rest(count: int, which: str) -> Table:
        """Return the sample without the fewest rows that make beta feasible."""
        table = sample(count, which)
        rng = Randomness.test(1).generator("withheld rows")
        withheld = rows_to_withhold(table, about.sensitive, exact_share(BETA), rng=rng)
        keep = np.ones(table.rows, np.bool_)
        keep[withheld] = False
        kept = rows.select([*about.chosen(which), about.sensitive]).take(order[:count])
        return encode(kept.filter(pa.array(keep)), schema(which))

    def measure(point: Point) -> Numbers:
        given: Any = point.parameters
        count, which = given["rows"], given.get("attributes", "paper")
        if point.experiment == "as given":
            found = refusal(sample(count, which), methods({})["SLPPA"])
            return {"commonest": commonest(sample(count, which), about.sensitive)} | found
        if point.experiment == "table division":
            return division(
                sample(count, which).quasi_identifiers, given["tables"], given["rounds"]
            )
        compared = partial(compare, queries=given["queries"], draws=given["draws"])
        if point.experiment == "all rows":
            table = sample(count, which)
            share = commonest(table, about.sensitive)
            beta = float(np.ceil(share * 1000) / 1000)
            return {"beta": beta, "kept": table.rows, "methods": compared(table, relaxed(beta))}
        table = rest(count, which)
        if point.experiment == "by tables":
            asked = {"SLPPA": loose(BETA, DELTA, given["tables"])}
        elif point.experiment == "by group size":
            asked = {"SLPPA": loose(given["beta"], given["beta"], TABLES)}
        else:
            asked = changed(CHANGES[given["change"]]) if "change" in given else methods({})
        return {
            "kept": table.rows,
            "withheld": count - table.rows,
            "methods": compared(table, asked),
        }

    compare(rest(sample(_WARM_ROWS * 10, "paper").rows, "paper"), methods({}), queries=2, draws=1)
    return measure


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
        groups = merge_groups(values, groups, limits, rng=randomness.generator("merging"))
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


PAPER = Paper(
    key="slppa",
    title="SLPPA",
    source=(
        "Yao, Chen, Wang, Liu, Wu, “Sensitive Label Privacy Preservation with Anatomization for "
        "Data Publishing”, section 6"
    ),
    version="1",
    real=("adult", "census-income"),
    synthetic={"census": (30_000, 5_000)},
    about_data={
        "adult": (
            "Complete rows with the ten attributes of its Table 5, native-country sensitive. A "
            "smaller sample is part of the larger ones."
        ),
        "census-income": (
            "Complete rows with the eleven attributes of its Table 6 (industry by its detailed "
            "code, the second by its major one), capital-gains sensitive. A smaller sample is "
            "part of the larger ones."
        ),
        "census": (
            "Complete rows with eight quasi-identifiers, birthplace sensitive (its commonest value "
            "is far rarer than in the paper's data). A smaller sample is part of the larger ones."
        ),
    },
    compared=(
        "*SLPPA*, *Slicing* and *ASN* (a table for every attribute) with the parameters of its "
        "Table 7: α = 0.5, β = 0.05, γ = 0.005, δ = 0.05, l = 20, three tables. No release of "
        "these data keeps that β (see the first claim), so there are two ways on: *withheld*, "
        "where the fewest rows are left out that make it feasible, the same for all three; and "
        "*all rows*, with β the least that is feasible, and l distinct values for Slicing. "
        "*QIs*: quasi-identifiers. *RECQ*: the relative error of COUNT queries on 1 to 3, 4 to 6, "
        "or 7 and more QIs and the sensitive attribute; those that no row meets are drawn anew. "
        "It is the mean over 250 queries of each kind and two draws, with all rows over 150 and one. "
        "Seconds are those of the processor, the least of the draws."
    ),
    grid=grid,
    bench=bench,
    claims=CLAIMS,
    figures=FIGURES,
    tables=tables,
)
