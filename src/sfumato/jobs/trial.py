"""One trial: a table published one way, judged by what was published, and thrown away.

It tells what the audit says of the release, how far simulated attacks get, what the release is
worth, and what it cost to make. A method that refuses is a trial, too: it says why.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import numpy as np

from sfumato.answers import Answerer
from sfumato.attacks import attack
from sfumato.attacks.attack import AttackReport
from sfumato.audit import AuditReport, audit
from sfumato.audit.report import damaged_report
from sfumato.errors import ParameterError, ReleaseDamaged, SchemaError, SfumatoError
from sfumato.jobs.peak_memory import with_peak
from sfumato.jobs.policy import Policy
from sfumato.jobs.prepared import Prepared
from sfumato.jobs.publication import group_count, with_declared
from sfumato.jobs.recode import with_recoding
from sfumato.jobs.stated import Stated, kept_by
from sfumato.jobs.suppress import withheld_rows
from sfumato.jobs.trial_findings import Inference, Linkage, Membership, Worth
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.table.sample import rows_of
from sfumato.utility.overview import Utility, without_queries
from sfumato.utility.query_errors import QueryErrors, query_errors
from sfumato.utility.workload import Probe

Verdict = Literal["holds", "broken", "nothing to check", "not published"]

# How many people of the data, and how many others, attacks look at.
PEOPLE: Final = 500
# The attacks of every trial: those that find a record, a secret, or that somebody is there.
ATTACKS: Final = (
    "record-linkage",
    "attribute-linkage",
    "membership",
    "probabilistic",
    "definetti",
    "joint-bayes",
)
# Rows that a method is first tried on, so that loading compiled code is no part of its time.
_WARM_UP: Final = 2_000


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of publishing a table one way.

    `parameters` are those of the method in the policy, `asked` the keys of its attributes that ask
    for models. `refused` says why nothing was published; all else is then empty. `guarantees` are
    the audit's verdicts on the release's claims, `kept` and `not_promised` the stated models that
    those which hold imply, and the others. `seconds` and `megabytes` are of publishing alone.
    """

    method: str
    parameters: Mapping[str, Any]
    asked: Mapping[str, Mapping[str, Any]]
    notes: tuple[str, ...] = ()
    refused: str | None = None
    fault: bool = False
    audit: Verdict = "not published"
    guarantees: tuple[Mapping[str, Any], ...] = ()
    problems: tuple[str, ...] = ()
    kept: tuple[Mapping[str, Any], ...] = ()
    not_promised: tuple[Mapping[str, Any], ...] = ()
    layout: str | None = None
    rows: int | None = None
    groups: int | None = None
    suppressed: int | None = None
    linkage: Linkage | None = None
    inference: tuple[Inference, ...] = ()
    membership: Membership | None = None
    utility: Worth | None = None
    undefined: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None
    megabytes: float | None = None

    @property
    def strongest(self) -> Inference | None:
        """The inference that succeeds most often, over all secrets."""
        return max(self.inference, key=lambda each: each.success, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the trial as plain values that JSON can hold."""
        return {
            "method": self.method,
            "parameters": _plain(self.parameters),
            "asked": _plain(self.asked),
            "notes": list(self.notes),
            "refused": self.refused,
            "fault": self.fault,
            "audit": self.audit,
            "guarantees": [dict(each) for each in self.guarantees],
            "problems": list(self.problems),
            "kept": [dict(each) for each in self.kept],
            "not_promised": [dict(each) for each in self.not_promised],
            "layout": self.layout,
            "rows": self.rows,
            "groups": self.groups,
            "suppressed": self.suppressed,
            "linkage": None if self.linkage is None else self.linkage.to_dict(),
            "inference": [each.to_dict() for each in self.inference],
            "membership": None if self.membership is None else self.membership.to_dict(),
            "utility": None if self.utility is None else self.utility.to_dict(),
            "undefined": dict(self.undefined),
            "seconds": self.seconds,
            "megabytes": self.megabytes,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What a trial's numbers were taken from: the release, and what its judges found in full.

    `plain` is the release as it lies beside recoded data.
    """

    release: Release
    plain: Release
    audit: AuditReport
    attacked: AttackReport | None
    measured: Utility


def refusal(method: str, reason: str, notes: tuple[str, ...] = ()) -> Trial:
    """Return the trial of a method that cannot even be asked."""
    return Trial(method, {}, {}, notes, refused=reason)


def try_out(
    prepared: Prepared,
    policy: Policy,
    *,
    stated: Stated,
    probes: Sequence[Probe],
    randomness: Randomness,
    people: int = PEOPLE,
    attacks: Sequence[str] = ATTACKS,
    notes: tuple[str, ...] = (),
    warm_up: bool = True,
    witness: Callable[[Evidence], None] | None = None,
) -> Trial:
    """Return what comes of publishing the table under the policy; a refusal is one, too.

    The policy differs from the one that the table was prepared under in its method and models
    alone. `stated` is the protection that claims are held against, `probes` the COUNT queries that
    all trials answer. With `warm_up` the method first runs on some rows, so that its time is not
    that of loading compiled code. A `witness` is shown what the numbers were taken from; else it
    is thrown away.
    """
    content = policy.content
    asked = {
        name: keys
        for name, attribute in content.attributes.items()
        if (keys := {**attribute.asked(), **attribute.asked_of_sets()})
    }
    trial = Trial(content.method.name, content.method.parameters, asked, notes)
    try:
        made = published(prepared, policy, randomness, warm_up)
        found, evidence = _judged(
            trial, made, prepared, stated, probes, randomness, people, tuple(attacks)
        )
    except SfumatoError as error:
        return replace(trial, refused=str(error))
    except MemoryError:
        return replace(trial, refused="not enough memory for this table")
    except Exception as error:
        # Without its message, which may quote cells; the others' trials go on.
        kind = type(error).__name__
        reason = f"a fault of sfumato ({kind}); please report it"
        return replace(trial, refused=reason, fault=True)
    if witness is not None:
        witness(evidence)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """A release, and the same without the record of recoding, as it lies beside recoded data."""

    release: Release
    plain: Release
    seconds: float
    megabytes: float | None


def published(
    prepared: Prepared, policy: Policy, randomness: Randomness, warm_up: bool
) -> Published:
    """Return the release of the table under the policy; refuses what `anonymize` refuses."""
    method = policy.method()
    withheld = np.zeros(0, dtype=np.int64)
    if policy.content.on_infeasible == "suppress":
        withheld = withheld_rows(prepared.table, method, randomness)
    table = prepared.coded_without(withheld)
    if warm_up:
        some = np.linspace(0, table.rows - 1, min(_WARM_UP, table.rows)).astype(np.int64)
        try:
            method.release(rows_of(table, np.unique(some)), randomness)
        except SfumatoError:
            method.release(table, randomness)  # which few rows cannot be asked for, all may be

    def publish() -> tuple[Release, float]:
        start = time.perf_counter()
        made = method.release(table, randomness)
        return made, time.perf_counter() - start

    (made, seconds), megabytes = with_peak(publish)
    plain = with_declared(made, policy, len(withheld))
    return Published(
        release=with_recoding(plain, prepared.steps, prepared.schema),
        plain=plain,
        seconds=round(seconds, 4),
        megabytes=None if megabytes is None else round(megabytes, 1),
    )


def _judged(
    trial: Trial,
    made: Published,
    prepared: Prepared,
    stated: Stated,
    probes: Sequence[Probe],
    randomness: Randomness,
    people: int,
    attacks: tuple[str, ...],
) -> tuple[Trial, Evidence]:
    release = made.release
    manifest = release.manifest
    report = _audited(release)
    kept = kept_by(stated, report.guarantees)
    undefined: dict[str, str] = {}
    found = _attacked(release, prepared, people, attacks, randomness, undefined)
    measured, errors = _measured(made.plain, prepared, probes, randomness, undefined)
    judged = replace(
        trial,
        audit=_verdict(report),
        guarantees=tuple(verdict.to_json() for verdict in report.guarantees),
        problems=report.problems,
        kept=tuple(model.claim() for model in kept),
        not_promised=tuple(model.claim() for model in stated.models if model not in kept),
        layout=manifest.layout,
        rows=manifest.rows,
        groups=group_count(release),
        suppressed=manifest.suppressed,
        linkage=None if found is None else Linkage.of(found),
        inference=() if found is None else Inference.of(found),
        membership=None if found is None else Membership.of(found),
        utility=Worth.of(measured, errors),
        undefined=undefined,
        seconds=made.seconds,
        megabytes=made.megabytes,
    )
    return judged, Evidence(release, made.plain, report, found, measured)


def _audited(release: Release) -> AuditReport:
    try:
        return audit(release)
    except ReleaseDamaged as error:
        return damaged_report(error)


def _verdict(report: AuditReport) -> Verdict:
    """Return what the audit says of the claims; that a run can be repeated is no fault of them."""
    if report.damaged or any(verdict.holds is False for verdict in report.guarantees):
        return "broken"
    return "holds" if any(v.holds for v in report.guarantees) else "nothing to check"


def _attacked(
    release: Release,
    prepared: Prepared,
    people: int,
    attacks: tuple[str, ...],
    randomness: Randomness,
    undefined: dict[str, str],
) -> AttackReport | None:
    """Return what came of the attacks: on the same people, whatever the method."""
    rng = randomness.generator("attacks")
    try:
        return attack(release, prepared.raw, attacks=attacks, sample=people, rng=rng)
    except (ParameterError, SchemaError) as error:
        undefined["attacks"] = str(error)
        return None


def _measured(
    release: Release,
    prepared: Prepared,
    probes: Sequence[Probe],
    randomness: Randomness,
    undefined: dict[str, str],
) -> tuple[Utility, QueryErrors | None]:
    """Return what the release is worth beside the recoded data: recoding costs all the same."""
    measured = without_queries(release, prepared.table, rng=randomness.generator("utility"))
    undefined |= measured.undefined
    errors = None
    if probes:
        try:
            errors = query_errors(Answerer(release), prepared.table, probes)
        except (ParameterError, SchemaError) as error:
            undefined["queries"] = str(error)
    return measured, errors


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
