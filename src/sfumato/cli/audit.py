"""`sfumato audit`: is a release what it claims to be?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from sfumato.cli.options import (
    Json,
    ReleasePlaces,
)
from sfumato.cli.progress import terminal_progress
from sfumato.cli.show import claim_text, clean, one_line, show_json, show_table
from sfumato.errors import ReleaseDamaged

if TYPE_CHECKING:
    from sfumato.audit import AuditReport, Verdict

EXAMPLE = "Example: sfumato audit release --json"


def audit(
    releases: ReleasePlaces,
    as_json: Json = False,
) -> None:
    """Re-derive every guarantee of a release from its published files alone.

    RELEASE is the folder of a release; of several that are linked by pseudonyms, their join is
    judged as well. Exits 0 if all guarantees hold, 1 if not, 2 if a release is damaged.
    """
    if len(releases) == 1:
        report = _judged(releases[0], as_json)
        if as_json:
            show_json(report.to_json())
        else:
            show_report(report)
        raise typer.Exit(report.exit_code)
    reports = {str(path): _judged(path, as_json) for path in releases}
    joined = _joined(releases)
    stands = joined[0].holds is True and all(each.holds is not False for each in joined)
    ok = stands and all(report.ok for report in reports.values())
    if as_json:
        told = {path: report.to_json() for path, report in reports.items()}
        verdicts = [verdict.to_json() for verdict in joined]
        show_json({"ok": ok, "releases": told, "joined": verdicts})
    else:
        for path, report in reports.items():
            print(clean(f"{path}:"))
            show_report(report)
        print("all together:")
        show_table(["guarantee", "verdict", "worst group"], [verdict_row(v) for v in joined])
    raise typer.Exit(0 if ok else 1)


def _judged(release: str, as_json: bool) -> AuditReport:
    from sfumato.audit import audit as judge
    from sfumato.audit import damaged_report

    try:
        with terminal_progress() as progress:
            progress.stage("auditing")
            return judge(release)
    except ReleaseDamaged as error:
        if as_json:
            show_json(damaged_report(error).to_json())
        raise


def _joined(releases: list[str]) -> tuple[Verdict, ...]:
    from sfumato.audit.joined import joined_view
    from sfumato.release import Release

    return joined_view([Release.load(path) for path in releases])


def show_report(report: AuditReport) -> None:
    """Print the verdicts, the problems, and the answer."""
    if report.guarantees:
        show_table(
            ["guarantee", "verdict", "worst group"], [verdict_row(v) for v in report.guarantees]
        )
    for problem in report.problems:
        print(f"problem: {one_line(problem)}")
    is_open = report.guarantees and all(verdict.holds is None for verdict in report.guarantees)
    failed = "nothing was confirmed, and nothing contradicted" if is_open else "the audit failed"
    print("the audit passed" if report.ok else failed)


def verdict_row(verdict: Verdict) -> list[str]:
    """Return a line of the table of verdicts."""
    answers = {True: "holds", False: "does not hold", None: verdict.note or "not checked"}
    answer = answers[verdict.holds]
    if verdict.note and verdict.holds is not None:
        answer += f", {verdict.note}"
    worst = "" if verdict.worst is None else f"{verdict.worst:.4g}"
    return [claim_text(dict(verdict.claim)), answer, worst]
