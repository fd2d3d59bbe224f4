"""Look at a file once: what its columns hold, its first rows, and a first policy.

Pages read what this leaves (`profile.json`), never the table, so they are quick however many rows
it has. The profile holds values: it stays in the project, like the data.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import SchemaError
from sfumato.io.read import read_table
from sfumato.jobs.draft import draft_of
from sfumato.schema.distinct import Distinct, distinct
from sfumato.schema.kinds import is_number, kind_of
from sfumato.schema.text import to_texts
from sfumato.web.column_values import MOST_VALUES, write_values
from sfumato.web.pace import rows_of, usual_pace
from sfumato.web.small_files import read_json, write_json, write_text
from sfumato.web.work.names import DRAFT, PROFILE, VALUES

if TYPE_CHECKING:
    from sfumato.web.runs import Run
    from sfumato.web.worker import Report

PREVIEW_ROWS: Final = 50
BARS: Final = 12
_LONGEST: Final = 120


def inspect(run: Run, report: Report) -> None:
    """Leave the profile of the run's data, and the draft of a policy, in the folder."""
    stages = ["reading the data", "looking at the columns", "drafting a policy"]
    report.plan(stages, usual_pace(stages), rows_of(run.data))
    report.stage(stages[0])
    table = read_table(run.data)
    report.stage(stages[1])
    (run.folder / VALUES).mkdir(mode=0o700, exist_ok=True)
    columns = [
        _column(table[name], name, run.folder / VALUES / f"{number}.parquet")
        for number, name in enumerate(table.column_names)
    ]
    report.stage(stages[2])
    asked = read_json(run.folder / "request.json") or {}
    draft = draft_of(table, str(asked.get("source", run.data.name)))
    write_text(run.folder / DRAFT, draft.text)
    write_json(
        run.folder / PROFILE,
        {
            "rows": table.num_rows,
            "columns": columns,
            "preview": _preview(table),
            "reasons": dict(draft.reasons),
            "warnings": list(draft.warnings),
        },
    )


def _column(cells: pa.ChunkedArray, name: str, values: Path) -> dict[str, Any]:
    """Return what is shown of a column: type, counts, and bars of how its values are spread.

    The different values go to the file `values`, for whoever builds a hierarchy over them.
    """
    facts: dict[str, Any] = {"name": name, "type": _type_words(cells.type)}
    try:
        found = distinct(cells, name)
    except SchemaError:
        return {**facts, "missing": cells.null_count, "distinct": None, "bars": [], "others": 0}
    counts = found.counts[:-1]
    facts |= {"missing": int(found.counts[-1]), "distinct": len(found.values)}
    facts["commonest"] = int(counts.max(initial=0))
    if len(found.values) <= MOST_VALUES and kind_of(cells.type) is not None:
        write_values(values, found, cells.type)
    if is_number(found.values.type) and len(found.values) > BARS:
        return {**facts, "bars": _intervals(found, counts), "others": 0, "is_range": True}
    order = np.argsort(-counts, kind="stable")[:BARS]
    texts = to_texts(found.values.take(pa.array(order))).to_pylist()
    bars = [[_short(text), int(counts[at])] for text, at in zip(texts, order, strict=True)]
    others = int(counts.sum() - counts[order].sum())
    return {**facts, "bars": bars, "others": others, "is_range": False}


def _intervals(found: Distinct, counts: npt.NDArray[np.int64]) -> list[list[Any]]:
    """Return the rows in intervals of equal width, by the lowest value in each."""
    line = _on_a_line(found.values)
    sums, edges = np.histogram(line, bins=BARS, weights=counts)
    order = np.argsort(line, kind="stable")
    lowest = np.minimum(np.searchsorted(line[order], edges[:-1]), len(order) - 1)
    texts = to_texts(found.values.take(pa.array(order[lowest]))).to_pylist()
    return [[_short(text), int(count)] for text, count in zip(texts, sums, strict=True)]


def _on_a_line(values: pa.Array) -> npt.NDArray[np.float64]:
    if pa.types.is_temporal(values.type):
        whole = pa.int32() if values.type.bit_width == 32 else pa.int64()
        values = values.cast(whole)
    return np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))


def _preview(table: pa.Table) -> dict[str, Any]:
    rows = table.slice(0, PREVIEW_ROWS)
    columns = [[_short(each) for each in rows[name].to_pylist()] for name in rows.column_names]
    return {
        "names": rows.column_names,
        "rows": [list(row) for row in zip(*columns, strict=True)],
    }


def _short(value: Any) -> str | None:
    if value is None:
        return None
    text = str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _type_words(dtype: pa.DataType) -> str:
    """Return what people call a type."""
    if pa.types.is_dictionary(dtype):
        return "categories" + (" in order" if dtype.ordered else "")
    if pa.types.is_boolean(dtype):
        return "yes or no"
    if pa.types.is_integer(dtype):
        return "whole numbers"
    if pa.types.is_floating(dtype) or pa.types.is_decimal(dtype):
        return "numbers"
    if pa.types.is_date(dtype):
        return "dates"
    if pa.types.is_temporal(dtype):
        return "times"
    return "text" if pa.types.is_string(dtype) or pa.types.is_large_string(dtype) else str(dtype)
