"""`sfumato serve` as a child process: started, stopped and started again in one folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_START = "import sys; from sfumato.cli import main; sys.exit(main())"


class Served:
    """The workbench of a folder. `address` holds the token, `base` does not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = self.base = ""
        self._child: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it at a free port, and wait until it prints its address."""
        child = subprocess.Popen(
            [sys.executable, "-c", _START, "serve", str(self.folder), "--no-browser"],
            stdout=subprocess.PIPE,
            text=True,
        )
        self._child = child
        found = next((line.strip() for line in child.stdout if "http://" in line), None)
        assert found is not None, "the workbench did not start"
        self.address, self.base = found, found.partition("/?")[0]

    def stop(self, *, at_once: bool = False) -> None:
        """End it: as Ctrl-C does, or by the kill that no process can answer."""
        if self._child is not None:
            self._child.kill() if at_once else self._child.terminate()
            self._child.wait()
            self._child.stdout.close()
            self._child = None
