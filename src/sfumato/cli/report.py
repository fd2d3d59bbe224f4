"""`sfumato report`: all that can be said of a release, as one page to read."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import (
    Force,
    Json,
    ReleasePlace,
)
from sfumato.cli.progress import terminal_progress
from sfumato.cli.show import one_line, show_json

EXAMPLE = "Example: sfumato report release --original patients.csv --out report.html"


class Reader(StrEnum):
    """Whom a report is for."""

    STEWARD = "steward"
    PUBLIC = "public"


Original = Annotated[
    str | None,
    typer.Option("--original", metavar="DATA", help="The data that the release was made from."),
]
OptionalPolicy = Annotated[
    Path | None, typer.Option("--policy", help="The policy file, for hierarchies and orders.")
]
For = Annotated[Reader, typer.Option("--audience", help="Whom the report is for.")]
ReportFile = Annotated[Path, typer.Option("--out", metavar="FILE", help="The HTML file to write.")]
Title = Annotated[str | None, typer.Option("--title", help="The heading of the page.")]


def report(
    release: ReleasePlace,
    original: Original = None,
    policy: OptionalPolicy = None,
    audience: For = Reader.STEWARD,
    out: ReportFile = Path("report.html"),
    title: Title = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Write all that can be said of a release as one HTML file that needs no network.

    RELEASE is the folder of a release. A public report shows nothing that is not in it.
    """
    from sfumato.jobs.report import report_file

    with terminal_progress() as progress:
        made = report_file(
            release,
            out,
            original=original,
            policy=policy,
            audience=audience.value,
            title=title,
            force=force,
            progress=progress,
        )
    attacked = made.facts.attacked
    if as_json:
        show_json(
            {
                "report": str(out),
                "audience": made.facts.audience,
                "audit_ok": made.facts.audit.ok,
                "risks": None if attacked is None else len(attacked.risks),
                "undone": list(made.facts.undone),
            }
        )
        return
    print(one_line(f"wrote {out}, for the {made.facts.audience}"))
    print("the audit passed" if made.facts.audit.ok else "the audit did not pass: see the report")
