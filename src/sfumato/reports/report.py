"""A report on a release as one HTML page: facts in, a file out."""

from __future__ import annotations

import os
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

from sfumato.markup import Html, tag
from sfumato.release.enclosing import refuse_inside_release
from sfumato.reports.content_sections import associations, distributions
from sfumato.reports.facts import Facts
from sfumato.reports.page import (
    Section,
    bullets,
    heading,
    note,
    page,
    paragraph,
    section,
)
from sfumato.reports.release_sections import (
    check_yourself,
    guarantees,
    limits,
    published,
    sizes,
    withheld,
)
from sfumato.reports.risk_sections import attacks, worth

STEWARD: Final = "For the steward only: made with knowledge of the original data"
STEWARD_ALONE: Final = "For the steward"
PUBLIC: Final = "Public: made from the published files alone"


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """A page about a release; notebooks show it, `save` writes it.

    `facts` are what it says, as plain objects; `sections` its parts, for other pages.
    """

    html: str
    facts: Facts
    sections: tuple[Section, ...] = ()

    def __repr__(self) -> str:
        """Say what it is without its content."""
        return f"Report({self.facts.manifest.method}, for {self.facts.audience})"

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, so that its style stays inside."""
        return (
            f'<iframe srcdoc="{escape(self.html, quote=True)}" sandbox="" '
            'style="width:100%;height:40rem;border:1px solid #888" title="report"></iframe>'
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page as one file that needs no other; InputError inside a release."""
        refuse_inside_release(Path(path), "the report")
        Path(path).write_text(self.html, "utf-8", newline="\n")


def render(facts: Facts, title: str | None = None) -> Report:
    """Return the report that facts make; the same facts make the same bytes.

    Refuses (EngineUnavailable) a missing extra `reports`.
    """
    made = [
        published(facts),
        guarantees(facts),
        sizes(facts),
        distributions(facts),
        associations(facts),
        attacks(facts),
        worth(facts),
        withheld(facts),
        _warnings(facts),
        limits(facts),
        check_yourself(facts),
    ]
    parts = tuple(part for part in made if part is not None)
    manifest = facts.manifest
    html = page(
        title or f"Release by {manifest.method}: {manifest.rows:,} records",
        parts,
        lead=_lead(facts),
        banner=_banner(facts),
        footer=[
            paragraph(
                f"Release format {manifest.format}, made by {manifest.software}. This page fetches "
                "nothing and runs nothing. Whether data may be given away is a question of law and "
                "of what else is known; no report decides it."
            )
        ],
    )
    return Report(html, facts, parts)


def _banner(facts: Facts) -> str:
    if facts.audience == "public":
        return PUBLIC
    return STEWARD if facts.compared or facts.attacked else STEWARD_ALONE


def _lead(facts: Facts) -> list[Html]:
    """Return what to read if nothing else."""
    report = facts.audit
    held = sum(verdict.holds is True for verdict in report.guarantees)
    open_ = sum(verdict.holds is None for verdict in report.guarantees)
    said = f"{held} of {len(report.guarantees)} guarantees hold by the published files"
    said += f", {open_} cannot be checked from files." if open_ else "."
    parts = [tag("p", said, class_="lead")]
    if facts.attacked is not None:
        risks = len(facts.attacked.risks)
        parts.append(
            paragraph(
                f"{risks} of {len(facts.attacked.outcomes)} outcomes of simulated attacks are "
                "better than chance, and count as risks here."
            )
        )
    if facts.manifest.test:
        parts.append(
            note(
                "This release was made with a public test seed: anyone can undo its randomness. "
                "It must not be published.",
                kind="bad",
            )
        )
    return parts


def _warnings(facts: Facts) -> Section | None:
    if not facts.warnings and not facts.undone:
        return None
    return section(
        "warnings",
        "Warnings",
        bullets(facts.warnings) or None,
        heading("What could not be done") if facts.undone else None,
        bullets(facts.undone) or None,
    )
