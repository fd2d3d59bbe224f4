"""A run of the workbench as a task: a server of its own, whose worker publishes in a process.

Whoever ends the server ends the worker; whoever ends the worker leaves a run that says so. A
release in a run's folder is whole, whatever happened.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from sfumato.audit import audit
from sfumato.errors import InputError
from sfumato.web.projects import Project, Workspace
from sfumato.web.runs import Kind, Runner, runs_of
from sfumato.web.status import State
from sfumato.web.work.names import RELEASE, REPORT, ZIP

_LONGEST = 240


def _project(folder: Path) -> Project:
    (project,) = Workspace(folder / "space").projects()
    return project


def prepare(folder: Path, people: str, policy: str) -> None:
    """Make a project with data and a policy."""
    workspace = Workspace(folder / "space")
    with workspace.opened():
        made = workspace.new_folder("people")
        (made / "data" / "table.csv").write_text(people)
        project = workspace.finish(made, "people", "people.csv", own="table.csv")
        project.policy.write_text(policy)


def publish(folder: Path) -> None:
    """Open the workspace as a server does, let a worker publish, and wait for it."""
    workspace = Workspace(folder / "space")
    with workspace.opened():
        runner = Runner(workspace)
        try:
            runner.recover()
            status = runner.wait(runner.submit(_project(folder), Kind.PUBLISH), _LONGEST)
        finally:
            runner.stop()
    if status.state is not State.FINISHED:
        raise InputError(status.message or f"the run is {status.state}")


def state(folder: Path) -> str:
    """Return how many runs have published; AssertionError where a release is not whole."""
    published = 0
    for run in runs_of(_project(folder), Kind.PUBLISH):
        release = run.folder / RELEASE
        if release.exists():
            assert audit(release).exit_code == 0, "a release that the audit does not confirm"
        if run.status.state is State.FINISHED:
            for name in (RELEASE, ZIP, REPORT):
                assert (run.folder / name).exists(), f"a finished run without its {name}"
            published += 1
    return f"{published} published"


def no_run_is_open(folder: Path) -> None:
    """AssertionError where a run of a server that is gone has not ended, or left its scratch."""
    for run in runs_of(_project(folder)):
        assert run.status.state.is_over, "a run that nobody runs is not over"
        assert not (run.folder / "scratch").exists(), "a run that is over left its scratch"


def workers(folder: Path) -> list[int]:
    """Return the processes that work in a folder."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            told = (place / "cmdline").read_bytes()
        except OSError:  # it ended meanwhile
            continue
        if b"sfumato.web.worker" in told and os.fsencode(folder) in told:
            found.append(int(place.name))
    return found


def all_workers_end(folder: Path, seconds: float = 20) -> None:
    """Wait until no worker is left; AssertionError where one stays."""
    deadline = time.monotonic() + seconds
    while workers(folder):
        assert time.monotonic() < deadline, "a worker outlives its server"
        time.sleep(0.05)
