"""Releases: what they say about themselves, how cells are written, how they lie on disk."""

from sfumato.release.manifest import AttributeEntry, Bounds, Manifest, TableEntry
from sfumato.release.release import Release

__all__ = ["AttributeEntry", "Bounds", "Manifest", "Release", "TableEntry"]
