"""From single runs to what they show: medians, ratios, growth with the number of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import log
from statistics import median
from typing import Any

GROWTH_TOLERANCE = 0.05  # added to the exponent of n log n: times are never exact


def medians(runs: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return one entry a case and size, numbers being medians over its rounds, in first order."""
    rounds: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for run in runs:
        rounds.setdefault((run["case"], run["rows"]), []).append(run)
    return [_median(same) | {"rounds": len(same)} for same in rounds.values()]


def _median(same: Sequence[Any]) -> Any:
    first = same[0]
    if isinstance(first, Mapping):
        return {key: _median([each[key] for each in same]) for key in first}
    # what rounds agree on, such as the number of rows, stays as it is
    return first if all(each == first for each in same) else median(same)


def growth(results: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the exponent of the time beside that of n log n: for every step in size, and in all.

    A single step may also leave a cache behind, which is no growth; the last entry of a case spans
    all of its sizes.
    """
    by_case: dict[str, list[Mapping[str, Any]]] = {}
    for result in results:
        if "partition" in result["seconds"]:
            by_case.setdefault(result["case"], []).append(result)
    steps = []
    for case, results_of_case in by_case.items():
        sizes = sorted(results_of_case, key=lambda result: result["rows"])
        whole = [(sizes[0], sizes[-1])] if len(sizes) > 2 else []
        for small, large in [*pairwise(sizes), *whole]:
            n, more = small["rows"], large["rows"]
            limit = exponent(n * log(n), more * log(more), n, more) + GROWTH_TOLERANCE
            reached = {
                "partition": exponent(
                    small["seconds"]["partition"], large["seconds"]["partition"], n, more
                ),
                "total": exponent(small["total_seconds"], large["total_seconds"], n, more),
                "processor": exponent(_processor(small), _processor(large), n, more),
            }
            steps.append({"case": case, "from": n, "to": more, "limit": limit, **reached})
    return steps


def _processor(result: Mapping[str, Any]) -> float:
    return float(sum(result["processor_seconds"].values()))


def exponent(time: float, more_time: float, rows: int, more_rows: int) -> float:
    """Return the slope between two points on logarithmic scales.

    >>> exponent(1.0, 4.0, 10, 20)
    2.0
    """
    return log(more_time / time) / log(more_rows / rows)


def over_floor(results: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int], float]:
    """Return how many times longer than reading and writing alone each case takes, by size."""
    floors = {r["rows"]: r["total_seconds"] for r in results if r["case"] == "floor"}
    return {
        (r["case"], r["rows"]): r["total_seconds"] / floors[r["rows"]]
        for r in results
        if r["case"] != "floor" and r["rows"] in floors
    }
