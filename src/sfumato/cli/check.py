"""`sfumato check`: does a policy fit the data?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from sfumato.cli.options import (
    Data,
    FromQuery,
    FromTable,
    Json,
    PolicyFile,
)
from sfumato.cli.progress import terminal_progress
from sfumato.cli.show import clean, one_line, show_json, show_warnings
from sfumato.cli.source import source

if TYPE_CHECKING:
    from sfumato.jobs.check import CheckReport

EXAMPLE = "Example: sfumato check patients.csv --policy policy.yaml"


def check(
    data: Data,
    policy: PolicyFile,
    table: FromTable = None,
    query: FromQuery = None,
    as_json: Json = False,
) -> None:
    """Tell whether a policy fits the data; list values that its hierarchies lack or misplace.

    DATA is a CSV, Parquet, Excel, SPSS, Stata or SAS file, or a folder or 'pattern*' of such
    files. The list holds values of the data: it is for your eyes. Exits 1 if the policy does
    not fit.
    """
    from sfumato.jobs.check import check as run

    with terminal_progress() as progress:
        report = run(source(data, table, query), policy, progress=progress)
    if as_json:
        show_json(report.to_json())
    else:
        _show(report)
    raise typer.Exit(0 if report.fits else 1)


def _show(report: CheckReport) -> None:
    for name, values in report.missing.items():
        print(clean(f"values of '{name}' without an entry in its hierarchy ({len(values)}):"))
        for value in values:
            print(f"  {clean(value)}")
    for name, pairs in report.wrong_intervals.items():
        print(clean(f"entries of '{name}' under an interval without them ({len(pairs)}):"))
        for value, label in pairs:
            print(clean(f"  {value} under {label}"))
    for problem in report.problems:
        print(f"problem: {one_line(problem)}")
    print("the policy fits the data" if report.fits else "the policy does not fit the data")
    show_warnings(report.warnings)
