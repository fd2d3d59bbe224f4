"""The ledger: what one publisher has handed out so far, one line a release, never its data.

A line is added when a release has been written. It names the release's folder (relative to the
ledger), the checksum of its manifest, and what was published and claimed: enough to find earlier
releases again and to know that they are the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sfumato.errors import InputError
from sfumato.release import Manifest, Release
from sfumato.release.contents import checksum
from sfumato.release.manifest import MANIFEST

FORMAT = "sfumato-ledger/1"


def refuse_unusable(ledger: Path, release: Path) -> None:
    """Refuse (InputError), before a long run, a ledger that no line can be added to."""
    if ledger.resolve().is_relative_to(release.resolve()):
        raise InputError(f"the ledger '{ledger}' would lie inside the release; put it elsewhere")
    if not ledger.parent.is_dir():
        raise InputError(f"'{ledger.parent}' is not a folder; create it first")
    if os.path.lexists(ledger):
        _lines(ledger)
        if not os.access(ledger, os.W_OK):
            raise InputError(f"the ledger '{ledger}' cannot be written")
    elif not os.access(ledger.parent, os.W_OK):
        raise InputError(f"the ledger '{ledger}' cannot be written")


def enter(ledger: Path, release: Path, manifest: Manifest) -> None:
    """Add the line of a release that was written.

    The line is added in one piece at the end of the file, so that runs at the same time keep each
    other's; a line that a crash cut off is ended first, and skipped by readers.
    """
    line = {
        "format": FORMAT,
        "release": os.path.relpath(release.resolve(), ledger.resolve().parent),
        "manifest_sha256": checksum(release / MANIFEST),
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
        with ledger.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    text = "\n" + text
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise InputError(
            f"the release '{release}' was written, but not entered into the ledger "
            f"'{ledger}': {error.strerror}"
        ) from None


def earlier_releases(places: Iterable[str | os.PathLike[str]]) -> list[Release]:
    """Return the releases at the places: folders of releases, or ledgers that list them.

    Refuses (InputError, ReleaseDamaged) what is neither, and releases of a ledger that are gone
    or not as they were entered.
    """
    found: dict[Path, Release] = {}
    for place in places:
        path = Path(place)
        folders = [path]
        if path.is_file():
            folders = [_entered(path, line) for line in _lines(path)]
        for folder in folders:
            if folder.resolve() not in found:
                found[folder.resolve()] = Release.load(folder)
    return list(found.values())


def _entered(ledger: Path, line: dict[str, Any]) -> Path:
    """Return the folder of an entry, unchanged since."""
    folder: Path = ledger.parent / line["release"]
    manifest = folder / MANIFEST
    if not manifest.is_file():
        raise InputError(
            f"the ledger '{ledger}' lists the release '{line['release']}', which is not there; "
            "put it back, or name the earlier releases one by one"
        )
    if checksum(manifest) != line["manifest_sha256"]:
        raise InputError(
            f"the release '{line['release']}' is not the one that the ledger '{ledger}' lists; "
            "put that one back, or name the earlier releases one by one"
        )
    return folder


def _lines(ledger: Path) -> list[dict[str, Any]]:
    """Return the entries; a line that was cut off is left out if it is not one of the last."""
    try:
        texts = ledger.read_bytes().split(b"\n")
    except OSError as error:
        raise InputError(f"the ledger '{ledger}' cannot be read: {error.strerror}") from None
    entries: list[dict[str, Any]] = []
    for text in filter(None, texts):
        try:
            entry = json.loads(text)
        except (ValueError, RecursionError):
            entry = None
            if entries and text.startswith(b'{"format": "' + FORMAT.encode()):
                continue  # cut off by a crash
        known = isinstance(entry, dict) and entry.get("format") == FORMAT
        if not known or not all(
            isinstance(entry.get(key), str) for key in ("release", "manifest_sha256")
        ):
            raise InputError(
                f"'{ledger}' is not a ledger; name a file that `--ledger` wrote, or a new one"
            )
        entries.append(entry)
    return entries
