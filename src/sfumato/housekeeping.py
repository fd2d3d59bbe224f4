"""How a process that does one piece of work and ends treats objects and memory.

For such processes only: those of commands, and of the runs of the workbench. Whoever uses the
library decides for their own process, and a server must not keep what a large table once took.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import os
import threading
from contextlib import suppress

# Modules and compiled kernels are hundreds of thousands of objects that live until the end: at the
# usual rate, looking through them for garbage took a tenth of a run.
_NEW_OBJECTS = 50_000
# What libraries read when they are loaded: one heap for all, and no large pages for NumPy. Where
# free memory goes back to a host, these have gone, and to get them again took a seventh of ARP's
# run at 10 million rows; smaller ones are at hand.
ENVIRONMENT = {"ARROW_DEFAULT_MEMORY_POOL": "system", "NUMPY_MADVISE_HUGEPAGE": "0"}
# Of the C library's `mallopt`: where freed memory ends, how many pieces are maps of their own, and
# how many heaps there are, since others than the first cannot hold large pieces.
_TRIM_THRESHOLD, _MOST_MAPS, _MOST_HEAPS = -1, -4, -8


_settled = threading.Event()


def is_settled() -> bool:
    """Return whether the process is one of a single piece of work, and nobody else's."""
    return _settled.is_set()


def settle_in() -> None:
    """Prepare a process for one piece of work; to be called before anything large is imported."""
    _settled.set()
    gc.set_threshold(_NEW_OBJECTS, 20, 20)
    # as a process ends, Python looks through all of them once more: a quarter of a short command
    atexit.register(gc.freeze)
    _keep_freed_memory()


def _keep_freed_memory() -> None:
    """Let freed memory serve what comes next, instead of giving it back and asking for it again.

    Every column of a large table is a piece that C libraries map and unmap, and the system hands
    out each page anew, filled with zeros: a quarter of the processor's time at 10 million rows.
    """
    for name, usual in ENVIRONMENT.items():
        os.environ.setdefault(name, usual)
    with suppress(OSError, AttributeError):  # another C library than GNU's
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version  # noqa: B018 -- others read the numbers otherwise
        for option, value in ((_MOST_HEAPS, 1), (_MOST_MAPS, 0), (_TRIM_THRESHOLD, -1)):
            library.mallopt(option, value)
