"""Search for a policy that keeps stated limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.jobs.recommend import MINUTES, recommend_file
from sfumato.web.small_files import write_json
from sfumato.web.work.names import FOUND, RECOMMENDED

if TYPE_CHECKING:
    from sfumato.web.runs import Run
    from sfumato.web.worker import Report


def recommend(run: Run, report: Report) -> None:
    """Leave what was found, and the policy if one keeps the limits (`recommended.yaml`)."""
    asked = run.options
    minutes = float(asked.get("minutes", MINUTES))
    report.until(60 * minutes)
    found = recommend_file(
        run.data,
        run.policy,
        out=run.folder / RECOMMENDED,
        preset=asked.get("preset"),
        max_reidentification=asked.get("max_reidentification"),
        max_inference=asked.get("max_inference"),
        max_withheld=asked.get("max_withheld", 0),
        minutes=minutes,
        progress=report.within("recommend"),
    )
    write_json(run.folder / FOUND, found.to_dict())
