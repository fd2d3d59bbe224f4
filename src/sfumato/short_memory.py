"""Lack of memory, told as such: libraries have other words for it, and some blame the file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sfumato.errors import InputError, SfumatoError

# Readers ask for a block for each thread, and for threads' stacks: with less than this to come,
# whatever error a library reports is about memory.
_LITTLE: Final = 256 * 2**20


@contextmanager
def told_as_lack_of_memory(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let the block fail with InputError where memory is short, whatever a library made of it."""
    try:
        yield
    except (SfumatoError, OSError):
        raise
    except Exception as error:
        if not isinstance(error, MemoryError) and not is_memory_short():
            raise
        raise InputError(
            f"{path}: there is not enough memory to read this table; free some, raise the limit "
            "of this process (ulimit -v), or publish the table in parts"
        ) from None


def is_memory_short() -> bool:
    """Whether the process may take so little more that an error is most likely for lack of it."""
    return _room_left() < _LITTLE


def _room_left() -> float:
    """Return how many bytes of address space this process may still take; infinite if no limit."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return float("inf")
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        return limit - pages * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError):  # other systems
        return float("inf")
