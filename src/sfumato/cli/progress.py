"""Progress on stderr: only in a terminal, and only once a run has lasted a second.

Compiling the kernels of a method takes seconds, once on every machine. Whoever waits for it is
told so: in a terminal by a line that stays, and by a stage of its own in a profile.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sfumato.cli.profile import COMPILING, SHOWING, running
from sfumato.housekeeping import is_settled

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
        profile = running()
        if profile is not None:
            profile.stage(name)
        with self._lock:
            self._stage = name
            if self._status is not None:
                self._status.update(self._text())

    @property
    def shown(self) -> str:
        """Return the stage that the run is in."""
        return self._stage

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
        with _telling_of_compilation(), _compiling_ahead(progress):
            yield progress
    finally:
        timer.cancel()
        progress.end()
        profile = running()
        if profile is not None:
            profile.stage(SHOWING)


@contextmanager
def _telling_of_compilation() -> Iterator[None]:
    """Say once that kernels are being compiled, if any are: later runs load them."""
    profile = running()
    if not sys.stderr.isatty() and profile is None:
        yield
        return
    from numba.core import event

    class Compilation(event.Listener):
        """Functions compile those that they call, so only the outermost begins and ends."""

        depth = 0
        is_said = False
        stage = ""

        def on_start(self, event: Any) -> None:
            if self.depth == 0 and profile is not None:
                self.stage = profile.stage(COMPILING)
            self.depth += 1
            if not self.is_said and sys.stderr.isatty():
                self.is_said = True
                print(f"{COMPILING} (seconds; kernels are kept for later runs)", file=sys.stderr)

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if self.depth == 0 and profile is not None:
                profile.stage(self.stage)

    with event.install_listener("numba:compile", Compilation()):
        yield


@contextmanager
def _compiling_ahead(progress: TerminalProgress) -> Iterator[None]:
    """Have a second process help to compile, in processes that are a command's own."""
    if not is_settled():
        yield
        return
    from sfumato.jobs.ahead import compiling_ahead

    with compiling_ahead(lambda: progress.shown):
        yield
