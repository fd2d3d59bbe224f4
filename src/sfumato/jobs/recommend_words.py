"""Why a candidate was chosen and what binds, in plain words: names and numbers, never a value."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from sfumato.jobs.attempt import Attempt, Confirmed
from sfumato.jobs.candidates import Candidate
from sfumato.jobs.clock import OutOfTime
from sfumato.jobs.limits import Limits, shown, stated
from sfumato.jobs.relax import largest_shares
from sfumato.jobs.search import Search
from sfumato.jobs.trial import Trial
from sfumato.utility.ncp import has_ncp, ncp

# A limit binds if the error falls by more than this share of it when the limit is relaxed.
RELEVANT: Final = 0.05


def reasons_for(
    search: Search, chosen: Attempt, confirmed: Confirmed, trial: Trial
) -> tuple[str, ...]:
    """Return the sentences that explain a choice."""
    return (
        *_against_others(search, chosen),
        *_measured(search.bench.limits, confirmed),
        *_what_binds(search, chosen),
        *_what_is_lost(search, confirmed),
        *_attacked(search.bench.limits, confirmed, trial),
        *_withheld(chosen),
    )


def _against_others(search: Search, chosen: Attempt) -> list[str]:
    within = search.best()
    others = [each for each in within if each.candidate.method != chosen.candidate.method]
    said = [
        f"{chosen.candidate.label} errs least of the {len(within)} candidates that keep the "
        f"limits, of {len(search.tried)} tried: by {chosen.error:.3g} on average in the queries of "
        "the search"
    ]
    if others:
        said.append(
            f"the best by another method, {others[0].candidate.label}, errs by "
            f"{others[0].error:.3g}"
        )
    beaten = [each for each in search.tried.values() if each.beaten_by]
    if beaten:
        said.append(
            f"{len(beaten)} that err less were passed over, since an attack on them succeeded "
            f"more often than a limit says: {beaten[0].beaten_by}"
        )
    return said


def _measured(limits: Limits, confirmed: Confirmed) -> list[str]:
    exposed = confirmed.exposed
    crowd = exposed.reidentification
    said = []
    if limits.reidentification is not None:
        said.append(
            f"nobody is recognised with more than {shown(crowd)} (limit "
            f"{stated(limits.reidentification)}): at least {crowd.denominator} records look alike"
        )
    else:
        said.append(f"somebody may be recognised with {shown(crowd)}, which was not limited")
    if exposed.most_exposed is not None:
        said.append(
            f"no secret value is concluded with more than {shown(exposed.highest_inference)} "
            f"(limit {stated(limits.inference)}); the most exposed attribute is "
            f"'{exposed.most_exposed}'"
        )
    return said


def _what_binds(search: Search, chosen: Attempt) -> list[str]:
    """Return which limit costs most: by how much the error falls if each alone is relaxed."""
    limits, said = search.bench.limits, []
    relaxed: list[tuple[str, Limits, Candidate]] = []
    plain = replace(chosen.candidate, k_times=1)
    if limits.reidentification is not None and limits.reidentification < Fraction(1, 2):
        more = replace(limits, reidentification=2 * limits.reidentification)
        relaxed.append(("re-identification", more, plain))
    if limits.inference is not None and limits.l > 2:
        more = replace(limits, inference=Fraction(1, limits.l - 1))
        relaxed.append(("inference", more, plain))
    for name, more, candidate in relaxed:
        if not search.clock.allows(2 * chosen.seconds):
            break
        try:
            with search.clock.cutting():
                bench = replace(search.bench, limits=more)
                error = bench.attempt(candidate, search.asked.search).error
        except OutOfTime:
            break
        least = more.reidentification if name == "re-identification" else more.inference
        gain = (chosen.error - error) / chosen.error if chosen.error else 0.0
        verdict = "binds" if gain > RELEVANT else "hardly binds"
        said.append(
            f"the limit of {name} {verdict}: at {shown(least)} this candidate would err by "
            f"{error:.3g}"
        )
    if limits.inference is not None:
        shares = largest_shares(search.bench.base.table)
        if shares:
            name = max(shares, key=lambda each: Fraction(*shares[each]))
            said.append(
                f"in the data themselves the commonest value of '{name}' has "
                f"{shown(Fraction(*shares[name]))}: no limit of inference below that can be kept"
            )
    return said


def _what_is_lost(search: Search, confirmed: Confirmed) -> list[str]:
    release = confirmed.made.plain
    if not has_ncp(release):
        return ["quasi-identifiers are published exactly; what is lost is whose the secrets are"]
    loss = ncp(release, confirmed.prepared.table)
    if not loss.by_attribute:
        return []
    name = max(loss.by_attribute, key=lambda each: loss.by_attribute[each])
    return [
        f"cells lose {loss.mean:.1%} of their certainty on average (NCP), those of '{name}' most: "
        f"{loss.by_attribute[name]:.1%}"
    ]


def _attacked(limits: Limits, confirmed: Confirmed, trial: Trial) -> list[str]:
    said = []
    best = trial.strongest
    if best is not None:
        said.append(
            f"the strongest simulated attack on '{best.attribute}' ({best.attack}) is right for "
            f"{best.success:.1%} of the people, a blind guess for {best.blind:.1%}"
            + (
                "; it learns from the release how attributes go together, which the limit is not "
                "about"
                if limits.inference is not None and best.success > limits.inference
                else ""
            )
        )
    if trial.membership is not None:
        said.append(
            f"whether somebody is in the data is told rightly for {trial.membership.success:.1%} "
            "(a coin: 50%); no limit is about that"
        )
    return said


def _withheld(chosen: Attempt) -> list[str]:
    if not chosen.withheld:
        return []
    said = f"{shown(chosen.withheld)} of the rows are left out"
    if chosen.by_value:
        said += ", some for their values: that they are absent tells of these, so those people are "
        said += "not protected"
    return [said]
