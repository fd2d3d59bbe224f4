"""Look at a file once: what its columns hold, its first rows, and a first policy.

Pages read what this leaves (`profile.json`), never the table, so they are quick however many rows
it has. What is known sooner stands in `seen.json` meanwhile: first rows and types at once, then
column by column. Both hold values: they stay in the project, like the data.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import SchemaError
from sfumato.io.first_rows import first_rows
from sfumato.io.read import read_table
from sfumato.schema.distinct import Distinct, DistinctColumns
from sfumato.schema.kinds import is_number, kind_of
from sfumato.schema.text import to_texts
from sfumato.web.pace import rows_of, usual_pace
from sfumato.web.small_files import read_json, write_json, write_text
from sfumato.web.work.names import DRAFT, PROFILE, SEEN, VALUES
from sfumato.web.work.shown import shown_rows, shown_text, type_words

if TYPE_CHECKING:
    from sfumato.web.runs import Run
    from sfumato.web.worker import Report

PREVIEW_ROWS: Final = 50
BARS: Final = 12
_LONGEST: Final = 120
_PAUSE: Final = 0.3  # seconds between two writings of what is known so far


def inspect(run: Run, report: Report) -> None:
    """Leave the profile of the run's data, and the draft of a policy, in the folder."""
    stages = ["reading the data", "looking at the columns", "drafting a policy"]
    report.plan(stages, usual_pace(stages), rows_of(run.data))
    report.stage(stages[0])
    _glance(run)
    table = read_table(run.data)
    report.stage(stages[1])
    found = DistinctColumns(table)
    columns = _columns(run, table, found)
    # here and not above: it loads engines, and the first rows need not wait for them
    from sfumato.jobs.draft import draft_of

    report.stage(stages[2])
    asked = read_json(run.folder / "request.json") or {}
    draft = draft_of(table, str(asked.get("source", run.data.name)), found=found)
    write_text(run.folder / DRAFT, draft.text)
    write_json(
        run.folder / PROFILE,
        {
            "rows": table.num_rows,
            "columns": columns,
            "preview": shown_rows(table, PREVIEW_ROWS, _LONGEST),
            "reasons": dict(draft.reasons),
            "warnings": list(draft.warnings),
        },
    )
    (run.folder / SEEN).unlink(missing_ok=True)


def _glance(run: Run) -> None:
    """Leave what the head of the file tells: names, first rows, and types where they hold."""
    first = first_rows(run.data, PREVIEW_ROWS)
    if first is None:
        return
    _leave(
        run,
        first.rows,
        [
            {"name": each.name, "type": type_words(each.type) if first.types_hold else None}
            for each in first.table.schema
        ],
        shown_rows(first.table, PREVIEW_ROWS, _LONGEST),
    )


def _columns(run: Run, table: pa.Table, found: DistinctColumns) -> list[dict[str, Any]]:
    """Return what is shown of every column; meanwhile leave what is known of those before it."""
    (run.folder / VALUES).mkdir(mode=0o700, exist_ok=True)
    preview = shown_rows(table, PREVIEW_ROWS, _LONGEST)
    columns = [{"name": each.name, "type": type_words(each.type)} for each in table.schema]
    _leave(run, table.num_rows, columns, preview)
    left = time.monotonic()
    for number, name in enumerate(table.column_names):
        values = run.folder / VALUES / f"{number}.parquet"
        columns[number] |= _column(table[name], name, found, values)
        if time.monotonic() - left > _PAUSE:
            _leave(run, table.num_rows, columns, preview)
            left = time.monotonic()
    _leave(run, table.num_rows, columns, preview)
    return columns


def _leave(
    run: Run, rows: int | None, columns: list[dict[str, Any]], preview: dict[str, Any]
) -> None:
    write_json(run.folder / SEEN, {"rows": rows, "columns": columns, "preview": preview})


def _column(
    cells: pa.ChunkedArray, name: str, columns: DistinctColumns, values: Path
) -> dict[str, Any]:
    """Return what is counted of a column, with bars of how its values are spread.

    The different values go to the file `values`, for whoever builds a hierarchy over them.
    """
    try:
        found = columns[name]
    except SchemaError:
        return {"missing": cells.null_count, "distinct": None, "bars": [], "others": 0}
    # here and not above, as with the draft
    from sfumato.web.column_values import MOST_VALUES, write_values

    counts = found.counts[:-1]
    facts: dict[str, Any] = {"missing": int(found.counts[-1]), "distinct": len(found.values)}
    facts["commonest"] = int(counts.max(initial=0))
    if len(found.values) <= MOST_VALUES and kind_of(cells.type) is not None:
        write_values(values, found, cells.type)
    if is_number(found.values.type) and len(found.values) > BARS:
        return {**facts, "bars": _intervals(found, counts), "others": 0, "is_range": True}
    order = _largest(counts, BARS)
    texts = to_texts(found.values.take(pa.array(order))).to_pylist()
    bars = [
        [shown_text(text, _LONGEST), int(counts[at])] for text, at in zip(texts, order, strict=True)
    ]
    others = int(counts.sum() - counts[order].sum())
    return {**facts, "bars": bars, "others": others, "is_range": False}


def _largest(counts: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.int64]:
    """Return the places of the largest counts, of equal ones the first; without sorting all.

    >>> _largest(np.array([1, 3, 2, 3]), 3).tolist()
    [1, 3, 2]
    """
    places = np.arange(len(counts))
    if len(counts) > most:
        least = np.partition(counts, len(counts) - most)[len(counts) - most]
        above, equal = np.flatnonzero(counts > least), np.flatnonzero(counts == least)
        places = np.concatenate([above, equal[: most - len(above)]])
    chosen: npt.NDArray[np.int64] = places[np.argsort(-counts[places], kind="stable")]
    return chosen


def _intervals(found: Distinct, counts: npt.NDArray[np.int64]) -> list[list[Any]]:
    """Return the rows in intervals of equal width, by the lowest value in each."""
    line = _on_a_line(found.values)
    sums, edges = np.histogram(line, bins=BARS, weights=counts)
    order = np.argsort(line, kind="stable")
    lowest = np.minimum(np.searchsorted(line[order], edges[:-1]), len(order) - 1)
    texts = to_texts(found.values.take(pa.array(order[lowest]))).to_pylist()
    return [
        [shown_text(text, _LONGEST), int(count)] for text, count in zip(texts, sums, strict=True)
    ]


def _on_a_line(values: pa.Array) -> npt.NDArray[np.float64]:
    if pa.types.is_temporal(values.type):
        whole = pa.int32() if values.type.bit_width == 32 else pa.int64()
        values = values.cast(whole)
    return np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
