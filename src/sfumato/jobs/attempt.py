"""One attempt of `recommend`: a candidate published, and its risks and errors measured."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import Any, Final

import pyarrow as pa

from sfumato.attacks import attack
from sfumato.attacks.exposure import Exposure, exposure
from sfumato.attacks.outcome import Outcome
from sfumato.errors import ParameterError, SfumatoError
from sfumato.jobs.asked import mean_error
from sfumato.jobs.candidates import Candidate
from sfumato.jobs.limits import Limits
from sfumato.jobs.policy import Policy
from sfumato.jobs.prepared import Prepared, prepare
from sfumato.jobs.stated import Stated
from sfumato.jobs.trial import Published, published
from sfumato.randomness import Randomness
from sfumato.release import Manifest
from sfumato.utility.workload import Probe

# The attacks whose success must not lie above a limit: each is of the adversary that limits name.
LINKAGE: Final = ("record-linkage", "attribute-linkage")
_PROSECUTOR: Final = "record linkage (prosecutor)"
_GUESSES: Final = ("attribute linkage (homogeneity)", "attribute linkage (skewness)")
PEOPLE: Final = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """What came of a candidate: its worst risks, its mean error, and the limits that it breaks.

    `refused` says why nothing was published. `rows` is how many rows it was tried on.
    """

    candidate: Candidate
    rows: int
    policy: Policy | None = None
    stated: Stated | None = None
    refused: str | None = None
    exposed: Exposure | None = None
    withheld: Fraction = Fraction(0)
    by_value: bool = False
    broken: tuple[str, ...] = ()
    error: float = inf
    seconds: float = 0.0
    beaten_by: str | None = None

    @property
    def is_within(self) -> bool:
        """Whether the release keeps all limits."""
        return self.refused is None and not self.broken and self.error < inf

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        exposed = self.exposed
        return {
            "candidate": self.candidate.label,
            "method": self.candidate.method,
            "parameters": {}
            if self.policy is None
            else dict(self.policy.content.method.parameters),
            "refused": self.refused,
            "reidentification": None if exposed is None else float(exposed.reidentification),
            "inference": None if exposed is None else float(exposed.highest_inference),
            "withheld": float(self.withheld),
            "breaks": list(self.broken),
            "attack_above_limit": self.beaten_by,
            "error": self.error if self.error < inf else None,
            "rows": self.rows,
            "seconds": round(self.seconds, 3),
        }


@dataclass(slots=True)
class Workbench:
    """The data of a search: rows coded once for every way that candidates want them.

    The same candidate gets the same randomness, whichever others are tried before it.
    """

    raw: pa.Table
    policy: Policy
    limits: Limits
    randomness: Randomness
    _prepared: dict[tuple[str, ...], Prepared] = field(default_factory=dict)

    def sampled(self, rows: int) -> Workbench:
        """Return a workbench with a random sample of the rows."""
        base = prepare(self.raw, self.policy, self.randomness, sample=rows)
        return Workbench(base.raw, self.policy, self.limits, self.randomness)

    @property
    def base(self) -> Prepared:
        """The rows as the steward's policy has them."""
        return self.prepared(self.policy, ())

    def prepared(self, policy: Policy, plain: tuple[str, ...]) -> Prepared:
        """Return the rows without the hierarchies that a candidate leaves out."""
        if plain not in self._prepared:
            self._prepared[plain] = prepare(self.raw, policy, self.randomness)
        return self._prepared[plain]

    def publish(
        self, candidate: Candidate, policy: Policy, source: Randomness
    ) -> tuple[Prepared, Published]:
        """Return the rows and their release."""
        if candidate.weights:  # nobody else has the same: not kept
            prepared = prepare(self.raw, policy, self.randomness)
        else:
            prepared = self.prepared(policy, candidate.plain)
        return prepared, published(prepared, policy, source, warm_up=False)

    def randomness_of(self, candidate: Candidate) -> Randomness:
        """Return the randomness of one candidate."""
        label = candidate.label.encode()
        digest = hashlib.blake2b(label, key=hashlib.sha512(self.randomness.key).digest()).digest()
        return Randomness(digest, self.randomness.is_test)

    def attempt(self, candidate: Candidate, probes: Sequence[Probe]) -> Attempt:
        """Return what comes of a candidate; a refusal is an attempt, too."""
        start = time.monotonic()
        rows = self.raw.num_rows
        try:
            policy, stated = candidate.policy(self.policy, self.limits)
            _, made = self.publish(candidate, policy, self.randomness_of(candidate))
            exposed = exposure(made.release)
            manifest = made.release.manifest
            withheld = share_withheld(manifest)
            error = mean_error(made.plain, self.base.table, probes)
        except SfumatoError as refusal:
            seconds = time.monotonic() - start
            return Attempt(candidate, rows, refused=str(refusal), seconds=seconds)
        return Attempt(
            candidate,
            rows,
            policy,
            stated,
            exposed=exposed,
            withheld=withheld,
            by_value=manifest.suppressed_by_value,
            broken=self.limits.broken_by(exposed, withheld),
            error=error,
            seconds=time.monotonic() - start,
        )

    def confirm(self, attempt: Attempt) -> Confirmed:
        """Return what a release is like that the policy of an attempt publishes anew."""
        assert attempt.policy is not None
        prepared, made = self.publish(attempt.candidate, attempt.policy, self.randomness)
        exposed = exposure(made.release)
        broken = self.limits.broken_by(exposed, share_withheld(made.release.manifest))
        rng = self.randomness.generator("attacks")
        outcomes: tuple[Outcome, ...] = ()
        try:
            report = attack(made.release, prepared.raw, attacks=LINKAGE, sample=PEOPLE, rng=rng)
            outcomes = report.outcomes
        except ParameterError:
            pass  # nothing is known of anybody, and nothing is secret
        problem = broken[0] if broken else _above(outcomes, self.limits)
        return Confirmed(prepared, made, exposed, outcomes, problem)


@dataclass(frozen=True, slots=True, eq=False)
class Confirmed:
    """A new release, its worst risks, linkage attacks on it, and what lies above a limit."""

    prepared: Prepared
    made: Published
    exposed: Exposure
    linkage: tuple[Outcome, ...]
    problem: str | None


def share_withheld(manifest: Manifest) -> Fraction:
    """Return the share of the rows that a release leaves out."""
    fakes = manifest.parameters.get("fakes", 0)
    own = manifest.rows - (fakes if isinstance(fakes, int) else 0)
    return Fraction(manifest.suppressed, max(own + manifest.suppressed, 1))


def _above(outcomes: Sequence[Outcome], limits: Limits) -> str | None:
    """Return the first attack whose success lies above its limit, its whole interval; else None."""
    for outcome in outcomes:
        limit = None
        if outcome.attack == _PROSECUTOR:
            limit = limits.reidentification
        elif outcome.attack in _GUESSES and outcome.success.tried:
            limit = limits.inference
        if limit is not None and outcome.success.interval[0] > limit:
            return outcome.title
    return None
