"""The memory that a piece of work takes at its peak, as the operating system counts it.

Arrow and compiled kernels take memory that Python does not see, and the system's usual peak is of
the whole life of a process. On Linux that peak can be reset, so it is counted for one piece of
work in this very process: what was resident at most, less what was resident before. Memory that
was freed and kept by an allocator is given back first, as far as the allocators do that; what they
keep all the same is not counted again. Elsewhere nothing is counted.
"""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

Result = TypeVar("Result")

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")
_MUCH = 0.2  # of the memory of the machine


def with_peak(work: Callable[[], Result]) -> tuple[Result, float | None]:
    """Return what the work returns, and the megabytes it took; None where they cannot be counted.

    >>> with_peak(lambda: 7)[0]
    7
    """
    gc.collect()
    give_back()
    before = counted_bytes("VmRSS") if forget_peak() else None
    result = work()
    peak = None if before is None else counted_bytes("VmHWM")
    return result, None if before is None or peak is None else max(peak - before, 0) / 1e6


def give_back() -> None:
    """Return freed memory to the system, which allocators else keep for later."""
    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # another C library than GNU's
        ctypes.CDLL(None).malloc_trim(0)


def give_back_much() -> None:
    """Return freed memory to the system if this process holds much of all there is.

    Else it is kept for what comes next, which is quicker.
    """
    held = counted_bytes("VmRSS")
    if held is None or held > _whole() * _MUCH:
        give_back()


def _whole() -> int:
    """Return the memory of the machine, in bytes; asked only where the system counts what is held,
    since others need not know these names."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def forget_peak() -> bool:
    """Start a new peak here; False where the system cannot, and the peak stays that of all time."""
    try:
        _RESET.write_text("5")
    except OSError:
        return False
    return True


def counted_bytes(key: str) -> int | None:
    """Return what a line of the status of this process counts, such as VmRSS; None without one."""
    with suppress(OSError, ValueError, IndexError):
        for line in _STATUS.read_text("ascii", "replace").splitlines():
            if line.startswith(f"{key}:"):
                return int(line.split()[1]) * 1024
    return None
