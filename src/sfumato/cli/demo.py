"""`sfumato demo`: the whole job on made-up data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import Force, Json
from sfumato.cli.progress import terminal_progress
from sfumato.cli.show import one_line, show_json, show_table, show_warnings

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.jobs.demo import Demo

EXAMPLE = "Example: sfumato demo --out sfumato-demo --rows 10000"

# More processes than this have little left to do.
_MOST_WORKERS = 4
_MEANINGS = (
    ("k 10", "nobody can be told from 9 others; l 5: no disease is that of more than a fifth"),
    ("keeps", "which of the two the audit confirms, from the published files alone"),
    ("re-id", "the chance that whoever knows all but the disease picks the right record"),
    ("COUNT error", "how far answers to questions about the release are off, mean and median"),
)
_GUESSED = "diseases that the strongest attack gets right; naming the commonest is right for"


def demo(
    out: Annotated[Path, typer.Option("--out", help="The folder to make.")] = Path("sfumato-demo"),
    rows: Annotated[
        int, typer.Option("--rows", help="How many people to make up.", min=100)
    ] = 10000,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Make up hospital stays, publish them by every scheme, and compare what came out.

    Each release is audited, attacked and measured; `index.html` in the folder tells all of it.
    """
    from sfumato.jobs.demo import demo as run

    with terminal_progress() as progress:
        made = run(out, rows=rows, force=force, workers=workers(), progress=progress)
    if as_json:
        show_json(made.to_dict())
    else:
        _show(made)
    if made.missing is not None:
        show_warnings([f"no charts, and no report on each release: {made.missing}"])
    raise typer.Exit(0 if made.ok else 1)


def workers() -> int:
    """Return how many processes share the work: one on a single core."""
    return min(os.cpu_count() or 1, _MOST_WORKERS)


def _show(made: Demo) -> None:
    from sfumato.reports.comparison_words import SHORT_HEADERS, audited, refusals, short_cells

    trials = made.comparison.to_dict()["trials"]
    print(f"{made.rows:,} made-up hospital stays, such as")
    _show_rows(made.before)
    print(f"\nPublished by {len(trials)} methods, audited, attacked, and asked questions")
    show_table(SHORT_HEADERS, [short_cells(trial) for trial in trials])
    for method, reason in refusals(trials):
        print(one_line(f"{method} published nothing: {reason}"))
    for trial in trials:
        if trial["refused"] is None and not trial["kept"]:
            print(one_line(f"{trial['method']} promises something else: {audited(trial)}"))
    blind = next((each.blind for t in made.comparison.trials if (each := t.strongest)), 0.0)
    print()
    for name, what in (*_MEANINGS, ("guessed", f"{_GUESSED}: {blind:.1%}")):
        print(f"{name}: {what}")
    print()
    print(one_line(f"everything lies in {made.path}: data, policies, releases, reports"))
    print(one_line(f"next: open {made.path / made.page} in a browser"))


def _show_rows(rows: pa.Table) -> None:
    texts = [
        ["" if cell is None else str(cell) for cell in record.values()]
        for record in rows.to_pylist()
    ]
    show_table(rows.column_names, texts)
