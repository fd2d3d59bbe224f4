"""`sfumato anonymize`: publish a table under a policy."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options import (
    Data,
    Engine,
    Force,
    Format,
    FromQuery,
    FromTable,
    Json,
    KeyFile,
    MarkingTestSeed,
    NoFormulaGuard,
    Out,
    PolicyFile,
    Record,
    SeedFile,
    TableFormat,
)
from sfumato.cli.progress import terminal_progress
from sfumato.cli.show import claim_text, clean, show_json, show_warnings
from sfumato.cli.source import source
from sfumato.errors import ParameterError

if TYPE_CHECKING:
    from sfumato.jobs.publication import Publication

EXAMPLE = "Example: sfumato anonymize patients.csv --policy policy.yaml --out release"


def anonymize(
    data: Data,
    policy: PolicyFile,
    out: Out,
    force: Force = False,
    record: Record = None,
    seed_file: SeedFile = None,
    test_seed: MarkingTestSeed = None,
    format: TableFormat = None,
    no_formula_guard: NoFormulaGuard = False,
    ledger: Annotated[
        Path | None, typer.Option("--ledger", help="A file that gets a line about the release.")
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against", help="An earlier release, or a ledger of them; refuse to break the l."
        ),
    ] = None,
    repartition: Annotated[
        bool, typer.Option("--repartition", help="With --against: try coarser partitions first.")
    ] = False,
    key_file: KeyFile = None,
    engine: Annotated[Engine, typer.Option("--engine", help="What does the work.")] = Engine.LOCAL,
    table: FromTable = None,
    query: FromQuery = None,
    spark_master: Annotated[
        str | None,
        typer.Option("--spark-master", help="With --engine spark: where Spark runs."),
    ] = None,
    shard_rows: Annotated[
        int | None,
        typer.Option("--shard-rows", help="With --engine spark: about how many rows a shard has."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Publish a table under a policy, as a folder that anyone can audit.

    DATA is a CSV, Parquet, Excel, SPSS, Stata or SAS file, or a folder or 'pattern*' of such files.
    """
    from sfumato.jobs.anonymize import anonymize as run
    from sfumato.jobs.seeds import key_of, randomness_of

    randomness, warnings = randomness_of(seed_file, test_seed)
    if engine is Engine.SPARK:
        from sfumato.engines.spark.anonymize import SHARD_ROWS
        from sfumato.engines.spark.anonymize import anonymize as run_by_spark
        from sfumato.engines.spark.gaps import refuse_options

        refuse_options(
            against=bool(against),
            repartition=repartition,
            key_file=key_file is not None,
            csv=format is Format.CSV,
            database=table is not None or query is not None,
        )
        with terminal_progress() as progress:
            made = run_by_spark(
                data,
                policy,
                out,
                master=spark_master,
                shard_rows=SHARD_ROWS if shard_rows is None else shard_rows,
                randomness=randomness,
                format=None if format is None else format.value,
                force=force,
                record=record,
                ledger=ledger,
                warnings=warnings,
                progress=progress,
            )
        show_publication(made, ["sfumato", "audit", str(made.path)], as_json)
        return
    if spark_master is not None or shard_rows is not None:
        raise ParameterError("--spark-master and --shard-rows are for --engine spark")
    key, about_key = key_of(key_file)
    with terminal_progress() as progress:
        made = run(
            source(data, table, query),
            policy,
            out,
            randomness=randomness,
            format=None if format is None else format.value,
            formula_guard=False if no_formula_guard else None,
            force=force,
            record=record,
            ledger=ledger,
            against=against or (),
            repartition=repartition,
            key=key,
            warnings=(*warnings, *about_key),
            progress=progress,
        )
    show_publication(made, ["sfumato", "audit", str(made.path)], as_json)


def show_publication(made: Publication, following: Sequence[str], as_json: bool) -> None:
    """Print what came out of a run, and the command to go on with."""
    if as_json:
        show_json(publication_json(made))
        return
    for line in publication_lines(made):
        print(clean(line))
    print(clean(f"next: {shlex.join(following)}"))
    show_warnings(made.warnings)


def publication_lines(made: Publication) -> list[str]:
    """Return what came out of a run, in a few lines."""
    manifest = made.manifest
    withheld = f", {manifest.suppressed} withheld" if manifest.suppressed else ""
    plural = "" if made.groups == 1 else "s"
    groups = f" in {made.groups} group{plural}" if made.groups else ""
    lines = [
        f"{manifest.method}: {manifest.rows} rows{groups}{withheld}",
        "guarantees: " + "; ".join(claim_text(claim) for claim in manifest.guarantees),
    ]
    if made.ncp is not None:
        lines.append(f"mean NCP: {made.ncp.mean:.4f} (0: nothing is lost, 1: everything)")
    fakes = manifest.parameters.get("fakes")
    if fakes:
        lines.append(f"fakes: {fakes} of the rows, which are nobody's")
    cells = made.withheld_cells
    if cells is not None:
        by_flags = cells and "withheld_cells" in manifest.parameters
        where = ", where too few rows share a flag pattern" if by_flags else ""
        lines.append(f"withheld: {cells} cells (*){where}")
    return [*lines, f"release: {made.path}"]


def publication_json(made: Publication) -> dict[str, Any]:
    """Return what came out of a run as plain data."""
    manifest = made.manifest
    return {
        "release": str(made.path),
        "method": manifest.method,
        "rows": manifest.rows,
        "suppressed": manifest.suppressed,
        "withheld_cells": made.withheld_cells,
        "groups": made.groups,
        "test": manifest.test,
        "guarantees": list(manifest.guarantees),
        "ncp": None if made.ncp is None else {"total": made.ncp.total, "mean": made.ncp.mean},
        "warnings": list(made.warnings),
    }
