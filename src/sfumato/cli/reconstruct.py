"""`sfumato reconstruct`: how many people have which values, behind a release?"""

from __future__ import annotations

import csv
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options import (
    Json,
    ReleasePlace,
    TestSeed,
)
from sfumato.cli.progress import terminal_progress
from sfumato.cli.show import one_line, show_json, show_table, show_warnings, text_label

if TYPE_CHECKING:
    from sfumato.answers.reconstruction import Reconstruction

EXAMPLE = "Example: sfumato reconstruct release --attributes age,disease --out table.csv"

# Combinations that are printed; a file or JSON has them all.
_SHOWN = 20


class Method(StrEnum):
    """How counts are estimated."""

    BAYES = "bayes"
    INVERSE = "inverse"
    VALUE_ADDING = "value-adding"
    RANDOM = "random"
    PLAUSIBLE = "plausible"


Attributes = Annotated[
    str,
    typer.Option(
        metavar="A,B,...", help="The attributes; one with a comma in quotes: '\"a,b\",c'."
    ),
]
How = Annotated[
    Method | None,
    typer.Option(
        "--method",
        help="How counts are estimated; by default bayes of sets, inverse of pram, else plausible.",
    ),
]
Tables = Annotated[int, typer.Option(help="How many plausible tables the mean is over.")]
Out = Annotated[
    Path | None, typer.Option("--out", help="Write the table to this file (.csv or .parquet).")
]


def reconstruct(
    release: ReleasePlace,
    attributes: Attributes,
    method: How = None,
    tables: Tables = 10,
    out: Out = None,
    test_seed: TestSeed = None,
    as_json: Json = False,
) -> None:
    """Estimate the cross table of some attributes from a release alone.

    RELEASE is the folder of a release. Without --out, the largest counts are printed.
    """
    from sfumato.jobs.reconstruct import reconstruct as run
    from sfumato.randomness import Randomness

    with terminal_progress() as progress:
        found = run(
            release,
            _names(attributes),
            method=None if method is None else method.value,
            tables=tables,
            randomness=None if test_seed is None else Randomness.test(test_seed),
            out=out,
            progress=progress,
        )
    if as_json:
        show_json(_fields(found, out))
    else:
        _show(found, out)
        show_warnings(found.warnings)


def _names(listed: str) -> list[str]:
    from sfumato.errors import ParameterError

    try:
        lines = list(csv.reader(listed.splitlines(), skipinitialspace=True, strict=True))
    except csv.Error:
        lines = []
    if len(lines) != 1 or not all(lines[0]):
        raise ParameterError(
            "--attributes lists names with commas between them; one with a comma stands in quotes: "
            "'\"a,b\",c'"
        )
    return lines[0]


def _fields(found: Reconstruction, out: Path | None) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "attributes": list(found.attributes),
        "method": found.method,
        "records": found.records,
        "steps": found.steps,
        "tables": found.tables,
        "warnings": list(found.warnings),
        "out": None if out is None else str(out),
    }
    if out is None:
        fields |= {
            "values": [list(labels) for labels in found.labels],
            "counts": found.counts.tolist(),
            "se": None if found.se is None else found.se.tolist(),
        }
    return fields


def _show(found: Reconstruction, out: Path | None) -> None:
    about = ", ".join(f"'{name}'" for name in found.attributes)
    print(
        one_line(
            f"{found.method}: {found.records} records over {found.counts.size} combinations of "
            f"{about}"
        )
    )
    if out is not None:
        print(one_line(f"wrote {out}"))
        return
    largest = found.largest(_SHOWN)
    headers = [*(one_line(name) for name in found.attributes), "count"]
    rows = [[*map(text_label, labels), f"{count:.1f}"] for labels, count, _ in largest]
    if found.se is not None:
        headers.append("standard error")
        rows = [[*row, f"{se:.1f}"] for row, (_, _, se) in zip(rows, largest, strict=True)]
    show_table(headers, rows)
    if found.counts.size > _SHOWN:
        print(f"the {_SHOWN} largest are shown; --out FILE.csv writes all of them")
