"""A report on a release for everyone: from the published files alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sfumato.errors import InputError
from sfumato.jobs.report import report_file
from sfumato.web.pace import rows_of, seen_pace
from sfumato.web.runs import ID, Run
from sfumato.web.work.names import RELEASE, REPORT, REPORT_OF

if TYPE_CHECKING:
    from sfumato.web.worker import Report

_STAGES: Final = ("reading the release", "auditing", "estimating", "drawing")


def public_report(run: Run, report: Report) -> None:
    """Leave the report on what the run of the option published.

    Refuses (InputError) a run that is no more.
    """
    id = str(run.options.get(REPORT_OF, ""))
    release = run.folder.parent / id / RELEASE
    if not ID.fullmatch(id) or not release.is_dir():
        raise InputError("the run that this report is about is no more")
    stages = [f"report: {each}" for each in _STAGES]
    report.plan(stages, seen_pace(run, stages), rows_of(run.data))
    report_file(release, run.folder / REPORT, audience="public", progress=report.within("report"))
