"""Where a run can fail: each time it opens, renames, makes, removes or forces something to disk.

Python tells an audit hook of all of these but the last, so that none need be patched; a hook that
raises makes the operation fail. Points are counted in one folder only, from 1; those of `fsync`
are forcing to disk alone.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WATCHED = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate", "os.listdir")
KINDS = ("kill", "interrupt", "full disk", "read only", "broken disk", "no memory")
SIGNALS = {"kill": signal.SIGKILL, "signal": signal.SIGINT}
_ERRORS = {
    "full disk": errno.ENOSPC,
    "read only": errno.EROFS,
    "broken disk": errno.EIO,
    "fsync": errno.EIO,
}


@dataclass
class Fault:
    """A fault of a kind at a point; `seen` counts the points that were passed."""

    kind: str
    at: int
    folder: Path
    seen: int = 0

    def reached(self) -> None:
        """Count a point, and fail if it is the one."""
        self.seen += 1
        if self.seen != self.at:
            return
        if self.kind in SIGNALS:
            os.kill(os.getpid(), SIGNALS[self.kind])
            return
        if self.kind == "interrupt":
            raise KeyboardInterrupt
        if self.kind == "no memory":
            raise MemoryError
        number = _ERRORS[self.kind]
        raise OSError(number, os.strerror(number))


_active: list[Fault] = []
_installed: list[bool] = []


@contextmanager
def injected(fault: Fault) -> Iterator[Fault]:
    """Let the fault happen in the block."""
    if not _installed:
        sys.addaudithook(_hear)  # which cannot be taken back, and is deaf without a fault
        _installed.append(True)
    forced = os.fsync

    def fsync(handle: int) -> None:
        fault.reached()
        forced(handle)

    os.fsync = fsync
    _active.append(fault)
    try:
        yield fault
    finally:
        _active.clear()
        os.fsync = forced


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if not _active or event not in WATCHED:
        return
    fault = _active[0]
    if fault.kind == "fsync":
        return
    place = arguments[0]
    if isinstance(place, int) or place is None:
        return
    path = os.fsdecode(place)
    if not path.startswith(str(fault.folder)) or path.endswith((".py", ".pyc")):
        return
    if event == "open" and path.endswith("status.json") and arguments[1] in ("r", "rb"):
        return  # how a server waits for a run: as often as the clock says
    fault.reached()
