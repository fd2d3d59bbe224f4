"""The process of one run: `python -m sfumato.web.worker RUN_FOLDER`.

It does what the run's request asks for and says in its status how far it is. It ends when the
server does: the system ends it (Linux), or it sees that the server's end of its input has closed.
Nothing that it says holds data.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from sfumato.errors import SfumatoError, place_of
from sfumato.housekeeping import settle_in
from sfumato.jobs.pace import Pace
from sfumato.short_memory import is_memory_short
from sfumato.web.compiling import watch_compiling
from sfumato.web.runs import REQUEST, Kind, Run, load_run
from sfumato.web.small_files import read_json
from sfumato.web.status import State, Status
from sfumato.web.work.names import SAMPLE_FILE

_NICE: Final = 5  # pages come first, and what they wait for
_NO_MEMORY: Final = "there is not enough memory for this table"
_PR_SET_PDEATHSIG: Final = 1  # of <linux/prctl.h>


class Report:
    """What a run tells of itself: the stages it goes through and how long they may take."""

    def __init__(self, run: Run) -> None:
        self._folder = run.folder
        now = time.time()
        self._status = Status(State.RUNNING, "starting", now, now).write(run.folder)
        self._lock = threading.RLock()

    def plan(self, stages: Iterable[str], pace: Pace, rows: int) -> None:
        """Say which stages will come, and how long each may take by what was seen before."""
        expected = {name: round(pace.expected(name, rows), 3) for name in stages}
        self._change(lambda old: replace(old, expected=expected, rows=rows))

    def until(self, seconds: float) -> None:
        """Say that the run ends after so many seconds, whatever it has found by then."""
        self._change(lambda old: replace(old, until=time.time() + seconds))

    def stage(self, name: str) -> None:
        """Take note that the stage begins, and how long the last one took."""
        watch_compiling(self.preparing)
        self._change(lambda old: _in_stage(old, name, time.time()))

    def preparing(self, is_on: bool) -> None:
        """Take note that the stage waits for something to be compiled, or no longer."""
        self._change(lambda old: old.prepares(time.time(), is_on))

    def within(self, part: str) -> _Part:
        """Return a progress whose stages are those of a part of the run."""
        return _Part(self, part)

    def end(self, state: State, message: str = "") -> None:
        """Say that the run is over."""
        self.stage("")
        self._change(lambda old: old.over(state, message))

    def _change(self, change: Callable[[Status], Status]) -> None:
        with self._lock:
            self._status = change(self._status).write(self._folder)


def _in_stage(old: Status, name: str, now: float) -> Status:
    old = old.prepares(now, False)
    spent = old.timings.get(old.stage, 0.0) + now - old.stage_began
    timings = {**old.timings, old.stage: round(spent, 3)}
    return replace(old, stage=name, stage_began=now, timings=timings)


class _Part:
    """The stages of one job, under its name: `publish: reading the data`."""

    def __init__(self, report: Report, part: str) -> None:
        self._report, self._part = report, part

    def stage(self, name: str) -> None:
        """Take note that the stage begins."""
        self._report.stage(f"{self._part}: {name}")


def main(folder: Path) -> int:
    """Do the run in a folder; return 0 if it finished, or why it did not by its status."""
    os.umask(0o077)
    _be_ended_with_server()
    threading.Thread(target=_end_with_server, daemon=True).start()
    run = load_run(folder)
    if run is None:
        return 2
    if hasattr(os, "nice") and not run.kind.is_quick:
        os.nice(_NICE)
    report = Report(run)
    try:
        _work(run.kind)(run, report)
        report.end(State.FINISHED)
    except SfumatoError as error:
        report.end(State.REFUSED, known_names(run, str(error)))
    except MemoryError:
        report.end(State.FAILED, _NO_MEMORY)
    except OSError as error:
        report.end(State.FAILED, f"the run could not be written ({error.strerror})")
    except Exception as error:
        # neither message nor traceback: they may quote cells
        place = f"{type(error).__name__} at {place_of(error)}"
        words = f"a fault of sfumato, {place}; please report it"
        report.end(State.FAILED, _NO_MEMORY if is_memory_short() else words)
    else:
        return 0
    return 1


def known_names(run: Run, message: str) -> str:
    """Return a message with the names that people know in place of paths of the workspace.

    Data that were opened in place keep their path: it is the user's own.
    """
    source = str((read_json(run.folder / REQUEST) or {}).get("source", run.data.name))
    project = run.folder.parent.parent
    message = message.replace(str(run.folder / SAMPLE_FILE), source)
    if run.data.is_relative_to(project):
        message = message.replace(str(run.data), source)
        message = message.replace(f"'{run.data.name}#", f"'{source}#")  # a sheet of a workbook
    return message.replace(f"{run.folder}/", "").replace(f"{project}/", "")


def _work(kind: Kind) -> Callable[[Run, Report], None]:
    match kind:
        case Kind.INSPECT:
            from sfumato.web.work.inspect import inspect as work
        case Kind.PREVIEW:
            from sfumato.web.work.preview import preview as work
        case Kind.PUBLISH:
            from sfumato.web.work.publish import publish as work
        case Kind.RECOMMEND:
            from sfumato.web.work.recommend import recommend as work
        case Kind.REPORT:
            from sfumato.web.work.public_report import public_report as work
    return work


def _be_ended_with_server() -> None:
    """Have the system end this process when the thread of the server that started it is no more.

    The thread below cannot do so while a library waits and holds the interpreter. It is for other
    systems, and for a server that ended before this: its end of the pipe is closed by then.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _end_with_server() -> None:
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(3)


if __name__ == "__main__":
    settle_in()
    sys.exit(main(Path(sys.argv[1])))
