"""`python -m tests.faults [--quick]`: all trials, counted; exit 1 if one ended badly."""

from __future__ import annotations

import argparse
import random
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from faults import processes, trials  # noqa: E402 -- the tests' own folder had to be made known
from faults.points import KINDS  # noqa: E402
from faults.tasks import TASKS  # noqa: E402

FILES = (0, 1, 100, 400, 1000, 1500, 2000, 4000)
MEMORY = (300, 500, 700, 900, 1100, 1400, 2000, 3000)
DISKS = (12, 16, 20, 24, 32, 40, 48, 64)


def main() -> int:
    """Run the trials and print what came of them."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--quick", action="store_true", help="every tenth trial only")
    asked.add_argument("--verbose", action="store_true", help="a line for every trial")
    options = asked.parse_args()
    counts: Counter[str] = Counter()
    bad: list[str] = []
    skipped: Counter[str] = Counter()

    def tried(what: str, trial: Callable[[], str]) -> None:
        kind, number = what.split(" @ ")[0], counts.total()
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

    rng = random.Random(14)
    for task in TASKS:
        points = processes.every_point(task)
        for at in points:
            for kind in KINDS:
                if kind == "kill":
                    continue
                tried(
                    f"{task.name}, {kind} @ {at}",
                    lambda t=task, k=kind, a=at: trials.fails(t, k, a),
                )
        for at in points:
            tried(
                f"{task.name}, kill -9 at a point @ {at}",
                lambda t=task, a=at: processes.killed(t, a),
            )
        for number, name in ((signal.SIGKILL, "kill -9"), (signal.SIGINT, "Ctrl-C")):
            for at in range(8):
                tried(
                    f"{task.name}, {name} by the clock @ {at}",
                    lambda t=task, n=number: processes.signalled(t, n, rng, 4.0),
                )
        for size in FILES:
            tried(
                f"{task.name}, files limited @ {size}",
                lambda t=task, s=size: processes.limited(t, f"files:{s}"),
            )
        for size in MEMORY:
            tried(
                f"{task.name}, memory limited @ {size}",
                lambda t=task, s=size: processes.limited(t, f"memory:{s}"),
            )
        for size in DISKS:
            tried(
                f"{task.name}, small disk @ {size}",
                lambda t=task, s=size: processes.on_a_full_disk(t, s),
            )
    for kind, count in counts.items():
        print(f"{count:5} {kind}")
    print(f"{counts.total():5} trials, {len(bad)} ended badly; left out: {dict(skipped)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
