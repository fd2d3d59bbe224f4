"""The command line: parse, call a task, show what it says."""

from __future__ import annotations

import sys

from sfumato.housekeeping import settle_in


def main() -> None:
    """Run the command line and exit; Ctrl-C is one line even while modules load."""
    if sys.argv[1:2] != ["serve"]:  # which goes on, and leaves the work to others
        settle_in()
    try:
        from sfumato.cli.app import main as run

        run()
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        sys.exit(130)


__all__ = ["main"]
