"""`sfumato audit`: is a release what it claims to be?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import Json
from sfumato.cli.progress import terminal_progress
from sfumato.cli.show import claim_text, one_line, show_json, show_table
from sfumato.errors import ReleaseDamaged

if TYPE_CHECKING:
    from sfumato.audit import AuditReport, Verdict

EXAMPLE = "Example: sfumato audit release --json"


def audit(
    release: Annotated[Path, typer.Argument(metavar="RELEASE")],
    as_json: Json = False,
) -> None:
    """Re-derive every guarantee of a release from its published files alone.

    RELEASE is the folder of a release. Exits 0 if all of them hold, 1 if not, 2 if the release is
    damaged.
    """
    from sfumato.audit import audit as judge
    from sfumato.audit import damaged_report

    try:
        with terminal_progress() as progress:
            progress.stage("auditing")
            report = judge(release)
    except ReleaseDamaged as error:
        if as_json:
            show_json(damaged_report(error).to_json())
        raise
    if as_json:
        show_json(report.to_json())
    else:
        show_report(report)
    raise typer.Exit(report.exit_code)


def show_report(report: AuditReport) -> None:
    """Print the verdicts, the problems, and the answer."""
    if report.guarantees:
        show_table(["guarantee", "verdict", "worst group"], [_row(v) for v in report.guarantees])
    for problem in report.problems:
        print(f"problem: {one_line(problem)}")
    confirmed = any(verdict.holds for verdict in report.guarantees)
    passed = "the audit passed" if confirmed else "nothing speaks against it, and nothing for it"
    print(passed if report.ok else "the audit failed")


def _row(verdict: Verdict) -> list[str]:
    answers = {True: "holds", False: "does not hold", None: verdict.note or "not checked"}
    answer = answers[verdict.holds]
    if verdict.note and verdict.holds is not None:
        answer += f", {verdict.note}"
    worst = "" if verdict.worst is None else f"{verdict.worst:.4g}"
    return [claim_text(dict(verdict.claim)), answer, worst]
