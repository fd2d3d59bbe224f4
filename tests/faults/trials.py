"""Trials: a task, a fault, and what is found afterwards and after the next run."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sfumato.errors import SfumatoError

from .points import Fault, injected
from .tasks import Task


@contextmanager
def fresh(task: Task, prepared: dict[str, Path] | None = None) -> Iterator[Path]:
    """Give a folder with the task's old state in it."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "work"
        if prepared is not None and task.name in prepared:
            shutil.copytree(prepared[task.name], folder)
        else:
            folder.mkdir()
            task.prepare(folder)
        yield folder


def points_of(task: Task, prepared: dict[str, Path] | None = None) -> int:
    """Return at how many points the task can fail."""
    with fresh(task, prepared) as folder:
        fault = Fault("none", 0, folder)
        with injected(fault):
            task.work(folder)
        return fault.seen


def fails(task: Task, kind: str, at: int, prepared: dict[str, Path] | None = None) -> str:
    """Let a task fail in this process; return what was found, AssertionError if it is wrong."""
    with fresh(task, prepared) as folder:
        told = ""
        fault = Fault(kind, at, folder)
        try:
            with injected(fault):
                told = f"exit {task.work(folder) or 0}"
        except SfumatoError as error:
            told = str(error)
            assert told and "\n" not in told
        except (OSError, KeyboardInterrupt, MemoryError) as error:
            told = type(error).__name__  # the front-ends say these in a line
        assert fault.seen >= at, "the point was not reached"
        state = judged(task, folder)
        return f"{state}: {told}"


def judged(task: Task, folder: Path) -> str:
    """Return the state after a fault; then run again and see that nothing is left of it."""
    state = task.check(folder)
    assert not task.work(folder), "the next run fails"
    after = task.check(folder)
    is_new = after in ("new", "new, and nothing told")
    assert is_new or after.endswith(("projects", "published")), after
    left = task.litter(folder)
    assert left == [], left
    task.settled(folder)
    return state
