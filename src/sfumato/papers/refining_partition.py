"""The refining-partition paper, section 5: its grid, and how a point is measured."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import fmean, median
from typing import Any

import numpy as np

from sfumato.answers import Answerer, Count
from sfumato.columns.association import associations
from sfumato.methods import AIP, ARP, NG, Anatomy, Method
from sfumato.papers.data import Data, complete
from sfumato.papers.grid import Numbers, Point, points
from sfumato.papers.paper import Measure, Paper
from sfumato.papers.queries import random_queries
from sfumato.papers.refining_partition_claims import CLAIMS
from sfumato.papers.refining_partition_shown import FIGURES, tables
from sfumato.predicates import Predicate
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.rows.initial import initial_partition
from sfumato.rows.ring import rings, windows
from sfumato.schema import Schema
from sfumato.table import Groups, Table, encode
from sfumato.utility import glp, mean_probability, nlp_of_candidates, reconstruction_error

SENSITIVE = "occupation"
NSAS: Mapping[str, tuple[str, ...]] = {
    "adult": ("age", "sex", "education", "marital-status", "race", "workclass", "relationship"),
    "census": (
        *("age", "sex", "education", "marital_status", "household_size"),
        *("employment", "relationship"),
    ),
}
LS = (3, 4, 5, 6, 7)
SIZES = (5_000, 10_000, 15_000, 20_000, 25_000, 30_000)
L, ROWS, ALL = 5, 20_000, 7
ROUNDS = 5
QUERIES = 1_000
LEAST = 20  # rows that satisfy a query, or its relative error means nothing
INITIAL = ("correlation", "mondrian", "top-down", "anatomy", "anatomy, l = 7")
_TRIES = 50  # queries that are drawn for one that is asked
_WARM_ROWS = 1_000  # enough to load or compile every kernel


def grid(data: str, quick: bool) -> list[Point]:
    """Return the points; every set of data has the same."""
    ls, sizes = ((3, 5), (1_500, 3_000)) if quick else (LS, SIZES)
    rows, rounds, queries = (3_000, 2, 50) if quick else (ROWS, ROUNDS, QUERIES)
    widths = (1, 3, ALL) if quick else range(1, ALL + 1)
    return [
        *points("by l", *(_case(each, rows, ALL, rounds) for each in ls)),
        *points("by rows", *(_case(L, each, ALL, rounds) for each in sizes)),
        *points("by attributes", *(_case(L, rows, each, rounds) for each in widths)),
        *points("by attributes", *(_case(3, rows, each, rounds) for each in widths)),
        *points(
            "refining",
            *(
                {"l": each, "initial": initial, "rows": rows, "queries": queries}
                for each in ((3,) if quick else (3, 5))
                for initial in INITIAL
            ),
        ),
    ]


def _case(l: int, rows: int, attributes: int, rounds: int) -> dict[str, int]:  # noqa: E741
    return {"l": l, "rows": rows, "attributes": attributes, "rounds": rounds}


def bench(data: Data) -> Measure:
    """Return the function from a point to its numbers."""
    names = NSAS[data.about.key]
    rows = complete(data.rows, [*names, SENSITIVE])
    order = repeatable(7).permutation(rows.num_rows)

    @cache
    def sample(count: int, nsas: tuple[str, ...]) -> Table:
        """Return the first rows of a fixed shuffle: a larger sample holds the smaller ones."""
        schema = Schema.of(dict.fromkeys(nsas, "quasi-identifier") | {SENSITIVE: "sensitive"})
        return encode(rows.select([*nsas, SENSITIVE]).take(order[:count]), schema)

    @cache
    def asked(count: int, queries: int) -> list[tuple[Predicate, int]]:
        return random_counts(sample(count, names), queries)

    def measure(point: Point) -> Numbers:
        given: Any = point.parameters
        if point.experiment == "refining":
            queries = asked(given["rows"], given["queries"])
            return refining(sample(given["rows"], names), given["l"], given["initial"], queries)
        ordered = order_of_association(sample(given["rows"], names))
        chosen = names if given["attributes"] == ALL else tuple(ordered[: given["attributes"]])
        found = compare(sample(given["rows"], chosen), given["l"], given["rounds"])
        return {"order": ordered, "methods": found}

    compare(sample(_WARM_ROWS, names), 3, 1)
    return measure


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


def order_of_association(table: Table) -> list[str]:
    """Return the attributes, the one most associated with the sensitive attribute first."""
    found = associations(table.quasi_identifiers, table[SENSITIVE])
    names = [column.name for column in table.quasi_identifiers]
    return [names[i] for i in np.argsort(-np.asarray(found), kind="stable")]


def compare(table: Table, l: int, rounds: int) -> dict[str, dict[str, float]]:  # noqa: E741
    """Return what was measured of every method, each round with another draw.

    Losses are means over the rounds. Seconds are the processor's, which a busy machine changes
    little, and the least of the rounds, in which methods take turns.
    """
    found: dict[str, list[dict[str, float]]] = {name: [] for name in methods(l)}
    for number in range(rounds):
        for name, method in methods(l).items():
            randomness = Randomness.test(number)
            start = time.process_time()
            release = method.release(table, randomness)
            seconds = time.process_time() - start
            is_ring = name == "NG"
            measured = ring_loss(table, l, randomness) if is_ring else loss(release, table, l)
            found[name].append(measured | {"seconds": seconds})
    return {
        name: {
            key: (min if key == "seconds" else fmean)(each[key] for each in measured)
            for key in measured[0]
        }
        for name, measured in found.items()
    }


def loss(release: Release, table: Table, l: int) -> dict[str, float]:  # noqa: E741
    """Return GLP, RE over its lower bound, and the mean probability of one's own value.

    `beyond` counts the rows that blocks have beyond l.
    """
    counts = release.tables["sensitive_1"]
    sizes = np.bincount(counts["group"].to_numpy(), counts["count"].to_numpy())
    sizes = sizes[sizes > 0]
    return {
        "glp": glp(release, table),
        "groups": len(sizes),
        "beyond": int((sizes - l).sum()),
        "re_ratio": reconstruction_error(release) / (table.rows * (1 - 1 / l)),
        "mean_probability": mean_probability(release),
    }


def ring_loss(table: Table, l: int, randomness: Randomness) -> dict[str, float]:  # noqa: E741
    """Return GLP of NG: each row may have the value of any of l neighbours on its ring."""
    rng = randomness.generator("initial partition")
    groups = initial_partition(table, [SENSITIVE], l, "correlation", rng=rng)
    ring = rings(table[SENSITIVE], groups, l, rng=randomness.generator("rings"))
    candidates = np.empty((table.rows, l), np.int64)
    candidates[ring] = ring[windows(groups, l)]
    return {
        "glp": float(nlp_of_candidates(table, SENSITIVE, candidates).mean()),
        "groups": groups.count,
        "beyond": 0,
        "re_ratio": 1.0,
        "mean_probability": 1 / l,
    }


def refining(
    table: Table,
    l: int,  # noqa: E741
    initial: str,
    asked: Sequence[tuple[Predicate, int]],
) -> dict[str, float]:
    """Return what refining does to a partition, by GLP and by errors of COUNT queries."""
    cases: dict[str, tuple[Method, Method]] = {
        "correlation": (AIP(l=l), ARP(l=l)),
        "mondrian": (AIP(l=l, initial="mondrian"), ARP(l=l, initial="mondrian")),
        "top-down": (AIP(l=l, initial="top-down"), ARP(l=l, initial="top-down")),
        "anatomy": (Anatomy(l=l), ARP(l=l, initial="anatomy")),
    }
    if initial in cases:
        before, after = cases[initial]
    else:  # Anatomy's groups for a larger l, given as a user's own
        before, after = Anatomy(l=7), ARP(l=l, initial=_larger_groups(table, 7))
    found: dict[str, float] = {}
    for when, method in (("before", before), ("after", after)):
        release = method.release(table, Randomness.test(1))
        found[f"glp_{when}"] = glp(release, table)
        found[f"mean_probability_{when}"] = mean_probability(release)
        found[f"error_{when}"] = count_error(release, asked)
    return found


def _larger_groups(table: Table, l: int) -> Groups:  # noqa: E741
    rng = Randomness.test(3).generator("larger groups")
    return initial_partition(table, [SENSITIVE], l, "anatomy", rng=rng)


def random_counts(table: Table, count: int) -> list[tuple[Predicate, int]]:
    """Return predicates on three other attributes and the sensitive one, with their true counts."""
    names = [*(column.name for column in table.quasi_identifiers), SENSITIVE]
    found: list[tuple[Predicate, int]] = []
    drawn = 2 * count  # more of them begin with the same ones
    while len(found) < count and drawn < _TRIES * count:
        drawn *= 2
        found = [
            (query.predicate, int(query.truth))
            for query in random_queries(table, names, None, drawn)
            if SENSITIVE in query.predicate.attributes and query.truth >= LEAST
        ]
    return found[:count]


def count_error(release: Release, asked: Sequence[tuple[Predicate, int]]) -> float:
    """Return the median relative error of the estimates."""
    answerer = Answerer(release)
    return median(
        abs(answerer.answer(Count(), predicate).value - true) / true for predicate, true in asked
    )


PAPER = Paper(
    key="refining-partition",
    title="Refining partition",
    source=(
        "Zhu, Tian, Du, Xie, “Anonymization on Refining Partition: Same Privacy, More Utility”, "
        "section 5"
    ),
    version="1",
    real=("adult",),
    synthetic={"census": (75_000, 12_000)},
    about_data={
        "adult": (
            "Complete rows with the attributes of its Table 1 (the text says country where the "
            "table says relationship: the table is followed), occupation sensitive. A smaller "
            "sample is part of the larger ones. 20,000 rows, l = 5 and all seven other attributes "
            "(NSAs) where nothing else is said."
        ),
        "census": (
            "Complete rows, occupation sensitive, with age, sex, education, marital status, size "
            "of the household, employment and relationship as the other attributes (NSAs). A "
            "smaller sample is part of the larger ones."
        ),
    },
    compared=(
        "*AT*: Anatomy's partition. *AIP*: the initial partition as it is. *ARP*: the same, "
        "refined. *NG*: rings on the initial partition. The correlation-ordered partition is "
        "taken *literally* (a part that had to be joined with a neighbour is final) and as this "
        "project does it by default (joined parts are cut further by the next attributes). "
        "Losses are means over five draws, seconds those of the processor, the least of the five. "
        "*Pooled*: what groups have left over is put together with that of their neighbours, as "
        "published. *GLP*: how likely a person is assigned to a value that nobody with the same "
        "other attributes has. *RE*: the chances of being assigned to another value, summed over "
        "all people."
    ),
    grid=grid,
    bench=bench,
    claims=CLAIMS,
    figures=FIGURES,
    tables=tables,
)
