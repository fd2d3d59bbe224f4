"""How far a task is: stages with names, timed, and told to whoever shows them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Progress(Protocol):
    """Whoever shows progress; tasks know nothing of terminals."""

    def stage(self, name: str) -> None:
        """Take note that the stage begins."""
        ...


class Stages:
    """The stages of one run; `timings` has the seconds of each.

    >>> stages = Stages()
    >>> with stages.stage("reading"):
    ...     pass
    >>> list(stages.timings)
    ['reading']
    """

    def __init__(self, progress: Progress | None = None) -> None:
        self.timings: dict[str, float] = {}
        self._progress = progress

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time the block and tell that it begins."""
        if self._progress is not None:
            self._progress.stage(name)
        start = time.perf_counter()
        yield
        spent = self.timings.get(name, 0.0) + time.perf_counter() - start
        self.timings[name] = round(spent, 6)
