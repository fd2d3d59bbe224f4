"""`--profile`, which every command has: where its time goes, stage by stage.

A stage lasts until the next one begins: what a command does between two stages belongs to the
first. Before the first it is starting (Python's modules), after the last it shows the result.
Processor time is that of all cores and of child processes that have ended.
"""

from __future__ import annotations

import inspect
import os
import sys
import time
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

STARTING = "starting"
COMPILING = "compiling, only the first time"
SHOWING = "showing"

Option = Annotated[
    bool, typer.Option("--profile", help="Tell where the time went: on stderr, or in the JSON.")
]


class Profile:
    """What each stage of one command took, in the order in which stages first began."""

    def __init__(self) -> None:
        self.is_told = False
        self._spent: dict[str, list[float]] = {}
        self._peaks: dict[str, int | None] = {}
        self._stage = STARTING
        # it began when the interpreter did: about as long ago as that has kept the processor busy
        self._since = (time.perf_counter() - time.process_time(), 0.0)
        _forget_peak()

    def stage(self, name: str) -> str:
        """Close the stage at hand and begin another; return the one that was at hand."""
        now = (time.perf_counter(), _processor_seconds())
        spent = self._spent.setdefault(self._stage, [0.0, 0.0])
        for j in range(2):
            spent[j] += now[j] - self._since[j]
        peak, earlier = _peak(), self._peaks.get(self._stage)
        self._peaks[self._stage] = peak if peak is None else max(peak, earlier or 0)
        left, self._stage, self._since = self._stage, name, now
        _forget_peak()
        return left

    def to_json(self) -> list[dict[str, Any]]:
        """Return the stages so far as plain data."""
        self.stage(self._stage)
        return [
            {
                "stage": name,
                "seconds": round(wall, 4),
                "processor_seconds": round(processor, 4),
                "peak_mb": None if (peak := self._peaks[name]) is None else round(peak / 1e6, 1),
            }
            for name, (wall, processor) in self._spent.items()
        ]

    def rows(self) -> list[list[str]]:
        """Return the stages and their sum as lines of a table."""
        stages = self.to_json()
        peaks = [each["peak_mb"] for each in stages if each["peak_mb"] is not None]
        whole = {
            "stage": "all",
            "seconds": sum(each["seconds"] for each in stages),
            "processor_seconds": sum(each["processor_seconds"] for each in stages),
            "peak_mb": max(peaks, default=None),
        }
        return [
            [
                each["stage"],
                f"{each['seconds']:.2f}",
                f"{each['processor_seconds']:.2f}",
                "?" if each["peak_mb"] is None else f"{each['peak_mb']:.0f}",
            ]
            for each in (*stages, whole)
        ]


_running: list[Profile] = []


def running() -> Profile | None:
    """Return the profile of the command that runs now; None if nobody asked for one."""
    return _running[-1] if _running else None


def with_profile(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with an option `--profile`."""

    @wraps(command)
    def run(*arguments: Any, profile: bool = False, **options: Any) -> None:
        if not profile:
            return command(*arguments, **options)
        asked = Profile()
        _running.append(asked)
        try:
            command(*arguments, **options)
        except typer.Exit:  # how an audit says no: it has done its work
            _tell(asked)
            raise
        else:
            _tell(asked)
        finally:
            _running.remove(asked)

    signature = inspect.signature(command, eval_str=True)
    own = inspect.Parameter(
        "profile", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Option
    )
    parameters = [*signature.parameters.values(), own]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _tell(profile: Profile) -> None:
    from sfumato.cli.show import plain_columns

    if not profile.is_told:  # by the JSON
        profile.is_told = True
        headers = ["stage", "seconds", "processor", "peak MB"]
        for line in plain_columns(headers, profile.rows()):
            print(line, file=sys.stderr)


def _processor_seconds() -> float:
    return sum(os.times()[:4])


def _peak() -> int | None:
    from sfumato.jobs.peak_memory import counted_bytes

    return counted_bytes("VmHWM")


def _forget_peak() -> None:
    from sfumato.jobs.peak_memory import forget_peak

    forget_peak()
