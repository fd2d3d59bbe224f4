"""How good risk estimates are: `python -m benchmarks.risk [--folder DATA] [--quick] [--out FILE]`.

Random samples of Adult and of the COVID-19 table (more than a million rows) are taken for the data,
and the whole table for the population, whose uniques, k-map and journalist's risk are then known.
Also the seconds that minimal sample uniques of the large table take. Prints the tables of
`docs/risk.md`, and writes all numbers as JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from benchmarks.lgb_scale import timed
from benchmarks.machine import load_average, machine_facts, shared_folder
from sfumato.randomness import repeatable
from sfumato.risk import Risk, assess, records_of, uniques_of
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import Table, encode

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "risk.json"
FRACTIONS = (0.01, 0.05, 0.1)
REPEATS = 5

_ADULT = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex")
_COVID = ("MEDICAL_UNIT", "SEX", "PATIENT_TYPE", "AGE", "PREGNANT", "DIABETES", "HIPERTENSION")
_COVID += ("OBESITY", "TOBACCO")
CASES = {
    "Adult, 9 columns": ("adult.parquet", (*_ADULT, "native-country", "salary-class")),
    "Adult, 5 columns": (
        "adult.parquet",
        ("age", "education", "marital-status", "race", "sex"),
    ),
    "COVID, 9 columns": ("covid_mexico.parquet", _COVID),
    "COVID, 14 columns": (
        "covid_mexico.parquet",
        (*_COVID, "DATE_DIED", "PNEUMONIA", "COPD", "ASTHMA", "INMSUPR"),
    ),
}


def population(folder: Path, case: str) -> Table:
    """Return the whole table of a case, coded."""
    file, names = CASES[case]
    rows = pq.read_table(folder / file, columns=list(names))
    return encode(rows, Schema(tuple(Attribute(n, Role.QUASI_IDENTIFIER) for n in names)))


def sample(table: Table, fraction: float, *seeds: int) -> Table:
    """Return a simple random sample."""
    size = round(table.rows * fraction)
    rows = repeatable(*seeds).choice(table.rows, size, replace=False)
    columns = tuple(replace(c, codes=c.codes[rows]) for c in table.columns)
    return Table(table.schema, columns, size)


def experiment(table: Table, fraction: float, repeats: int) -> dict[str, Any]:
    """Return what samples estimate, each beside the truth that the population tells."""
    runs = []
    for repeat in range(repeats):
        drawn = sample(table, fraction, 9, repeat)
        known = assess(drawn, population=table, max_size=1)
        guessed = assess(drawn, fraction=fraction, max_size=1)
        runs.append(_beside(known, guessed))
    return {"fraction": fraction, "sample": round(table.rows * fraction), "runs": runs}


def _beside(known: Risk, guessed: Risk) -> dict[str, Any]:
    truth = known.population_uniques
    assert truth is not None
    return {
        "truth": truth,
        "sample_uniques": known.sample_uniques.records,
        "ratio": {
            each.estimator: None if each.uniques is None else each.uniques / truth
            for each in guessed.estimates
        },
        "mean_risk": {
            how: each.mean for how, each in (*known.journalist.items(), *guessed.journalist.items())
        },
        "below_5": {each.how: each.below[5] for each in (*known.k_map, *guessed.k_map)},
    }


def speed(table: Table) -> dict[str, float]:
    """Return the seconds of all combinations of up to three columns."""
    few = Table(
        table.schema, tuple(replace(c, codes=c.codes[:1000].copy()) for c in table.columns), 1000
    )
    uniques_of(records_of(few), 3)
    records, grouping, _ = timed(lambda: records_of(table))
    found, seconds, processor = timed(lambda: uniques_of(records, 3))
    return {
        "rows": table.rows,
        "columns": len(records.names),
        "combinations": len(found.combinations),
        "grouping_seconds": grouping,
        "seconds": seconds,
        "processor_seconds": processor,
    }


def middle(runs: Sequence[Mapping[str, Any]], key: str, name: str) -> float | None:
    """Return the median over runs, None if one has no number."""
    values = [run[key].get(name) for run in runs]
    return None if any(value is None for value in values) else float(np.median(values))


def markdown(results: Mapping[str, Any]) -> str:
    """Return the tables of the page."""
    head = ("population", "sample", "sample uniques", "population uniques")
    head += ("Pitman", "Zayatz", "slide NB", "mean 1/F: truth", "Pitman", "neg. binomial")
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for case, parts in results["cases"].items():
        for part in parts:
            runs = part["runs"]
            uniques = int(np.median([run["sample_uniques"] for run in runs]))
            ratios = [
                _text(middle(runs, "ratio", name), "×{:.2f}")
                for name in ("pitman", "zayatz", "slide-negative-binomial")
            ]
            risks = [
                _text(middle(runs, "mean_risk", name), "{:.3f}")
                for name in ("counted", "pitman", "negative-binomial")
            ]
            cells = [case, f"{part['fraction']:.0%}", f"{uniques:,}", f"{runs[0]['truth']:,}"]
            lines.append("| " + " | ".join([*cells, *ratios, *risks]) + " |")
    return "\n".join(lines) + "\n"


def _text(value: float | None, form: str) -> str:
    return "none" if value is None else form.format(value)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, print, and write down the numbers."""
    shared = shared_folder()
    parser = argparse.ArgumentParser(prog="benchmarks.risk", description=__doc__)
    parser.add_argument("--folder", type=Path, default=shared / "data", help="where the data lie")
    parser.add_argument("--quick", action="store_true", help="one sample each, Adult only")
    parser.add_argument("--out", type=Path, help="where to write the JSON")
    options = parser.parse_args(arguments)
    cases: dict[str, Any] = {}
    fast: dict[str, float] = {}
    for case in CASES:
        if options.quick and not case.startswith("Adult"):
            continue
        table = population(options.folder, case)
        repeats = 1 if options.quick else REPEATS
        cases[case] = [experiment(table, fraction, repeats) for fraction in FRACTIONS]
        if case == "COVID, 9 columns":
            fast = speed(table)
    results = {
        "created": datetime.now(UTC).date().isoformat(),
        "machine": machine_facts(),
        "cases": cases,
        "speed": fast,
        "load": load_average(),
    }
    print(markdown(results))
    print(json.dumps(fast))
    out = options.out or (None if options.quick else RESULTS)
    if out is not None:
        out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
