"""A second process that compiles, on a machine's first run, what the run needs next.

All that the two processes share is the cache of kernels: what is found there is loaded, what is not
is compiled. So results do not depend on the second one, nor on how far it gets. It is told the name
of the method and nothing else of the run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

# Mondrian takes long to compile, above all under models; by the stage in which a run comes to it.
_STAGES = {f"partitioning by {name}": name for name in ("lgb", "merging", "slicing")}
_MODULE = "sfumato.jobs.first_kernels"


@contextmanager
def compiling_ahead(stage: Callable[[], str]) -> Iterator[None]:
    """Have a second process compile, once this one compiles in a `stage` where that takes long.

    Nothing is started where kernels come from the cache, nor where no core is free. The process
    ends with the block, and whatever becomes of it, the block goes on.
    """
    if "numba" not in sys.modules or not _has_free_core() or not sys.executable:
        yield
        return
    from numba.core import event

    class Compilation(event.Listener):
        """Starts the process when something is compiled, once."""

        process: subprocess.Popen[bytes] | None = None
        is_tried = False

        def on_start(self, event: Any) -> None:
            method = _STAGES.get(stage())
            if method is not None and not self.is_tried:
                self.is_tried = True
                with suppress(OSError):  # no memory for it, say
                    self.process = _started(method)

        def on_end(self, event: Any) -> None:
            """Go on."""

    compilation = Compilation()
    try:
        with event.install_listener("numba:compile", compilation):
            yield
    finally:
        if compilation.process is not None:
            compilation.process.kill()
            compilation.process.communicate()


def _has_free_core() -> bool:
    """Return whether there are several cores, and fewer at work than there are."""
    cores, busy = os.cpu_count() or 1, 0.0
    with suppress(AttributeError, OSError):  # not every system tells
        busy = os.getloadavg()[0]
    return cores > 1 and busy < cores


def _started(method: str) -> subprocess.Popen[bytes]:
    """Return the process; it ends when its input does, so never later than this one."""
    command = [sys.executable, "-P", "-m", _MODULE, method]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet)
