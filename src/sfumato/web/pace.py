"""How long the stages of a run may take, by earlier runs of its project."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.jobs.pace import Pace
from sfumato.web.runs import Run, load_run
from sfumato.web.status import State

# Seconds of a stage before any run of its kind was seen, and the rows they are for.
_USUAL_SECONDS: Final = 0.5
_USUAL_ROWS: Final = 10_000
_BYTES_A_ROW: Final = 60  # of files that do not say how many rows they have


def usual_pace(stages: Iterable[str]) -> Pace:
    """Return a pace that knows no more than that stages of many rows take longer."""
    pace = Pace()
    for name in stages:
        pace.took(name, _USUAL_ROWS, _USUAL_SECONDS)
    return pace


def seen_pace(run: Run, stages: Iterable[str]) -> Pace:
    """Return how long stages took in earlier runs of the same kind."""
    pace = usual_pace(stages)
    for folder in sorted(run.folder.parent.iterdir()):
        earlier = load_run(folder)
        if earlier is None or earlier.kind is not run.kind:
            continue
        status = earlier.status
        if status.state is State.FINISHED:
            for name, seconds in status.timings.items():
                pace.took(name, status.rows, seconds)
    return pace


def rows_of(data: Path) -> int:
    """Return about how many rows a file has, without reading it."""
    try:
        if data.suffix.lower() in (".parquet", ".pq"):
            return int(pq.read_metadata(data).num_rows)
        return max(data.stat().st_size // _BYTES_A_ROW, 1)
    except (OSError, pa.ArrowException):
        return 1  # whoever reads it will say what is wrong
