"""What `recommend` answers: the policy of least error under the limits, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.attacks.outcome import Outcome
from sfumato.jobs.attempt import Attempt
from sfumato.jobs.limits import Limits
from sfumato.jobs.policy import Policy
from sfumato.jobs.relax import Relaxation
from sfumato.jobs.trial import Trial


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The policy that is recommended, and what a release that it published anew was like.

    `attempt` has its worst risks and its error on the queries of the search; `trial` is that of the
    new release, `held_out` its error on queries that the search never saw, `linkage` what linkage
    attacks got from it. `reasons` say in plain words why it is this one, and what binds.
    """

    attempt: Attempt
    policy: Policy
    text: str
    trial: Trial
    held_out: float
    linkage: tuple[Outcome, ...]
    reasons: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {
            **self.attempt.to_dict(),
            "error_held_out": self.held_out,
            "inference_by_attribute": _inference(self.attempt),
            "linkage": [{"attack": each.title, **each.success.to_dict()} for each in self.linkage],
            "trial": self.trial.to_dict(),
            "reasons": list(self.reasons),
            "policy": self.text,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Recommendation:
    """The outcome of a search: `choice` is None where nothing keeps the limits.

    `tried` are the attempts on all rows, `frontier` those that keep the limits and that none beats
    in both risks and the error. `left` candidates had no time; `set_aside` were of methods far
    behind; `on_sample` attempts were on samples. `binds` and `relaxations` say why nothing keeps
    the limits, and what would help.
    """

    limits: Limits
    rows: int
    queries: str
    choice: Choice | None
    frontier: tuple[Attempt, ...]
    tried: tuple[Attempt, ...]
    left: int
    set_aside: int
    on_sample: int
    seconds: float
    binds: tuple[str, ...] = ()
    relaxations: tuple[Relaxation, ...] = ()
    notes: tuple[str, ...] = ()
    is_test: bool = False

    @property
    def ok(self) -> bool:
        """Whether there is a policy that keeps the limits."""
        return self.choice is not None

    @property
    def policy(self) -> Policy | None:
        """The policy that is recommended; None where nothing keeps the limits."""
        return None if self.choice is None else self.choice.policy

    @property
    def refusals(self) -> Mapping[str, str]:
        """Why methods published nothing, by method: the first reason of each that never did."""
        worked = {each.candidate.method for each in self.tried if each.refused is None}
        found: dict[str, str] = {}
        for each in self.tried:
            if each.refused is not None and each.candidate.method not in worked:
                found.setdefault(each.candidate.method, each.refused)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {
            "ok": self.ok,
            "limits": self.limits.to_dict(),
            "rows": self.rows,
            "queries": self.queries,
            "choice": None if self.choice is None else self.choice.to_dict(),
            "frontier": [each.to_dict() for each in self.frontier],
            "tried": [each.to_dict() for each in self.tried],
            "left": self.left,
            "set_aside": self.set_aside,
            "on_sample": self.on_sample,
            "seconds": round(self.seconds, 2),
            "binds": list(self.binds),
            "relaxations": [
                {"words": r.words, "option": r.option, "method": r.with_method, "note": r.note}
                for r in self.relaxations
            ],
            "refusals": dict(self.refusals),
            "notes": list(self.notes),
            "test": self.is_test,
        }

    def _repr_html_(self) -> str:
        from sfumato.reports.frontier import as_fragment

        return as_fragment(self.to_dict())


def _inference(attempt: Attempt) -> dict[str, float]:
    exposed = attempt.exposed
    return {} if exposed is None else {n: float(s) for n, s in exposed.inference.items()}
