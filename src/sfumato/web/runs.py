"""Runs: each is a child process with a folder of its own, so that none takes the server down.

A run's folder holds what was asked (`request.json`, the policy and its hierarchies as they were),
how it is (`status.json`), and what came of it. The server starts and ends processes; all that it
knows of a run is in the folder, so pages can be closed and the server started again.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from sfumato.errors import InputError
from sfumato.housekeeping import ENVIRONMENT
from sfumato.web.projects import HIERARCHIES, POLICY, Project, Workspace
from sfumato.web.small_files import read_json, write_json, write_text
from sfumato.web.status import FILE as STATUS
from sfumato.web.status import State, Status

ID: Final = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}")
REQUEST: Final = "request.json"
RECORD: Final = "private/record.json"  # holds the seed; no page reads it
# So many at once; quick ones do not wait behind long ones.
_AT_ONCE: Final = 2
_PATIENCE: Final = 3.0  # seconds between asking a process to end and ending it


class Kind(StrEnum):
    """What a run does; the package `work` has a module for each."""

    INSPECT = "inspect"
    PREVIEW = "preview"
    PUBLISH = "publish"
    RECOMMEND = "recommend"
    REPORT = "report"  # of what another run published, for the public

    @property
    def is_quick(self) -> bool:
        """Whether someone waits for it before anything else."""
        return self in (Kind.INSPECT, Kind.PREVIEW)


@dataclass(frozen=True, slots=True)
class Run:
    """A run: its folder and what was asked."""

    folder: Path
    kind: Kind
    created: str
    data: Path
    options: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The name of its folder, which stands in addresses."""
        return self.folder.name

    @property
    def status(self) -> Status:
        """How it is now."""
        return Status.read(self.folder)

    @property
    def policy(self) -> Path:
        """The policy as it was when the run was asked for."""
        return self.folder / POLICY

    def result(self, name: str) -> dict[str, Any] | None:
        """Return a JSON file that the run left, None if there is none."""
        return read_json(self.folder / name)


def load_run(folder: Path) -> Run | None:
    """Return the run in a folder, None if there is none."""
    content = read_json(folder / REQUEST)
    if content is None or folder.is_symlink():
        return None
    try:
        return Run(
            folder,
            Kind(content["kind"]),
            str(content["created"]),
            Path(content["data"]),
            dict(content["options"]),
        )
    except (KeyError, TypeError, ValueError):
        return None


def run_of(project: Project, id: str) -> Run | None:
    """Return a run of a project by its id; None for any other text."""
    return load_run(project.runs / id) if ID.fullmatch(id) else None


def runs_of(project: Project, kind: Kind | None = None) -> list[Run]:
    """Return the runs of a project, of a kind if one is given, the newest first."""
    names = sorted((each.name for each in project.runs.iterdir()), reverse=True)
    found = [run_of(project, name) for name in names]
    return [run for run in found if run is not None and kind in (None, run.kind)]


class Runner:
    """The processes of all runs, and those that wait for their turn."""

    def __init__(self, workspace: Workspace, at_once: int = _AT_ONCE) -> None:
        self._workspace, self._at_once = workspace, at_once
        self._lock = threading.RLock()
        self._queues: dict[bool, deque[Run]] = {True: deque(), False: deque()}
        self._processes: dict[Path, subprocess.Popen[bytes]] = {}
        self._cancelled: set[Path] = set()
        self._kinds: dict[Path, bool] = {}
        self._stopping = False
        # Processes end with the thread that started them (`worker.py`): this one lives as long as
        # the runner does, those of requests do not.
        self._starter = ThreadPoolExecutor(1, "starter of runs")

    def recover(self) -> None:
        """Mark runs as interrupted that an earlier server left unfinished.

        Their processes have ended with it (`web/worker.py`).
        """
        for project in self._workspace.projects():
            _clear_unasked(project)
            for run in runs_of(project):
                status = run.status
                if not status.state.is_over:
                    status = status.over(State.INTERRUPTED, _INTERRUPTED)
                _end(run.folder, status)

    def submit(
        self,
        project: Project,
        kind: Kind,
        options: Mapping[str, Any] | None = None,
        *,
        rules: Path | None = None,
        policy: str | None = None,
    ) -> Run:
        """Return a new run of a project; it starts when its turn comes.

        Its policy is that of the project, or `policy.yaml` in the folder `rules`, with the
        hierarchies beside it; or the text `policy`, which the project does not keep.
        """
        moment = datetime.now(UTC)
        id = f"{moment:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
        folder = project.runs / id
        folder.mkdir(mode=0o700)
        (folder / "private").mkdir(mode=0o700)
        _copy_rules(rules or project.folder, folder)
        if policy is not None:
            write_text(folder / POLICY, policy)
        Status().write(folder)
        write_json(
            folder / REQUEST,
            {
                "kind": str(kind),
                "created": moment.isoformat(timespec="microseconds"),
                "data": str(project.data),
                "source": project.source,
                "options": dict(options or {}),
            },
        )
        run = load_run(folder)
        if run is None:  # the disk failed just now
            raise InputError("the run was written, and cannot be read; check the disk")
        with self._lock:
            self._queues[kind.is_quick].append(run)
            self._start_waiting()
        return run

    def again(self, project: Project, run: Run) -> Run:
        """Return a new run of what an earlier one was asked, under its policy."""
        return self.submit(project, run.kind, run.options, rules=run.folder)

    def end_all(self, project: Project) -> None:
        """Cancel all runs of a project, and wait until none is left."""
        runs = runs_of(project)
        for run in runs:
            self.cancel(run)
        self._await({run.folder for run in runs})

    def cancel(self, run: Run) -> None:
        """End a run that has not ended; one that has stays as it is."""
        with self._lock:
            queue = self._queues[run.kind.is_quick]
            if run in queue:
                queue.remove(run)
                _end(run.folder, run.status.over(State.CANCELLED, _CANCELLED))
                return
            process = self._processes.get(run.folder)
            if process is None:
                return
            self._cancelled.add(run.folder)
        _terminate(process)

    def discard(self, run: Run) -> None:
        """Remove a run that is over, with all that came of it.

        Refuses (InputError) one that is not.
        """
        self._await({run.folder} if run.status.state.is_over else set())
        with self._lock:
            if not run.status.state.is_over or run.folder in self._processes:
                raise InputError("cancel the run before you remove it")
            shutil.rmtree(run.folder)

    def stop(self) -> None:
        """End all processes; what ran or waited is marked as interrupted."""
        with self._lock:
            self._stopping = True
            for queue in self._queues.values():
                while queue:
                    run = queue.popleft()
                    _end(run.folder, run.status.over(State.INTERRUPTED, _INTERRUPTED))
            processes = list(self._processes.values())
        for process in processes:
            _terminate(process)
        self._await(set(self._processes))
        self._starter.shutdown(wait=False)

    def _await(self, folders: set[Path]) -> None:
        """Wait until the processes in some folders have ended, which they were asked to."""
        deadline = time.monotonic() + 2 * _PATIENCE
        while folders & set(self._processes) and time.monotonic() < deadline:
            time.sleep(0.02)

    def wait(self, run: Run, seconds: float) -> Status:
        """Return how a run is when it is over or so many seconds have gone by."""
        deadline = time.monotonic() + seconds
        while not (status := run.status).state.is_over and time.monotonic() < deadline:
            time.sleep(0.02)
        return status

    def _start_waiting(self) -> None:
        for is_quick, queue in self._queues.items():
            running = sum(self._kinds[folder] == is_quick for folder in self._processes)
            while queue and running < self._at_once and not self._stopping:
                self._start(queue.popleft())
                running += 1

    def _start(self, run: Run) -> None:
        scratch = run.folder / "scratch"
        scratch.mkdir(mode=0o700, exist_ok=True)
        run.status.write(run.folder)
        process = self._starter.submit(_worker, run.folder, scratch).result()
        self._processes[run.folder] = process
        self._kinds[run.folder] = run.kind.is_quick
        threading.Thread(target=self._watch, args=(run, process), daemon=True).start()

    def _watch(self, run: Run, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        if process.stdin is not None:
            process.stdin.close()
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)  # whatever it has started itself
        with self._lock:
            status = run.status
            if not status.state.is_over:
                status = status.over(*self._why(run))
            _end(run.folder, status)
            self._cancelled.discard(run.folder)
            del self._processes[run.folder], self._kinds[run.folder]
            self._start_waiting()

    def _why(self, run: Run) -> tuple[State, str]:
        """Return what became of a run whose process ended without a word."""
        if run.folder in self._cancelled:
            return State.CANCELLED, _CANCELLED
        if self._stopping:
            return State.INTERRUPTED, _INTERRUPTED
        return State.FAILED, _CRASHED


_CANCELLED: Final = "Nothing was published."
_INTERRUPTED: Final = "the workbench was stopped meanwhile; run it again"
_CRASHED: Final = (
    "the process of this run ended by itself, most likely for lack of memory; nothing was published"
)


def _worker(folder: Path, scratch: Path) -> subprocess.Popen[bytes]:
    """Return the process of a run, just started; it ends when the thread that calls this does."""
    return subprocess.Popen(
        [sys.executable, "-m", "sfumato.web.worker", str(folder)],
        stdin=subprocess.PIPE,  # it ends when the server does
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=scratch,
        env={**ENVIRONMENT, **os.environ, "TMPDIR": str(scratch), "PYTHONSAFEPATH": "1"},
        start_new_session=True,
    )


def _clear_unasked(project: Project) -> None:
    """Remove folders of runs that were never asked for: a server was killed while it made them."""
    for each in project.runs.iterdir() if project.runs.is_dir() else ():
        if ID.fullmatch(each.name) and not each.is_symlink() and not (each / REQUEST).is_file():
            shutil.rmtree(each, ignore_errors=True)


def _copy_rules(source: Path, target: Path) -> None:
    """Copy a policy with its hierarchies, so that later changes do not reach a run."""
    if (source / POLICY).is_file():
        shutil.copyfile(source / POLICY, target / POLICY)
        if (source / HIERARCHIES).is_dir():
            shutil.copytree(source / HIERARCHIES, target / HIERARCHIES)


def _terminate(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started; by force if it does not listen."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGTERM)

    def force() -> None:
        with suppress(OSError):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(_PATIENCE, force)
    timer.daemon = True
    timer.start()


def _end(folder: Path, status: Status) -> None:
    """Leave of a run that is over what it made whole, and its status."""
    shutil.rmtree(folder / "scratch", ignore_errors=True)
    # also of the record, which holds the seed, in its folder of its own
    for each in list(folder.rglob(".*.tmp-*")):
        if each.is_dir():
            shutil.rmtree(each, ignore_errors=True)
        else:
            each.unlink(missing_ok=True)
    if Status.read(folder) != status or not (folder / STATUS).is_file():
        status.write(folder)
