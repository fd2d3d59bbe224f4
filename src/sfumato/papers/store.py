"""What was measured, kept point by point, so that an interrupted run goes on where it was.

A file of JSON lines: one for each set of data, one for each point, under a key of everything that
its numbers depend on. A line is forced to the disk before the next point begins; a last line
without its end is the trace of a run that was killed, and is dropped.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

from sfumato.errors import InputError
from sfumato.papers.grid import About, Numbers, Point


def key_of(paper: str, version: str, about: About, point: Point) -> str:
    """Return a short checksum of all that the numbers of a point depend on.

    >>> about = About("adult", "UCI Adult", 48842, True, "00ff")
    >>> one, two = (key_of("lgb", "1", about, Point("by l", {"l": l})) for l in (3, 5))
    >>> one == two
    False
    """
    named = [paper, version, about.fingerprint, point.experiment, dict(point.parameters)]
    return hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()[:20]


class Store:
    """The file of one paper's results, held by one run at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._measured: dict[str, Numbers] = {}
        self._data: dict[str, About] = {}
        self._file: int | None = None

    def __enter__(self) -> Store:
        """Open the file, whose folder exists; refuses (InputError) what another run holds."""
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise InputError(f"cannot write '{self._path}': {error.strerror}") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise InputError(
                f"another run is writing to '{self._path}'; wait for it, or choose another --out"
            ) from None
        try:
            os.ftruncate(self._file, self._read())
        except BaseException as error:  # whatever it is, the file must not stay locked
            os.close(self._file)
            if isinstance(error, OSError):
                raise InputError(f"cannot use '{self._path}': {error.strerror}") from None
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Close the file, which lets others have it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __contains__(self, key: str) -> bool:
        return key in self._measured

    def __getitem__(self, key: str) -> Numbers:
        return self._measured[key]

    @property
    def data(self) -> list[About]:
        """The sets of data of which the file has results, in the order of their first run."""
        return list(self._data.values())

    def tell(self, about: About) -> None:
        """Note what data the points that follow are of."""
        if self._data.get(about.fingerprint) != about:
            self._data[about.fingerprint] = about
            self._append({"data": asdict(about)})

    def add(self, key: str, about: About, point: Point, numbers: Numbers) -> None:
        """Keep the numbers of a point; when this returns they are on the disk."""
        self._append(
            {
                "key": key,
                "data": about.key,
                "experiment": point.experiment,
                "parameters": dict(point.parameters),
                "numbers": numbers,
            }
        )
        # as they are read again: a first and a resumed run must not differ by a tuple or a key
        self._measured[key] = json.loads(json.dumps(numbers))

    def _append(self, line: dict[str, Any]) -> None:
        assert self._file is not None, "the store is not open"
        text = memoryview(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        end = os.lseek(self._file, 0, os.SEEK_END)
        try:
            while text:  # a disk that is nearly full takes a part of it
                text = text[os.write(self._file, text) :]
            os.fsync(self._file)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, end)
            raise InputError(f"cannot write '{self._path}': {error.strerror}") from None

    def _read(self) -> int:
        """Take in all whole lines; return where the last of them ends."""
        end = 0
        for line in self._path.read_bytes().splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break
            self._take(line)
            end += len(line)
        return end

    def _take(self, line: bytes) -> None:
        try:
            found = json.loads(line)
            if "key" in found:
                self._measured[found["key"]] = found["numbers"]
            else:
                about = About(**found["data"])
                self._data[about.fingerprint] = about
        except (ValueError, KeyError, TypeError):
            raise InputError(
                f"'{self._path}' does not hold results of this command; move it away"
            ) from None


@contextmanager
def only_read(path: Path) -> Iterator[Store]:
    """Yield the results of a file as they are; nothing is written."""
    store = Store(path)
    try:
        store._read()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    yield store
