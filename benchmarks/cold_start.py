"""The first run on a fresh machine: what compiling the kernels costs, function by function.

    python -m benchmarks.cold_start

prints one line of JSON. It must run in a process of its own, before anything else is compiled,
with an empty kernel cache: see `cold_start`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

_ROWS = 2_000
_MOST_SHOWN = 12
_ROOT = Path(__file__).resolve().parent.parent


def cold_start() -> dict[str, Any]:
    """Return the measurements of a process that finds an empty kernel cache."""
    with tempfile.TemporaryDirectory() as cache:
        answer = subprocess.run(
            [sys.executable, "-m", "benchmarks.cold_start"],
            cwd=_ROOT,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"NUMBA_CACHE_DIR": cache},
        ).stdout
    result: dict[str, Any] = json.loads(answer)
    return result


def _measure() -> dict[str, Any]:
    from numba.core import event

    from benchmarks.cases import CASES, synthetic_schema
    from sfumato.datasets import census

    class Recorder(event.Listener):
        """Sums processor seconds of compiling each function, without those that it calls."""

        def __init__(self) -> None:
            self.seconds: dict[str, float] = {}
            self.functions = 0
            self._open: list[list[float]] = []  # start and seconds of callees, one a function

        def on_start(self, event: Any) -> None:
            """Remember when a function's compilation starts."""
            self._open.append([time.process_time(), 0.0])

        def on_end(self, event: Any) -> None:
            """Count a function's compilation for it, and not for its caller."""
            start, callees = self._open.pop()
            seconds = time.process_time() - start
            if self._open:
                self._open[-1][1] += seconds
            function = event.data["dispatcher"].py_func
            name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
            self.seconds[name] = self.seconds.get(name, 0.0) + seconds - callees
            self.functions += 1

    recorder = Recorder()
    event.register("numba:compile", recorder)  # type: ignore[no-untyped-call]
    data, schema = census(_ROWS), synthetic_schema()
    runs = {}
    for name, case in CASES.items():
        start, processor = time.perf_counter(), time.process_time()
        case.method.publish(data, schema)
        runs[name] = {
            "seconds": time.perf_counter() - start,
            "processor_seconds": time.process_time() - processor,
        }
    slowest = sorted(recorder.seconds.items(), key=lambda entry: -entry[1])[:_MOST_SHOWN]
    return {
        "runs": runs,
        "functions": recorder.functions,
        "processor_seconds": sum(recorder.seconds.values()),
        "by_function": dict(slowest),
    }


if __name__ == "__main__":
    print(json.dumps(_measure()))
