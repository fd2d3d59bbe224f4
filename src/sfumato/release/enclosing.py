"""Folders of releases take in nothing else: all of one is public, and a stray file spoils it."""

from __future__ import annotations

import json
from pathlib import Path

from sfumato.errors import InputError
from sfumato.release.manifest import MANIFEST, MAX_BYTES


def refuse_inside_release(path: Path, what: str = "what is written to") -> None:
    """Refuse (InputError) a place inside the folder of a release, however deep.

    The folder itself may be replaced by another release.
    """
    for folder in path.resolve().parents:
        if _has_manifest(folder):
            raise InputError(
                f"{what} '{path}' would lie inside the release '{folder}', which is public and "
                "would be spoilt; put it elsewhere"
            )


def _has_manifest(folder: Path) -> bool:
    """Whether the folder says that it is a release, of any version and however damaged."""
    manifest = folder / MANIFEST
    try:
        if not manifest.is_file() or manifest.stat().st_size > MAX_BYTES:
            return False
        fields = json.loads(manifest.read_bytes())
        return bool(fields["format"].startswith("sfumato-release/"))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return False
