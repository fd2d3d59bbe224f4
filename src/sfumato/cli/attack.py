"""`sfumato attack`: what could an adversary find out from a release?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import (
    Json,
    ReleasePlace,
    TestSeed,
)
from sfumato.cli.progress import terminal_progress
from sfumato.cli.show import one_line, show_json, show_table

if TYPE_CHECKING:
    from sfumato.attacks import AttackReport, Outcome, Rate

EXAMPLE = "Example: sfumato attack release --original patients.csv --controls others.csv"

Original = Annotated[
    str, typer.Option("--original", metavar="DATA", help="The data that the release was made from.")
]
Controls = Annotated[
    str | None,
    typer.Option(
        "--controls", metavar="DATA", help="People who are not in the data, in the same columns."
    ),
]
Names = Annotated[
    list[str] | None,
    typer.Option("--attack", metavar="NAME", help="An attack to run; all by default."),
]
Earlier = Annotated[
    str | None,
    typer.Option("--earlier", metavar="RELEASE", help="A release of the table before it grew."),
]
EarlierOriginal = Annotated[
    str | None,
    typer.Option(
        "--earlier-original", metavar="DATA", help="The data that it was made from; with --earlier."
    ),
]
Sample = Annotated[int, typer.Option(help="How many rows of the data, and others, to look at.")]
Explain = Annotated[
    bool, typer.Option("--explain", help="Say of every attack how it is run and compared.")
]
FailOnRisk = Annotated[bool, typer.Option("--fail-on-risk", help="Exit 1 if any attack is a risk.")]


def attack(
    release: ReleasePlace,
    original: Original,
    controls: Controls = None,
    attacks: Names = None,
    earlier: Earlier = None,
    earlier_original: EarlierOriginal = None,
    sample: Sample = 2_000,
    explain: Explain = False,
    fail_on_risk: FailOnRisk = False,
    test_seed: TestSeed = None,
    as_json: Json = False,
) -> None:
    """Attack a release as adversaries would, and tell how often they succeed.

    RELEASE is the folder of a release. Every attack is compared with a blind guess and with the
    same attack on people who are not in the data. Only counts and shares are printed.
    """
    from sfumato.errors import ParameterError
    from sfumato.jobs.attack import attack as run
    from sfumato.randomness import Randomness

    if (earlier is None) != (earlier_original is None):
        raise ParameterError("give --earlier and --earlier-original together, or neither")
    before = None
    if earlier is not None and earlier_original is not None:
        before = earlier, earlier_original
    with terminal_progress() as progress:
        report = run(
            release,
            original,
            controls=controls,
            attacks=attacks or None,
            sample=sample,
            earlier=before,
            randomness=None if test_seed is None else Randomness.test(test_seed),
            progress=progress,
        )
    if as_json:
        show_json(report.to_dict())
    else:
        _show(report, explain)
    raise typer.Exit(1 if fail_on_risk and report.risks else 0)


def _show(report: AttackReport, explain: bool) -> None:
    headers = ["attack", "on", "success", "95 % interval", "blind", "control", "verdict"]
    show_table([*headers[:6], "worst tenth", headers[6]], [_row(each) for each in report.outcomes])
    print()
    for outcome in report.outcomes:
        if outcome.verdict != "at chance":
            print(one_line(outcome.sentence()))
    print()
    if explain:
        told = {outcome.how: outcome.attack for outcome in reversed(report.outcomes)}
        for how, name in reversed(told.items()):
            print(one_line(f"{name}: {how}"))
        print()
    for criterion in report.gdpr:
        print(one_line(criterion.sentence()))
    if report.without_outcome:
        names = ", ".join(report.without_outcome)
        print(one_line(f"nothing to attack in this release for: {names}"))
    for note in report.notes:
        print(one_line(note))
    print(one_line(report.sentence()))


def _row(outcome: Outcome) -> list[str]:
    low, high = outcome.success.interval
    asked = outcome.success.tried > 0
    return [
        outcome.attack,
        outcome.attribute or outcome.where,
        _share(outcome.success),
        f"{low:.1%} to {high:.1%}" if asked else "",
        _share(outcome.blind),
        "" if outcome.control is None else _share(outcome.control),
        "–" if outcome.worst is None else f"{outcome.worst:.1%}",
        outcome.verdict,
    ]


def _share(rate: Rate) -> str:
    from sfumato.attacks.outcome import percent

    return percent(rate.share) if rate.tried else "–"
