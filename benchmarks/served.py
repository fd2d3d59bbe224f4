"""`sfumato serve` as a child process: started, stopped and started again in one folder."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

# Whoever starts it may be killed: on Linux the system then ends it too, and it ends its runs.
_START = """
import sys
if sys.platform == "linux":
    import ctypes, signal
    ctypes.CDLL(None).prctl(1, signal.SIGTERM, 0, 0, 0)
from sfumato.cli import main
sys.exit(main())
"""
_PATIENCE = 60.0  # seconds, on a machine that has much else to do


class Served:
    """The workbench of a folder. `address` holds the token, `base` does not."""

    def __init__(self, folder: Path, data_folders: Sequence[Path] = ()) -> None:
        self.folder = folder
        self.address = self.base = ""
        self._more = [part for each in data_folders for part in ("--data-folder", str(each))]
        self._child: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it at a free port, and wait until it prints its address."""
        command = [sys.executable, "-c", _START, "serve", str(self.folder), "--no-browser"]
        child = subprocess.Popen([*command, *self._more], stdout=subprocess.PIPE, text=True)
        self._child = child
        late = threading.Timer(_PATIENCE, child.kill)
        late.start()
        assert child.stdout is not None
        found = next((line.strip() for line in child.stdout if "http://" in line), None)
        late.cancel()
        if found is None:
            self.stop(at_once=True)
            raise AssertionError(
                f"the workbench ended, or printed no address within {_PATIENCE:g} s"
            )
        self.address, self.base = found, found.partition("/?")[0]

    def stop(self, *, at_once: bool = False) -> None:
        """End it: as Ctrl-C does, or by the kill that no process can answer."""
        child, self._child = self._child, None
        if child is None:
            return
        child.kill() if at_once else child.terminate()
        try:
            child.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait(_PATIENCE)
            raise AssertionError(
                f"the workbench did not end within {_PATIENCE:g} seconds"
            ) from None
        finally:
            if child.stdout is not None:
                child.stdout.close()
