"""`sfumato compose`: what do several releases tell together?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import (
    Json,
    ReleasePlaces,
)
from sfumato.cli.progress import terminal_progress
from sfumato.cli.show import one_line, show_json, show_table

if TYPE_CHECKING:
    from sfumato.attacks import CompositionReport, Finding

EXAMPLE = "Example: sfumato compose hospital-a hospital-b --original a.csv --original b.csv"

Originals = Annotated[
    list[str] | None,
    typer.Option(
        "--original", metavar="DATA", help="The data of a release; one for each, in order."
    ),
]
Identifier = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The column of the originals that says who is who."),
]
AttributeName = Annotated[
    str | None, typer.Option("--attribute", help="The sensitive attribute; all by default.")
]
Rules = Annotated[
    list[str] | None,
    typer.Option(
        "--knows",
        metavar="RULE",
        help="What no person is, such as \"sex = 'M' AND disease = 'Ovarian Cancer'\".",
    ),
]
Sample = Annotated[int, typer.Option(help="How many people, and classes a release, to look at.")]


def compose(
    releases: ReleasePlaces,
    original: Originals = None,
    identifier: Identifier = None,
    attribute: AttributeName = None,
    knows: Rules = None,
    sample: Sample = 5_000,
    as_json: Json = False,
) -> None:
    """Tell what two or more releases give away together that none of them does alone.

    RELEASE... are the folders of two releases or more. With the original of each, the people who
    are in all of them are counted; without, combinations of classes that overlap. Only counts are
    printed.
    """
    from sfumato.jobs.compose import compose as run

    with terminal_progress() as progress:
        outcome = run(
            releases,
            originals=original or (),
            identifier=identifier,
            attribute=attribute,
            knows=knows or (),
            sample=sample,
            progress=progress,
        )
    if as_json:
        show_json(outcome.to_dict())
    else:
        _show(outcome)


def _show(outcome: CompositionReport) -> None:
    for finding in outcome.findings:
        show_table([f"'{finding.attribute}'", "found"], _rows(finding))
    if outcome.matched_by is not None:
        print(f"people were recognised by {_recognised(outcome)}")
    for finding in outcome.findings:
        print(one_line(finding.sentence()))
    for note in outcome.notes:
        print(one_line(note))


def _recognised(outcome: CompositionReport) -> str:
    if outcome.matched_by == "values":
        return "equal quasi-identifiers and sensitive value"
    return one_line(f"the column '{outcome.matched_by}'")


def _rows(finding: Finding) -> list[list[str]]:
    before = finding.people or finding.regions
    assert before is not None
    means = [
        *(
            [f"mean candidates, release {number}", f"{mean:.2f}"]
            for number, mean in enumerate(before.before, start=1)
        ),
        ["mean candidates, all together", f"{before.after:.2f}"],
    ]
    if finding.people is not None:
        people, matches = finding.people, finding.people.matches
        risk, same = (
            "" if each is None else f", privacy risk {each:.1%}"
            for each in (matches.risk, matches.record_risk)
        )
        return [
            ["people in all originals", f"{people.found}, examined {people.examined}"],
            *means,
            ["left with their own value alone", f"{people.disclosed} ({people.share:.1%})"],
            ["of these, by one release already", str(people.alone)],
            ["left with no value", str(people.nothing_left)],
            ["different value in the originals", str(people.changed)],
            ["own value among the candidates", f"{people.covered:.1%}"],
            ["mean chance to guess right", f"{people.guess:.1%}"],
            ["true matches of classes", f"{matches.true} of {matches.total}{risk}"],
            ["matching records of one person", f"{matches.people} of {matches.records:.0f}{same}"],
            ["classes examined", ", ".join(map(str, matches.classes))],
        ]
    regions = finding.regions
    assert regions is not None
    drawn = " (a sample)" if regions.is_sample else ""
    return [
        ["combinations of overlapping classes", f"{regions.examined}{drawn}"],
        *means,
        ["left with one value", f"{regions.collapsed} ({regions.share:.1%})"],
        ["left with no value", str(regions.nothing_left)],
        ["classes examined", ", ".join(map(str, regions.classes))],
    ]
