"""Start-up is measured with a cache of its own; no time is judged."""

from __future__ import annotations

import pytest
from rich.console import Console

from benchmarks import start_up


@pytest.fixture(scope="module")
def results():
    return start_up.run(300, ["anatomy"])


def test_first_and_next_runs_are_told_apart(results):
    (found,) = results["runs"]
    assert found["case"] == "anatomy"
    assert found["first"] > found["next"] > 0  # the one compiles, the other does not
    assert found["loading"] > 0 and found["start-up"] > 0
    assert results["help_seconds"] > 0


def test_bars_that_are_missed_are_told(results, capsys):
    seconds = {"first": 20.1, "next": 3.0, "loading": 0.9, "start-up": 2.5}
    slow = results | {"help_seconds": 0.4, "runs": [{"case": "lgb", **seconds}]}
    said = ["--help takes 0.40 s, bar 0.3", "lgb: first takes 20.10 s, bar 20"]
    assert start_up.misses(slow) == [*said, "lgb: start-up takes 2.50 s, bar 2"]
    quick = slow | {"help_seconds": 0.2, "runs": []}
    assert start_up.misses(quick) == []
    start_up.show(slow, Console(width=120))
    assert "missed: lgb: first takes 20.10 s, bar 20" in capsys.readouterr().out
