"""Whether the files of a release are those that its manifest has the checksums of.

A table's checksum is that of its file, or, of a folder of parts, of what `sha256sum *` prints
there. Those of hierarchies stand in `parameters.hierarchies`.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from .release import hierarchy_file


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, or of the list of the parts in a folder."""
    if path.is_dir():
        names = sorted(part.name for part in path.iterdir())
        lines = [f"{digest_of(path / name)}  {name}\n" for name in names]
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    return hashlib.sha256(path.read_bytes()).hexdigest()


def altered(folder: Path) -> bool:
    """Whether a file is missing, a link, or not that of the manifest; also where that is none."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        pairs = [(folder / entry["file"], entry["sha256"]) for entry in manifest["tables"]]
        stated = manifest.get("parameters", {}).get("hierarchies", {})
        pairs += [(folder / hierarchy_file(name), digest) for name, digest in stated.items()]
        if any(path.is_symlink() for path in folder.rglob("*")):
            return True
        parts = [part for path, _ in pairs if path.is_dir() for part in path.iterdir()]
        if any(part.name.startswith(".") or part.suffix != ".parquet" for part in parts):
            return True
        lying = {path.name for path in (folder / "hierarchies").glob("*")}
        if lying != {Path(hierarchy_file(name)).name for name in stated}:
            return True
        return any(digest_of(path) != digest for path, digest in pairs)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return True
