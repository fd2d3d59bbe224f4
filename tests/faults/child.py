"""`python -m faults.child TASK FOLDER`: does a task, hit by the fault that the environment names.

`SFUMATO_FAULT` is `KIND:POINT`, or `files:BYTES` and `memory:MEGABYTES` for limits of the system.
Ends like the command line does: one line, an exit code.
"""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

from sfumato.errors import SfumatoError

from .points import Fault, injected
from .tasks import TASKS


def main() -> int:
    """Do the task and return the exit code."""
    task = next(each for each in TASKS if each.name == sys.argv[1])
    folder = Path(sys.argv[2])
    kind, _, number = os.environ["SFUMATO_FAULT"].partition(":")
    if kind == "files":
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(number), resource.RLIM_INFINITY))
    if kind == "memory":
        resource.setrlimit(resource.RLIMIT_AS, (int(number) << 20, resource.RLIM_INFINITY))
    # when all is loaded, so that a signal by the clock falls into the work
    print("begins", flush=True)
    try:
        with injected(Fault(kind, int(number) if kind == "kill" else 0, folder)):
            task.work(folder)
    except SfumatoError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return 130
    except OSError as error:
        print(f"error: the output cannot be written ({error.strerror})", file=sys.stderr)
        return 2
    except MemoryError:
        print("error: not enough memory for this table", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
