"""Processes of one piece of work: what is freed serves what comes next."""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import subprocess
import sys
import threading

import pytest

from sfumato import housekeeping
from sfumato.housekeeping import settle_in
from sfumato.web import runs

# Prints how often the system had to hand out memory while arrays came and went, in a thread too.
_WORK = """
{prepare}
import resource
import threading
import numpy as np
import pyarrow as pa

def work():
    for _ in range(5):
        first, second = (np.full(3_000_000, n) for n in (1, 2))
        pa.array(first).take(pa.array([0] * 1000))
        del first, second

work()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
work()
thread = threading.Thread(target=work)
thread.start()
thread.join()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(prepare: str) -> int:
    """Return how often memory was handed out in a process of its own."""
    command = [sys.executable, "-c", _WORK.format(prepare=prepare)]
    # small pages, so that every piece is many of them
    environment = {"NUMPY_MADVISE_HUGEPAGE": "0"}
    return int(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only GNU's C library can be told")
def test_freed_memory_is_kept_for_what_comes_next():
    kept = faults("from sfumato.housekeeping import settle_in\nsettle_in()")
    assert kept * 10 < faults("")


def test_numpy_is_told_to_leave_large_pages_alone_unless_somebody_else_told_it_otherwise():
    script = """
import os
from sfumato.housekeeping import settle_in
settle_in()
print(os.environ["NUMPY_MADVISE_HUGEPAGE"])
"""
    for given, found in (({}, "0"), ({"NUMPY_MADVISE_HUGEPAGE": "1"}, "1")):
        command = [sys.executable, "-c", script]
        run = subprocess.run(command, env=given, check=True, capture_output=True, text=True)
        assert run.stdout.strip() == found


def test_runs_of_the_workbench_are_told_before_they_load_anything(monkeypatch, tmp_path):
    told = {}
    monkeypatch.setattr(runs.subprocess, "Popen", lambda *_, env, **__: told.update(env))
    monkeypatch.delenv("ARROW_DEFAULT_MEMORY_POOL", raising=False)
    monkeypatch.setenv("NUMPY_MADVISE_HUGEPAGE", "1")  # what the owner has chosen
    runs._worker(tmp_path, tmp_path)
    assert told["ARROW_DEFAULT_MEMORY_POOL"] == "system"
    assert told["NUMPY_MADVISE_HUGEPAGE"] == "1"


def test_garbage_is_looked_for_less_often_than_usual():
    script = """
import gc
from sfumato.housekeeping import settle_in
usual = gc.get_threshold()[0]
settle_in()
print(gc.get_threshold()[0] / usual)
"""
    said = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    assert float(said.stdout) > 10


class _OtherLibrary:
    """A C library whose `mallopt` reads the numbers otherwise, as that of Android does."""

    def mallopt(self, option, value):
        raise AssertionError("what these numbers mean is not known")


def _no_library(name):
    raise OSError("cannot be loaded")


@pytest.mark.parametrize("load", [lambda name: _OtherLibrary(), _no_library])
def test_another_c_library_is_left_as_it_is(monkeypatch, load):
    for name in housekeeping.ENVIRONMENT:
        monkeypatch.setenv(name, "mimalloc")
    monkeypatch.setattr(ctypes, "CDLL", load)
    monkeypatch.setattr(housekeeping, "_settled", threading.Event())  # this process lives on
    usual = gc.get_threshold()
    try:
        settle_in()
        settle_in()
    finally:
        gc.set_threshold(*usual)
    assert os.environ["ARROW_DEFAULT_MEMORY_POOL"] == "mimalloc"  # what the owner has chosen


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only GNU's C library can be told")
def test_settling_in_twice_is_as_good_as_once():
    prepare = "from sfumato.housekeeping import settle_in\nsettle_in()\nsettle_in()"
    assert faults(prepare) < faults("")


def test_what_is_left_is_not_looked_through_as_the_process_ends():
    script = """
import atexit, gc
atexit.register(lambda: print(gc.get_freeze_count()))  # called after those that come later
from sfumato.housekeeping import settle_in
settle_in()
"""
    said = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    assert int(said.stdout) > 1_000
