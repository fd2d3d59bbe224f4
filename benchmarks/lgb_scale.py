"""LGB on a million people: `python -m benchmarks.lgb_scale [--rows N] [--rounds N] [--out FILE]`.

From a coded table to a release in memory, multidimensional partition (MDP) and top-down greedy
(NCP) in turn; then questions to the release. Seconds are medians; processor seconds tell what a
busy machine hides.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from benchmarks.machine import load_average, machine_facts
from sfumato.answers import Answerer, Count, Sum
from sfumato.datasets import census, census_schema
from sfumato.methods import LGB
from sfumato.models import TCloseBuckets
from sfumato.papers.queries import random_queries
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import Role, Schema
from sfumato.table import Table, encode
from sfumato.utility import discernibility, ncp

RESULTS = Path(__file__).resolve().parent / "results" / "lgb_scale.json"
ROWS = 1_000_000
DENSITY = 0.2
K, L, T = 10, 5, 0.2
SEMI_SENSITIVE = ("age", "sex", "occupation")
QUESTIONS = 100
_WARM_ROWS = 2_000  # enough to load or compile every kernel

Result = TypeVar("Result")


def schema() -> Schema:
    """Return the census with eight attributes to generalise, a fifth of three of them sensitive."""
    return Schema(
        tuple(
            replace(attribute, role=Role.SEMI_SENSITIVE, density=DENSITY)
            if attribute.name in SEMI_SENSITIVE
            else attribute
            for attribute in census_schema()
        )
    )


def methods() -> dict[str, LGB]:
    """Return the two algorithms, with the defaults that lose least."""
    protection = {"sex": TCloseBuckets("sex", T)}
    return {
        "mdp": LGB(k=K, l=L, protection=protection, generalize="mdp"),
        "ncp": LGB(k=K, l=L, protection=protection, generalize="ncp"),
    }


def measure(rows: int, rounds: int, say: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Return all measurements."""
    table, few = (encode(census(n, seed=1), schema()) for n in (rows, min(rows, _WARM_ROWS)))
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in methods()}
    releases: dict[str, Release] = {}
    for method in methods().values():
        method.release(few, Randomness.fresh())
    for number in range(rounds):
        for name, method in methods().items():
            release, seconds, processor = timed(lambda m=method: m.release(table, _fresh()))
            say(f"round {number + 1}: {name} in {seconds:.1f} s ({processor:.1f} s of processor)")
            times[name].append((seconds, processor))
            releases[name] = release
    runs = [
        {
            "generalize": name,
            "seconds": median(wall for wall, _ in times[name]),
            "processor_seconds": median(processor for _, processor in times[name]),
            "ncp_mean": ncp(release, table).mean,
            "c_dm": discernibility(release),
        }
        for name, release in releases.items()
    ]
    return {
        "created": datetime.now(UTC).date().isoformat(),
        "machine": machine_facts(),
        "load": load_average(),
        "rows": rows,
        "density": DENSITY,
        "runs": runs,
        "answers": _ask(releases["mdp"], table),
    }


def timed(action: Callable[[], Result]) -> tuple[Result, float, float]:
    """Return what the action gives, its seconds and its processor seconds."""
    start, processor = time.perf_counter(), time.process_time()
    result = action()
    return result, time.perf_counter() - start, time.process_time() - processor


def _fresh() -> Randomness:
    return Randomness.fresh()


def _ask(release: Release, table: Table) -> dict[str, float]:
    """Return the seconds to read the release, and to answer a thousand questions."""
    names = [c.name for c in table.with_role(Role.QUASI_IDENTIFIER, Role.SEMI_SENSITIVE)]
    queries = random_queries(table, names, "salary", QUESTIONS)
    answerer = Answerer(release)

    def ask() -> None:
        for number, query in enumerate(queries):
            answerer.answer(Count() if number % 2 else Sum("salary"), query.predicate)

    _, first, _ = timed(ask)
    _, again, processor = timed(ask)
    return {
        "reading_seconds": max(first - again, 0.0),
        "seconds_per_thousand": again * 1_000 / QUESTIONS,
        "processor_seconds_per_thousand": processor * 1_000 / QUESTIONS,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, print, and write down the numbers."""
    parser = argparse.ArgumentParser(prog="benchmarks.lgb_scale", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="where to write the JSON")
    options = parser.parse_args(arguments)
    results = measure(options.rows, options.rounds, print)
    for run in results["runs"]:
        print(
            f"{run['generalize']}: {run['seconds']:.1f} s, {run['processor_seconds']:.1f} s of "
            f"processor, mean NCP {run['ncp_mean']:.4f}, C_DM {run['c_dm']:,}"
        )
    mdp, greedy = (run["seconds"] for run in results["runs"])
    print(f"MDP in single-digit seconds: {'yes' if mdp < 10 else 'no'}")
    print(f"NCP within ten times that: {'yes' if greedy <= 10 * mdp else 'no'}")
    answers = results["answers"]
    print(
        f"answers: read in {answers['reading_seconds']:.1f} s, "
        f"{answers['seconds_per_thousand']:.1f} s a thousand questions"
    )
    out = options.out or (RESULTS if options.rows >= ROWS else None)
    if out is not None:
        out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
