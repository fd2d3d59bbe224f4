"""What a paper claims, and the verdict of numbers on it.

A claim is told in our words. Its judge is a function of the results of one set of data, and gives
the numbers with the verdict: nothing holds because somebody wrote so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

from sfumato.papers.grid import NotMeasured, Results


class Verdict(StrEnum):
    """What the numbers say of a claim."""

    HOLDS = "holds"
    FAILS = "does not hold"
    OPEN = "cannot be checked"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, what was measured in words with numbers, the numbers themselves, and why."""

    verdict: Verdict
    measured: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    why: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of a paper: what it says, where, and how numbers judge it.

    A `timed` claim rests on a clock: another run may judge it otherwise.
    """

    key: str
    text: str
    where: str
    judge: Callable[[Results], Judgement]
    timed: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim with its judgement on one set of data."""

    claim: Claim
    data: str
    judgement: Judgement


def judged(claims: Iterable[Claim], results: Results) -> list[Judged]:
    """Return every claim with its judgement; one about points that were not run stays open."""
    found = []
    for claim in claims:
        try:
            judgement = claim.judge(results)
        except NotMeasured as error:
            grid = "the quick grid" if results.is_quick else "the grid for these data"
            judgement = open_question(f"{grid} has no such points: {error}")
        found.append(Judged(claim, results.about.key, judgement))
    return found


def open_question(why: str, measured: str = "") -> Judgement:
    """Return the judgement that the claim cannot be checked, and why."""
    return Judgement(Verdict.OPEN, measured, {}, why)


def verdict(holds: bool, measured: str, why_not: str = "", **numbers: float) -> Judgement:
    """Return the judgement on measured numbers; `why_not` explains a claim that does not hold.

    >>> print(verdict(0.3 < 0.2, "0.3 against 0.2", first=0.3, second=0.2).verdict)
    does not hold
    """
    return Judgement(
        Verdict.HOLDS if holds else Verdict.FAILS, measured, numbers, "" if holds else why_not
    )


@dataclass(frozen=True, slots=True)
class Case:
    """Two numbers of which a claim says that the first is the smaller one, and where."""

    at: str
    smaller: float
    greater: float


def always_less(
    cases: Sequence[Case],
    names: tuple[str, str],
    *,
    digits: int = 3,
    slack: float = 0.0,
    chance: float = 0.0,
    why_not: str = "",
) -> Judgement:
    """Return the judgement that in every case the first number is less than the second.

    The first may be above the second by the share `slack` of it, or by `chance`. Two zeros are no
    exception: there is nothing left to lose.

    >>> one, two = Case("l = 3", 0.2, 0.4), Case("l = 5", 0.5, 0.4)
    >>> print(always_less([one, two], ("ARP", "AIP")).measured)
    ARP less than AIP in 1 of 2 cases: 0.200 and 0.400 (l = 3), but 0.500 and 0.400 (l = 5)
    >>> print(always_less([one], ("ARP", "AIP")).verdict)
    holds
    """
    if not cases:
        raise NotMeasured("no pairs to compare")

    def is_less(case: Case) -> bool:
        limit = case.greater * (1 + slack) + chance
        return case.smaller < limit or case.smaller == case.greater == 0

    def told(case: Case) -> str:
        return f"{case.smaller:.{digits}f} and {case.greater:.{digits}f} ({case.at})"

    good, bad = [c for c in cases if is_less(c)], [c for c in cases if not is_less(c)]
    about = f" (up to {chance:g})" if chance else f" (up to {slack:.0%})" if slack else ""
    outright = sum(case.smaller < case.greater for case in good)
    only = f", {outright} outright" if outright < len(good) else ""
    measured = (
        f"{names[0]} less than {names[1]}{about} in {len(good)} of {len(cases)} cases{only}: "
    )
    by_distance = sorted(good, key=lambda case: case.smaller - case.greater)
    measured += " to ".join(
        told(case) for case in dict.fromkeys(by_distance[:1] + by_distance[-1:])
    )
    if bad:
        worst = max(bad, key=lambda case: case.smaller - case.greater)
        measured += f"{', but ' if good else ''}{told(worst)}"
    return verdict(
        not bad, measured, why_not, cases=len(cases), outright=outright, exceptions=len(bad)
    )


def always_grows(
    series: Mapping[str, Sequence[float]],
    *,
    falls: bool = False,
    slack: float = 0.0,
    digits: int = 3,
    why_not: str = "",
) -> Judgement:
    """Return the judgement that every series grows (or falls) at each step, up to `slack`.

    `slack` is in units of the numbers: what chance alone may do.

    >>> print(always_grows({"ARP": [0.1, 0.2, 0.3]}).measured)
    ARP 0.100 to 0.300 (2 of 2 steps up)
    """
    if any(len(values) < 2 for values in series.values()) or not series:
        raise NotMeasured("fewer than two points of a series")
    parts, wrong, total = [], 0, 0
    for name, values in series.items():
        changes = [(b - a) * (-1 if falls else 1) for a, b in pairwise(values)]
        right = sum(change >= -slack for change in changes)
        wrong, total = wrong + len(changes) - right, total + len(changes)
        parts.append(
            f"{name} {values[0]:.{digits}f} to {values[-1]:.{digits}f} "
            f"({right} of {len(changes)} steps {'down' if falls else 'up'})"
        )
    return verdict(wrong == 0, "; ".join(parts), why_not, steps=total, exceptions=wrong)
