"""MDAV on the numbers of Census-Income: `python -m benchmarks.mdav [--out FILE]`.

Information loss (SSE/SST, attributes in standard deviations) and time by k; what parting a large
table beforehand loses; the same loss of Mondrian's groups; how many people have their own group's
mean nearest, which an attack can only bound from above; and 100,000 rows no two of which are alike.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.lgb_scale import timed
from benchmarks.machine import load_average, machine_facts, shared_folder
from sfumato.methods import MDAV
from sfumato.models import KAnonymity
from sfumato.randomness import Randomness, repeatable
from sfumato.rows.mdav import MOST_POINTS, mdav
from sfumato.rows.mondrian import mondrian
from sfumato.schema import Schema
from sfumato.table import Groups, Table, encode
from sfumato.utility import information_loss

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "mdav.json"
NUMBERS = (
    "age",
    "wage-per-hour",
    "capital-gains",
    "capital-losses",
    "dividends-from-stocks",
    "num-persons-worked-for-employer",
    "weeks-worked-in-year",
)
KS = (3, 5, 10, 25)
FEW, K = 100_000, 5
WHOLE = 10**9

Reals = npt.NDArray[np.float64]
Say = Callable[[str], None]


def measure(data: pa.Table, few: int = FEW, say: Say = lambda _: None) -> dict[str, Any]:
    """Return all measurements of a table whose columns are numbers."""
    schema = Schema.of(dict.fromkeys(data.column_names, "quasi-identifier"))
    mdav(encode(data.slice(0, 200), schema), K, rng=repeatable(0))  # compiles
    coded, some = encode(data, schema), encode(data.slice(0, few), schema)
    by_k = []
    for k in KS:
        release, seconds, _ = timed(
            lambda k=k: MDAV(k).publish(data, schema, randomness=Randomness.test(k))
        )
        loss = information_loss(release, coded)
        by_k.append(
            {"k": k, "loss": loss.mean, "by": dict(loss.by_attribute), "publish_seconds": seconds}
        )
        say(f"k = {k}: SSE/SST {loss.mean:.4f} in {seconds:.1f} s")
    parted = []
    for most in (WHOLE, MOST_POINTS, 10_000, 1_000):
        groups, seconds, _ = timed(
            lambda most=most: mdav(some, K, rng=repeatable(1), most_points=most)
        )
        parted.append(
            {
                "most_points": None if most == WHOLE else most,
                "loss": loss_of(some, groups),
                "seconds": seconds,
                "largest_group": int(groups.sizes.max()),
            }
        )
        say(f"{few} rows, parts of {most}: {parted[-1]['loss']:.4f} in {seconds:.1f} s")
    groups = mdav(some, K, rng=repeatable(1))
    cut = mondrian(some, [KAnonymity(K)], rng=repeatable(1))
    alike = _all_different(few)
    _, apart, _ = timed(lambda: mdav(alike, K, rng=repeatable(1)))
    return {
        "created": datetime.now(UTC).date().isoformat(),
        "machine": machine_facts(),
        "load": load_average(),
        "rows": coded.rows,
        "attributes": list(data.column_names),
        "by_k": by_k,
        "few_rows": few,
        "k": K,
        "parted": parted,
        "mondrian_loss": loss_of(some, cut),
        "own_mean_is_nearest": own_nearest(some, groups),
        "all_different_seconds": apart,
    }


def loss_of(table: Table, groups: Groups) -> float:
    """Return SSE/SST of groups, the mean over attributes."""
    found = []
    for column in table.quasi_identifiers:
        values = column.points[column.codes]
        means = np.bincount(groups.ids, values) / groups.sizes
        whole = float(((values - values.mean()) ** 2).sum())
        if whole:
            found.append(float(((values - means[groups.ids]) ** 2).sum()) / whole)
    return float(np.mean(found))


def own_nearest(table: Table, groups: Groups, sample: int = 2_000) -> float:
    """Return the share of people whose own group has the nearest mean, several sharing it."""
    columns = [column.points[column.codes] for column in table.quasi_identifiers]
    scaled = np.stack([(each - each.mean()) / (each.std() or 1.0) for each in columns])
    means = np.stack([np.bincount(groups.ids, each) / groups.sizes for each in scaled])
    people = repeatable(2).choice(table.rows, min(sample, table.rows), replace=False)
    hits = 0.0
    for person in people.tolist():
        gaps = ((means - scaled[:, person][:, None]) ** 2).sum(axis=0)
        nearest = np.flatnonzero(gaps <= gaps.min() * (1 + 1e-9))
        hits += float(groups.ids[person] in nearest) / len(nearest)
    return hits / len(people)


def _all_different(rows: int) -> Table:
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(rows, 3))
    columns = {f"x{i}": factors[:, i % 3] + rng.normal(size=rows) / 2 for i in range(6)}
    return encode(pa.table(columns), Schema.of(dict.fromkeys(columns, "quasi-identifier")))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the results."""
    shared = shared_folder()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=shared / "data")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    data = pq.read_table(given.data / "census_income.parquet", columns=list(NUMBERS))
    found = measure(data, say=print)
    given.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
