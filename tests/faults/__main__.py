"""`python -m tests.faults [--quick]`: all trials, counted; exit 1 if one ended badly."""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from faults import processes, trials
from faults.points import KINDS
from faults.tasks import HERE, TASKS, Task

FILES = (0, 1, 100, 400, 1000, 1500, 2000, 4000)
MEMORY = (1, 4, 12, 25, 50, 100, 150, 200)  # megabytes beyond what the libraries take
DISKS = (0, 4, 8, 12, 16, 20, 24, 32)  # kilobytes beyond the old state
BY_THE_CLOCK = 6
Trial = tuple[str, Callable[[], str]]


def main() -> int:
    """Run the trials and print what came of them."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--quick", action="store_true", help="every tenth trial only")
    which = asked.add_mutually_exclusive_group()
    which.add_argument("--here", action="store_true", help="without processes of their own")
    which.add_argument("--apart", action="store_true", help="in processes of their own only")
    asked.add_argument("--task", action="append", choices=[each.name for each in TASKS])
    asked.add_argument("--only", default="", help="trials whose name holds this, such as memory")
    asked.add_argument("--verbose", action="store_true", help="a line for every trial")
    options = asked.parse_args()
    tasks = [each for each in TASKS if not options.task or each.name in options.task]
    with _quiet():
        all_trials = (
            [] if options.apart else [t for each in tasks if each in HERE for t in here(each)]
        )
        if not options.here:
            all_trials += [trial for each in tasks for trial in apart(each)]
    counts: Counter[str] = Counter()
    bad: list[str] = []
    left_out: Counter[str] = Counter()
    all_trials = [each for each in all_trials if options.only in each[0]]
    for what, trial in all_trials[:: 10 if options.quick else 1]:
        kind = what.split(" @ ", maxsplit=1)[0]
        try:
            with _quiet():
                found = trial()
            counts[kind] += 1
        except processes.NoTrial as reason:
            left_out[str(reason)] += 1
            found = f"no trial: {reason}"
        except Exception as error:
            counts[kind] += 1
            bad.append(f"{what}: {type(error).__name__}: {error}")
            print(f"BAD {bad[-1]}", flush=True)
            continue
        if options.verbose:
            print(f"{what}: {found}", flush=True)
    for kind, count in counts.items():
        print(f"{count:5} {kind}")
    print(f"{counts.total():5} trials, {len(bad)} ended badly; no trials: {dict(left_out)}")
    return 1 if bad else 0


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep what the command line prints in this process out of the counts."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


def here(task: Task) -> Iterator[Trial]:
    """Give the faults that Python code can make, at every point."""
    for at in range(1, trials.points_of(task) + 1):
        for kind in KINDS:
            if kind != "kill":
                yield f"{task.name}, {kind} @ {at}", partial(trials.fails, task, kind, at)


def apart(task: Task) -> Iterator[Trial]:
    """Give the faults that end a process, or that the system makes."""
    name, rng, size = task.name, random.Random(f"14 {task.name}"), processes.measured(task)
    step = 3 if task.apart else 1  # the work of the worker lies between a server's points
    for at in range(1, size.points + 1, step):
        yield f"{name}, kill -9 at a point @ {at}", partial(processes.at_point, task, "kill", at)
    for at in range(1, size.points + 1, 3 * step):
        yield f"{name}, Ctrl-C at a point @ {at}", partial(processes.at_point, task, "signal", at)
    for at in range(1, size.forced + 1):
        yield f"{name}, failing fsync @ {at}", partial(processes.at_point, task, "fsync", at)
    for number, word in ((signal.SIGKILL, "kill -9"), (signal.SIGINT, "Ctrl-C")):
        for at in range(BY_THE_CLOCK):
            trial = partial(processes.signalled, task, number, rng, size.seconds)
            yield f"{name}, {word} by the clock @ {at}", trial
    if task.apart:
        for at in range(BY_THE_CLOCK):
            trial = partial(processes.worker_killed, task, rng, size.seconds)
            yield f"{name}, kill -9 of the worker @ {at}", trial
    yield f"{name}, read-only disk @ 0", partial(processes.on_a_read_only_disk, task)
    for room in DISKS:
        yield f"{name}, full disk @ {room}", partial(processes.on_a_full_disk, task, room)
    for room in FILES:
        fault = f"files:{room}"
        yield f"{name}, files limited @ {room}", partial(processes.limited, task, fault)
    for room in MEMORY:
        fault = f"memory:{room}"
        yield f"{name}, memory limited @ {room}", partial(processes.limited, task, fault)


if __name__ == "__main__":
    sys.exit(main())
