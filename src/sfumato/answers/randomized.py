"""Answers from releases whose records are not the people's own: sampled, perturbed or noisy.

What the release says of its records is turned into what it says of the table it came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import Protocol

from sfumato.answers.estimate import Aggregate, Count, Estimate, Sum
from sfumato.errors import ReleaseDamaged
from sfumato.predicates import And, Predicate
from sfumato.release import Manifest
from sfumato.schema.attribute import Role


class Engine(Protocol):
    """What answers for one layout."""

    def answer(self, aggregate: Aggregate, predicate: Predicate | None) -> Estimate:
        """Return the estimate and bounds of an aggregate over the rows that satisfy a predicate."""
        ...


def corrected(engine: Engine, manifest: Manifest) -> Engine:
    """Return the engine, or one that corrects its answers for what the manifest says was random.

    `parameters.sample` is the share of the people who are in the release, `parameters.perturb`
    the probability with which a sensitive cell was redrawn from all of them.

    Refuses (ReleaseDamaged) shares that are none.
    """
    sample, perturb = _share(manifest, "sample", 1.0), _share(manifest, "perturb", 0.0)
    if sample == 0 or perturb == 1:
        raise ReleaseDamaged("the release says that nothing of it comes from the data")
    noisy = any(claim.get("model") == "differential-privacy" for claim in manifest.guarantees)
    if sample == 1 and perturb == 0 and not noisy:
        return engine
    hidden = frozenset(e.name for e in manifest.attributes if e.role is Role.SENSITIVE)
    # where people have several rows, nobody knows how many those have who are not in the sample
    of_people = sample < 1 and any(table.name == "units" for table in manifest.tables)
    return _Corrected(engine, manifest.rows, sample, perturb, hidden, noisy or of_people)


def _share(manifest: Manifest, name: str, otherwise: float) -> float:
    share = manifest.parameters.get(name, otherwise)
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise ReleaseDamaged(f"the parameter '{name}' is not a share")
    return float(share)


@dataclass(frozen=True, slots=True)
class _Corrected:
    """Answers scaled up from a sample, and without what redrawn cells add by chance.

    Counts have a standard error of the sampling alone. Bounds hold for every table that the sample
    may be of; sums have none, since nothing is known of those who are not in it. Where cells were
    redrawn, a count is bounded by the number of people at most; where counts are noisy, or the
    sample is of people with several rows (`unbounded`), by nothing.
    """

    engine: Engine
    rows: int
    sample: float
    perturb: float
    hidden: frozenset[str]
    unbounded: bool

    def answer(self, aggregate: Aggregate, predicate: Predicate | None) -> Estimate:
        """Return the corrected estimate."""
        own = self.engine.answer(aggregate, predicate)
        value = self._without_chance(own.value, aggregate, predicate) / self.sample
        if isinstance(aggregate, Sum):
            exact = (
                self.sample == 1 and not self.unbounded and not self._is_perturbed(aggregate, None)
            )
            if exact and not self._is_perturbed(aggregate, predicate):
                return own
            return Estimate(value, -inf, inf)
        if self.unbounded:
            return Estimate(value, 0.0, inf)
        # the number of people is rounded when the sample is drawn
        people = float(int((self.rows + 0.5) / self.sample))
        low, high = own.low, own.high + people - self.rows
        if self._is_perturbed(aggregate, predicate):
            low, high = 0.0, people
        share = min(max(own.value / max(self.rows, 1), 0.0), 1.0)
        se = sqrt(self.rows * share * (1 - share) * (1 - self.sample)) / self.sample
        return Estimate(min(max(value, low), high), low, high, se)

    def _is_perturbed(self, aggregate: Aggregate, predicate: Predicate | None) -> bool:
        read = frozenset() if predicate is None else predicate.attributes
        if isinstance(aggregate, Sum):
            read |= {aggregate.attribute}
        return self.perturb > 0 and not read.isdisjoint(self.hidden)

    def _without_chance(
        self, value: float, aggregate: Aggregate, predicate: Predicate | None
    ) -> float:
        """Return the count without the redrawn cells, for conditions on one sensitive attribute.

        A record that meets the other conditions meets this one by chance as often as all do.
        Other questions stay as they are, a little off.
        """
        if not isinstance(aggregate, Count) or not self._is_perturbed(aggregate, predicate):
            return value
        assert predicate is not None
        parts = predicate.parts if isinstance(predicate, And) else (predicate,)
        about = [part for part in parts if not part.attributes.isdisjoint(self.hidden)]
        if len(frozenset[str]().union(*(part.attributes for part in about))) != 1:
            return value
        others = [part for part in parts if part not in about]
        met = self._count(others)
        by_chance = met * self._count(about) / max(self.rows, 1)
        return min(max((value - self.perturb * by_chance) / (1 - self.perturb), 0.0), met)

    def _count(self, parts: list[Predicate]) -> float:
        if not parts:
            return float(self.rows)
        predicate = parts[0] if len(parts) == 1 else And(tuple(parts))
        return self.engine.answer(Count(), predicate).value
