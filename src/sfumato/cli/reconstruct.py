"""`sfumato reconstruct`: how many records have which values, behind randomised sets?"""

from __future__ import annotations

import csv
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options import Json
from sfumato.cli.progress import terminal_progress
from sfumato.cli.show import one_line, show_json, show_table, show_warnings

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


Attributes = Annotated[
    str,
    typer.Option(
        metavar="A,B,...", help="The attributes; one with a comma in quotes: '\"a,b\",c'."
    ),
]
How = Annotated[Method, typer.Option("--method", help="How counts are estimated.")]
Out = Annotated[
    Path | None, typer.Option("--out", help="Write the table to this file (.csv or .parquet).")
]


def reconstruct(
    release: Annotated[Path, typer.Argument(metavar="RELEASE")],
    attributes: Attributes,
    method: How = Method.BAYES,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Estimate the cross table of some attributes from a release of randomised sets alone.

    RELEASE is the folder of a release with the layout sets, as sensitive-qid makes them. Without
    --out, the largest counts are printed.
    """
    from sfumato.jobs.reconstruct import reconstruct as run

    names = next(csv.reader([attributes], skipinitialspace=True), [])
    with terminal_progress() as progress:
        found = run(release, names, method=method.value, out=out, progress=progress)
    if as_json:
        show_json(_fields(found, out))
    else:
        _show(found, out)
        show_warnings(found.warnings)


def _fields(found: Reconstruction, out: Path | None) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "attributes": list(found.attributes),
        "method": found.method,
        "records": found.records,
        "steps": found.steps,
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
    rows = [
        [*("null" if label is None else label for label in labels), f"{count:.1f}"]
        for labels, count, _ in largest
    ]
    if found.se is not None:
        headers.append("standard error")
        rows = [[*row, f"{se:.1f}"] for row, (_, _, se) in zip(rows, largest, strict=True)]
    show_table(headers, rows)
    if found.counts.size > _SHOWN:
        print(f"the {_SHOWN} largest are shown; --out FILE.csv writes all of them")
