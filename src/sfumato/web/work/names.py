"""The files that runs leave in their folders, by name: pages read them without loading the work."""

from __future__ import annotations

from typing import Final

PROFILE: Final = "profile.json"
SEEN: Final = "seen.json"  # what is known of the data before the profile is whole
VALUES: Final = "values"  # a folder: the different values of each column that has not too many
DRAFT: Final = "draft.yaml"
RELEASE: Final = "release"
ZIP: Final = "release.zip"
REPORT: Final = "report.html"
JUDGED: Final = "judged.json"
SECTIONS: Final = "sections.json"
SAMPLE_FILE: Final = "scratch/sample/sample.parquet"  # of a preview, while it runs
SAMPLED: Final = "preview.json"
FOUND: Final = "recommendation.json"
RECOMMENDED: Final = "recommended.yaml"
# The option of a public report that says whose release it is about.
REPORT_OF: Final = "run"
