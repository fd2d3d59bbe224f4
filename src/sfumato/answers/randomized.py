"""Answers from releases whose records are not those of all people: sampled, perturbed, noisy, or
with some withheld.

What the release says of its records is turned into what it says of the table it came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import Protocol, runtime_checkable

from sfumato.answers.cases import joined, told_apart, whatever
from sfumato.answers.deviations import Limits
from sfumato.answers.estimate import Aggregate, Count, Estimate, Sum
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.predicates import And, Or, Predicate
from sfumato.release import Manifest
from sfumato.release.origin import LEAST_SAMPLE, fakes_of
from sfumato.schema.attribute import Role

# Counts that differ by less are the same, and differ by rounding.
_ROUNDING = 1e-6


class Engine(Protocol):
    """What answers for one layout."""

    def answer(self, aggregate: Aggregate, predicate: Predicate | None) -> Estimate:
        """Return the estimate and bounds of an aggregate over the rows that satisfy a predicate."""
        ...

    def deviation(self, attribute: str, about: float, predicate: Predicate | None) -> float | None:
        """Return the standard error of SUM(attribute - about), None where there is none.

        Of the rows that satisfy the predicate, those count that have a number.
        """
        ...


@runtime_checkable
class Followable(Engine, Protocol):
    """An engine whose sums can be followed while something is taken off every number."""

    def limits(self, attribute: str, predicate: Predicate) -> Limits:
        """Return what tells the bounds of SUM(attribute - about) over the rows that satisfy it.

        The predicate must leave out rows whose number is missing.
        """
        ...


def corrected(engine: Engine, manifest: Manifest, *, weighted: bool = False) -> Engine:
    """Return the engine, or one that corrects its answers for what the manifest says was random.

    `parameters.sample` is the share of the people who are in the release, `parameters.perturb`
    the probability with which a sensitive cell was redrawn from all of them. Rows that were
    withheld (`suppressed`) were so before a sample was drawn of the others; if answers are
    `weighted`, each of them counts as nobody knows how much.

    Refuses (ReleaseDamaged) shares that are none, and fakes that `fakes_of` refuses.
    """
    genuine = manifest.rows - fakes_of(manifest)
    sample, perturb = share_of(manifest, "sample", 1.0), share_of(manifest, "perturb", 0.0)
    if sample < LEAST_SAMPLE or perturb == 1:
        raise ReleaseDamaged("the release says that nothing of it comes from the data")
    noisy = any(claim.get("model") == "differential-privacy" for claim in manifest.guarantees)
    if sample < 1 or perturb > 0 or noisy:
        hidden = frozenset(e.name for e in manifest.attributes if e.role is Role.SENSITIVE)
        # where people have several rows, nobody knows how many those have who are not in the sample
        of_people = sample < 1 and any(table.name == "units" for table in manifest.tables)
        engine = _Corrected(engine, genuine, sample, perturb, hidden, noisy or of_people)
    if manifest.suppressed:
        least, most = (0.0, inf) if weighted else (float(manifest.suppressed),) * 2
        engine = _WithWithheld(engine, genuine / sample, manifest.suppressed, least, most)
    return engine


def shows_everybody(engine: Engine, attribute: str) -> bool:
    """Return whether everybody's value of an attribute is one that a published cell may hold."""
    if isinstance(engine, _Corrected):
        return engine.shows_everybody(attribute)
    return not isinstance(engine, _WithWithheld)


def share_of(manifest: Manifest, name: str, otherwise: float) -> float:
    """Return a parameter of a release that is a share; ReleaseDamaged where it is none."""
    share = manifest.parameters.get(name, otherwise)
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise ReleaseDamaged(f"the parameter '{name}' is not a share")
    return float(share)


@dataclass(frozen=True, slots=True)
class _WithWithheld:
    """Answers about all people, so many of whom were withheld, from those about the other `people`.

    Nothing is known of those withheld. The estimate takes them to be like the others. A count may
    have as many more as there are (`most`), and all rows have `least` more; a sum may be anything,
    since domains are those of the others. The standard error is that of the others, scaled like
    the estimate, with nothing for the withheld ones, whom nobody drew; where nothing else is
    random there is none.
    """

    engine: Engine
    people: float
    withheld: int
    least: float
    most: float

    def answer(self, aggregate: Aggregate, predicate: Predicate | None) -> Estimate:
        """Return the estimate for all people."""
        own = self.engine.answer(aggregate, predicate)
        value = self._scaled(own.value)
        if isinstance(aggregate, Sum):
            return Estimate(value, -inf, inf, self._error(own.se))
        low, high = own.low, own.high + self.most
        if predicate is None:
            low += self.least
        se = own.se if low == high else self._error(own.se)
        return Estimate(min(max(value, low), high), low, high, se)

    def deviation(self, attribute: str, about: float, predicate: Predicate | None) -> float | None:
        """Return that of the others, scaled like the estimate."""
        return self._error(self.engine.deviation(attribute, about, predicate))

    def _scaled(self, value: float) -> float:
        # of nobody nothing follows
        return value * (self.people + self.withheld) / self.people if self.people else value

    def _error(self, se: float | None) -> float | None:
        return self._scaled(se) if se else None


@dataclass(frozen=True, slots=True)
class _Corrected:
    """Answers scaled up from a sample, and without what redrawn cells add by chance.

    `rows` are the records that are not fake, and so those that the engine answers about.

    The standard error of a count is that of sampling, of redrawing and of what the layout leaves
    open together; sums have none. Bounds hold for every table that the sample may be of; sums have
    none, since nothing is known of those who are not in it. Where cells were redrawn, a count is
    bounded by what the other attributes tell; where counts are noisy, or the sample is of people
    with several rows (`unbounded`), by nothing.
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
            least, most = self._whatever_was_drawn(predicate)
            low, high = least, most + people - self.rows
        se = self._error(own, value * self.sample, predicate)
        return Estimate(min(max(value, low), high), low, high, se)

    def _whatever_was_drawn(self, predicate: Predicate | None) -> tuple[float, float]:
        """Return bounds of a count in the release, any cell of a hidden attribute being anything.

        So those count who satisfy what is left in all cases, and those may who do in some.
        """
        all_: Predicate | bool | None = predicate
        some: Predicate | bool | None = predicate
        try:
            for name in sorted(self._redrawn(Count(), predicate)):
                all_, some = whatever(all_, name, And), whatever(some, name, Or)
            return self._bounds(all_).low, self._bounds(some).high
        except ParameterError:  # the question is answered, but what is left of it is too much
            return 0.0, float(self.rows)

    def _bounds(self, predicate: Predicate | bool | None) -> Estimate:
        if isinstance(predicate, bool):
            every = float(predicate) * self.rows
            return Estimate(every, every, every)
        return self.engine.answer(Count(), predicate)

    def _error(self, own: Estimate, kept: float, predicate: Predicate | None) -> float | None:
        """Return the standard error of a count, of which so many in the release are `kept`."""
        if own.se is None:
            return None
        variance = own.se**2
        if self._is_perturbed(Count(), predicate):
            redrawn = self._spread_by_chance(kept, predicate)
            if redrawn is None:
                return None
            variance = variance / (1 - self.perturb) ** 2 + redrawn
        share = min(max(kept / max(self.rows, 1), 0.0), 1.0)
        variance += self.rows * share * (1 - share) * (1 - self.sample)
        return sqrt(variance) / self.sample

    def _spread_by_chance(self, kept: float, predicate: Predicate | None) -> float | None:
        """Return the variance that redrawing gives a count.

        A cell stays as it is or becomes that of anybody, each on its own. The estimate takes off
        what is expected by chance, which all records tell: those for whom the cell decides count
        with one weight, all others with another. None for several sensitive attributes, and where
        what the cell must be depends on the others.
        """
        read = self._redrawn(Count(), predicate)
        if predicate is None or len(read) != 1:
            return None
        rows = max(float(self.rows), 1.0)
        ways = told_apart(predicate, *read)
        if len(ways) != 2:  # with one, the cell decides nothing
            return None if len(ways) > 1 else 0.0
        counts = [self._own(Count(), left) for _, left in ways]
        lefts = [left for _, left in ways]
        of_both = 0.0 if False in lefts else self._own(Count(), joined(And, lefts))
        if of_both < min(counts) - _ROUNDING:
            return None
        # those who count in any case count whatever was drawn, and the cell decides for the others
        (fewer, more), own = sorted(counts), ways[counts[0] < counts[1]][0]
        all_hits, met, kept = self._own(Count(), own), more - fewer, max(kept - fewer, 0.0)
        share = min(max(all_hits / rows, 0.0), 1.0)
        by_chance = self.perturb * share
        stays, comes = (end * (1 - end) for end in (1 - self.perturb + by_chance, by_chance))
        hits = min(max(all_hits - kept, 0.0), rows - met)
        inside = kept * stays + (met - kept) * comes
        outside = hits * stays + (rows - met - hits) * comes
        weight = self.perturb * met / rows
        return ((1 - weight) ** 2 * inside + weight**2 * outside) / (1 - self.perturb) ** 2

    def deviation(self, attribute: str, about: float, predicate: Predicate | None) -> float | None:
        """Return the engine's own, where answers are its own."""
        is_own = self.sample == 1 and not self.unbounded
        if is_own and not self._is_perturbed(Sum(attribute), predicate):
            return self.engine.deviation(attribute, about, predicate)
        return None

    def shows_everybody(self, attribute: str) -> bool:
        """Return whether nobody is left out, and nobody's value of an attribute redrawn."""
        is_whole = self.sample == 1 and not self.unbounded
        return is_whole and not self._is_perturbed(Sum(attribute), None)

    def _is_perturbed(self, aggregate: Aggregate, predicate: Predicate | None) -> bool:
        return self.perturb > 0 and bool(self._redrawn(aggregate, predicate))

    def _redrawn(self, aggregate: Aggregate, predicate: Predicate | None) -> frozenset[str]:
        """Return the attributes of a question whose cells may have been redrawn."""
        read = frozenset() if predicate is None else predicate.attributes
        if isinstance(aggregate, Sum):
            read |= {aggregate.attribute}
        return read & self.hidden

    def _without_chance(
        self, value: float, aggregate: Aggregate, predicate: Predicate | None
    ) -> float:
        """Return the value without the redrawn cells, for questions on one sensitive attribute.

        A redrawn cell is what anybody has: by chance, a record satisfies what each case of the cell
        leaves to the other attributes as often as all records are in that case; and a number that
        was redrawn is on average that of all who are. Other questions stay as they are, a little
        off.
        """
        read = self._redrawn(aggregate, predicate)
        if self.perturb == 0 or len(read) != 1:
            return value
        (name,) = read
        ways: list[tuple[Predicate | None, Predicate | bool]] = [(None, predicate or True)]
        if predicate is not None and name in predicate.attributes:
            ways = [*told_apart(predicate, name)]
        # the number goes with the cells that were redrawn, or with those that were not
        is_redrawn = isinstance(aggregate, Sum) and aggregate.attribute == name
        with_cell, with_rest = (aggregate, Count()) if is_redrawn else (Count(), aggregate)
        by_chance = sum(
            self._own(with_cell, own) * self._own(with_rest, left)
            for own, left in ways
            if left is not False
        )
        kept = (value - self.perturb * by_chance / max(self.rows, 1)) / (1 - self.perturb)
        if not isinstance(aggregate, Count):
            return kept
        # those whom no cell could rule out, and those whom some cell lets in
        left = [each for _, each in ways]
        low = 0.0 if False in left else self._own(Count(), joined(And, left))
        high = self._own(Count(), True if True in left else joined(Or, left))
        return min(max(kept, low), high)

    def _own(self, aggregate: Aggregate, predicate: Predicate | bool | None) -> float:
        """Return what the engine says of the rows that satisfy a predicate."""
        if predicate is False:
            return 0.0
        if predicate is None or predicate is True:
            if isinstance(aggregate, Count):
                return float(self.rows)
            predicate = None
        return self.engine.answer(aggregate, predicate).value
