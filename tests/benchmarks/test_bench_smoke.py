"""The benchmarks run, and report in the shape that later comparisons rely on; no time is judged."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from rich.console import Console

from benchmarks import cases, peers
from benchmarks.cases import CASES
from benchmarks.growth import exponent, growth, medians
from benchmarks.machine import machine_facts, peak_bytes, resident_bytes
from benchmarks.report import promises, show, write_json
from benchmarks.run import run
from benchmarks.stages import Stages
from sfumato.jobs.peak_memory import forget_peak

ROWS = (2_000,)
STAGES = ["read", "encode", "partition", "publish", "save"]


@pytest.fixture(scope="module")
def results():
    return run(sizes=ROWS, rounds=1, shared=None, peer_python=None, cold=False)


def test_every_case_is_run_at_every_size(results):
    done = [(each["case"], each["rows"]) for each in results["synthetic"]["runs"]]
    assert done == [(case, rows) for rows in ROWS for case in ("floor", *CASES)]
    assert {"mondrian", "anatomy", "arp", "slppa", "merging"} <= set(CASES)


def test_methods_report_their_stages_and_memory(results):
    for each in results["synthetic"]["runs"]:
        if each["case"] == "floor":
            assert list(each["seconds"]) == ["read", "save"]
            continue
        assert list(each["seconds"]) == STAGES
        assert each["total_seconds"] == pytest.approx(sum(each["seconds"].values()))
        memory = each["memory"]
        assert memory["coded_bytes"] == each["rows"] * 9 * 4
        assert memory["output_bytes"] > 0
        assert memory["peak_bytes"] >= 0


def test_results_are_written_and_shown_without_paths(results, tmp_path):
    write_json(results, tmp_path / "results.json")
    text = (tmp_path / "results.json").read_text()
    assert json.loads(text)["format"] == "sfumato-benchmark/1"
    assert str(tmp_path) not in text and "/home" not in text
    shown = StringIO()
    show(results, Console(file=shown, width=140))
    assert "partition" in shown.getvalue()
    assert len(results["source"]["sha256"]) == 16
    assert results["adult"] is None and results["cold_start"] is None


def test_a_promise_is_kept_or_missed():
    adult = {"peer": "peer", "runs": [{"name": "ours", "times_faster": 49.0}]}
    nothing = {"runs": [], "growth": []}
    assert [promise["kept"] for promise in promises({"adult": adult, "synthetic": nothing})] == [
        False
    ]


def test_n_log_n_is_within_the_limit_and_a_square_is_not():
    def runs(seconds):
        return [
            {
                "case": "c",
                "rows": rows,
                "seconds": {"partition": seconds(rows)},
                "processor_seconds": {"partition": seconds(rows)},
                "total_seconds": seconds(rows),
            }
            for rows in (1000, 2000, 4000)
        ]

    *steps, linear = growth(runs(lambda rows: rows * 1e-3))
    assert [(step["from"], step["to"]) for step in steps] == [(1000, 2000), (2000, 4000)]
    assert (linear["from"], linear["to"]) == (1000, 4000)
    square = growth(runs(lambda rows: rows * rows * 1e-6))[-1]
    assert linear["total"] <= linear["limit"] < square["total"] == pytest.approx(2.0)
    assert exponent(1.0, 8.0, 1, 2) == 3.0


def test_medians_are_taken_over_rounds():
    runs = [
        {"case": "c", "rows": 10, "seconds": {"read": seconds}, "total_seconds": seconds}
        for seconds in (1.0, 9.0, 2.0, 2.0)
    ]
    assert medians(runs) == [
        {"case": "c", "rows": 10, "seconds": {"read": 2.0}, "total_seconds": 2.0, "rounds": 4}
    ]


def test_stages_are_timed_inside_a_module_and_the_module_is_left_as_it_was():
    module = type(json)("module")
    module.work = original = lambda: 7
    stages = Stages()
    with stages.inside(module, {"work": "partition"}):
        assert module.work() == 7
    assert module.work is original
    assert list(stages.seconds) == ["partition"]


def test_the_machine_is_described_without_its_name():
    facts = machine_facts()
    assert facts["cores"] >= 1 and facts["memory_gib"] > 0
    assert facts["libraries"]["numpy"]
    assert isinstance(forget_peak(), bool)
    assert peak_bytes() >= resident_bytes() * 0.5


def test_a_peer_is_measured_by_our_yardstick(shared):
    folder = shared / "data" / "hierarchies"
    hierarchies = cases.adult_hierarchies(folder)
    data = cases.complete_adult(shared / "data" / "adult.parquet")
    exact = {
        "rows": data.num_rows,
        "cells": {
            name: {str(v["values"]): v["counts"] for v in data[name].value_counts().to_pylist()}
            for name in hierarchies
        },
    }
    withheld = {"rows": 0, "cells": {name: {} for name in hierarchies}}
    stars = {
        "rows": data.num_rows,
        "cells": {name: {"*": data.num_rows} for name in hierarchies},
    }
    numbers = cases.ADULT_NUMBERS
    assert peers.peer_ncp(exact, data, hierarchies, numbers) == 0.0
    assert peers.peer_ncp(withheld, data, hierarchies, numbers) == 1.0
    assert peers.peer_ncp(stars, data, hierarchies, numbers) == pytest.approx(1.0)
    plain, trees = cases.adult_cases(folder).values()
    assert [a.name for a in plain.quasi_identifiers] == list(cases.ADULT_QUASI_IDENTIFIERS)
    assert trees["workclass"].hierarchy is not None and trees["age"].hierarchy is None
