"""`sfumato recommend`: which policy keeps stated limits, and is of most use?"""

from __future__ import annotations

import time
from enum import StrEnum
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
from sfumato.cli.show import one_line, show_json, show_table
from sfumato.cli.source import source

if TYPE_CHECKING:
    from sfumato.jobs.recommendation import Choice, Recommendation

EXAMPLE = (
    "Example: sfumato recommend patients.csv --policy policy.yaml --max-reidentification 0.09 "
    "--max-inference 0.25 --out recommended.yaml"
)

# The time limit is of the whole run: so many seconds may have gone by until a command is called.
_STARTING = 2.0


class PresetName(StrEnum):
    """Limits that have a source; they are those of `sfumato.jobs.limits`."""

    CMS = "cms"
    EMA = "ema"
    STRICT = "strict"


Reidentification = Annotated[
    str | None,
    typer.Option(metavar="SHARE", help="The highest probability that anybody is recognised."),
]
Inference = Annotated[
    str | None,
    typer.Option(metavar="SHARE", help="The highest probability that a secret is concluded."),
]
Preset = Annotated[
    PresetName | None, typer.Option(help="Limits with a source: cells of 11, 0.09, or both strict.")
]
Withheld = Annotated[str, typer.Option(metavar="SHARE", help="Rows that may be left out.")]
Workload = Annotated[
    Path | None, typer.Option("--queries", help="COUNT queries to be good at, one a line.")
]
Minutes = Annotated[float, typer.Option(help="How long the whole run may take.")]
OutFile = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write the policy here.")
]
Chart = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw the frontier: .svg, .png or .html.")
]


def recommend(
    data: Data,
    policy: PolicyFile,
    max_reidentification: Reidentification = None,
    max_inference: Inference = None,
    preset: Preset = None,
    max_withheld: Withheld = "0",
    queries: Workload = None,
    minutes: Minutes = 5.0,
    out: OutFile = None,
    chart: Chart = None,
    force: Force = False,
    test_seed: TestSeed = None,
    table: FromTable = None,
    query: FromQuery = None,
    as_json: Json = False,
) -> None:
    """Search methods and parameters for the best utility under limits in plain terms.

    DATA is a file, a folder or a 'pattern*' of files, or a database's address (--table, --query).
    Exits 1 if nothing keeps the limits, and says what binds and what would relax it.
    """
    began = time.monotonic()
    from sfumato.jobs.recommend import recommend_file
    from sfumato.randomness import Randomness

    with terminal_progress() as progress:
        found = recommend_file(
            source(data, table, query),
            policy,
            out=out,
            chart=chart,
            force=force,
            max_reidentification=max_reidentification,
            max_inference=max_inference,
            preset=None if preset is None else preset.value,
            max_withheld=max_withheld,
            queries=queries,
            minutes=minutes,
            randomness=None if test_seed is None else Randomness.test(test_seed),
            progress=progress,
            start=began - _STARTING,
        )
    if as_json:
        written = None if out is None or not found.ok else str(out)
        show_json(
            found.to_dict() | {"out": written, "chart": None if chart is None else str(chart)}
        )
    else:
        _show(found)
        if out is not None and found.ok:
            print(one_line(f"wrote {out}: publish with `sfumato anonymize DATA --policy {out}`"))
        if chart is not None:
            print(one_line(f"wrote {chart}"))
    if not found.ok:
        raise typer.Exit(1)


def _show(found: Recommendation) -> None:
    from sfumato.jobs.limits import PRESETS, shown, stated

    limits = found.limits
    print(
        f"Limits: re-identification {stated(limits.reidentification)} (k = {limits.k}), inference "
        f"{stated(limits.inference)} (l = {limits.l}), rows left out {stated(limits.withheld)}"
    )
    if limits.preset is not None:
        print(one_line(f"preset {limits.preset}: {PRESETS[limits.preset].source}"))
    print(
        one_line(
            f"{found.rows:,} rows; {found.queries}; {len(found.tried)} candidates tried, "
            f"{found.left} left, {found.set_aside} set aside, in {found.seconds:.0f} s"
        )
    )
    if found.frontier:
        print("\nThe frontier: within the limits, and beaten by none in both risks and the error")
        show_table(
            ["candidate", "re-identification", "inference", "error of counts"],
            [
                [
                    each.candidate.label,
                    "" if each.exposed is None else shown(each.exposed.reidentification),
                    "" if each.exposed is None else shown(each.exposed.highest_inference),
                    f"{each.error:.4g}",
                ]
                for each in found.frontier
            ],
        )
    if found.choice is not None:
        _show_choice(found.choice)
    else:
        _show_refusal(found)
    for note in found.notes:
        print(one_line(f"note: {note}"))


def _show_choice(choice: Choice) -> None:
    print(f"\nRecommended: {one_line(choice.attempt.candidate.label)}")
    for reason in choice.reasons:
        print(one_line(f"- {reason}"))
    print(f"- mean error on queries that the search never saw: {choice.held_out:.4g}")
    print("\nPolicy")
    print(choice.text, end="")


def _show_refusal(found: Recommendation) -> None:
    if found.frontier:
        print("\nNone is recommended: the time was up before one of these could be confirmed.")
        return
    print("\nNothing that was tried keeps the limits.")
    for each in found.binds:
        print(one_line(f"binds: {each}"))
    for method, reason in found.refusals.items():
        print(one_line(f"{method} published nothing: {reason}"))
    for way in found.relaxations:
        note = f"; {way.note}" if way.note else ""
        print(one_line(f"would do: {way.words} ({way.option}), tried with {way.with_method}{note}"))
    if not found.relaxations:
        print("no single change was found that would do; see the reasons above")
