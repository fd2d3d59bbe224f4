"""The command line: parse, call a task, show what it says."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit; Ctrl-C is one line even while modules load."""
    try:
        from sfumato.cli.app import main as run

        run()
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        sys.exit(130)


__all__ = ["main"]
