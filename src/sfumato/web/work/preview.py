"""Publish a sample under the run's policy, to show what a choice would do."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.io.read import read_table
from sfumato.jobs.anonymize import anonymize
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.web.pace import rows_of, seen_pace
from sfumato.web.pseudonym_key import passing_key
from sfumato.web.small_files import write_json
from sfumato.web.work.names import SAMPLE_FILE, SAMPLED
from sfumato.web.work.shown import shown_rows

if TYPE_CHECKING:
    from sfumato.web.runs import Run
    from sfumato.web.worker import Report

SAMPLE: Final = 2_000
SHOWN: Final = 10
_LONGEST: Final = 60
_STAGES: Final = ("taking a sample", "publishing the sample", "showing the sample")


def preview(run: Run, report: Report) -> None:
    """Leave what became of a random sample: some rows before and after, groups and loss.

    The sample and its release do not stay: neither is to be handed out, since the promises of a
    policy are meant for the whole table.
    """
    report.plan(_STAGES, seen_pace(run, _STAGES), rows_of(run.data))
    report.stage(_STAGES[0])
    place = (run.folder / SAMPLE_FILE).parent
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        _publish_sample(run, report, place)
    finally:
        shutil.rmtree(place)


def _publish_sample(run: Run, report: Report, place: Path) -> None:
    table = read_table(run.data)
    rows = table.num_rows
    sample = sample_of(table, Randomness.fresh())
    del table
    pq.write_table(sample, run.folder / SAMPLE_FILE)
    report.stage(_STAGES[1])
    made = anonymize(run.folder / SAMPLE_FILE, run.policy, place / "release", key=passing_key(run))
    report.stage(_STAGES[2])
    release = Release.load(place / "release")
    write_json(
        run.folder / SAMPLED,
        {
            "rows": sample.num_rows,
            "of": rows,
            "groups": made.groups,
            "ncp": None if made.ncp is None else float(made.ncp.mean),
            "suppressed": int(made.manifest.suppressed),
            "warnings": list(made.warnings),
            "before": shown_rows(sample, SHOWN, _LONGEST),
            "after": [
                {"name": name, **shown_rows(_by_group(each), SHOWN, _LONGEST)}
                for name, each in release.tables.items()
            ],
        },
    )


def sample_of(table: pa.Table, randomness: Randomness) -> pa.Table:
    """Return random rows in their order; all of them if they are few."""
    if table.num_rows <= SAMPLE:
        return table
    drawn = randomness.generator("sample of a preview").choice(
        table.num_rows, SAMPLE, replace=False
    )
    return table.take(pa.array(np.sort(drawn)))


def _by_group(table: pa.Table) -> pa.Table:
    """Return the rows with those of a group together, so that one sees what they share."""
    return table.sort_by("group") if "group" in table.column_names else table
