"""Memory at its peak is counted where Python does not see it, and freed memory again."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.jobs import peak_memory
from sfumato.jobs.peak_memory import with_peak

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
