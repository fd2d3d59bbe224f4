"""What lies in the folder of a release: plain files only, told apart by their checksums.

The checksum of a folder of parts is the SHA-256 of the text that `LC_ALL=C sha256sum *` prints in
it: a line `<sha256>  <file name>` a part, in the order of the names.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from sfumato.errors import ReleaseDamaged

_PART_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\.parquet")


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file, or of the list of its parts where it is a folder of them."""
    if path.is_dir():
        lines = "".join(f"{checksum(part)}  {part.name}\n" for part in parts(path))
        return hashlib.sha256(lines.encode()).hexdigest()
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def parts(folder: Path) -> list[Path]:
    """Return the Parquet parts in a folder by name; ReleaseDamaged where it holds anything else."""
    found = plain_entries(folder)
    if not found or not all(_PART_NAME.fullmatch(p.name) and p.is_file() for p in found):
        raise ReleaseDamaged(f"'{folder.name}' does not hold Parquet parts only")
    return found


def plain_entries(folder: Path) -> list[Path]:
    """Return what a folder holds, by name; ReleaseDamaged at a link, which may lead out of it."""
    entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_symlink():
            raise ReleaseDamaged(f"the release holds a link {entry.name!r}; only files are allowed")
    return entries
