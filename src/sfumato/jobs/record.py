"""The run record: the private side of a run. It holds the seed, so only its owner may read it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sfumato.databases.address import Address
from sfumato.errors import InputError
from sfumato.jobs.private_file import new_file
from sfumato.version import __version__

FORMAT = "sfumato-run-record/1"


@dataclass(frozen=True, slots=True, repr=False)
class RunRecord:
    """What a run did that a release must not tell; rows are numbered from 1 as in the input.

    `withheld_cells` is None for a method that withholds none.
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

    def to_json(self) -> bytes:
        """Return the text of the record."""
        fields = {
            "format": FORMAT,
            "software": f"sfumato {__version__}",
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "data": self.data,
            "policy": self.policy,
            "release": self.release,
            "seed": self.seed.hex(),
            "test": self.test,
            "timings": dict(self.timings),
            "warnings": list(self.warnings),
            "suppressed_rows": list(self.suppressed_rows),
            "withheld_cells": self.withheld_cells,
        }
        return (json.dumps(fields, indent=2, ensure_ascii=False) + "\n").encode()


class RecordPlace:
    """The place of a record, held open from before a run until it has ended."""

    def __init__(self) -> None:
        self._text = b""

    def fill(self, record: RunRecord) -> None:
        """Take the record; it is written when the run ends well."""
        self._text = record.to_json()

    @classmethod
    @contextmanager
    def at(
        cls, path: Path | None, release: Path | Address, *, force: bool
    ) -> Iterator[RecordPlace]:
        """Yield the place of the record; with no path nothing is written.

        Refuses (InputError) a place inside the release, all of which is public.
        """
        place = cls()
        if path is None:
            yield place
            return
        folder = release if isinstance(release, Path) else release.file
        if folder is not None and path.resolve().is_relative_to(folder.resolve()):
            raise InputError(
                f"the record '{path}' would lie inside the release, which is public; "
                "put it elsewhere"
            )
        with new_file(path, force=force, is_ours=is_record, private=True) as file:
            yield place
            file.write(place._text)


def is_record(path: Path) -> bool:
    """Return whether a file is a run record."""
    try:
        fields = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(fields, dict) and fields.get("format") == FORMAT
