"""Notice when numba compiles, which it does once on a machine and which may take a minute.

Without a word about it, the first run would seem to be stuck.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

_watching = threading.Event()  # a process watches once


def watch_compiling(tell: Callable[[bool], None]) -> None:
    """Have `tell` called with True when compiling begins and False when it ends, from now on.

    Nothing is compiled before numba was loaded: whoever has not loaded it yet calls again later.
    What was compiled before and lies in the cache is loaded without a word.
    """
    if "numba" not in sys.modules or _watching.is_set():
        return
    from numba.core import event

    class Listener(event.Listener):
        """Counts open compilations: one function has others compiled that it calls."""

        def __init__(self) -> None:
            self._open, self._lock = 0, threading.Lock()

        def on_start(self, event: Any) -> None:
            """Tell of the first that begins."""
            with self._lock:
                self._open += 1
                if self._open == 1:
                    tell(True)

        def on_end(self, event: Any) -> None:
            """Tell when the last has ended."""
            with self._lock:
                self._open -= 1
                if self._open == 0:
                    tell(False)

    _watching.set()
    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]
