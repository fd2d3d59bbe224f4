"""The ledger: what one publisher has handed out so far, one line a release, never its data.

A line is added when a release has been written. It names the release's folder (relative to the
ledger), the checksum of its manifest, and what was published and claimed: enough to find earlier
releases again and to know that they are the same.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from sfumato.databases.address import Address
from sfumato.errors import InputError, ReleaseDamaged
from sfumato.release import Manifest, Release, in_database
from sfumato.release.contents import checksum
from sfumato.release.enclosing import refuse_inside_release
from sfumato.release.manifest import MANIFEST

FORMAT = "sfumato-ledger/1"


def refuse_unusable(ledger: Path, release: Path | Address, record: Path | None = None) -> None:
    """Refuse (InputError), before a long run, a ledger that no line can be added to.

    And a release in the place of one that the ledger lists: what was handed out stays, or nobody
    could hold later releases against it.
    """
    if record is not None and ledger.resolve() == record.resolve():
        raise InputError("the ledger and the private record cannot be one file; name another")
    folder = release if isinstance(release, Path) else release.file
    if folder is not None and ledger.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"the ledger '{ledger}' would lie inside the release; put it elsewhere")
    refuse_inside_release(ledger, "the ledger")
    if not ledger.parent.is_dir():
        raise InputError(f"'{ledger.parent}' is not a folder; create it first")
    if os.path.lexists(ledger):
        for line in _lines(ledger):
            if _place(ledger, line["release"]) == _fixed(release):
                raise InputError(
                    f"the ledger lists '{release}' as handed out, so it is not replaced; "
                    "choose another name"
                )
    place = ledger if os.path.lexists(ledger) else ledger.parent
    if not os.access(place, os.W_OK):
        is_read_only = os.statvfs(place).f_flag & os.ST_RDONLY
        reason = os.strerror(errno.EROFS if is_read_only else errno.EACCES)
        raise InputError(f"the ledger '{ledger}' cannot be written ({reason})")


def enter(ledger: Path, release: Path | Address, manifest: Manifest) -> None:
    """Add the line of a release that was written.

    The line is added in one piece at the end of the file, so that runs at the same time keep each
    other's.
    """
    line = {
        "format": FORMAT,
        "release": os.path.relpath(release.resolve(), ledger.resolve().parent)
        if isinstance(release, Path)
        else str(release.absolute()),
        "manifest_sha256": manifest_checksum(release),
        "created": manifest.created.isoformat(),
        "method": manifest.method,
        "layout": manifest.layout,
        "rows": manifest.rows,
        "test": manifest.test,
        "attributes": [
            {"name": entry.name, "role": entry.role.value} for entry in manifest.attributes
        ],
        "guarantees": list(manifest.guarantees),
    }
    text = json.dumps(line, ensure_ascii=False) + "\n"
    try:
        _append(ledger, text.encode())
    except OSError as error:
        raise InputError(
            f"the release '{release}' was written, but not entered into the ledger "
            f"'{ledger}': {error.strerror}"
        ) from None


def _append(ledger: Path, line: bytes) -> None:
    """Add a line to the file, whole or not at all; one that was cut off stays apart from it."""
    with ledger.open("a+b", buffering=0) as file:
        with suppress(OSError):  # a system without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        end = file.seek(0, os.SEEK_END)
        if end:
            file.seek(end - 1)
            line = line if file.read(1) == b"\n" else b"\n" + line
        rest = memoryview(line)
        try:
            while rest:  # a disk that is nearly full takes a part of it
                rest = rest[file.write(rest) :]
            os.fsync(file.fileno())
        except BaseException:
            file.truncate(end)
            raise


def earlier_releases(
    places: Iterable[str | os.PathLike[str]], ledger: Path | None = None
) -> dict[str, Release]:
    """Return the releases at the places, by name: folders of releases, or ledgers that list them.

    The `ledger` of this run may be among them before it exists: it lists nothing yet.

    Refuses (InputError, ReleaseDamaged) what is neither, and releases of a ledger that are gone
    or not as they were entered.
    """
    found: dict[Path | Address, tuple[str, Release]] = {}
    for place in places:
        path = Address.of(place) or Path(place)
        releases = [path]
        if isinstance(path, Path):
            if path.is_file():
                releases = [_entered(path, line) for line in _lines(path)]
            elif ledger is not None and path.resolve() == ledger.resolve():
                releases = []
        for release in releases:
            if _fixed(release) not in found:
                found[_fixed(release)] = str(release), Release.load(release)
    return dict(found.values())


def _place(ledger: Path, release: str) -> Path | Address:
    """Return where the release of an entry is."""
    return Address.of(release) or (ledger.resolve().parent / release).resolve()


def _fixed(release: Path | Address) -> Path | Address:
    """Return a place in the one form by which it is told from others."""
    return release.resolve() if isinstance(release, Path) else release.absolute()


def manifest_checksum(release: Path | Address) -> str:
    """Return the SHA-256 of a release's manifest; OSError, ReleaseDamaged where there is none."""
    if isinstance(release, Path):
        return checksum(release / MANIFEST)
    return in_database.manifest_checksum(release)


def _entered(ledger: Path, line: dict[str, Any]) -> Path | Address:
    """Return the place of an entry, unchanged since."""
    folder = _place(ledger, line["release"])
    try:
        found = manifest_checksum(folder)
    except (OSError, ReleaseDamaged):
        raise InputError(
            f"the ledger '{ledger}' lists the release '{line['release']}', which is not there; "
            "put it back, or name the earlier releases one by one"
        ) from None
    if found != line["manifest_sha256"]:
        raise InputError(
            f"the release '{line['release']}' is not the one that the ledger '{ledger}' lists; "
            "put that one back, or name the earlier releases one by one"
        )
    return folder


def _lines(ledger: Path) -> list[dict[str, Any]]:
    """Return the entries; a line that was cut off is refused, since a release would be missing."""
    try:
        content = ledger.read_bytes()
    except OSError as error:
        raise InputError(f"the ledger '{ledger}' cannot be read: {error.strerror}") from None
    entries: list[dict[str, Any]] = []
    for number, text in enumerate(content.split(b"\n"), start=1):
        if not text:
            continue
        try:
            entry = json.loads(text)
        except (ValueError, RecursionError):
            entry = None
            if text.startswith(b'{"format": "' + FORMAT.encode()):
                raise InputError(
                    f"line {number} of the ledger '{ledger}' was cut off, so that a release is "
                    "missing; remove the line, and name that release with --against"
                ) from None
        known = isinstance(entry, dict) and entry.get("format") == FORMAT
        if not known or not all(
            isinstance(entry.get(key), str) for key in ("release", "manifest_sha256")
        ):
            raise InputError(
                f"'{ledger}' is not a ledger; name a file that `--ledger` wrote, or a new one"
            )
        entries.append(entry)
    return entries
