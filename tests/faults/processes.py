"""Trials in processes of their own: killed, interrupted, short of disk or of memory.

A trial counts if its fault struck: where the process had ended before, or had room enough, there
was none (NoTrial).
"""

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
from dataclasses import dataclass
from pathlib import Path

from .tasks import Task
from .trials import fresh, judged
from .workbench_run import all_workers_end, workers

HERE = Path(__file__).resolve().parents[1]
_LONGEST = 300
_SPINNING = 120
_INTERRUPTED = 130


class NoTrial(Exception):  # noqa: N818 -- a state
    """The fault did not strike, or cannot be made here."""


@dataclass(frozen=True)
class Measure:
    """How many points a task has, how many times it forces something to disk, how long it takes."""

    points: int
    forced: int
    seconds: float


def _started(task: Task, folder: Path, fault: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "faults.child", task.name, str(folder)],
        env={**os.environ, "PYTHONPATH": str(HERE), "SFUMATO_FAULT": fault},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _ended(process: subprocess.Popen[str], folder: Path) -> tuple[int, str]:
    out, told = process.communicate(timeout=_LONGEST)
    all_workers_end(folder)
    is_done = "points " in out and process.returncode == -signal.SIGINT  # hit on its way out
    return 0 if is_done else process.returncode, told


def measured(task: Task) -> Measure:
    """Return what there is to be hit, from runs without a fault."""
    counts, seconds = [], 0.0
    for kind in ("count", "count fsync"):
        with fresh(task) as folder:
            process = _started(task, folder, f"{kind}:0")
            assert process.stdout is not None
            process.stdout.readline()
            began = time.monotonic()
            out, told = process.communicate(timeout=_LONGEST)
            seconds = time.monotonic() - began
            assert process.returncode == 0, told
            counts.append(int(out.rsplit("points ", maxsplit=1)[1]))
    return Measure(*counts, seconds)


def _is_one_line(told: str) -> bool:
    return told.startswith("error: ") and told.count("\n") == 1


def at_point(task: Task, kind: str, at: int) -> str:
    """Let a task be killed, interrupted or refused at a point where it touches the disk."""
    with fresh(task) as folder:
        code, told = _ended(_started(task, folder, f"{kind}:{at}"), folder)
        if kind == "kill":
            if code == 0:
                raise NoTrial("the point was not reached")
            assert code == -signal.SIGKILL, (code, told)
        elif kind == "signal":
            assert code == 0 or (code == _INTERRUPTED and _is_one_line(told)), (code, told)
        else:
            assert code == 0 or (code == 2 and _is_one_line(told)), (code, told)
        return f"{judged(task, folder)} (exit {code}: {told.strip()[-120:]!r})"


def signalled(task: Task, number: signal.Signals, rng: random.Random, longest: float) -> str:
    """Send a signal at some moment of the work."""
    with fresh(task) as folder:
        process = _started(task, folder, "none:0")
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(rng.random() * longest)
        process.send_signal(number)
        code, told = _ended(process, folder)
        if code == 0:
            raise NoTrial("the run had ended before the signal")
        assert code == (-signal.SIGKILL if number == signal.SIGKILL else _INTERRUPTED), (code, told)
        assert number == signal.SIGKILL or told == "error: interrupted\n", told
        return f"{judged(task, folder)} (exit {code})"


def worker_killed(task: Task, rng: random.Random, longest: float) -> str:
    """Kill the worker of a run at some moment; the server must see it and say so."""
    with fresh(task) as folder:
        process = _started(task, folder, "none:0")
        deadline = time.monotonic() + _LONGEST
        while not (found := workers(folder)) and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(rng.random() * longest)
        for number in found:
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                break
        code, told = _ended(process, folder)
        if code == 0:
            raise NoTrial("the run had ended before the signal")
        assert code == 2 and "ended by itself" in told and _is_one_line(told), (code, told)
        return f"{judged(task, folder)} (exit {code})"


def limited(task: Task, fault: str) -> str:
    """Let a task run with room for so many bytes a file, or so many megabytes of memory.

    Where not a byte is left, some versions of Python try to handle the same exception for ever:
    somebody has to end them, and what they leave must be whole as well.
    """
    with fresh(task) as folder:
        process = _started(task, folder, fault)
        try:
            process.wait(_SPINNING)
        except subprocess.TimeoutExpired:
            assert fault.startswith("memory"), "it does not end"
            process.kill()
        code, told = _ended(process, folder)
        if code == 0:
            raise NoTrial("there was enough room")
        if fault.startswith("files"):
            assert code == 2, (code, told)
        # libraries in other languages may end the process where memory ends: it says so itself
        assert code != 2 or _is_one_line(told), told
        assert code in (2, 1) or code < 0 or "memory" in told.lower(), (code, told)
        return f"{judged(task, folder)} (exit {code}: {told.strip()[-120:]!r})"


@contextmanager
def small_disk(kilobytes: int) -> Iterator[Path]:
    """Give a file system of that size; NoTrial where none can be made."""
    home = Path(tempfile.mkdtemp())
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(home)],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        home.rmdir()
        raise NoTrial("no file system can be mounted here")
    try:
        yield home
    finally:
        subprocess.run(["umount", str(home)], check=True)
        home.rmdir()


def on_a_full_disk(task: Task, kilobytes: int) -> str:
    """Let a task run where there is little room; the next run has enough of it."""
    with fresh(task) as folder:
        used = sum(_blocks(path) for path in folder.rglob("*"))
        with small_disk(used + kilobytes) as disk:
            work = disk / "work"
            shutil.copytree(folder, work)
            code, told = _ended(_started(task, work, "none:0"), work)
            if code == 0:
                raise NoTrial("there was enough room")
            assert code == 2 and _is_one_line(told), (code, told)
            shutil.rmtree(folder)
            shutil.copytree(work, folder)
        return f"{judged(task, folder)} (exit {code}: {told.strip()[-120:]!r})"


def _blocks(path: Path) -> int:
    """Return how many kilobytes a file takes in memory's file system, by pages."""
    return 4 * -(-path.stat().st_size // 4096) if path.is_file() else 0


def on_a_read_only_disk(task: Task) -> str:
    """Let a task run where nothing can be written: nothing is changed, and it says so."""
    with fresh(task) as folder:
        with small_disk(20_000) as disk:
            work = disk / "work"
            shutil.copytree(folder, work)
            before = _contents(work)
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
            code, told = _ended(_started(task, work, "none:0"), work)
            assert code == 2 and _is_one_line(told), (code, told)
            assert "ead-only" in told, told
            assert _contents(work) == before
            shutil.rmtree(folder)
            shutil.copytree(work, folder)
        return f"{judged(task, folder)} (exit {code}: {told.strip()[-120:]!r})"


def _contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
