"""The command line: parse, call a task, show what it says."""

from sfumato.cli.app import main

__all__ = ["main"]
