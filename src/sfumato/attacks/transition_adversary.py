"""Somebody who has a release of cells that were replaced at random: which record may be whose.

A cell is not taken at face value. If M is the published matrix of an attribute, a person of the
value x shows y with the chance M[x, y], and anybody with the share s(y) that y has in the release;
so a record is M[x, y]/s(y) times as likely theirs as any. The product over all that is known of a
person weighs the record (Bayes, attributes being independent). What a record's own cell says of a
secret follows by Bayes from its matrix, and from how common each value is, which the published
shares and the inverse of the matrix tell.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers.set_axes import Axis
from sfumato.answers.transition_axes import TransitionAxis, read_transition_axis
from sfumato.attacks.adversary import gather, refuse_unfit
from sfumato.attacks.set_adversary import MOST_PAIRS, SetAdversary
from sfumato.attacks.set_people import places
from sfumato.attacks.stage import Secret
from sfumato.attacks.targets import draw
from sfumato.attacks.transition_kernels import add_by_code, find_top, weigh_records
from sfumato.errors import ParameterError
from sfumato.measures.transitions import estimated_shares, posterior
from sfumato.release import Release
from sfumato.release.transitions import read_transitions
from sfumato.schema.attribute import Role
from sfumato.schema.text import to_texts

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TransitionAdversary(SetAdversary):
    """An adversary of a release of replaced cells; every record is a group of its own, as in a
    release of random sets. `columns` has what the release shows."""

    columns: Mapping[str, TransitionAxis] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        release: Release,
        original: pa.Table,
        controls: pa.Table | None = None,
        *,
        sample: int,
        rng: np.random.Generator,
    ) -> TransitionAdversary:
        """Return the adversary; at most `sample` people of each sort are looked at, and fewer where
        the release is large.

        Refuses (ParameterError) originals and controls that lack what is known of people, and
        releases or originals without rows.
        """
        refuse_unfit(release, original)
        entries = release.manifest.attributes
        known = tuple(e.name for e in entries if e.role is Role.QUASI_IDENTIFIER)
        secrets = tuple(e.name for e in entries if e.role is Role.SENSITIVE)
        if not known:
            raise ParameterError(
                "the release has no quasi-identifiers, so there is nothing to know of people"
            )
        sample = max(1, min(sample, MOST_PAIRS // release.manifest.rows))
        people, who = gather(original, controls, known, secrets, sample, rng)
        transitions = read_transitions(release.manifest)
        columns = {
            name: read_transition_axis(release, transitions, name) for name in (*known, *secrets)
        }
        standing = {
            name: places(release, name, to_texts(column.values).to_pylist(), people)
            for name, column in columns.items()
        }
        if any(np.mean(each[: original.num_rows] < 0) > 0.1 for each in standing.values()):
            raise ParameterError(
                "too many people of the original have values that the release does not list; give "
                "the table that the release was made from"
            )
        told = frozenset(() if controls is None else secrets)
        return cls(
            release=release,
            axes={name: _axis(column) for name, column in columns.items()},
            places=standing,
            known=known,
            secrets=secrets,
            targets=draw(original.num_rows, sample, rng),
            controls=draw(people.num_rows - original.num_rows, sample, rng) + original.num_rows,
            controls_are=who,
            population=original.num_rows,
            untold=told.difference([] if controls is None else controls.column_names),
            columns=columns,
        )

    def linked(self, rows: Ints) -> Reals:
        """Return the chance that the likeliest record is the person's own, ties being shared.

        Which one is their own only the owner of the data can guess: by all values they have.
        """
        fill = self._filler(rows, tuple(self.columns))

        def measure(place: int, weights: Reals) -> float:
            own, found = np.empty(self.rows), np.zeros(5)
            fill(place, own)
            find_top(weights, own, found)
            return float(found[4] / (found[3] * found[2])) if found[2] and found[3] > 0 else 0.0

        return np.array(self._each(rows, self.known, measure), np.float64)

    def _sums(self, rows: Ints) -> Reals:
        """Return how many records fit as well as the best, and the chance that is seen in one of
        the best."""

        def measure(_: int, weights: Reals) -> tuple[float, float]:
            found = np.zeros(5)
            find_top(weights, weights, found)
            return (found[0] / found[1], found[1] / found[0]) if found[1] > 0 else (0.0, 0.0)

        def all_of_them() -> Reals:
            kinds, of = self.kinds(rows)
            found = np.array(self._each(kinds, self.known, measure), np.float64).reshape(-1, 2)
            return np.asarray(found[of])

        found: Reals = self.remembered(("tops", rows.tobytes()), all_of_them)
        return found

    def posterior(self, rows: Ints, secret: Secret) -> Reals:
        """Return how likely each person has each value, given the release."""
        kinds, of = self.kinds(rows)
        column = self.columns[secret.name]
        codes, behind = column.codes.astype(np.int32), None
        if column.transition is not None:
            behind = posterior(self._margin(secret.name), column.transition.matrix)

        def measure(_: int, weights: Reals) -> Reals:
            shown = np.zeros(column.size)
            add_by_code(weights, codes, shown)
            return shown if behind is None else np.asarray(shown @ behind)

        order = self._order(secret.name)
        found = np.zeros((len(kinds), secret.count))
        for place, line in enumerate(self._each(kinds, self.known, measure)):
            found[place, order] = line
        found /= np.maximum(found.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        return found[of]

    def _margin(self, name: str) -> Reals:
        """Return the estimated shares of values, none below 0."""
        column = self.columns[name]
        if column.transition is None:
            return np.asarray(column.counts / max(self.rows, 1))
        return estimated_shares(column.counts, column.transition.matrix)

    def _each(
        self, rows: Ints, names: Sequence[str], measure: Callable[[int, Reals], Any]
    ) -> list[Any]:
        """Return a measure of the weights of all records, for each person by threads."""
        fill = self._filler(rows, names)
        threads = max(1, min(os.cpu_count() or 1, len(rows)))

        def do(own: range) -> list[Any]:
            weights, found = np.empty(self.rows), []
            for place in own:
                fill(place, weights)
                found.append(measure(place, weights))
            return found

        shares = [range(first, len(rows), threads) for first in range(threads)]
        with ThreadPoolExecutor(threads) as pool:
            done = list(pool.map(do, shares))
        return [done[place % threads][place // threads] for place in range(len(rows))]

    def _filler(self, rows: Ints, names: Sequence[str]) -> Callable[[int, Reals], None]:
        """Return what fills in the weights of all records for one of some people."""
        columns = [self.columns[name] for name in names]
        codes = np.stack([column.codes.astype(np.int32) for column in columns])
        exact = np.array([column.transition is None for column in columns])
        own = np.stack([self.places[name][rows] for name in names], axis=1)
        factors = [_factors(column) for column in columns]
        width = max(each.shape[1] for each in factors)

        def fill(place: int, weights: Reals) -> None:
            lines = np.zeros((len(columns), width))
            for line, each, at in zip(lines, factors, own[place], strict=True):
                if at >= 0 and len(each):
                    line[: each.shape[1]] = each[at]
            weigh_records(codes, exact, own[place], lines, weights)

        return fill


def _factors(column: TransitionAxis) -> Reals:
    """Return by true and published value how much likelier the one makes the other than it is."""
    if column.transition is None:
        return np.zeros((0, 1))
    shares = column.counts / max(len(column.codes), 1)
    matrix = column.transition.matrix
    return np.divide(matrix, shares, out=np.zeros_like(matrix), where=shares > 0)


def _axis(column: TransitionAxis) -> Axis:
    """Return the column as other attacks on single records read it: whether its cells are sure."""
    own = 1.0
    if column.transition is not None:
        own = min(float(np.diagonal(column.transition.matrix).mean()), 1 - 1e-9)
    return Axis(
        name=column.name,
        values=column.values,
        members=column.codes.astype(np.int32).reshape(-1, 1),
        own=own,
        other=0.0,
        telling=own,
        outside=0.0,
    )
