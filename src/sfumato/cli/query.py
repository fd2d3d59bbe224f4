"""`sfumato query`: what does a release say about all of its people?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import (
    Json,
    ReleasePlace,
)
from sfumato.cli.progress import terminal_progress
from sfumato.cli.show import one_line, show_json, show_table, text_label

if TYPE_CHECKING:
    from sfumato.answers import Result
    from sfumato.answers.estimate import Label

EXAMPLE = "Example: sfumato query release \"SELECT COUNT(*) WHERE age > 30 AND job = 'Nurse'\""

Text = Annotated[str | None, typer.Argument(metavar="QUERY")]
File = Annotated[
    Path | None, typer.Option("--file", help="Answer every line of this file, one query each.")
]

Unweighted = Annotated[
    bool, typer.Option("--unweighted", help="Count records, whatever weights they have.")
]


def query(
    release: ReleasePlace,
    text: Text = None,
    file: File = None,
    unweighted: Unweighted = False,
    as_json: Json = False,
) -> None:
    """Answer COUNT, SUM and AVG queries from a release alone, with bounds that cannot fail.

    RELEASE is the folder of a release. QUERY is SELECT COUNT(*), SUM(column) or AVG(column), with
    WHERE and GROUP BY if wanted. Published columns can be asked for; put other names than plain
    words in double quotes.
    """
    from sfumato.jobs.query import query as run

    with terminal_progress() as progress:
        answers = run(release, text, file=file, weighted=not unweighted, progress=progress)
    if as_json and file is None:
        show_json(answers[0].result.to_dict())
    elif as_json:
        show_json({"answers": [each.to_dict() for each in answers]})
    else:
        for number, each in enumerate(answers):
            if file is not None:
                print(("\n" if number else "") + one_line(each.query))
            _show(each.result)
        for note in dict.fromkeys(note for each in answers for note in each.result.notes):
            print(f"note: {one_line(note)}", file=sys.stderr)


def _show(result: Result) -> None:
    from sfumato.answers.digits import spelled

    names = [one_line(name) for name in result.group_by]
    rows = [[*map(_label, row.group), *spelled(row.estimate)] for row in result.rows]
    show_table([*names, "value", "low", "high", "se"], rows)


def _label(value: Label) -> str:
    return text_label(value) if value is None or isinstance(value, str) else json.dumps(value)
