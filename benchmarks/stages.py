"""The stages of a run, timed where the method itself calls them.

The functions that a method is composed of are wrapped in its module for the time of one run: what
is measured is the method as users run it, not a copy of its composition.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from benchmarks.machine import peak_bytes
from sfumato.jobs.peak_memory import forget_peak


class Stages:
    """Seconds, processor seconds and the memory peak of every stage, by name, in order."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.processor_seconds: dict[str, float] = {}
        self.peak_bytes: dict[str, int] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add what happens inside to a stage."""
        forget_peak()
        processor, start = time.process_time(), time.perf_counter()
        try:
            yield
        finally:
            seconds = time.perf_counter() - start
            used = time.process_time() - processor
            self.seconds[name] = self.seconds.get(name, 0.0) + seconds
            self.processor_seconds[name] = self.processor_seconds.get(name, 0.0) + used
            self.peak_bytes[name] = max(self.peak_bytes.get(name, 0), peak_bytes())

    @contextmanager
    def inside(self, module: ModuleType, stage_of: Mapping[str, str]) -> Iterator[None]:
        """Time functions of a module as stages: `stage_of` maps a function's name to its stage."""
        originals = {name: getattr(module, name) for name in stage_of}
        for name, stage in stage_of.items():
            setattr(module, name, self._timed(originals[name], stage))
        try:
            yield
        finally:
            for name, original in originals.items():
                setattr(module, name, original)

    def _timed(self, function: Any, stage: str) -> Any:
        def timed(*arguments: Any, **options: Any) -> Any:
            with self.stage(stage):
                return function(*arguments, **options)

        return timed
