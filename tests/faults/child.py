"""`python -m faults.child TASK FOLDER`: does a task, hit by the fault that the environment names.

`SFUMATO_FAULT` is `KIND:POINT`, or `files:BYTES` and `memory:MEGABYTES` for limits of the system:
the latter are counted from what the libraries have taken. `count:0` and `count fsync:0` only say
how many points there were. Ends like the command line does: one line, an exit code.
"""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

from sfumato.errors import SfumatoError

from .points import Fault, injected
from .tasks import TASKS, Task


def main() -> int:
    """Do the task and return the exit code."""
    task = next(each for each in TASKS if each.name == sys.argv[1])
    folder = Path(sys.argv[2])
    kind, _, number = os.environ["SFUMATO_FAULT"].partition(":")
    if kind == "files":
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(number), resource.RLIM_INFINITY))
    if kind == "memory":
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        most = taken + (int(number) << 20)
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
    has_point = kind not in ("files", "memory", "none")
    fault = Fault(kind.removeprefix("count "), int(number) if has_point else 0, folder)
    # when all is loaded, so that a signal by the clock falls into the work
    print("begins", flush=True)
    code = _done(task, folder, fault)
    print(f"points {fault.seen}", flush=True)
    return code


def _done(task: Task, folder: Path, fault: Fault) -> int:
    try:
        with injected(fault):
            return task.work(folder) or 0
    except SfumatoError as error:
        return _told(str(error), 2)
    except KeyboardInterrupt:
        return _told("interrupted", 130)
    except OSError as error:
        return _told(f"the output cannot be written ({error.strerror})", 2)
    except MemoryError:
        return _told("not enough memory for this table", 2)


def _told(words: str, code: int) -> int:
    print(f"error: {words}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
