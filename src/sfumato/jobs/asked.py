"""The COUNT queries by which `recommend` judges: some for its search, others held out from it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from sfumato.answers import Answerer
from sfumato.answers.estimate import Count, Query
from sfumato.errors import ParameterError
from sfumato.jobs.query import read_lines
from sfumato.predicates import Predicate
from sfumato.predicates.places import of_query
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.table import Table
from sfumato.utility.overview import DIMENSIONS, SELECTIVITY
from sfumato.utility.query_errors import query_errors
from sfumato.utility.workload import Probe, can_be_asked, probe_of, workload

# Random queries of each number of conditions, for the search and again for what is held out.
QUERIES: Final = 120
# Of fewer queries in a file none is held out: too few would be left to search by.
FEWEST: Final = 9


@dataclass(frozen=True, slots=True)
class AskedQueries:
    """Queries with true answers: `search` chose by the one, and never saw the others (`held_out`).

    `source` says where they are from. Without any held out, both are the same.
    """

    search: tuple[Probe, ...]
    held_out: tuple[Probe, ...]
    source: str

    @property
    def is_split(self) -> bool:
        """Whether the choice is judged by queries that did not choose it."""
        return self.search is not self.held_out

    def on(self, table: Table) -> tuple[Probe, ...]:
        """Return the queries of the search with their answers on some of the rows."""
        return tuple(probe_of(table, probe.predicate) for probe in self.search)


def random_queries(table: Table, randomness: Randomness) -> AskedQueries:
    """Return random queries with one to three conditions on all attributes that are published.

    Each meets about a tenth of the rows if attributes were independent; none has the answer 0.
    """
    names = published(table)
    dimensions = [each for each in DIMENSIONS if each <= len(names)]
    if not dimensions:
        raise ParameterError("no column is published that could be asked about")
    halves = [
        tuple(
            probe
            for dimension in dimensions
            for probe in workload(
                table,
                names,
                queries=QUERIES,
                dimension=dimension,
                selectivity=SELECTIVITY,
                nonzero=True,
                rng=randomness.generator(f"{purpose}, {dimension} conditions"),
            )
        )
        for purpose in ("queries of the search", "queries held out")
    ]
    source = (
        f"{len(halves[0])} random COUNT queries of 1 to {dimensions[-1]} conditions on "
        f"{len(names)} attributes"
    )
    return AskedQueries(halves[0], halves[1], source)


def queries_in(file: str | os.PathLike[str], table: Table, randomness: Randomness) -> AskedQueries:
    """Return the queries of a file, a third of them held out at random if there are enough.

    Refuses (InputError, ParameterError) a file that cannot be read, and, with the line, what is
    no COUNT of the rows that meet a condition on published columns.
    """
    path = Path(file)
    names = published(table)
    predicates = [_predicate(place, text, names) for place, text in read_lines(path).items()]
    probes = tuple(probe_of(table, predicate) for predicate in predicates)
    if all(probe.truth == 0 for probe in probes):
        raise ParameterError(
            f"{path}: no row meets any of the queries, so that no answer has a relative error"
        )
    source = f"{len(probes)} COUNT queries of {path.name}"
    if len(probes) < FEWEST:
        return AskedQueries(probes, probes, f"{source}, too few to hold any out")
    order = randomness.generator("queries held out").permutation(len(probes))
    held = set(order[: len(probes) // 3].tolist())
    return AskedQueries(
        tuple(probe for place, probe in enumerate(probes) if place not in held),
        tuple(probe for place, probe in enumerate(probes) if place in held),
        f"{source}, {len(held)} of them held out",
    )


def published(table: Table) -> list[str]:
    """Return the published columns that a query can name."""
    return [
        attribute.name
        for attribute in table.schema
        if attribute.is_published and can_be_asked(table[attribute.name])
    ]


def mean_error(release: Release, table: Table, probes: Sequence[Probe]) -> float:
    """Return the mean of |answer - truth| / truth over all queries whose truth is not 0.

    A query that the release has no answer to counts as one that is wrong by all of it.

    Refuses (ParameterError) a release that cannot be asked.
    """
    found = query_errors(Answerer(release), table, probes)
    told = found.queries - found.zeros - found.unanswered
    if not told + found.unanswered:
        return float(np.inf)
    return float(((found.mean or 0.0) * told + found.unanswered) / (told + found.unanswered))


def _predicate(place: str, text: str, names: Sequence[str]) -> Predicate:
    from sfumato.answers.select import select

    try:
        with of_query():
            query: Query = select(text, names)
    except ParameterError as error:
        raise ParameterError(f"{place}{error}") from None
    if not isinstance(query.aggregate, Count) or query.group_by or query.where is None:
        raise ParameterError(
            f"{place}a workload counts rows: write SELECT COUNT(*) WHERE ..., without GROUP BY"
        )
    return query.where
