"""Memory at its peak is counted where Python does not see it, and freed memory again."""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa
import pytest

from sfumato.jobs import peak_memory
from sfumato.jobs.peak_memory import counted_bytes, give_back_much, with_peak

counts = pytest.mark.skipif(
    with_peak(lambda: None)[1] is None, reason="this system does not reset a process's peak"
)


@counts
@pytest.mark.parametrize(
    "work",
    [
        lambda: float(np.ones(5_000_000).sum()),
        lambda: len(pa.array(np.zeros(5_000_000)).cast(pa.float32()).cast(pa.float64())),
    ],
)
def test_work_that_takes_memory_and_frees_it_is_seen_every_time(work):
    for _ in range(2):
        _, taken = with_peak(work)
        assert 35 <= taken <= 200


@counts
def test_work_that_takes_nothing_is_not_charged_with_what_was_before():
    with_peak(lambda: float(np.ones(5_000_000).sum()))
    assert with_peak(lambda: 7) == (7, pytest.approx(0, abs=5))


def test_elsewhere_nothing_is_counted(monkeypatch, tmp_path):
    monkeypatch.setattr(peak_memory, "_RESET", tmp_path / "none" / "clear_refs")
    assert with_peak(lambda: 7) == (7, None)


@pytest.fixture
def given_back(monkeypatch, tmp_path):
    """Return what memory a process has been told to hold, and how often it was given back."""
    calls = []
    monkeypatch.setattr(peak_memory, "_STATUS", tmp_path / "status")
    monkeypatch.setattr(peak_memory, "give_back", lambda: calls.append(1))

    def holding(kibibytes):
        calls.clear()
        (tmp_path / "status").write_text(f"Name:\tx\nVmRSS:\t  {kibibytes} kB\n")
        give_back_much()
        return len(calls)

    return holding


def test_freed_memory_is_given_back_where_much_of_all_there_is_is_held(given_back):
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 1024
    assert [given_back(held) for held in (1, whole // 10, whole // 2, whole)] == [0, 0, 1, 1]


def test_where_nothing_is_counted_freed_memory_is_always_given_back(monkeypatch, tmp_path):
    calls = []
    monkeypatch.setattr(peak_memory, "_STATUS", tmp_path / "none")
    monkeypatch.setattr(peak_memory, "give_back", lambda: calls.append(1))
    monkeypatch.setattr(os, "sysconf", unknown)
    give_back_much()
    assert calls == [1]


def unknown(name):
    raise ValueError("unrecognized configuration name")


@counts
def test_what_is_given_back_is_no_longer_held(monkeypatch):
    monkeypatch.setattr(peak_memory, "_MUCH", 0.0)
    pieces = [np.ones(10_000) for _ in range(1_000)]  # too small to be maps of their own
    held = counted_bytes("VmRSS")
    del pieces[:-1]
    give_back_much()
    assert counted_bytes("VmRSS") < held - 40e6
