"""The run record: the private side of a run. It holds the seed, so only its owner may read it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from sfumato.databases.address import Address
from sfumato.errors import InputError
from sfumato.jobs.ledger import manifest_checksum
from sfumato.jobs.private_file import new_file
from sfumato.version import __version__

FORMAT = "sfumato-run-record/1"
# For what a record gains by the end of its run: the time that writing took, and of which release.
_ROOM = 512


@dataclass(frozen=True, slots=True, repr=False)
class RunRecord:
    """What a run did that a release must not tell; rows are numbered from 1 as in the input.

    `withheld_cells` is None for a method that withholds none. `manifest_sha256` tells which release
    the record is of: a run that is killed between the two leaves an earlier record beside it.
    """

    data: str
    policy: str
    release: str
    seed: bytes
    test: bool
    timings: Mapping[str, float]
    warnings: Sequence[str]
    suppressed_rows: Sequence[int]
    withheld_cells: int | None = None
    manifest_sha256: str | None = None

    def to_json(self) -> bytes:
        """Return the text of the record."""
        fields = {
            "format": FORMAT,
            "software": f"sfumato {__version__}",
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "data": self.data,
            "policy": self.policy,
            "release": self.release,
            "manifest_sha256": self.manifest_sha256,
            "seed": self.seed.hex(),
            "test": self.test,
            "timings": dict(self.timings),
            "warnings": list(self.warnings),
            "suppressed_rows": list(self.suppressed_rows),
            "withheld_cells": self.withheld_cells,
        }
        return (json.dumps(fields, indent=2, ensure_ascii=False) + "\n").encode()


class RecordPlace:
    """The place of a record, held open from before a run until it has ended.

    `draft` writes it before the release appears, so that a full disk refuses both; `fill` writes
    what only the end of a run knows over it.
    """

    def __init__(self, path: Path | None, file: IO[bytes] | None, release: Path | Address) -> None:
        self._path, self._file, self._release = path, file, release

    def draft(self, record: RunRecord) -> None:
        """Write the record as far as it is known, with room for the rest.

        Refuses (InputError) where there is no room for it.
        """
        self._write(record.to_json() + b" " * _ROOM, "cannot write")

    def fill(self, record: RunRecord) -> None:
        """Write the whole record; it takes its place when the run ends well."""
        if self._file is None:
            return
        problem = "the release was written, but not its record"
        try:
            own = manifest_checksum(self._release)
        except OSError as error:
            raise InputError(f"{problem} '{self._path}': {error.strerror}") from None
        self._write(replace(record, manifest_sha256=own).to_json(), problem)

    def _write(self, text: bytes, problem: str) -> None:
        if self._file is None:
            return
        try:
            self._file.seek(0)
            self._file.write(text)
            self._file.flush()
            self._file.truncate()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise InputError(f"{problem} '{self._path}': {error.strerror}") from None

    @classmethod
    @contextmanager
    def at(
        cls, path: Path | None, release: Path | Address, *, force: bool
    ) -> Iterator[RecordPlace]:
        """Yield the place of the record; with no path nothing is written.

        Refuses (InputError) a place inside the release, all of which is public.
        """
        if path is None:
            yield cls(None, None, release)
            return
        folder = release if isinstance(release, Path) else release.file
        if folder is not None and path.resolve().is_relative_to(folder.resolve()):
            raise InputError(
                f"the record '{path}' would lie inside the release, which is public; "
                "put it elsewhere"
            )
        with new_file(path, force=force, is_ours=is_record, private=True) as file:
            yield cls(path, file, release)


def is_record(path: Path) -> bool:
    """Return whether a file is a run record."""
    try:
        fields = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(fields, dict) and fields.get("format") == FORMAT
