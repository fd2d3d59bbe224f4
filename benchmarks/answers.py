"""What answers are worth: `python -m benchmarks.answers [--folder DATA] [--quick] [--out FILE]`.

On Adult, 10,000 random queries a layout against the truth: whether bounds contain it, how wide they
are, how far estimates are off, and how often twice the standard error covers it. On a synthetic
census of a million people, the seconds for a thousand queries to a release that is loaded once.
Prints the tables of `docs/answers.md`, and writes all numbers as JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.lgb_scale import timed
from benchmarks.machine import load_average, machine_facts, shared_folder
from sfumato.answers import Answerer, Count, Sum
from sfumato.datasets import census, census_schema, load_adult
from sfumato.methods import LGB, SLPPA, Anatomy, Method, Mondrian, SensitiveQID, Slicing
from sfumato.models import LDiversity
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import Table, encode
from sfumato.utility.query_errors import QueryErrors, query_errors
from sfumato.utility.workload import Probe, workload

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "answers.json"
QUERIES = 10_000
DIMENSIONS = (1, 2, 3, 4)
SELECTIVITY = 0.1
ROWS = 1_000_000
QUESTIONS = 1_000

_QIS = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")
SECRET, NUMBER = "occupation", "hours-per-week"
HIDDEN = ("age", "occupation")  # of the census


def changed(schema: Schema, names: Sequence[str], **fields: Any) -> Schema:
    """Return a schema in which some attributes have other fields."""
    return Schema(tuple(replace(each, **fields) if each.name in names else each for each in schema))


def adult_schema(**roles: Role) -> Schema:
    """Return Adult's roles: seven quasi-identifiers, the occupation secret, the hours kept."""
    plain = dict.fromkeys(_QIS, Role.QUASI_IDENTIFIER) | {SECRET: Role.SENSITIVE}
    attributes = [Attribute(name, role) for name, role in (plain | roles).items()]
    return Schema((*attributes, Attribute(NUMBER, Role.INSENSITIVE, keep=True)))


def adult_methods() -> dict[str, tuple[Method, Schema]]:
    """Return a method of every layout, and two of the anatomised one."""
    plain = adult_schema()
    own = changed(plain, ("age", "education"), role=Role.SEMI_SENSITIVE, density=0.2)
    known = Role.SENSITIVE_QUASI_IDENTIFIER
    secret = adult_schema(age=known, education=known)
    return {
        "mondrian (generalized)": (Mondrian(k=5, models=(LDiversity(SECRET, 3),)), plain),
        "anatomy (anatomized)": (Anatomy(l=3), plain),
        "slppa (anatomized)": (SLPPA(beta=0.34, tables=2), plain),
        "slicing (sliced)": (Slicing(l=3), plain),
        "lgb (local)": (LGB(k=5, l=3), own),
        "sensitive-qid (sets)": (SensitiveQID(l=3), secret),
    }


def probes(table: Table, names: Sequence[str], queries: int, seed: int) -> list[list[Probe]]:
    """Return counts and sums on one to four attributes, as many of each."""
    each = queries // (2 * len(DIMENSIONS))
    return [
        workload(
            *(table, names),
            queries=each,
            dimension=dimension,
            selectivity=SELECTIVITY,
            aggregate=aggregate,
            rng=repeatable(seed, dimension, number),
        )
        for number, aggregate in enumerate((Count(), Sum(NUMBER)))
        for dimension in DIMENSIONS
    ]


def adult(folder: Path, queries: int) -> dict[str, Any]:
    """Return the summaries of answers by method."""
    rows = load_adult(folder / "adult.parquet")
    found = {}
    for name, (method, schema) in adult_methods().items():
        table = encode(rows.select(schema.names), schema)
        release = method.release(table, Randomness.test(1))
        answerer = Answerer(release)
        asked = probes(table, (*_QIS, SECRET), queries, 1)
        summaries = [query_errors(answerer, table, each) for each in asked]
        found[name] = together(summaries)
    return found


def together(summaries: Sequence[QueryErrors]) -> dict[str, Any]:
    """Return what all summaries say together, and each of them."""
    return {
        "queries": sum(each.queries for each in summaries),
        "bounded": sum(each.bounded for each in summaries),
        "missed": sum(each.missed for each in summaries),
        "parts": [each.to_dict() for each in summaries],
    }


def large_methods() -> dict[str, tuple[Method, Schema]]:
    """Return a method of every layout for the census."""
    plain = census_schema()
    own = changed(plain, HIDDEN, role=Role.SEMI_SENSITIVE, density=0.2)
    secret = changed(plain, HIDDEN, role=Role.SENSITIVE_QUASI_IDENTIFIER)
    return {
        "mondrian (generalized)": (Mondrian(k=5), plain),
        "anatomy (anatomized)": (Anatomy(l=3), plain),
        "slicing (sliced)": (Slicing(l=3), plain),
        "lgb (local)": (LGB(k=5, l=3), own),
        "sensitive-qid (sets)": (SensitiveQID(l=3), secret),
    }


def speed(rows: int, questions: int) -> dict[str, dict[str, float]]:
    """Return the seconds of questions to large releases, which are loaded once."""
    data = census(rows, seed=1)
    found = {}
    for name, (method, schema) in large_methods().items():
        table = encode(data, schema)
        release = method.release(table, Randomness.test(1))
        known = [c.name for c in table.columns if c.attribute.role is not Role.SENSITIVE]
        asked = [
            probe.predicate
            for dimension in (2, 3, 4)
            for probe in workload(
                *(table, [*known, "salary"]),
                queries=questions // 3 + 1,
                dimension=dimension,
                selectivity=SELECTIVITY,
                rng=repeatable(2, dimension),
            )
        ][:questions]
        _, warm, _ = timed(lambda r=release, a=asked: _ask(Answerer(r), a[:30]))
        answerer, reading, _ = timed(lambda r=release: Answerer(r))
        _, seconds, processor = timed(lambda w=answerer, a=asked: _ask(w, a))
        found[name] = {
            "first_thirty_seconds": warm,
            "reading_seconds": reading,
            "seconds": seconds,
            "processor_seconds": processor,
        }
    return found


def _ask(answerer: Answerer, predicates: Sequence[Any]) -> None:
    for predicate in predicates:
        answerer.answer(Count(), predicate)


def matched(rows: int, queries: int) -> dict[str, Any]:
    """Return how often twice the standard error covers the truth where matching is random.

    A release is made of a table; one plausible table behind it, whose rows are matched at random
    inside groups, is then taken for the truth.
    """
    data = census(rows, seed=2)
    # by lgb, all of their cells are hidden: generalised ones are not matched
    own = changed(census_schema(), HIDDEN, role=Role.SEMI_SENSITIVE, density=1.0)
    found = {}
    for name, (method, schema) in large_methods().items():
        if name.startswith(("mondrian", "sensitive-qid")):
            continue  # no matching
        is_local = name.startswith("lgb")
        roles = own if is_local else schema
        release = method.release(encode(data, roles), Randomness.test(2))
        behind = release.to_microdata(3)
        kept = Schema(
            tuple(
                Attribute(each.name, Role.QUASI_IDENTIFIER)
                for each in roles
                if each.name in ((*HIDDEN, "salary") if is_local else behind.column_names)
            )
        )
        found[name] = _covered(release, encode(behind.select(kept.names), kept), queries)
    return found


def _covered(release: Release, truth: Table, queries: int) -> dict[str, float]:
    answerer = Answerer(release)
    names = [column.name for column in truth.columns]
    inside, having = 0, 0
    for dimension in (2, 3):
        for probe in workload(
            *(truth, names),
            queries=queries // 2,
            dimension=dimension,
            selectivity=SELECTIVITY,
            rng=repeatable(5, dimension),
        ):
            estimate = answerer.answer(Count(), probe.predicate)
            if estimate.se:
                having += 1
                inside += bool(abs(estimate.value - probe.truth) <= 2 * estimate.se)
    return {"queries": queries, "with_se": having, "within_2_se": inside / max(having, 1)}


def markdown(results: Mapping[str, Any]) -> str:
    """Return the tables of the page."""
    head = ("", "queries", "bounds that miss", "median error", "90th percentile")
    head += ("median width of bounds", "trivial bounds", "±2 se covers")
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name, found in results["adult"].items():
        for aggregate in ("count", "sum"):
            parts = [p for p in found["parts"] if p["aggregate"].lower().startswith(aggregate)]
            told = [p for p in parts if p["with_se"]]
            lines.append(
                f"| {name}, {aggregate.upper()} | {sum(p['queries'] for p in parts):,} "
                f"| {sum(p['missed'] for p in parts)} "
                f"| {_many(parts, 'median')} | {_many(parts, 'percentile_90')} "
                f"| {_many(parts, 'width')} | {_many(parts, 'trivial')} "
                f"| {_many(told, 'within_2_se') if told else 'no se'} |"
            )
    return "\n".join(lines) + "\n"


def _many(parts: Sequence[Mapping[str, Any]], key: str) -> str:
    """Return the shares of queries on one to four attributes."""
    return ", ".join("–" if p[key] is None else f"{100 * p[key]:.3g} %" for p in parts)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, print, and write down the numbers."""
    shared = shared_folder()
    parser = argparse.ArgumentParser(prog="benchmarks.answers", description=__doc__)
    parser.add_argument("--folder", type=Path, default=shared / "data", help="where the data lie")
    parser.add_argument("--quick", action="store_true", help="few queries and rows")
    parser.add_argument("--out", type=Path, help="where to write the JSON")
    options = parser.parse_args(arguments)
    quick = options.quick
    results = {
        "created": datetime.now(UTC).date().isoformat(),
        "machine": machine_facts(),
        "adult": adult(options.folder, 80 if quick else QUERIES),
        "matched": matched(5_000 if quick else 100_000, 100 if quick else 1_000),
        "speed": speed(20_000 if quick else ROWS, 60 if quick else QUESTIONS),
        "load": load_average(),
    }
    print(markdown(results))
    print(json.dumps({"matched": results["matched"], "speed": results["speed"]}, indent=1))
    missed = sum(each["missed"] for each in results["adult"].values())
    print(f"all bounds contain the truth: {'yes' if missed == 0 else 'no'}")
    out = options.out or (None if quick else RESULTS)
    if out is not None:
        out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
