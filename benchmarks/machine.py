"""Facts about the machine and this process: what a reader needs to judge the numbers by.

No host name and no path: results are committed.
"""

from __future__ import annotations

import hashlib
import os
import platform
import resource
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import sfumato
from sfumato.jobs.peak_memory import counted_bytes

_LIBRARIES = (
    *("sfumato", "numpy", "numba", "llvmlite", "polars", "pyarrow"),
    *("randomgen", "cryptography"),
)
ROOT = Path(__file__).resolve().parent.parent


def shared_folder() -> Path:
    """Return where real data lie: SFUMATO_SHARED, or the folder beside the checkout."""
    return Path(os.environ.get("SFUMATO_SHARED", ROOT.parent / "shared"))


def machine_facts() -> dict[str, Any]:
    """Return cores, processor, memory, and the versions of Python and of the libraries."""
    return {
        "cores": os.cpu_count(),
        "processor": _processor(),
        "memory_gib": round(_memory_bytes() / 2**30, 1),
        "system": platform.system(),
        "python": platform.python_version(),
        "libraries": {name: _version(name) for name in _LIBRARIES},
    }


def source_digest() -> str:
    """Return a short checksum of the package's modules: which code it was that ran."""
    package = Path(sfumato.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def load_average() -> float | None:
    """Return how many tasks wanted a core in the last minute; beyond the cores, times are noisy."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def resident_bytes() -> int:
    """Return the memory that this process holds now."""
    return counted_bytes("VmRSS") or _largest_ever()


def peak_bytes() -> int:
    """Return the most memory that this process held since `forget_peak`, or ever."""
    return counted_bytes("VmHWM") or _largest_ever()


def _largest_ever() -> int:
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else largest * 1024


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
