"""The sensitive-QID paper, section VI: its grid, and how a point is measured."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.answers import reconstruct
from sfumato.attacks.joint_bayes import joint_bayes
from sfumato.attacks.set_adversary import SetAdversary
from sfumato.measures.distances import hellinger, l1, l2
from sfumato.methods import Method, Rating, SensitiveQID
from sfumato.papers.data import Data
from sfumato.papers.grid import Numbers, Point, points
from sfumato.papers.paper import Measure, Paper
from sfumato.papers.sensitive_qid_claims import CLAIMS
from sfumato.papers.sensitive_qid_people import CENSUS_ROWS, People, people
from sfumato.papers.sensitive_qid_shown import FIGURES, tables
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release

LS = tuple(range(2, 11))
TS = (0.1, 0.2, 0.3, 0.4, 0.5)
WIDTHS = (1, 2, 3, 4)  # its q'
ROWS = {"adult": 45_222, "census-1990": 250_000, "census": 40_000}
QUERIES = {"adult": 10, "census-1990": 4, "census": 6}
DISTANCES = {"L1": l1, "L2": l2, "Hellinger": hellinger}
RECONSTRUCTIONS = ("bayes", "inverse", "value-adding", "random")
# Age and occupation, as in its Fig. 7.
SHOWN: Mapping[str, tuple[str, str]] = {
    "adult": ("age", "occupation"),
    "census": ("age", "occupation"),
}
ATTACKED: Mapping[str, tuple[str, ...]] = {
    "adult": (
        *("age", "workclass", "education", "marital-status"),
        *("occupation", "relationship", "race", "native-country"),
    ),
    "census-1990": ("dAge", "iMarital", "iClass", "dIncome1", "iYearsch"),
    "census": ("age", "marital_status", "relationship", "education", "employment", "occupation"),
}


def grid(data: str, quick: bool) -> list[Point]:
    """Return the points: distances by l, by t and by the number of attributes, and times."""
    widths: Sequence[int] = (1, 3) if quick else WIDTHS
    ls: Sequence[int] = (2, 10) if quick else LS
    ts: Sequence[float] = (0.1, 0.5) if quick else TS
    rows = 3_000 if quick else ROWS[data]
    size = {"rows": rows, "queries": 2 if quick else QUERIES[data]}
    found = [
        *points("by l", *({"width": w, "l": each} | size for w in widths for each in ls)),
        *points("by t", *({"width": w, "t": each} | size for w in widths for each in ts)),
        *points("entropy", *({"width": widths[0], "l": each} | size for each in ls)),
        *points(
            "publishing",
            *({"l": each, "rows": rows, "rounds": 2} for each in (ls[0], 5, ls[-1])),
        ),
        *points("attack", {"l": 3, "rows": min(rows, 40_000), "sample": 100 if quick else 500}),
    ]
    if data in SHOWN:
        found += points("histogram", {"l": 5, "rows": rows})
    return found


def bench(data: Data) -> Measure:
    """Return the function from a point to its numbers."""
    table = cache(lambda rows: people(data, rows))

    def measure(point: Point) -> Numbers:
        given: Any = point.parameters
        who = table(given["rows"])
        match point.experiment:
            case "by l":
                return by_width(who, given["width"], given["queries"], l=given["l"])
            case "by t":
                return by_width(who, given["width"], given["queries"], t=given["t"])
            case "entropy":
                return entropy(who, given["width"], given["queries"], given["l"])
            case "publishing":
                return publishing(who, given["l"], given["rounds"])
            case "attack":
                names = ATTACKED[data.about.key]
                return attack(who, names, given["l"], given["sample"])
            case _:
                return histogram(who, SHOWN[data.about.key], given["l"])

    return measure


def distances(
    who: People, release: Release, names: Sequence[str], methods: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Return the distances of reconstructions from the true cross table, and their seconds."""
    found = {}
    rng = repeatable(3)
    true: npt.NDArray[np.float64] | None = None
    for method in methods:
        start = time.process_time()
        result = reconstruct(release, names, method, rng)  # type: ignore[arg-type]
        seconds = time.process_time() - start
        if true is None:
            true = who.counts(names, [each.to_pylist() for each in result.values])
        counts = np.maximum(result.counts, 0)
        found[method] = {name: each(true, counts) for name, each in DISTANCES.items()}
        found[method]["seconds"] = seconds
    return found


def by_width(who: People, width: int, queries: int, **asked: Any) -> dict[str, Any]:
    """Return the mean distances over random queries of so many columns, by method.

    `cells` is the mean size of the cross tables, `people` how many rows there are.
    """
    by: dict[str, list[dict[str, float]]] = {}
    cells = []
    for number, names in enumerate(who.chosen(width, queries)):
        table, protection = who.coded(names), who.protection(names, **asked)
        release = SensitiveQID(protection=protection).release(table, Randomness.test(number))
        found = distances(who, release, names, RECONSTRUCTIONS)
        if "l" in asked:
            rated = rating(protection).release(table, Randomness.test(number))
            found["rating"] = distances(who, rated, names, ("value-adding",))["value-adding"]
        for name, numbers in found.items():
            by.setdefault(name, []).append(numbers)
        cells.append(float(np.prod([who.size(name) for name in names])))
    methods = {
        name: {key: fmean(each[key] for each in numbers) for key in numbers[0]}
        for name, numbers in by.items()
    }
    return {"methods": methods, "cells": fmean(cells), "people": who.rows.num_rows}


def rating(protection: Mapping[str, Any]) -> Rating:
    """Return Rating as in its paper: what no group has room for is published all the same."""
    return Rating(protection=protection, left_over="repeat")


def entropy(who: People, width: int, queries: int, ell: int) -> dict[str, float]:
    """Return the mean L1 of `bayes` under frequency and under entropy diversity."""
    found: dict[str, list[float]] = {"frequency": [], "entropy": []}
    for number, names in enumerate(who.chosen(width, queries)):
        for variant, each in found.items():
            protection = who.protection(names, l=ell, variant=variant)
            method = SensitiveQID(protection=protection)
            release = method.release(who.coded(names), Randomness.test(number))
            each.append(distances(who, release, names, ("bayes",))["bayes"]["L1"])
    return {variant: fmean(each) for variant, each in found.items()}


def publishing(who: People, ell: int, rounds: int) -> dict[str, float]:
    """Return the least seconds, of the processor, to publish all columns by either method."""
    names = who.rows.column_names
    table, protection = who.coded(names), who.protection(names, l=ell)
    methods: dict[str, Method] = {
        "sets": SensitiveQID(protection=protection),
        "rating": rating(protection),
    }
    times: dict[str, list[float]] = {name: [] for name in methods}
    for number in range(rounds):
        for name, method in methods.items():
            start = time.process_time()
            method.release(table, Randomness.test(number))
            times[name].append(time.process_time() - start)
    return {f"{name}_seconds": min(each) for name, each in times.items()} | {
        "attributes": len(names)
    }


def attack(who: People, names: Sequence[str], ell: int, sample: int) -> dict[str, Any]:
    """Return for which share of people joint Bayes gives the own value more than 1/l.

    By whether the person's record is known, for the attribute with the fewest and the most.
    """
    release = SensitiveQID(protection=who.protection(names, l=ell)).release(
        who.coded(names), Randomness.test(1)
    )
    eyes = SetAdversary.of(release, who.rows.select(list(names)), sample=sample, rng=repeatable(1))
    by: dict[str, list[float]] = {}
    for outcome in joint_bayes(eyes, rng=repeatable(2)):
        by.setdefault(outcome.attack, []).append(outcome.figures["share_above_one_over_l"])
    return {name: {"fewest": min(shares), "most": max(shares)} for name, shares in by.items()}


def histogram(who: People, names: Sequence[str], ell: int) -> dict[str, Any]:
    """Return how one cross table is reconstructed, and two of its rows to look at.

    `misplaced` is the share of people in a wrong cell. `flattened` is the share of cells that
    are drawn towards the mean: below the truth where that is above average, and vice versa.
    """
    table, protection = who.coded(names), who.protection(names, l=ell)
    release = SensitiveQID(protection=protection).release(table, Randomness.test(0))
    rated = rating(protection).release(table, Randomness.test(0))
    made = {
        "bayes": reconstruct(release, names, "bayes"),
        "ValueAdding": reconstruct(release, names, "value-adding"),
        "Rating": reconstruct(rated, names, "value-adding"),
    }
    ages, jobs = (each.to_pylist() for each in made["bayes"].values)
    order = np.argsort([float(age) for age in ages])
    true = who.counts(names, [ages, jobs])
    common = np.argsort(-true.sum(axis=0), kind="stable")
    above = true > true.mean()
    found: dict[str, Any] = {"original": {"sum": true.sum(), **_shown(true, order, jobs, common)}}
    for name, result in made.items():
        places = [result.values[1].to_pylist().index(job) for job in jobs]
        rows = [result.values[0].to_pylist().index(age) for age in ages]
        counts = result.counts[np.ix_(rows, places)]
        drawn = np.where(above, counts < true, counts > true)
        found[name] = {
            "sum": float(counts.sum()),
            "misplaced": l1(true, counts) / 2 / true.sum(),
            "flattened": float(drawn.mean()),
            **_shown(counts, order, jobs, common),
        }
    return found


def _shown(
    counts: npt.NDArray[np.float64],
    order: npt.NDArray[np.int64],
    jobs: Sequence[str],
    common: npt.NDArray[np.int64],
) -> dict[str, Any]:
    """Return the counts by age of the commonest occupation and of one in the middle."""
    chosen = (common[0], common[len(common) // 2])
    return {"shown": {jobs[j]: [round(float(x), 1) for x in counts[order, j]] for j in chosen}}


PAPER = Paper(
    key="sensitive-qid",
    title="Sensitive quasi-identifiers",
    source=(
        "Sei, Okumura, Takenouchi, Ohsuga, “Anonymization of Sensitive Quasi-Identifiers for "
        "l-Diversity and t-Closeness” (2019), section VI"
    ),
    version="1",
    real=("adult", "census-1990"),
    synthetic={"census": (45_000, 4_000)},
    about_data={
        "adult": (
            "The 45,222 complete rows, all 15 attributes, numbers cut into at most 40 equally wide "
            "parts (domains of 2 to 41 values, as the paper says). Means over ten random queries."
        ),
        "census-1990": (
            f"A sample of it, resampled to 250,000 rows (the paper has {CENSUS_ROWS:,}), all 68 "
            "attributes, which are categories. Means over four random queries."
        ),
        "census": (
            "Complete rows, at most 40,000, ten attributes, numbers cut into at most 40 equally "
            "wide parts. Means over six random queries."
        ),
    },
    compared=(
        "All attributes are sensitive quasi-identifiers; a query is the cross table of q′ random "
        "ones. The distances are between counts, as the paper defines them, not shares. *bayes* is "
        "the paper's reconstruction. *ValueAdding* and *Random* differ from it in the "
        "reconstruction alone; *inverse* is this project's second one. *Rating* publishes sets of "
        "its own (with `left_over: repeat`, as its paper does, which claims nothing about those "
        "records) and is read by ValueAdding. Where an attribute has l values or fewer the paper "
        "takes one less than it has; so it is done here. For t, p is the one that is safe for "
        "every subset, which is smaller than what Algorithm 1 as printed would choose. Seconds are "
        "those of the processor."
    ),
    grid=grid,
    bench=bench,
    claims=CLAIMS,
    figures=FIGURES,
    tables=tables,
)
