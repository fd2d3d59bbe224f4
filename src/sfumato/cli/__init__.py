"""The command line: parse, call a task, show what it says."""

from __future__ import annotations

import gc
import sys

# Modules and compiled kernels are hundreds of thousands of objects that live until the end: at the
# usual rate, looking through them for garbage took a tenth of a run.
_NEW_OBJECTS = 50_000


def collect_rarely() -> None:
    """Look for garbage in cycles less often than Python does by itself."""
    gc.set_threshold(_NEW_OBJECTS, 20, 20)


def main() -> None:
    """Run the command line and exit; Ctrl-C is one line even while modules load."""
    collect_rarely()
    try:
        from sfumato.cli.app import main as run

        run()
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        sys.exit(130)


__all__ = ["collect_rarely", "main"]
