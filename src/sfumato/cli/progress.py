"""Progress on stderr: only in a terminal, and only once a run has lasted a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status

_PATIENCE = 1.0


class TerminalProgress:
    """The stage of a run, shown as a line that goes when the run has ended."""

    def __init__(self) -> None:
        self._stage = "starting"
        self._status: Status | None = None
        self._is_over = False
        self._lock = threading.Lock()

    def stage(self, name: str) -> None:
        """Take note that the stage begins."""
        with self._lock:
            self._stage = name
            if self._status is not None:
                self._status.update(self._text())

    def begin(self) -> None:
        """Start to show the stage, unless the run is over."""
        from rich.console import Console
        from rich.status import Status

        with self._lock:
            if not self._is_over:
                self._status = Status(self._text(), console=Console(stderr=True))
                self._status.start()

    def end(self) -> None:
        """Stop to show anything."""
        with self._lock:
            self._is_over = True
            if self._status is not None:
                self._status.stop()

    def _text(self) -> str:
        from rich.markup import escape

        return escape(f"{self._stage} ...")


@contextmanager
def terminal_progress() -> Iterator[TerminalProgress]:
    """Yield the progress of a run; outside a terminal nothing is shown."""
    progress = TerminalProgress()
    timer = threading.Timer(_PATIENCE, progress.begin)
    timer.daemon = True
    if sys.stderr.isatty():
        timer.start()
    try:
        yield progress
    finally:
        timer.cancel()
        progress.end()
