"""The side-by-side benchmark: its policies fit, its runs report, and slower ratios are found."""

from __future__ import annotations

import importlib

import pandas as pd
import pyarrow.parquet as pq
import pytest

from benchmarks import side_by_side, tables
from benchmarks.end_to_end import measure
from sfumato.jobs.policy import Policy

ROWS = 3_000


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return tables.write(tables.SYNTHETIC, ROWS, tmp_path_factory.mktemp("bench") / "table")


@pytest.mark.parametrize("case", tables.METHODS)
def test_every_policy_is_one(files, case):
    rules = Policy.load(files.policy(case))
    assert rules.method().name == tables.METHODS[case]["name"]
    assert {each.name for each in rules.schema()} == set(files.published)


def test_a_run_reports_time_memory_and_judges(files):
    found = measure("anatomy", files.folder, judged=True)
    assert found["rows"] == files.rows
    assert found["stages"].keys() >= {"reading the data", "encoding", "auditing", "writing"}
    assert found["coded_and_output_bytes"] > files.rows * 9 * 4
    assert found["judge_processor_seconds"].keys() == {"audit", "utility", "attack", "query"}
    assert None not in found["judge_processor_seconds"].values()  # none refused
    assert found["metrics"].keys() == {"c_dm", "glp", "recq"}
    assert found["metrics"]["c_dm"] is None  # not defined for anatomised tables
    assert found["metrics"]["recq"] >= 0
    assert found["total_seconds"] > found["floor_seconds"] > 0
    assert found["floor_processor_seconds"] > 0


@pytest.mark.parametrize("case", [*tables.METHODS])
def test_every_method_has_a_naive_version_that_publishes_all_rows(files, case):
    data = pd.DataFrame(pq.read_table(files.folder / "few.parquet").slice(0, 300).to_pydict())
    known = [name for name in files.published if name != "salary"]
    publish = importlib.import_module(f"benchmarks.naive.{case}").publish
    groups = publish(data.dropna().reset_index(drop=True), known, "salary")
    assert sum(map(len, groups)) >= len(data.dropna())


def test_growth_ratios_and_regressions():
    def entry(rows, seconds, over=2.0):
        return {
            "case": "arp",
            "table": tables.SYNTHETIC,
            "rows": rows,
            "processor_seconds": seconds,
            "over_floor_processor": over,
            "memory_ratio": 1.0,
        }

    runs = [entry(100_000, 1.0), entry(10_000_000, 10_000.0)]
    results = {"runs": runs, "growth": side_by_side.growth(runs)}
    assert results["growth"] == {"arp": pytest.approx(2.0)}
    assert side_by_side.misses(results) == ["arp: grows with n^2.00, bar 1.1"]
    slower = {"runs": [entry(100_000, 1.0, over=3.5)]}
    assert side_by_side.regressions(results, results) == []
    assert len(side_by_side.regressions(slower, results)) == 1
    failed = {"case": "arp", "table": "adult", "rows": 5, "failed": 2}
    assert side_by_side.misses({"runs": [failed], "growth": {}}) == [
        "arp on 5 rows of adult: failed"
    ]
