"""The way in: which layout answers how."""

from __future__ import annotations

from collections.abc import Callable

from sfumato.answers.average import average
from sfumato.answers.dealt import anatomized_answers, sliced_answers
from sfumato.answers.estimate import Asked, Average, Estimate, Query, Result
from sfumato.answers.grouped import grouped
from sfumato.answers.local import LocalAnswers
from sfumato.answers.notes import notes
from sfumato.answers.published import Published
from sfumato.answers.randomized import Engine, corrected
from sfumato.answers.set_answers import SetAnswers
from sfumato.errors import ParameterError
from sfumato.predicates import Predicate, parse
from sfumato.release import Release

ENGINES: dict[str, Callable[[Release], Engine]] = {
    "anatomized": anatomized_answers,
    "generalized": LocalAnswers,
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
        self._engine = ENGINES[self._layout](release)
        self._corrected = corrected(self._engine, release.manifest)
        self._manifest = release.manifest
        self._cells = Published(release)

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that can be asked for."""
        return self._cells.names

    def answer(self, aggregate: Asked, predicate: Predicate | str | None = None) -> Estimate:
        """Return the expected value of an aggregate, and bounds that contain the true one.

        Where the release is a sample, or says that cells are perturbed or counts noisy, the answer
        is about the table behind it; see `answers/randomized.py`.

        Refuses (ParameterError) attributes that are not published, literals that do not compare
        with their attribute, and sums of what are not numbers.
        """
        parsed = _parsed(predicate)
        if isinstance(aggregate, Average):
            return average(self._corrected, self._cells, aggregate.attribute, parsed)
        return self._corrected.answer(aggregate, parsed)

    def query(self, query: Query | str) -> Result:
        """Return the answer to a query, or to its text: a row a group, and what to know about it.

        The text is `SELECT COUNT(*) | SUM(x) | AVG(x) [, columns] WHERE … [GROUP BY columns]`;
        `sfumato.answers.select` says what else may stand there. Groups that no row can be in are
        left out.

        Refuses (ParameterError) what `answer` refuses, texts that are no such query, and groups
        that cannot be listed or are more than 10,000.
        """
        if isinstance(query, str):
            # Here and not above, since loading it takes a while and most runs have no text.
            from sfumato.answers.select import select

            query = select(query, self.names)
        rows, unnamed = grouped(self.answer, self._cells, query)
        return Result(query.group_by, tuple(rows), notes(self._manifest, rows, unnamed))

    def paper_interval(
        self, attribute: str | None, predicate: Predicate | str | None = None
    ) -> tuple[float, float]:
        """Return the interval for SUM(attribute) as section 4.2 of the LGB paper has it.

        For each bucket of the attribute the chances of its rows to satisfy the predicate are
        added up; the sum, rounded down and up, is how many rows do at least and at most; the
        interval adds up so many of the smallest and of the greatest numbers of each bucket. It is
        no bound: the true sum may lie outside. Without an attribute (the paper has none), the
        interval is that of the count, with the table as one bucket.

        Refuses (ParameterError) other layouts, and attributes with cells that are in no bucket.
        """
        if self._layout != "local" or not isinstance(self._engine, LocalAnswers):
            raise ParameterError("the interval of the LGB paper is defined for the layout local")
        return self._engine.paper_interval(attribute, _parsed(predicate))


def answer(
    release: Release, aggregate: Asked, predicate: Predicate | str | None = None
) -> Estimate:
    """Return the answer to one question; see `Answerer.answer`."""
    return Answerer(release).answer(aggregate, predicate)


def paper_interval(
    release: Release, attribute: str | None, predicate: Predicate | str | None = None
) -> tuple[float, float]:
    """Return the interval of the LGB paper for one question; see `Answerer.paper_interval`."""
    return Answerer(release).paper_interval(attribute, predicate)


def _parsed(predicate: Predicate | str | None) -> Predicate | None:
    return parse(predicate) if isinstance(predicate, str) else predicate
