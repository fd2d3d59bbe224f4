"""A time limit that is kept: nothing begins that would end too late, and what overruns is cut."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

# What a step may take longer than the ones before it let expect.
_CAUTION: Final = 1.5
_MOST_KEPT: Final = 0.35  # of the time, in reserve


class OutOfTime(Exception):  # noqa: N818 -- a state, not a fault
    """The time is up, in the middle of a step."""


class Clock:
    """The seconds of a task, counted from `start` (`time.monotonic`), less a reserve for its end.

    >>> clock = Clock(60, reserve=10)
    >>> clock.allows(30), clock.allows(40)
    (True, False)
    """

    def __init__(self, seconds: float, *, reserve: float = 0.0, start: float | None = None) -> None:
        begin = time.monotonic() if start is None else start
        self._begin, self._end = begin, begin + seconds
        self._least = self._reserve = reserve

    @property
    def spent(self) -> float:
        """The seconds since the start."""
        return time.monotonic() - self._begin

    @property
    def share_spent(self) -> float:
        """How much of all the time has gone by."""
        return self.spent / (self._end - self._begin)

    @property
    def left(self) -> float:
        """The seconds that are left, those of the reserve not counted."""
        return self._end - self._reserve - time.monotonic()

    def allows(self, seconds: float) -> bool:
        """Return whether a step that is expected to take so long would end in time."""
        return self.left > 0 and seconds * _CAUTION <= self.left

    def keep(self, seconds: float) -> None:
        """Keep so much in reserve from now on: never less than at first, nor most of all."""
        whole = self._end - self._begin
        self._reserve = max(self._least, min(seconds, _MOST_KEPT * whole))

    def release(self) -> None:
        """Give the reserve free: the last steps have come."""
        self._reserve = 0.0

    @contextmanager
    def cutting(self) -> Iterator[None]:
        """Raise OutOfTime in the block when the time is up.

        Only the main thread of a process can be interrupted, and only between compiled pieces of
        work; elsewhere a step that began in time is let to its end.
        """
        can_cut = hasattr(signal, "setitimer") and (
            threading.current_thread() is threading.main_thread()
        )
        if not can_cut or signal.getitimer(signal.ITIMER_REAL)[0]:
            yield
            return
        if self.left <= 0:
            raise OutOfTime
        before = signal.signal(signal.SIGALRM, _cut)
        signal.setitimer(signal.ITIMER_REAL, self.left)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def _cut(number: int, frame: Any) -> None:
    raise OutOfTime
