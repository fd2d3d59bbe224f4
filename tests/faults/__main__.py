"""`python -m tests.faults [--quick]`: all trials, counted; exit 1 if one ended badly."""

from __future__ import annotations

import argparse
import random
import signal
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from faults import processes, trials
from faults.points import KINDS
from faults.tasks import TASKS, Task

FILES = (0, 1, 100, 400, 1000, 1500, 2000, 4000)
MEMORY = (300, 500, 700, 900, 1100, 1400, 2000, 3000)
DISKS = (12, 16, 20, 24, 32, 40, 48, 64)


def main() -> int:
    """Run the trials and print what came of them."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--quick", action="store_true", help="every tenth trial only")
    asked.add_argument("--here", action="store_true", help="without processes of their own")
    asked.add_argument("--verbose", action="store_true", help="a line for every trial")
    options = asked.parse_args()
    counts: Counter[str] = Counter()
    bad: list[str] = []
    skipped: Counter[str] = Counter()

    def tried(what: str, trial: Callable[[], str]) -> None:
        kind, number = what.split(" @ ", maxsplit=1)[0], counts.total()
        counts[kind] += 1
        if options.quick and number % 10:
            counts[kind] -= 1
            skipped["--quick"] += 1
            return
        try:
            found = trial()
            if options.verbose:
                print(f"{what}: {found}", flush=True)
        except PermissionError as error:
            counts[kind] -= 1
            skipped[str(error)] += 1
        except Exception as error:
            bad.append(f"{what}: {type(error).__name__}: {error}")
            print(f"BAD {bad[-1]}", flush=True)

    points_of = {task.name: processes.every_point(task) for task in TASKS}
    for task in TASKS:
        for at in points_of[task.name]:
            for kind in KINDS:
                if kind == "kill":
                    continue
                tried(
                    f"{task.name}, {kind} @ {at}",
                    lambda t=task, k=kind, a=at: trials.fails(t, k, a),
                )
    for task in TASKS if not options.here else ():
        _in_processes(task, points_of[task.name], tried)
    for kind, count in counts.items():
        print(f"{count:5} {kind}")
    print(f"{counts.total():5} trials, {len(bad)} ended badly; left out: {dict(skipped)}")
    return 1 if bad else 0


def _in_processes(
    task: Task, points: range, tried: Callable[[str, Callable[[], str]], None]
) -> None:
    """Try the faults that end a process, or that the system makes."""
    name, rng = task.name, random.Random(f"14 {task.name}")
    for size in FILES:
        tried(f"{name}, files limited @ {size}", partial(processes.limited, task, f"files:{size}"))
    for size in DISKS:
        tried(f"{name}, small disk @ {size}", partial(processes.on_a_full_disk, task, size))
    for size in MEMORY:
        tried(
            f"{name}, memory limited @ {size}", partial(processes.limited, task, f"memory:{size}")
        )
    for number, word in ((signal.SIGKILL, "kill -9"), (signal.SIGINT, "Ctrl-C")):
        for at in range(6):
            trial = partial(processes.signalled, task, number, rng, 4.0)
            tried(f"{name}, {word} by the clock @ {at}", trial)
    for at in points:
        tried(f"{name}, kill -9 at a point @ {at}", partial(processes.killed, task, at))


if __name__ == "__main__":
    sys.exit(main())
