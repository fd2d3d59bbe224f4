"""The way in: which layout answers how."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sfumato.answers.average import average
from sfumato.answers.dealt import anatomized_answers, sliced_answers
from sfumato.answers.estimate import Asked, Average, Count, Estimate, Query, Result
from sfumato.answers.grouped import grouped
from sfumato.answers.local import LocalAnswers
from sfumato.answers.mean_answers import MeanAnswers
from sfumato.answers.notes import notes
from sfumato.answers.published import Published
from sfumato.answers.randomized import Followable, corrected
from sfumato.answers.set_answers import SetAnswers
from sfumato.answers.sheet import about_weights
from sfumato.answers.steady import Steady, beyond_floats, large_numbers
from sfumato.answers.summands import Unsummable
from sfumato.answers.transitions import TransitionAnswers
from sfumato.answers.weighted import WeightedAnswers
from sfumato.errors import ParameterError
from sfumato.predicates import Predicate, parse
from sfumato.predicates.places import of_query, refusal
from sfumato.release import Release
from sfumato.release.microaggregated import microaggregated
from sfumato.release.transitions import is_randomised
from sfumato.release.weights import weight_of


def _generalized_answers(release: Release) -> Followable:
    if microaggregated(release.manifest):
        return MeanAnswers(release)
    return LocalAnswers(release)


ENGINES: dict[str, Callable[[Release], Followable]] = {
    "anatomized": anatomized_answers,
    "generalized": _generalized_answers,
    "local": LocalAnswers,
    "sets": SetAnswers,
    "sliced": sliced_answers,
}


class Answerer:
    """A release that is read once and asked often.

    Predicates are those of `sfumato.predicates`, or their text; None means all rows.

    Refuses (ParameterError) layouts that have no answers yet.
    """

    def __init__(self, release: Release) -> None:
        self._layout = release.manifest.layout
        if self._layout not in ENGINES:
            known = ", ".join(sorted(ENGINES))
            raise ParameterError(
                f"no answers from the layout {self._layout} yet; there are for: {known}"
            )
        is_replaced = is_randomised(release.manifest)
        self._engine = (TransitionAnswers if is_replaced else ENGINES[self._layout])(release)
        self._cells = Published(release)
        self._corrected = corrected(Steady(self._engine, self._cells), release.manifest)
        self._weight = weight_of(release.manifest)
        self._weighted = self._corrected
        if self._weight is not None:
            by_weight = Steady(WeightedAnswers(release), self._cells)
            self._weighted = corrected(by_weight, release.manifest, weighted=True)
        self._manifest = release.manifest

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that can be asked for."""
        return self._cells.names

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a query may name: weights, too, which are then refused with a reason."""
        return self.names if self._weight is None else (*self.names, self._weight)

    def answer(
        self,
        aggregate: Asked,
        predicate: Predicate | str | None = None,
        *,
        weighted: bool = True,
    ) -> Estimate:
        """Return the expected value of an aggregate, and bounds that contain the true one.

        Where records have weights, a row counts as many times as its weight says, unless
        `weighted` is false; see `answers/weighted.py`.

        Where the release is a sample, or says that rows were withheld, cells perturbed or counts
        noisy, the answer is about the table behind it; see `answers/randomized.py`.

        Refuses (ParameterError) attributes that are not published, literals that do not compare
        with their attribute, and sums of what are not numbers.
        """
        parsed = _parsed(predicate)
        by_weight = weighted and self._weight is not None
        engine = self._weighted if by_weight else self._corrected
        try:
            with beyond_floats():
                if not isinstance(aggregate, Average):
                    return engine.answer(aggregate, parsed)
                name, least = aggregate.attribute, 0.0 if by_weight else 1.0
                return average(engine, self._cells, name, parsed, least_row=least)
        except Unsummable as error:
            what = error.said("AVG" if isinstance(aggregate, Average) else "SUM")
            place = None if isinstance(aggregate, Count) else aggregate.place
            raise (ParameterError(what) if place is None else refusal(place, what)) from None

    def read(self, text: str) -> Query:
        """Return what the text of a query asks.

        Refuses (ParameterError, with the place) what is no query, and columns that cannot be asked
        for.
        """
        # Here and not above, since loading it takes a while and most runs have no text.
        from sfumato.answers.select import select
        from sfumato.predicates.tokens import is_name, words

        with of_query():
            found = select(text, self.columns)
            if self._weight in found.attributes:
                named = [token for token in words(text) if is_name(token)]
                start = next(token.start for token in named if token.text == self._weight)
                raise refusal(start, about_weights(self._weight))
        return found

    def query(self, query: Query | str, *, weighted: bool = True) -> Result:
        """Return the answer to a query, or to its text: a row a group, and what to know about it.

        The text is `SELECT COUNT(*) | SUM(x) | AVG(x) [, columns] WHERE … [GROUP BY columns]`;
        `sfumato.answers.select` says what else may stand there. Groups that no row can be in are
        left out, and those that only withheld rows can be in. `weighted` is as in `answer`.

        Refuses (ParameterError) what `answer` refuses, texts that are no such query, and groups
        that cannot be listed or are more than 10,000.
        """
        if isinstance(query, str):
            with of_query():
                return self.query(self.read(query), weighted=weighted)
        by_weight = weighted and self._weight is not None
        plain = partial(self.answer, weighted=False)
        rows, unnamed = grouped(
            self.answer if by_weight else plain,
            self._cells,
            query,
            self._manifest.suppressed,
            plain if by_weight else None,
        )
        if not rows:  # what no group asks for is refused all the same
            self.answer(query.aggregate, query.where, weighted=weighted)
        found = notes(
            self._manifest, rows, unnamed, is_grouped=bool(query.group_by), weighted=weighted
        )
        if not isinstance(query.aggregate, Count):
            found += large_numbers(self._cells, query.aggregate.attribute)
        return Result(query.group_by, tuple(rows), found)

    def paper_interval(
        self, attribute: str | None, predicate: Predicate | str | None = None
    ) -> tuple[float, float]:
        """Return the interval for SUM(attribute) as section 4.2 of the LGB paper has it.

        For each bucket of the attribute the chances of its rows to satisfy the predicate are
        added up; the sum, rounded down and up, is how many rows do at least and at most; the
        interval adds up so many of the smallest and of the greatest numbers of each bucket. It is
        no bound: the true sum may lie outside. Without an attribute (the paper has none), the
        interval is that of the count, with the table as one bucket. It is about the published
        rows, like the paper.

        Refuses (ParameterError) other layouts, and attributes with cells that are in no bucket.
        """
        if self._layout != "local" or not isinstance(self._engine, LocalAnswers):
            raise ParameterError("the interval of the LGB paper is defined for the layout local")
        return self._engine.paper_interval(attribute, _parsed(predicate))


def answer(
    release: Release,
    aggregate: Asked,
    predicate: Predicate | str | None = None,
    *,
    weighted: bool = True,
) -> Estimate:
    """Return the answer to one question; see `Answerer.answer`."""
    return Answerer(release).answer(aggregate, predicate, weighted=weighted)


def paper_interval(
    release: Release, attribute: str | None, predicate: Predicate | str | None = None
) -> tuple[float, float]:
    """Return the interval of the LGB paper for one question; see `Answerer.paper_interval`."""
    return Answerer(release).paper_interval(attribute, predicate)


def _parsed(predicate: Predicate | str | None) -> Predicate | None:
    return parse(predicate) if isinstance(predicate, str) else predicate
