"""Publish under the run's policy, then judge what came of it."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.jobs.anonymize import anonymize
from sfumato.jobs.policy import Policy
from sfumato.jobs.report import report_file
from sfumato.jobs.trial_findings import Inference, Linkage, Membership, Worth
from sfumato.web.pace import rows_of, seen_pace
from sfumato.web.pseudonym_key import project_key
from sfumato.web.runs import RECORD, Run
from sfumato.web.small_files import write_json
from sfumato.web.work.names import JUDGED, RELEASE, REPORT, SECTIONS, ZIP

if TYPE_CHECKING:
    from sfumato.jobs.publication import Publication
    from sfumato.reports.report import Report as Judged
    from sfumato.utility.overview import Utility
    from sfumato.utility.query_errors import QueryErrors
    from sfumato.web.worker import Report


def publish(run: Run, report: Report) -> None:
    """Leave a release, its archive, a report for the steward and `judged.json` in the folder."""
    rules = Policy.load(run.policy)
    stages = _stages(rules.method().name, rules.content.on_infeasible == "suppress")
    report.plan(stages, seen_pace(run, stages), rows_of(run.data))
    made = anonymize(
        run.data,
        run.policy,
        run.folder / RELEASE,
        record=run.folder / RECORD,
        key=project_key(run),
        progress=report.within("publish"),
    )
    judged = report_file(
        run.folder / RELEASE,
        run.folder / REPORT,
        original=str(run.data),
        policy=run.policy,
        progress=report.within("judge"),
    )
    report.stage("packing")
    write_json(run.folder / SECTIONS, sections_json(judged))
    write_json(run.folder / JUDGED, judged_json(made, judged))
    _pack(run.folder / RELEASE, run.folder / ZIP)


def judged_json(made: Publication, judged: Judged) -> dict[str, Any]:
    """Return what pages show of a run: what was made, and what each judge says of it."""
    facts, manifest = judged.facts, made.manifest
    plain = {
        "method": manifest.method,
        "parameters": dict(manifest.parameters),
        "rows": manifest.rows,
        "groups": made.groups,
        "suppressed": manifest.suppressed,
        "withheld_cells": made.withheld_cells,
        "ncp": None if made.ncp is None else made.ncp.mean,
        "warnings": list(dict.fromkeys([*made.warnings, *facts.warnings])),
        "undone": list(facts.undone),
        "audit": facts.audit.to_json(),
        "attacks": None if facts.attacked is None else facts.attacked.to_dict(),
        "utility": None if facts.compared is None else facts.compared.to_dict(),
        "findings": _findings(judged),
    }
    # numbers of other libraries, and those that JSON has no word for
    return dict(json.loads(json.dumps(plain, default=_plain)))


def sections_json(judged: Judged) -> dict[str, Any]:
    """Return the parts of the report as HTML: pages show them without drawing them again."""
    return {
        "sections": [
            {"id": each.id, "title": each.title, "content": [str(piece) for piece in each.content]}
            for each in judged.sections
        ]
    }


def _findings(judged: Judged) -> dict[str, Any]:
    """Return the few numbers by which runs are compared; what is not defined is None or empty."""
    attacked, compared = judged.facts.attacked, judged.facts.compared
    linkage = member = worth = None
    inferred: list[dict[str, Any]] = []
    if attacked is not None:
        link, membership = Linkage.of(attacked), Membership.of(attacked)
        linkage = None if link is None else link.to_dict()
        member = None if membership is None else membership.to_dict()
        inferred = [each.to_dict() for each in Inference.of(attacked)]
    if compared is not None:
        worth = Worth.of(compared, _count_errors(compared)).to_dict()
    return {"linkage": linkage, "inference": inferred, "membership": member, "utility": worth}


def _count_errors(compared: Utility) -> QueryErrors | None:
    """Return the errors of COUNT queries with the most conditions: they tell releases apart.

    Some layouts answer those about single columns exactly.
    """
    counted = [each for each in compared.queries if each.aggregate.startswith("COUNT")]
    return max(counted, key=lambda each: each.dimension, default=None)


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)


def _stages(method: str, withholds: bool) -> list[str]:
    """Return the stages of a run in their order, as the jobs call them."""
    making = [
        "reading the policy",
        "reading the data",
        "encoding",
        *(["choosing rows to withhold"] if withholds else []),
        f"partitioning by {method}",
        "auditing",
        "measuring",
        "writing",
    ]
    judging = [
        "reading the release",
        "auditing",
        "reading the data",
        "measuring utility",
        "attacking",
        "drawing",
    ]
    return [
        *(f"publish: {each}" for each in making),
        *(f"judge: {each}" for each in judging),
        "packing",
    ]


def _pack(folder: Path, target: Path) -> None:
    draft = target.with_name(f".{target.name}.tmp-0")
    with zipfile.ZipFile(draft, "x", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, Path(folder.name) / path.relative_to(folder))
    draft.replace(target)
