"""When nothing keeps the limits: what binds, and what would relax it, tried before it is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Final

import numpy as np

from sfumato.jobs.attempt import Attempt, Workbench
from sfumato.jobs.candidates import Candidate, first_candidates
from sfumato.jobs.clock import Clock, OutOfTime
from sfumato.jobs.limits import Limits, shown, stated
from sfumato.jobs.suppress import most_kept
from sfumato.models.counting import table_totals
from sfumato.table import Table
from sfumato.utility.workload import Probe

# Candidates that a relaxed limit is tried with: the first that keeps it is enough.
_TRIES: Final = 6
_DECIMALS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Relaxation:
    """A change of what was asked for, which was tried: `with_method` then keeps all limits."""

    words: str
    option: str
    limits: Limits
    with_method: str
    note: str = ""


def largest_shares(table: Table) -> dict[str, tuple[int, int]]:
    """Return by secret attribute how many people share its commonest value, of how many with one.

    Of an attribute that only some keep secret, theirs are counted.
    """
    totals = table_totals(table, [column.name for column in table.sensitive])
    counts = {name: total.counts[: total.null_code] for name, total in totals.items()}
    for name, flags in table.flags.items():
        column = table[name]
        counts[name] = np.bincount(column.codes[flags], minlength=column.null_code + 1)[:-1]
    return {
        name: (int(each.max(initial=0)), int(each.sum()))
        for name, each in counts.items()
        if each.sum()
    }


def binding(table: Table, limits: Limits, tried: Sequence[Attempt]) -> list[str]:
    """Return what keeps every candidate from the limits, as far as the data themselves show."""
    found = []
    if limits.reidentification is not None and table.unit_count < limits.k:
        found.append(
            f"re-identification: {limits.k} people must look alike, and the data have "
            f"{table.unit_count}"
        )
    if limits.inference is not None:
        for name, (most, whole) in largest_shares(table).items():
            if Fraction(most, whole) > limits.inference:
                share = shown(Fraction(most, whole))
                found.append(
                    f"inference: one value of '{name}' belongs to {share} of the people who have "
                    f"one, which is above {stated(limits.inference)} before anything is published"
                )
    if found:
        return found
    for attempt in tried:
        if attempt.beaten_by:
            found.append(f"{attempt.candidate.method}: {attempt.beaten_by} lies above the limit")
        elif attempt.broken:
            found.append(f"{attempt.candidate.method}: breaks the limit of {attempt.broken[0]}")
    return list(dict.fromkeys(found))[:3]


def relaxations(
    bench: Workbench, probes: Sequence[Probe], tried: Sequence[Attempt], clock: Clock
) -> Iterator[Relaxation]:
    """Return changes that each suffice, the least of its kind: all were tried on these data.

    Fewer, or none, where the time is up.
    """
    limits, table = bench.limits, bench.base.table
    kinds = (
        _of_people(table, limits, tried),
        _of_values(bench, tried),
        _of_rows(table, limits),
    )
    for steps in kinds:
        for words, option, relaxed, note in steps:
            method = _kept_by(replace(bench, limits=relaxed), probes, clock)
            if method is not None:
                yield Relaxation(words, option, relaxed, method, note)
                break


_Step = tuple[str, str, Limits, str]


def _of_people(table: Table, limits: Limits, tried: Sequence[Attempt]) -> Iterator[_Step]:
    """Return larger limits of re-identification: what was reached, double, four times, none."""
    limit = limits.reidentification
    if limit is None:
        return
    people = table.unit_count
    larger = [Fraction(1, people)] if limits.k > people > 0 else [2 * limit, 4 * limit]
    reached = [
        each.exposed.reidentification
        for each in tried
        if each.exposed is not None and each.broken == ("re-identification",)
    ]
    for each in sorted([*larger, *reached[:1]]):
        share = _up(each)
        if limit < share < 1:
            relaxed = replace(limits, reidentification=share, preset=None)
            yield (
                f"a limit of re-identification of at least {shown(share)}",
                f"--max-reidentification {float(share):g}",
                relaxed,
                "",
            )
    yield (
        "no limit of re-identification",
        "without --max-reidentification",
        replace(limits, reidentification=None, preset=None),
        "people's records can then be recognised; only what they keep secret is protected",
    )


def _of_values(bench: Workbench, tried: Sequence[Attempt]) -> Iterator[_Step]:
    """Return larger limits of inference: the data's own largest share, 1/l, what was reached.

    An attribute with a `t` may go beyond its largest share by that.
    """
    limits, content = bench.limits, bench.policy.content
    if limits.inference is None:
        return
    shares = {name: Fraction(*counts) for name, counts in largest_shares(bench.base.table).items()}
    own = max(shares.values(), default=Fraction(0))
    close = [
        share + Fraction(str(content.attributes[name].t))
        for name, share in shares.items()
        if content.attributes[name].t is not None
    ]
    whole = [Fraction(1, many) for many in range(limits.l - 1, 1, -1)]
    reached = [
        each.exposed.highest_inference
        for each in tried
        if each.exposed is not None and each.broken == ("inference",)
    ]
    larger = [each for each in (*whole, *close) if each > own]
    for each in sorted({own, *larger, *sorted(reached)[:1]}):
        share = _up(each)
        if limits.inference < share < 1:
            yield (
                f"a limit of inference of at least {shown(share)}",
                f"--max-inference {float(share):g}",
                replace(limits, inference=share, preset=None),
                "",
            )
    if limits.reidentification is not None:
        yield (
            "no limit of inference but what attributes of the policy ask for",
            "without --max-inference",
            replace(limits, inference=None, preset=None),
            "a group may then share a sensitive value",
        )


def _of_rows(table: Table, limits: Limits) -> Iterator[_Step]:
    """Return a share of rows to leave out, if that can do it: of one attribute's common values."""
    if limits.inference is None or limits.reidentification is not None:
        return
    secret = table.sensitive
    if len(secret) != 1 or table.flags or table.units is not None:
        return
    column = secret[0]
    counts = np.bincount(column.codes, minlength=column.null_code + 1)[: column.null_code]
    most = most_kept(counts, Fraction(1, limits.l))
    excess = int(np.maximum(counts - most, 0).sum())
    share = _up(Fraction(excess, max(table.rows, 1)))
    if most and limits.withheld < share < 1:
        yield (
            f"to leave out {shown(share)} of the rows, of values that are too common",
            f"--max-withheld {float(share):g}",
            replace(limits, withheld=share, preset=None),
            "that they are absent tells their value: those people are not protected",
        )


def _kept_by(bench: Workbench, probes: Sequence[Probe], clock: Clock) -> str | None:
    """Return the first method that keeps the limits of a workbench, found within few tries."""
    for candidate in _varied(first_candidates(bench.policy.content, bench.limits))[:_TRIES]:
        if not clock.allows(0):
            return None
        try:
            with clock.cutting():
                attempt = bench.attempt(candidate, probes)
                if attempt.is_within and bench.confirm(attempt).problem is None:
                    return candidate.method
        except OutOfTime:
            return None
    return None


def _varied(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return one candidate of each method, those that withhold rows and mondrian among the first.

    Mondrian can publish all rows as one group: if anything keeps a limit, it does.
    """
    found: dict[tuple[str, bool], Candidate] = {}
    for candidate in candidates:
        found.setdefault((candidate.method, candidate.withholds), candidate)
    return sorted(found.values(), key=lambda c: (not c.withholds, c.method != "mondrian"))


def _up(share: Fraction) -> Fraction:
    """Return a share with four decimals that is not smaller."""
    return Fraction(ceil(share * _DECIMALS), _DECIMALS)
