"""How a run is: one small file that its process writes and every page reads."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from sfumato.web.small_files import read_json, write_json

FILE: Final = "status.json"
PREPARING: Final = "preparing"
_OVERRUN: Final = 0.3


class State(StrEnum):
    """What may be said of a run."""

    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    REFUSED = "refused"  # by an error that says what to change
    FAILED = "failed"  # by a fault of ours, or a crash
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"  # the workbench was stopped meanwhile

    @property
    def is_over(self) -> bool:
        """Whether nothing will change any more."""
        return self not in (State.QUEUED, State.RUNNING)


@dataclass(frozen=True, slots=True)
class Status:
    """A run at one moment: `expected` has the seconds that every stage may take, in their order.

    Times are those of the clock (`time.time`), since several processes read them. `message` is one
    line without data. `timings` has the seconds that stages took. A run that ends at a stated time,
    whatever stage it is in, has that time in `until`. `preparing` is when it began to compile what
    the stage needs, which happens once on a machine; 0 while it does not.
    """

    state: State = State.QUEUED
    stage: str = ""
    stage_began: float = 0.0
    began: float = 0.0
    ended: float = 0.0
    message: str = ""
    expected: dict[str, float] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict)
    rows: int = 0
    until: float = 0.0
    preparing: float = 0.0

    @classmethod
    def read(cls, folder: Path) -> Status:
        """Return the status of the run in a folder; failed if its file cannot be read."""
        content = read_json(folder / FILE)
        known = {each.name for each in fields(cls)}
        try:
            assert content is not None
            kept = {key: value for key, value in content.items() if key in known}
            return cls(**{**kept, "state": State(kept["state"])})
        except (AssertionError, KeyError, TypeError, ValueError):
            return cls(State.FAILED, message="the status of this run cannot be read")

    def write(self, folder: Path) -> Status:
        """Write the status into the folder of its run, and return it."""
        write_json(folder / FILE, asdict(self))
        return self

    def over(self, state: State, message: str = "") -> Status:
        """Return the status of a run that ends now."""
        return replace(self, state=state, message=message, ended=time.time(), preparing=0.0)

    def remaining(self, now: float | None = None) -> float | None:
        """Return how many seconds the run may still take, None where nothing is known.

        >>> status = Status(State.RUNNING, "b", 100.0, 90.0, expected={"a": 10, "b": 8, "c": 4})
        >>> status.remaining(now=103.0)
        9.0
        """
        if self.state is State.RUNNING and self.until:
            return max(self.until - (time.time() if now is None else now), 0.0)
        return None if self.preparing else self._remaining(time.time() if now is None else now)

    def _remaining(self, now: float) -> float | None:
        if self.state is not State.RUNNING or self.stage not in self.expected:
            return None
        later = list(self.expected)[list(self.expected).index(self.stage) + 1 :]
        spent = (self.preparing or now) - self.stage_began
        rest = sum(self.expected[each] for each in later)
        # one that takes longer than expected will take longer still
        return max(self.expected[self.stage] - spent, _OVERRUN * spent) + rest

    def share(self, now: float | None = None) -> float:
        """Return how much of the run is done, from 0 to 1; it stands still while it prepares."""
        if self.state is State.FINISHED:
            return 1.0
        now = time.time() if now is None else now
        left = self.remaining(now) if self.until else self._remaining(now)
        if left is None:
            return 0.0
        compiled = self.timings.get(PREPARING, 0.0)
        spent = max((self.preparing or now) - self.began - compiled, 0.0)
        return min(spent / (spent + left), 0.99) if spent + left > 0 else 0.0

    def prepares(self, now: float, is_on: bool) -> Status:
        """Return the status of a run that begins or ends to compile; its stage does not count it.

        >>> status = Status(State.RUNNING, "a", 100.0, 90.0, expected={"a": 8})
        >>> status = status.prepares(101.0, True).prepares(131.0, False)
        >>> status.remaining(now=133.0), status.timings
        (5.0, {'preparing': 30.0})
        """
        if is_on or not self.preparing:
            return replace(self, preparing=now if is_on else 0.0)
        took = now - self.preparing
        timings = {**self.timings, PREPARING: round(self.timings.get(PREPARING, 0.0) + took, 3)}
        return replace(self, preparing=0.0, stage_began=self.stage_began + took, timings=timings)

    def to_json(self) -> dict[str, Any]:
        """Return what a page polls for."""
        return {
            "state": str(self.state),
            "over": self.state.is_over,
            "stage": self.stage,
            "share": round(self.share(), 3),
            "remaining": self.remaining(),
            "message": self.message,
        }
