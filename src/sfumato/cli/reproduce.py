"""`sfumato reproduce`: do the papers' claims hold?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import Json
from sfumato.cli.progress import terminal_progress
from sfumato.cli.show import one_line, show_json, show_table

if TYPE_CHECKING:
    from sfumato.papers.reproduce import Reproduction

EXAMPLE = "Example: sfumato reproduce refining-partition --data adult.data --out papers"

Paper = Annotated[str, typer.Argument(metavar="PAPER")]
Files = Annotated[
    list[Path] | None,
    typer.Option("--data", metavar="FILE", help="Real data; may be given several times."),
]
Quick = Annotated[bool, typer.Option("--quick", help="A reduced grid, for a first look.")]
Out = Annotated[Path, typer.Option("--out", help="The folder of results, charts and pages.")]


def reproduce(
    paper: Paper,
    data: Files = None,
    quick: Quick = False,
    out: Out = Path("sfumato-papers"),
    as_json: Json = False,
) -> None:
    """Run a paper's experiments again and judge its claims by the numbers.

    PAPER is lgb, refining-partition, merging, slppa, sensitive-qid, or all. A run that was
    interrupted goes on where it was.
    """
    from sfumato.papers.reproduce import reproduce as run

    with terminal_progress() as progress:
        made = run(paper, data or (), quick=quick, out=out, progress=progress)
    if as_json:
        show_json({"papers": [each.to_dict() for each in made]})
        return
    for number, each in enumerate(made):
        if number:
            print()
        _show(each)


def _show(made: Reproduction) -> None:
    from sfumato.papers.page import told_data

    print(one_line(f"{made.paper.title}: {told_data(made.results)}"))
    print(f"points: {made.computed:,} computed, {made.kept:,} kept from earlier runs")
    several = len(made.results) > 1
    show_table(
        ["claim", "where", *(["data"] if several else []), "verdict", "measured"],
        [
            [
                each.claim.text,
                each.claim.where,
                *([each.data] if several else []),
                str(each.judgement.verdict),
                each.judgement.measured or each.judgement.why,
            ]
            for each in made.judged
        ],
    )
    print(one_line(f"wrote {made.page}"))
