"""`sfumato demo`: the whole job on made-up data."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.anonymize import publication_json, publication_lines
from sfumato.cli.options import Force, Json
from sfumato.cli.progress import terminal_progress
from sfumato.cli.show import clean, show_json, show_table, show_warnings

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.jobs.demo import Demo

EXAMPLE = "Example: sfumato demo --out sfumato-demo --rows 10000"


def demo(
    out: Annotated[Path, typer.Option("--out", help="The folder to make.")] = Path("sfumato-demo"),
    rows: Annotated[
        int, typer.Option("--rows", help="How many people to make up.", min=100)
    ] = 10000,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Make up hospital stays, publish them in several ways, and audit each release."""
    from sfumato.jobs.demo import demo as run

    with terminal_progress() as progress:
        made = run(out, rows=rows, force=force, progress=progress)
    ok = all(each.report.ok for each in made.shown)
    if as_json:
        shown = [
            {**publication_json(each.publication), "audit": each.report.to_json()}
            for each in made.shown
        ]
        show_json({"path": str(made.path), "rows": made.rows, "releases": shown})
    else:
        _show(made)
    raise typer.Exit(0 if ok else 1)


def _show(made: Demo) -> None:
    print(f"{made.rows} made-up hospital stays, such as")
    _show_rows(made.before)
    for each in made.shown:
        print()
        for line in publication_lines(each.publication):
            print(clean(line))
        print("audit: " + ("every guarantee holds" if each.report.ok else "a guarantee is broken"))
        if each.sample is not None:
            _show_rows(each.sample)
        show_warnings(each.publication.warnings)
    print()
    print(clean(f"everything lies in {made.path}: data, policies and releases"))
    release = str(made.shown[0].publication.path)
    print(clean(f"next: {shlex.join(['sfumato', 'audit', release])}"))


def _show_rows(rows: pa.Table) -> None:
    texts = [
        ["" if cell is None else str(cell) for cell in record.values()]
        for record in rows.to_pylist()
    ]
    show_table(rows.column_names, texts)
