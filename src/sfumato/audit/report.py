"""What an audit answers: a verdict on every claim, and what else must be said of the release."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.errors import ClaimBroken, ReleaseDamaged
from sfumato.markup import join, table, tag


@dataclass(frozen=True, slots=True)
class Verdict:
    """One claim of the manifest, judged by the published files.

    `holds` is None where nothing was checked (the note says why). `worst` is the level that the
    least protected group reaches, in the units of the model: a size, an l, a distance, a share.
    """

    claim: Mapping[str, Any]
    holds: bool | None
    worst: float | None = None
    note: str = ""

    def __str__(self) -> str:
        """Say which claim it is, without its parameters."""
        attribute = self.claim.get("attribute")
        return f"{self.claim['model']}" + (f" of '{attribute}'" if attribute else "")

    @property
    def parameters(self) -> str:
        """The numbers of the claim, as in `k = 5`."""
        keys = {k: v for k, v in self.claim.items() if k not in ("model", "attribute")}
        return ", ".join(f"{key} = {value}" for key, value in keys.items())

    def to_json(self) -> dict[str, Any]:
        """Return the claim's keys, then the verdict; a level that is not finite is None."""
        finite = self.worst is not None and math.isfinite(self.worst)
        answer = {**self.claim, "holds": self.holds, "worst": self.worst if finite else None}
        return answer | ({"note": self.note} if self.note else {})


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The answer of an audit: `ok` says that every claim stands and the release may be relied on.

    `problems` are lines about the release as a whole; some of them leave `ok` as the claims say.

    >>> report = AuditReport(True, (Verdict({"model": "k-anonymity", "k": 2}, True, 3.0),), ())
    >>> report.to_json()["guarantees"]
    [{'model': 'k-anonymity', 'k': 2, 'holds': True, 'worst': 3.0}]
    >>> report.exit_code
    0
    """

    ok: bool
    guarantees: tuple[Verdict, ...]
    problems: tuple[str, ...]
    damaged: bool = False

    @property
    def exit_code(self) -> int:
        """0: all is well; 1: the answer is no; 2: the release is damaged."""
        if self.damaged:
            return 2
        return 0 if self.ok else 1

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values that JSON can hold."""
        return {
            "ok": self.ok,
            "guarantees": [verdict.to_json() for verdict in self.guarantees],
            "problems": list(self.problems),
        }

    def _repr_html_(self) -> str:
        """Return the verdicts as a table, for notebooks."""
        words = {True: "holds", False: "does not hold", None: "not checked"}
        rows = [
            [
                str(each),
                each.parameters,
                words[each.holds] + (f" ({each.note})" if each.note else ""),
                None if each.worst is None else f"{each.worst:.4g}",
            ]
            for each in self.guarantees
        ]
        answer = "the audit passed" if self.ok else "the audit did not pass"
        problems = join(tag("p", each) for each in self.problems)
        return join([table(["guarantee", "with", "verdict", "worst"], rows, answer), problems])

    def raise_if_broken(self) -> None:
        """Raise ClaimBroken (ReleaseDamaged for a damaged release) unless all is well."""
        if self.ok:
            return
        broken = [
            f"{verdict} does not hold" for verdict in self.guarantees if verdict.holds is False
        ]
        reasons = "; ".join([*broken, *self.problems]) or "a claim could not be confirmed"
        raise (ReleaseDamaged if self.damaged else ClaimBroken)(reasons)


def damaged_report(error: ReleaseDamaged) -> AuditReport:
    """Return the report of a release that cannot be judged, with the reason as its problem.

    >>> damaged_report(ReleaseDamaged("table 'records' is missing")).exit_code
    2
    """
    return AuditReport(False, (), (str(error),), damaged=True)
