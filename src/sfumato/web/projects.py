"""Projects: folders of a workspace. All that the workbench writes lies in one of them.

Names of folders and files are made here; what a request says is either one of them or refused.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from sfumato.errors import InputError
from sfumato.io.read import SUFFIXES
from sfumato.release.enclosing import refuse_inside_release
from sfumato.web.small_files import read_json, write_json

FORMAT: Final = "sfumato-project/1"
FILE: Final = "project.json"
POLICY: Final = "policy.yaml"
HIERARCHIES: Final = "hierarchies"
ID: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?")
# In a folder that is to become a project: one with it and without a project is a crash's.
_UNFINISHED: Final = ".unfinished"
_LONGEST_TITLE: Final = 80
_MOST_LISTED: Final = 500
_DEEPEST: Final = 4


@dataclass(frozen=True, slots=True)
class Project:
    """A project: its folder, the title that people gave it, and where its data lie."""

    folder: Path
    title: str
    data: Path
    is_own: bool  # the data were copied into the folder
    source: str  # what people call the data: the name of a file, or the sample
    created: str

    @property
    def id(self) -> str:
        """The name of its folder, which stands in addresses."""
        return self.folder.name

    @property
    def policy(self) -> Path:
        """Where its policy lies once there is one."""
        return self.folder / POLICY

    @property
    def hierarchies(self) -> Path:
        """The folder of its hierarchy files."""
        return self.folder / HIERARCHIES

    @property
    def runs(self) -> Path:
        """The folder of its runs."""
        return self.folder / "runs"


class Workspace:
    """A folder of projects, and the folders of data that may be opened in place."""

    def __init__(self, folder: Path, data_folders: Sequence[Path] = ()) -> None:
        self.folder = folder.resolve()
        self.data_folders = tuple(each.resolve() for each in data_folders)
        for each in self.data_folders:
            if not each.is_dir():
                raise InputError(f"'{each}' is not a folder; name one that holds data")

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Hold the folder, made if it is missing.

        Refuses (InputError) one that another workbench holds, that cannot be written, or that is
        a release.
        """
        refuse_inside_release(self.folder / ".lock")
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise InputError(f"'{self.folder}' cannot be used ({error.strerror})") from None
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise InputError(
                    f"another workbench has '{self.folder}' open; use that one, or another folder"
                ) from None
            self._clear_unfinished()
            yield
        finally:
            os.close(handle)

    def _clear_unfinished(self) -> None:
        """Remove what a workbench that was killed left of projects it was about to make.

        They may hold an upload that nobody finds; a folder that is not ours has no such mark.
        """
        for each in list(self.folder.iterdir()):
            if not ID.fullmatch(each.name) or each.is_symlink() or not each.is_dir():
                continue
            with suppress(OSError):
                if (each / FILE).is_file():
                    (each / _UNFINISHED).unlink(missing_ok=True)
                elif (each / _UNFINISHED).is_file():
                    shutil.rmtree(each, ignore_errors=True)
                else:
                    each.rmdir()  # killed before the mark was made; it fails where anything lies

    def projects(self) -> list[Project]:
        """Return all projects, the newest first."""
        found = [self._load(each) for each in self.folder.iterdir() if ID.fullmatch(each.name)]
        return sorted((p for p in found if p is not None), key=lambda p: p.created, reverse=True)

    def project(self, id: str) -> Project | None:
        """Return a project by its id; None for any other text."""
        return self._load(self.folder / id) if ID.fullmatch(id) else None

    def _load(self, folder: Path) -> Project | None:
        if folder.is_symlink():
            return None
        content = read_json(folder / FILE)
        if content is None or content.get("format") != FORMAT:
            return None
        try:
            own = content["data"].get("own")
            data = folder / "data" / Path(own).name if own else self._in_place(content["data"])
            return Project(
                folder,
                str(content["title"]),
                data,
                bool(own),
                str(content["source"]),
                str(content["created"]),
            )
        except (KeyError, TypeError, AttributeError, InputError):
            return None

    def _in_place(self, told: Mapping[str, Any]) -> Path:
        """Return the file that a project named with its data folder.

        Never by the folder's number: another start may give other folders, or another order, and
        the project would publish a file of the same name.
        """
        tops = [str(each) for each in self.data_folders]
        if told.get("folder") not in tops:
            raise InputError("the data folder of this project was not given")
        return self.under_data_folders(f"{tops.index(told['folder'])}:{told['path']}")

    def astray(self) -> list[tuple[str, str]]:
        """Return the projects whose data cannot be found now: title, and where they should be."""
        found = []
        for folder in sorted(self.folder.iterdir()):
            is_ours = ID.fullmatch(folder.name) and not folder.is_symlink()
            content = read_json(folder / FILE) if is_ours else None
            if content is None or content.get("format") != FORMAT or self._load(folder) is not None:
                continue
            told = content.get("data")
            place = told if isinstance(told, dict) else {}
            where = [str(place[key]) for key in ("folder", "path") if place.get(key)]
            found.append((str(content.get("title")), str(Path(*where)) if where else ""))
        return found

    def new_folder(self, title: str) -> Path:
        """Return a new folder for a project; until `finish` has run it is none."""
        base = _slug(title)
        while True:
            for name in (base, f"{base}-{secrets.token_hex(3)}"):
                try:
                    (self.folder / name).mkdir(mode=0o700)
                except FileExistsError:
                    continue
                (self.folder / name / _UNFINISHED).touch(mode=0o600)
                (self.folder / name / "data").mkdir(mode=0o700)
                return self.folder / name

    def finish(
        self, folder: Path, title: str, source: str, *, own: str | None = None, place: str = ""
    ) -> Project:
        """Make a project of a folder whose data lie in it as `own`, or in place at `place`."""
        for name in ("runs", HIERARCHIES):
            (folder / name).mkdir(mode=0o700, exist_ok=True)
        write_json(
            folder / FILE,
            {
                "format": FORMAT,
                "title": _title(title),
                "source": _title(source),
                "data": {"own": own} if own else self._told(place),
                "created": datetime.now(UTC).isoformat(timespec="microseconds"),
            },
        )
        (folder / _UNFINISHED).unlink(missing_ok=True)
        made = self._load(folder)
        if made is None:  # the disk failed just now
            raise InputError("the project was written, and cannot be read; check the disk")
        return made

    def _told(self, place: str) -> dict[str, str]:
        number, _, path = place.partition(":")
        return {"folder": str(self.data_folders[int(number)]), "path": path}

    def discard(self, folder: Path) -> None:
        """Remove the folder of a project, which must be one of this workspace."""
        if folder.parent != self.folder or not ID.fullmatch(folder.name) or folder.is_symlink():
            raise InputError("this is no project of the workspace")
        shutil.rmtree(folder)

    def listed(self) -> list[str]:
        """Return the data files that may be opened in place: folder number, `:`, path in it."""
        return [
            f"{number}:{path.relative_to(top).as_posix()}"
            for number, top in enumerate(self.data_folders)
            for path in _data_files(top, _DEEPEST)
        ][:_MOST_LISTED]

    def under_data_folders(self, place: object) -> Path:
        """Return the file that a place (as `listed` gives it) names.

        Refuses (InputError) whatever does not lie in a data folder, through links as well.
        """
        number, _, rest = str(place).partition(":")
        if not number.isdecimal() or int(number) >= len(self.data_folders) or "\0" in rest:
            raise InputError("choose a file under a folder that was given with --data-folder")
        top = self.data_folders[int(number)]
        path = (top / rest).resolve()
        if not path.is_relative_to(top) or not path.is_file():
            raise InputError("there is no such file under the data folder")
        return refuse_other_kinds(path)


def refuse_other_kinds(path: Path) -> Path:
    """Return a path whose ending is that of a kind of file that can be read.

    Refuses (InputError) others.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"this kind of file cannot be read; use {', '.join(SUFFIXES)}")
    return path


def _data_files(folder: Path, depth: int) -> Iterator[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for each in entries:
        if each.name.startswith(".") or each.is_symlink():
            continue
        if each.is_file() and each.suffix.lower() in SUFFIXES:
            yield each
        elif each.is_dir() and depth > 1:
            yield from _data_files(each, depth - 1)


def _slug(title: str) -> str:
    """Return a name of a folder that reminds of a title.

    >>> _slug("../Patiënten 2024.csv")
    'patienten-2024-csv'
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-")
    return words or "project"


def _title(text: str) -> str:
    shown = "".join(each if each.isprintable() else " " for each in text).strip()
    return shown[:_LONGEST_TITLE] or "Untitled"
