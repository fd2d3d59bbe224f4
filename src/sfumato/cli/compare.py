"""`sfumato compare`: which method suits these data, at the protection that a policy states?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import (
    Data,
    Force,
    FromQuery,
    FromTable,
    Json,
    PolicyFile,
    TestSeed,
)
from sfumato.cli.progress import terminal_progress
from sfumato.cli.show import one_line, show_json, show_table, show_warnings
from sfumato.cli.source import source

if TYPE_CHECKING:
    from sfumato.jobs.compare import Comparison

EXAMPLE = "Example: sfumato compare patients.csv --policy policy.yaml --methods all --out compared"

Methods = Annotated[str, typer.Option(metavar="NAMES", help="Methods between commas, or `all`.")]
Queries = Annotated[int, typer.Option(help="How many random COUNT queries with 1 to 3 conditions.")]
Sample = Annotated[
    int | None, typer.Option(metavar="ROWS", help="Compare on so many rows, drawn at random.")
]
Out = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Also write JSON, Parquet, HTML and a chart.")
]


def compare(
    data: Data,
    policy: PolicyFile,
    methods: Methods = "all",
    queries: Queries = 100,
    sample: Sample = None,
    out: Out = None,
    force: Force = False,
    test_seed: TestSeed = None,
    table: FromTable = None,
    query: FromQuery = None,
    as_json: Json = False,
) -> None:
    """Publish a table by several methods at the same stated protection, and compare them.

    DATA is a file, a folder or a 'pattern*' of files, or a database's address (--table, --query).
    No release is kept. A method that refuses is a row that says why. Exits 1 if the audit of a
    release failed.
    """
    from sfumato.jobs.compare import compare_files, missing_chart
    from sfumato.randomness import Randomness

    with terminal_progress() as progress:
        found = compare_files(
            source(data, table, query),
            policy,
            methods=methods,
            queries=queries,
            sample=sample,
            out=out,
            force=force,
            randomness=None if test_seed is None else Randomness.test(test_seed),
            progress=progress,
        )
    if as_json:
        show_json(found.to_dict() | {"out": None if out is None else str(out)})
    else:
        show_comparison(found)
        if out is not None:
            print(one_line(f"wrote {out}"))
    missing = missing_chart()
    if out is not None and missing is not None:
        show_warnings([f"no chart was drawn: {missing}"])
    raise typer.Exit(0 if found.ok else 1)


def show_comparison(found: Comparison) -> None:
    """Print a comparison: its table, why methods refused, and what the columns are."""
    from sfumato.reports.comparison_words import (
        HEADERS,
        MEANINGS,
        cells,
        heading,
        refusals,
        remarks,
    )

    plain = found.to_dict()
    trials = plain["trials"]
    print(one_line(heading(plain)))
    show_table(HEADERS, [cells(trial) for trial in trials])
    if refused := refusals(trials):
        print("\nNot published")
        show_table(["method", "why not"], refused)
    if said := remarks(trials):
        print("\nWhat is not the same")
        show_table(["method", "what to know"], said)
    print()
    for name, what in MEANINGS:
        print(one_line(f"{name}: {what}"))
