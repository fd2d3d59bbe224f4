"""All that a report says of a release, before any of it is written as HTML.

`jobs/report.py` gathers it from the judges. A public report has only what the published files
give: no comparison with an original, no attacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sfumato.attacks import AttackReport
from sfumato.audit import AuditReport
from sfumato.release import Manifest
from sfumato.reports.alone import Alone
from sfumato.reports.statistics import Column, Sizes
from sfumato.utility.overview import Utility

Audience = Literal["steward", "public"]
AUDIENCES: tuple[Audience, ...] = ("steward", "public")


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a release, for one audience.

    `alone` is what the release says by itself. `compared` and `attacked` need the original, and
    are None without it; `undone` says what could not be done, and why. `warnings` are doubts about
    the release that came up beside its original.
    """

    audience: Audience
    manifest: Manifest
    audit: AuditReport
    sizes: tuple[Sizes, ...]
    columns: tuple[Column, ...]
    pseudonyms: tuple[str, ...]
    weight: str | None
    alone: Alone | None
    compared: Utility | None = None
    attacked: AttackReport | None = None
    warnings: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        is_private = self.compared is not None or self.attacked is not None or self.warnings
        if self.audience == "public" and is_private:
            raise ValueError("a public report knows nothing of an original")
