"""The files that runs leave in their folders, by name: pages read them without loading the work."""

from __future__ import annotations

from typing import Final

PROFILE: Final = "profile.json"
DRAFT: Final = "draft.yaml"
RELEASE: Final = "release"
ZIP: Final = "release.zip"
REPORT: Final = "report.html"
JUDGED: Final = "judged.json"
