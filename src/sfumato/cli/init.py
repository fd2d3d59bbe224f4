"""`sfumato init`: draft a policy."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import (
    Data,
    Force,
    FromQuery,
    FromTable,
    Json,
)
from sfumato.cli.progress import terminal_progress
from sfumato.cli.show import clean, show_json, show_warnings
from sfumato.cli.source import source

EXAMPLE = "Example: sfumato init patients.csv -o policy.yaml"


def init(
    data: Data,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The policy file to write; - prints it.")
    ] = Path("policy.yaml"),
    from_arx: Annotated[
        Path | None,
        typer.Option(
            "--from-arx", help="A folder of ARX's hierarchies, *_hierarchy_<column>.csv, to use."
        ),
    ] = None,
    force: Force = False,
    table: FromTable = None,
    query: FromQuery = None,
    as_json: Json = False,
) -> None:
    """Draft a policy: roles, kinds and hierarchies of all columns, each with its reason.

    DATA is a CSV, Parquet, Excel, SPSS, Stata or SAS file, or a folder or 'pattern*' of such files.
    """
    from sfumato.jobs.draft import draft

    read = source(data, table, query)
    to_stdout = str(out) == "-"
    with terminal_progress() as progress:
        made = draft(
            read, None if to_stdout else out, from_arx=from_arx, force=force, progress=progress
        )
    if as_json:
        show_json({"policy": made.text if to_stdout else str(out), "warnings": made.warnings})
        return
    if to_stdout:
        print(made.text, end="")
    else:
        print(clean(f"wrote {out}: check the role of every column, then run"))
        named = [] if table is None else ["--table", table]
        named += [] if query is None else ["--query", query]
        command = ["sfumato", "anonymize", data, *named, "--policy", str(out), "--out", "release"]
        print(clean(f"  {shlex.join(command)}"))
    show_warnings(made.warnings)
