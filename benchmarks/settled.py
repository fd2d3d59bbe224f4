"""A benchmark in a process like that of a command: `python -m benchmarks.settled MODULE …`.

What a command does first (`sfumato.housekeeping`) has to come before anything large is imported.
"""

from __future__ import annotations

import runpy
import sys

from sfumato.housekeeping import settle_in

if __name__ == "__main__":
    settle_in()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
