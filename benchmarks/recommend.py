"""Recommended against hand-written policies: `python -m benchmarks.recommend [--minutes N]`.

The ten policies of `benchmarks/baselines/` publish the 30,162 complete training rows of Adult.
`sfumato recommend` is asked for a policy under the limits of each, with the roles that it has;
those which have the same roles and limits get the same one, since the method of a policy is not
looked at. Both are published anew, three times each, and judged by the mean relative error of
random COUNT queries that no search has seen. Seconds are those of the whole command, start and all.
Needs the shared data (SFUMATO_SHARED, or beside the checkout).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.machine import load_average, machine_facts, shared_folder
from sfumato.attacks.exposure import exposure
from sfumato.jobs.asked import mean_error
from sfumato.jobs.policy import Policy
from sfumato.jobs.prepared import prepare
from sfumato.jobs.trial import published
from sfumato.randomness import Randomness
from sfumato.utility.workload import Probe, workload

ROOT = Path(__file__).resolve().parent.parent
BASELINES = ROOT / "benchmarks" / "baselines"
RESULTS = ROOT / "benchmarks" / "results" / "recommend.json"
TRAINING = 32_561
# The limits of each policy, as the baselines' README has them.
BOTH = ("mondrian", "mondrian-widest", "mondrian-relaxed", "mondrian-careful", "full-domain", "lgb")
INFERENCE = ("anatomy", "arp", "slicing", "slppa")
LIMITS = {
    **dict.fromkeys(BOTH, ("--max-reidentification", "0.09", "--max-inference", "0.25")),
    **dict.fromkeys(INFERENCE, ("--max-inference", "0.25")),
}
# The yardstick: queries of a seed of their own, each policy published with these seeds.
QUERIES, YARDSTICK, PUBLICATIONS = 300, 20_260_101, (1, 2, 3)


def adult(shared: Path) -> pa.Table:
    """Return the complete training rows."""
    whole = pl.DataFrame(pq.read_table(shared / "data" / "adult.parquet").slice(0, TRAINING))
    return whole.drop_nulls().to_arrow()


def yardstick(data: pa.Table, policy: Policy) -> list[Probe]:
    """Return the queries by which all policies are judged."""
    randomness = Randomness.test(YARDSTICK)
    table = prepare(data, policy, randomness).table
    names = [attribute.name for attribute in table.schema if attribute.is_published]
    return [
        probe
        for dimension in (1, 2, 3)
        for probe in workload(
            table,
            names,
            queries=QUERIES,
            dimension=dimension,
            selectivity=0.1,
            nonzero=True,
            rng=randomness.generator(f"yardstick {dimension}"),
        )
    ]


def judged(data: pa.Table, policy: Policy, probes: Sequence[Probe]) -> dict[str, Any]:
    """Return the worst risks and the mean error of a policy, over its publications."""
    errors, people, values, withheld = [], [], [], []
    for seed in PUBLICATIONS:
        randomness = Randomness.test(seed)
        prepared = prepare(data, policy, randomness)
        made = published(prepared, policy, randomness, warm_up=False)
        found = exposure(made.release)
        errors.append(mean_error(made.plain, prepared.table, probes))
        people.append(float(found.reidentification))
        values.append(float(found.highest_inference))
        withheld.append(made.release.manifest.suppressed)
    return {
        "method": policy.content.method.name,
        "parameters": dict(policy.content.method.parameters),
        "error": round(mean(errors), 5),
        "errors": [round(each, 5) for each in errors],
        "reidentification": round(max(people), 5),
        "inference": round(max(values), 5),
        "withheld": max(withheld),
    }


def measure(shared: Path, minutes: float) -> dict[str, Any]:
    """Return all measurements."""
    data = adult(shared)
    policies = {name: Policy.load(BASELINES / f"{name}.yaml") for name in LIMITS}
    probes = yardstick(data, policies["mondrian"])
    asked: dict[str, dict[str, Any]] = {}
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "adult.parquet"
        pq.write_table(data, source)
        for name, policy in policies.items():
            baseline = judged(data, policy, probes)
            key = json.dumps([LIMITS[name], policy.content.model_dump(mode="json")["attributes"]])
            if key not in asked:
                asked[key] = recommended(source, name, minutes, Path(scratch), data, probes)
            own = asked[key]
            rows.append(
                {
                    "baseline": name,
                    "limits": " ".join(LIMITS[name]),
                    **{f"baseline_{key}": value for key, value in baseline.items()},
                    **{f"recommended_{key}": value for key, value in own.items()},
                    "ratio": round(baseline["error"] / own["error"], 3),
                }
            )
            show(rows[-1])
    return {
        "rows": data.num_rows,
        "queries": len(probes),
        "minutes": minutes,
        "beaten": sum(row["ratio"] > 1 for row in rows),
        "policies": rows,
    }


def recommended(
    source: Path, name: str, minutes: float, folder: Path, data: pa.Table, probes: Sequence[Probe]
) -> dict[str, Any]:
    """Return what the recommended policy is like, and how long the command took."""
    out = folder / f"{name}.yaml"
    options = ["--minutes", str(minutes), "--out", str(out), *LIMITS[name]]
    start = time.perf_counter()
    command = [sys.executable, "-c", "from sfumato.cli.app import main; main()", "recommend"]
    policy = BASELINES / f"{name}.yaml"
    done = subprocess.run([*command, str(source), "--policy", str(policy), *options], check=False)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"no policy was recommended for the limits of {name}")
    found = judged(data, Policy.load(out), probes)
    return found | {"seconds": round(seconds, 1), "in_time": seconds <= 60 * minutes}


def show(row: dict[str, Any]) -> None:
    """Print one comparison."""
    print(
        f"{row['baseline']:18s} {row['baseline_error']:8.4f}  recommended "
        f"{row['recommended_method']:8s} {row['recommended_error']:8.4f}  ratio {row['ratio']:7.2f}"
        f"   {row['recommended_seconds']:.0f} s",
        flush=True,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks.recommend")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    shared = shared_folder()
    if not (shared / "data").is_dir():
        raise SystemExit("the shared data folder is not beside this checkout (set SFUMATO_SHARED)")
    load = load_average()
    found = measure(shared, options.minutes)
    result = {
        "benchmark": "recommend",
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine_facts(),
        "load_before": load,
        **found,
    }
    options.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(f"{found['beaten']} of {len(LIMITS)} baselines beaten")


if __name__ == "__main__":
    main()
