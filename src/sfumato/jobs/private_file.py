"""Files that appear whole or not at all, and that only their owner can read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sfumato.errors import InputError


@contextmanager
def new_file(
    path: Path, *, force: bool, is_ours: Callable[[Path], bool], private: bool
) -> Iterator[IO[bytes]]:
    """Yield a file that takes its place at `path` when the block ends well.

    An existing file is only replaced with `force`, and only if `is_ours` says that it is one of
    the kind that this program writes. A `private` file is readable by its owner only, from its
    first byte on. When the block fails, nothing is left behind.
    """
    refuse_occupied(path, force=force, is_ours=is_ours)
    with _refusing(path):
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.tmp-", dir=path.parent)
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            with _refusing(path):
                file.flush()
                os.fsync(file.fileno())
                if not private:
                    os.fchmod(file.fileno(), 0o666 & ~_umask())
        refuse_occupied(path, force=force, is_ours=is_ours)
        with _refusing(path):
            draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write '{path}': {error.strerror}") from None


def _umask() -> int:
    mask = os.umask(0o077)  # the only way to read it is to set it
    os.umask(mask)
    return mask


def refuse_occupied(path: Path, *, force: bool, is_ours: Callable[[Path], bool]) -> None:
    """Refuse (InputError) a place that is taken, unless it may be replaced."""
    if not path.parent.is_dir():
        raise InputError(f"'{path.parent}' is not a folder; create it first")
    if not os.path.lexists(path):
        return
    if not force:
        raise InputError(f"'{path}' exists; use --force to replace it")
    if not path.is_file() or not is_ours(path):
        raise InputError(
            f"'{path}' is another kind of file and is not replaced; choose another name"
        )
