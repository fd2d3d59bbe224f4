"""Answers from tables that are linked through groups alone: `anatomized` and `sliced`.

Within a group every way to join the rows of different tables (or of different blocks of columns)
fits the release, and all are taken as equally likely: for a conjunction this is equation 11 of the
SLPPA paper. Bounds are exact for questions to one or two tables, whatever the predicate, and for
more tables if the predicate asks each of them in one place; elsewhere they are valid. `odds.py`
says why.

Generalised cells, which a sliced release may have, hold one of their values, each equally likely,
in whatever places a predicate reads them (`ways.py`).

Standard errors are those of the deal: of how records are joined within groups, and of which records
are the fakes. A generalised cell that a question leaves open was dealt by nobody, so that there is
none then. They are right where rows were in fact matched at random; where attributes go together
within groups, they are too small.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sfumato.answers.deal import Deal
from sfumato.answers.dealt_errors import Moments
from sfumato.answers.deviations import Limits, with_number
from sfumato.answers.estimate import Aggregate, Count, Estimate, Sum, within
from sfumato.answers.hand import hold
from sfumato.answers.numbers import Numbers, read_numbers
from sfumato.answers.parts import ALWAYS, Part, Tree, parts_of, take_apart
from sfumato.answers.sheet import Sheet, check_published
from sfumato.errors import ReleaseDamaged
from sfumato.predicates.expression import Predicate, negation_normal_form
from sfumato.release import Release
from sfumato.release.origin import fakes_of


class DealtAnswers:
    """Tables that are dealt to each other within groups, read as questions need them.

    `place_of` says in which of them each attribute stands. So many of all records are `fakes`:
    none of them is counted, and any may be one.
    """

    def __init__(
        self,
        release: Release,
        sheets: Mapping[str, Sheet],
        place_of: Mapping[str, str],
        fakes: int = 0,
    ) -> None:
        self._release = release
        self._sheets = sheets
        self._place_of = place_of
        self._numbers: dict[str, Numbers] = {}
        self._sizes = next(iter(sheets.values())).sizes
        if not all(np.array_equal(sheet.sizes, self._sizes) for sheet in sheets.values()):
            raise ReleaseDamaged("the tables do not have the same number of records in each group")
        self._records = int(self._sizes.sum(dtype=np.int64))
        self._fakes = fakes
        if not 0 <= fakes <= self._records:
            raise ReleaseDamaged("the release states more fake records than it has")

    def answer(self, aggregate: Aggregate, predicate: Predicate | None) -> Estimate:
        """Return the estimate and bounds of an aggregate over the rows that satisfy a predicate."""
        match aggregate:
            case Count():
                return self._count(self._deal([], predicate))
            case Sum(attribute):
                return self._sum(self._deal([attribute], predicate), self._read(attribute))

    def deviation(self, attribute: str, about: float, predicate: Predicate | None) -> float | None:
        """Return the standard error of SUM(attribute - about) over rows that have a number."""
        deal = self._deal([attribute], with_number(attribute, predicate))
        return self._error(deal.moments(self._read(attribute), about))

    def limits(self, attribute: str, predicate: Predicate) -> Limits:
        """Return what tells the bounds of SUM(attribute - about); no number may be missing."""
        deal, numbers = self._deal([attribute], predicate), self._read(attribute)

        def limits(about: float) -> tuple[float, float]:
            less = numbers.less(about, self._sheets[self._place_of[attribute]].starts)
            found = self._sum_bounds(deal, less)
            return found.low, found.high

        return limits

    def _deal(self, summed: list[str], predicate: Predicate | None) -> Deal:
        for name in (*summed, *sorted(predicate.attributes if predicate else ())):
            check_published(self._release, name)
        tree: Tree = ALWAYS
        if predicate is not None:
            tree = take_apart(negation_normal_form(predicate), self._place_of)
        parts: dict[str, dict[Part, None]] = {self._place_of[name]: {} for name in summed}
        # always in the same order: among three tables or more it matters to bounds
        for part in sorted(parts_of(tree), key=lambda part: part.place):
            parts.setdefault(part.place, {})[part] = None
        hands = [hold(self._sheets[place], tuple(own)) for place, own in parts.items()]
        return Deal(tree, hands, self._sizes)

    def _count(self, deal: Deal) -> Estimate:
        fewest, most = deal.bounds()
        low = float(max(fewest - self._fakes, 0))
        high = float(min(most, self._records - self._fakes))
        found = within(deal.expected() * self._genuine, low, high)
        return replace(found, se=0.0 if low == high else self._error(deal.moments()))

    def _sum_bounds(self, deal: Deal, numbers: Numbers) -> Estimate:
        value, low, high = deal.sums(numbers)
        if not self._fakes:
            return within(value, low - numbers.slack, high + numbers.slack)
        low, high = deal.sums_of_some(numbers, self._records - self._fakes)
        low, high = low - numbers.slack, high + numbers.slack
        below, above = numbers.has_sign
        # without numbers below 0 no sum is, however it is rounded
        low, high = low if below else max(low, 0.0), high if above else min(high, 0.0)
        return within(value * self._genuine, low, high)

    def _sum(self, deal: Deal, numbers: Numbers) -> Estimate:
        found = self._sum_bounds(deal, numbers)
        se = 0.0 if found.low == found.high else self._error(deal.moments(numbers))
        return replace(found, se=se)

    def _error(self, moments: Moments | None) -> float | None:
        return None if moments is None else moments.standard_error(self._records, self._fakes)

    def _read(self, name: str) -> Numbers:
        if name not in self._numbers:
            self._numbers[name] = read_numbers(self._sheets[self._place_of[name]], name)
        return self._numbers[name]

    @property
    def _genuine(self) -> float:
        """The share of records that are not fake."""
        return 1.0 - self._fakes / max(self._records, 1)


def anatomized_answers(release: Release) -> DealtAnswers:
    """Return what answers for an anatomised release: each of its tables is dealt on its own.

    Tables of people (`units`) are not read: answers count records.
    """
    sheets, place_of = {}, {}
    for entry in release.manifest.tables:
        if entry.name == "units" or entry.name.startswith("units_"):
            continue
        sheets[entry.name] = Sheet(release, entry.name)
        place_of.update(dict.fromkeys(entry.attributes, entry.name))
    return DealtAnswers(release, sheets, place_of)


def sliced_answers(release: Release) -> DealtAnswers:
    """Return what answers for a sliced release: each block of columns is dealt on its own.

    The number of fake records (`parameters.fakes`) is taken off: the estimate as if they satisfied
    the predicate as often as others, the bounds as if any records could be the fakes.

    Refuses (ReleaseDamaged) a release that does not say which attributes are a block, and what
    `fakes_of` refuses.
    """
    sheet = Sheet(release, "records")
    blocks = release.manifest.parameters.get("columns")
    place_of: dict[str, str] = {}
    for number, block in enumerate(blocks if isinstance(blocks, list) else (), start=1):
        names = block if isinstance(block, list) else ()
        place_of.update({str(name): f"block {number}" for name in names})
    if not place_of.keys() >= {entry.name for entry in release.manifest.attributes}:
        raise ReleaseDamaged("the blocks of a sliced release do not name all of its attributes")
    fakes = fakes_of(release.manifest)
    return DealtAnswers(release, dict.fromkeys(place_of.values(), sheet), place_of, fakes)
