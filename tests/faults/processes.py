"""Trials in processes of their own: killed, interrupted, short of disk or of memory."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .tasks import TASKS, Task
from .trials import fresh, judged, points_of

HERE = Path(__file__).resolve().parents[1]
_LONGEST = 300


def _started(task: Task, folder: Path, fault: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "faults.child", task.name, str(folder)],
        env={**os.environ, "PYTHONPATH": str(HERE), "SFUMATO_FAULT": fault},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, told = process.communicate(timeout=_LONGEST)
    return process.returncode, told


def killed(task: Task, at: int) -> str:
    """Kill a task at a point where it touches the disk."""
    with fresh(task) as folder:
        code, _ = _ended(_started(task, folder, f"kill:{at}"))
        assert code in (0, -signal.SIGKILL), code
        return f"{judged(task, folder)} (exit {code})"


def signalled(task: Task, number: signal.Signals, rng: random.Random, longest: float) -> str:
    """Send a signal at some moment of the work."""
    with fresh(task) as folder:
        process = _started(task, folder, "none:0")
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(rng.random() * longest)
        process.send_signal(number)
        code, told = _ended(process)
        assert code in ((0, -signal.SIGKILL) if number == signal.SIGKILL else (0, 130)), told
        assert number == signal.SIGKILL or code == 0 or told == "error: interrupted\n", told
        return f"{judged(task, folder)} (exit {code})"


def limited(task: Task, fault: str) -> str:
    """Let a task run with room for so many bytes a file, or so many megabytes of memory."""
    with fresh(task) as folder:
        code, told = _ended(_started(task, folder, fault))
        if code == 2:
            assert told.startswith("error: ") and told.count("\n") == 1, told
        elif fault.startswith("files"):
            assert code == 0, told
        # libraries in other languages may end the process where memory ends: it says so itself
        return f"{judged(task, folder)} (exit {code}: {told.strip()[-120:]!r})"


@contextmanager
def small_disk(kilobytes: int) -> Iterator[Path]:
    """Give a file system of that size; PermissionError where none can be made."""
    home = Path(tempfile.mkdtemp())
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(home)],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        home.rmdir()
        raise PermissionError("no file system can be mounted here")
    try:
        yield home
    finally:
        subprocess.run(["umount", str(home)], check=True)
        home.rmdir()


def on_a_full_disk(task: Task, kilobytes: int) -> str:
    """Let a task run where there is little room; the next run has enough of it."""
    with small_disk(kilobytes) as disk, fresh(task) as folder:
        work = disk / "work"
        try:
            shutil.copytree(folder, work)
        except OSError:
            return "no room for the old state"
        code, told = _ended(_started(task, work, "none:0"))
        assert code in (0, 2), told
        assert code == 0 or (told.startswith("error: ") and told.count("\n") == 1), told
        shutil.rmtree(folder)
        shutil.copytree(work, folder)
        return f"{judged(task, folder)} (exit {code}: {told.strip()[-120:]!r})"


def every_point(task: Task) -> range:
    """Return the points of a task."""
    return range(1, points_of(task) + 1)


__all__ = ["TASKS", "every_point", "killed", "limited", "on_a_full_disk", "signalled"]
