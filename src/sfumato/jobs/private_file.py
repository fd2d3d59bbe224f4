"""Files that appear whole or not at all, and that only their owner can read.

A file is written as `.NAME.tmp-XXXXXXXX` beside its place, forced to the disk, and renamed. What a
killed run left so is removed by the next that writes there: a live one holds a lock on its draft.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import IO

from sfumato.errors import InputError
from sfumato.release.enclosing import refuse_inside_release


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
        draft, handle = _locked_draft(path)
    try:
        with os.fdopen(handle, "w+b") as file:
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
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def replace_file(path: Path, content: bytes) -> None:
    """Write a private file in place of any other, in one step; OSError where that fails."""
    draft, handle = _locked_draft(path)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _locked_draft(path: Path) -> tuple[Path, int]:
    """Make a draft beside `path`, locked so that others can tell it is alive."""
    _clear_leftovers(path)
    while True:
        draft = path.with_name(f".{path.name}.tmp-{secrets.token_hex(4)}")
        handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        # Another run may have taken it for a leftover before the lock was ours.
        if draft.exists():
            return draft, handle
        os.close(handle)


def _clear_leftovers(path: Path) -> None:
    for draft in path.parent.glob(f".{escape(path.name)}.tmp-{'[0-9a-f]' * 8}"):
        with suppress(OSError):  # a live run, another user's file, a system without locks
            handle = os.open(draft, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                draft.unlink(missing_ok=True)
            finally:
                os.close(handle)


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
    """Refuse (InputError) a place that is taken, unless it may be replaced, or in a release."""
    refuse_inside_release(path)
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
