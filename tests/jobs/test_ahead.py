"""The second process of a first run: when it starts, that it ends, that nothing depends on it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from numba.core import event

from sfumato.cli.progress import terminal_progress
from sfumato.jobs import ahead

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


def free_cores(monkeypatch, busy=0.0):
    monkeypatch.setattr(ahead.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(ahead.os, "getloadavg", lambda: (busy, 0.0, 0.0))


@pytest.fixture
def started(monkeypatch):
    """Return the list of methods that a process was asked for; each sleeps."""
    free_cores(monkeypatch)
    asked = []

    def start(method):
        asked.append((method, subprocess.Popen(SLEEP, stdin=subprocess.PIPE)))
        return asked[-1][1]

    monkeypatch.setattr(ahead, "_started", start)
    return asked


def compile_something():
    with event.trigger_event("numba:compile"):
        pass


def test_one_process_starts_when_a_run_compiles_and_ends_with_it(started):
    with ahead.compiling_ahead(lambda: "partitioning by merging"):
        assert not started
        compile_something()
        compile_something()
        ((method, process),) = started
        assert method == "merging"
        assert process.poll() is None
    assert process.poll() is not None


def test_it_ends_when_the_run_fails(started):
    with (
        pytest.raises(ValueError, match="broken"),
        ahead.compiling_ahead(lambda: "partitioning by slicing"),
    ):
        compile_something()
        raise ValueError("broken")
    assert started[0][1].poll() is not None


def test_none_starts_with_kernels_from_the_cache(started):
    with ahead.compiling_ahead(lambda: "partitioning by merging"):
        pass
    assert not started


def test_none_starts_in_other_stages(started):
    with ahead.compiling_ahead(lambda: "partitioning by anatomy"):
        compile_something()
    assert not started


def test_none_starts_on_one_core(started, monkeypatch):
    monkeypatch.setattr(ahead.os, "cpu_count", lambda: 1)
    with ahead.compiling_ahead(lambda: "partitioning by merging"):
        compile_something()
    assert not started


def test_none_starts_where_all_cores_are_busy(started, monkeypatch):
    free_cores(monkeypatch, busy=2.5)
    with ahead.compiling_ahead(lambda: "partitioning by merging"):
        compile_something()
    assert not started


@pytest.mark.parametrize("is_settled", [False, True])
def test_only_processes_of_a_command_start_one(started, monkeypatch, is_settled):
    monkeypatch.setattr("sfumato.cli.progress.is_settled", lambda: is_settled)
    with terminal_progress() as progress:
        progress.stage("partitioning by slicing")
        compile_something()
    assert len(started) == is_settled


@pytest.mark.parametrize("attribute", ["executable", "module"])
def test_a_process_that_fails_does_not_matter(monkeypatch, attribute, tmp_path):
    free_cores(monkeypatch)
    if attribute == "executable":
        monkeypatch.setattr(ahead.sys, "executable", str(tmp_path / "nothing"))
    else:
        monkeypatch.setattr(ahead, "_MODULE", "sfumato.jobs.nothing")
    with ahead.compiling_ahead(lambda: "partitioning by merging"):
        compile_something()


def test_it_ends_when_whoever_started_it_has_gone():
    code = "from sfumato.jobs.first_kernels import end_with_input as e; e();\n"
    code += "import time; time.sleep(600)"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
    process.stdin.close()
    assert process.wait(timeout=120) == 0


# in a process of its own, which has compiled nothing else
_SAME = """
from sfumato import LGB, Merging, Slicing
from sfumato.datasets import census
from sfumato.datasets.schemas import census_schema
from sfumato.jobs.first_kernels import compile_kernels
from sfumato.models.kernels import holds_each, level_each
from sfumato import audit
from sfumato.rows.cut_loss import cut_losses, gather_spans
from sfumato.rows.exclusion_kernels import surely_hold
from sfumato.rows.feasible import is_whole, sides_hold

from sfumato.rows.local_buckets import _deal_ranges

method = {method}
kernels = [sides_hold, is_whole, cut_losses, gather_spans]
if method.name == "merging":
    kernels.append(surely_hold)
if method.name == "lgb":
    kernels = [_deal_ranges]
compile_kernels(method.name)
before = [set(kernel.signatures) for kernel in kernels]
assert all(before)
audit(method.publish(census(20_000), census_schema()))
assert [set(kernel.signatures) for kernel in kernels] == before
assert not level_each.signatures  # sums decide
assert method.name == "merging" or not holds_each.signatures
"""


@pytest.mark.parametrize("method", ["Merging(l=2)", "Slicing(l=2)", "LGB(k=5, l=2)"])
def test_what_is_compiled_is_what_the_method_calls(method):
    subprocess.run([sys.executable, "-c", _SAME.format(method=method)], check=True)
