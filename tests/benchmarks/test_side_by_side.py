"""The side-by-side benchmark: its policies fit, its runs report, and slower ratios are found."""

from __future__ import annotations

import importlib

import pandas as pd
import pyarrow.parquet as pq
import pytest
from rich.console import Console

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
    assert {"record-linkage", "definetti", "leaks"} <= found["attack_processor_seconds"].keys()
    assert "joint-bayes" not in found["attack_processor_seconds"]  # for sets alone
    assert found["metrics"].keys() == {"c_dm", "glp", "recq"}
    assert found["metrics"]["c_dm"] is None  # not defined for anatomised tables
    assert found["metrics"]["recq"] >= 0
    assert found["total_seconds"] > found["floor_seconds"] > 0
    assert found["floor_processor_seconds"] > 0
    assert found["ncp"] is None  # nor is this


def test_what_generalised_cells_have_lost_is_reported(files):
    assert 0 < measure("mondrian", files.folder)["ncp"] < 1


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
            "over_floor": over,
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


def test_runs_of_others_are_kept_where_they_were():
    def entry(case, rows, seconds):
        found = {"case": case, "table": tables.SYNTHETIC, "rows": rows, "source": f"{seconds}"}
        return found | {"processor_seconds": seconds}

    earlier = {"runs": [entry("arp", 10, 1.0), entry("lgb", 10, 2.0), entry("arp", 1000, 3.0)]}
    now = {"runs": [entry("arp", 1000, 100.0), entry("lgb", 1000, 7.0)]}
    with pytest.raises(ValueError, match="of another machine"):
        side_by_side.kept(now | {"machine": {"cores": 2}}, earlier | {"machine": {"cores": 4}})
    same = {"machine": {"cores": 2}}
    found = side_by_side.kept(now | same, earlier | same)
    assert [each["processor_seconds"] for each in found["runs"]] == [1.0, 2.0, 100.0, 7.0]
    assert found["growth"]["arp"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("seconds", "processor", "said"),
    [(5.1, 4.0, "5.1 floors of seconds"), (4.0, 6.0, "6.0 floors of processor")],
)
def test_floors_are_counted_in_seconds_and_of_processor(seconds, processor, said):
    run = {"case": "arp", "table": tables.SYNTHETIC, "rows": side_by_side.BAR_ROWS}
    run |= {"over_floor": seconds, "over_floor_processor": processor}
    (missed,) = side_by_side.misses({"runs": [run], "growth": {}})
    assert said in missed
    assert side_by_side.elsewhere({"runs": [run], "growth": {}}) == []


@pytest.mark.parametrize(
    "other", [{"table": "covid"}, {"rows": side_by_side.BAR_ROWS // 10}, {"table": "adult"}]
)
def test_bars_that_were_set_for_other_tables_are_told_apart(other):
    run = {"case": "arp", "table": tables.SYNTHETIC, "rows": side_by_side.BAR_ROWS}
    run |= {"over_floor": 5.1, "memory_ratio": 3.2} | other
    results = {"runs": [run], "growth": {}}
    assert side_by_side.misses(results) == []
    assert [line.split(": ")[1] for line in side_by_side.elsewhere(results)] == [
        "5.1 floors of seconds, bar 5",
        "memory 3.2, bar 3",
    ]


def test_judges_that_take_too_long_are_told_with_their_seconds(capsys):
    run = {"case": "arp", "table": "adult", "rows": 5, "processor_seconds": 0.5}
    run |= {"judge_processor_seconds": {"audit": 0.1, "utility": None, "attack": 3.0}}
    run |= {"attack_processor_seconds": {"leaks": 2.6, "membership": 0.1}}
    run |= {"floor_seconds": 1.0, "floor_processor_seconds": 1.0, "total_seconds": 1.0}
    run |= {"peak_bytes": 1, "coded_and_output_bytes": 1}
    (done,) = side_by_side._with_ratios([run], {"arp": [run]})
    assert done["judges_over_anonymisation"]["attack"] == pytest.approx(6)
    assert done["judges_over_anonymisation"]["utility"] is None
    assert side_by_side.elsewhere({"runs": [done], "growth": {}}) == [
        f"arp on 5 rows of adult: {step} takes {times} times as long as the anonymisation, "
        f"{seconds} s of processor, bar 5"
        for step, times, seconds in (
            ("all attacks together", "6.0", "3.00"),
            ("attack leaks", "5.2", "2.60"),
        )
    ]
    side_by_side.show({"runs": [done], "growth": {}}, Console(width=190))
    assert "leaks 2.60 (5.2)" in capsys.readouterr().out


def test_real_tables_name_columns_of_their_own():
    for real in tables.REAL.values():
        assert real.hidden not in real.known
        assert set(real.flagged) <= set(real.known)
        assert real.methods.keys() == tables.METHODS.keys()
        assert real.methods["lgb"]["l"] == real.diversity
