"""A folder that appears whole or not at all.

It is filled under the name `.NAME.tmp-XXXXXXXX` beside its place, forced to the disk, and renamed.
A folder that it replaces is swapped with it in one step where the system can do that, and else put
aside as `.NAME.old-XXXXXXXX` for the moment between two renames. A crash therefore leaves the old
folder or the new one; with two renames it may leave the old one aside, and the next run puts it
back. Leftovers of dead runs are removed by the next: a live run holds a lock on its folder.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

from sfumato.errors import InputError
from sfumato.release.enclosing import refuse_inside_release

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


@contextmanager
def replacing(target: Path, *, force: bool, is_ours: Callable[[Path], bool]) -> Iterator[Path]:
    """Yield an empty folder that takes the place of `target` when the block ends well.

    An existing target is only replaced with `force`, and only if it is empty or `is_ours` says
    that it is one of the folders that this program makes: a slip must not cost a home directory.
    When the block fails, nothing is left behind.
    """
    place = Path(os.path.realpath(target))
    if not place.parent.is_dir():
        raise InputError(f"'{target.parent}' is not a folder; create it first")
    _clear_leftovers(place, is_ours)
    refuse_occupied(target, force, is_ours)
    folder, lock = _locked_sibling(place)
    try:
        yield folder
        _force_to_disk(folder)
        refuse_occupied(target, force, is_ours)
        _put_in_place(folder, place)
        _sync(place.parent)
    finally:
        # By now this name holds half a folder, the folder that was replaced, or nothing.
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


@contextmanager
def beside(target: Path) -> Iterator[Path]:
    """Yield an empty folder beside `target` that is gone when the block ends, however it ends.

    It holds what is not published: others cannot look into it, nor can the group unless new folders
    are open for it to write. What a dead run left there is removed by the next run that replaces
    the target.
    """
    place = Path(os.path.realpath(target))
    if not place.parent.is_dir():
        raise InputError(f"'{target.parent}' is not a folder; create it first")
    folder, lock = _locked_sibling(place)
    try:
        close_to_others(folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def close_to_others(folder: Path) -> int:
    """Close a folder to others than its owner, and return what its mode was.

    It stays open to the group if new folders are open for the group to write.
    """
    mode = stat.S_IMODE(folder.stat().st_mode)
    folder.chmod(mode & (0o7770 if mode & 0o020 else 0o7700))
    return mode


def refuse_occupied(target: Path, force: bool, is_ours: Callable[[Path], bool]) -> None:
    """Refuse (InputError) a place that is taken, or that must not be replaced, or in a release."""
    refuse_inside_release(target)
    if not os.path.lexists(target):
        return
    if not force:
        raise InputError(f"'{target}' exists; use --force to replace it")
    if not target.is_dir() or (any(target.iterdir()) and not is_ours(target)):
        raise InputError(
            f"'{target}' is not a release, or holds other files too, and is not replaced; "
            "choose another name or move it away"
        )


def _put_in_place(folder: Path, place: Path) -> None:
    if not os.path.lexists(place):
        folder.replace(place)
        return
    if _exchange(folder, place):
        return
    aside = _sibling(place, "old")
    try:
        place.replace(aside)
        folder.replace(place)
    except BaseException:
        if aside.exists() and not place.exists():
            aside.replace(place)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step; False, with nothing done, where the system cannot."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    paths = os.fsencode(one), os.fsencode(other)
    return bool(rename(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _RENAME_EXCHANGE) == 0)


def _clear_leftovers(place: Path, is_ours: Callable[[Path], bool]) -> None:
    for aside in filter(is_ours, _siblings(place, "old")):
        if os.path.lexists(place):
            shutil.rmtree(aside, ignore_errors=True)
        else:
            aside.replace(place)
    for folder in _siblings(place, "tmp"):
        with suppress(OSError):  # a live run, another user's folder, a system without locks
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _locked_sibling(place: Path) -> tuple[Path, int]:
    """Make a folder beside `place` and lock it, so that other runs can tell it is alive."""
    while True:
        folder = _sibling(place, "tmp")
        folder.mkdir()
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        # Another run may have taken it for a leftover before the lock was ours.
        if folder.exists():
            return folder, lock
        os.close(lock)


def _sibling(place: Path, kind: str) -> Path:
    return place.with_name(f".{place.name}.{kind}-{secrets.token_hex(4)}")


def _siblings(place: Path, kind: str) -> list[Path]:
    return list(place.parent.glob(f".{escape(place.name)}.{kind}-{'[0-9a-f]' * 8}"))


def _force_to_disk(folder: Path) -> None:
    for parent, _, files in os.walk(folder):
        for name in files:
            _sync(Path(parent, name))
        _sync(Path(parent))


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
