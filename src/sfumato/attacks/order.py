"""What an attacker who trains on one half of some things can tell of the other half.

Halves are tried both ways: what is learned on the one is tested on the other, so that every thing
is tested once and nothing on itself. Where order or place was drawn at random, nothing that is
learned helps, whatever it is and however the data are arranged: success is chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.attacks.outcome import Rate
from sfumato.table.permutation import permutation

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

_SPARSEST = 8  # numbers that may occur, for every thing


@dataclass(frozen=True, slots=True)
class Trained:
    """How often a trained attacker is right, and how often chance would be."""

    success: Rate
    blind: Rate


def told_order(
    places: npt.ArrayLike, quantities: Sequence[npt.ArrayLike], rng: np.random.Generator
) -> Trained:
    """Return how often places tell which of two things has more of a quantity.

    There is a row of quantities for each way to look at the things (NaN where one is not known);
    the attacker takes the one that places tell best in training. They predict it by its trend or
    by its mean among neighbours, whichever does better in training, too. Each thing has a place of
    its own and is in one pair at most, and pairs that are equal do not count; chance is one half.

    >>> from sfumato.randomness import repeatable
    >>> rng = repeatable(0)
    >>> told_order(np.arange(400), [np.arange(400) ** 2], rng).success.share
    1.0
    """
    where = np.asarray(places, np.float64)
    tables = [_ranked(np.asarray(each)) for each in quantities]
    by_place = np.argsort(where)
    halves = _halves(len(where), rng)
    hits, tried = 0.0, 0
    for train, test in (halves, halves[::-1]):
        trial = _Trial(where, by_place, train[::2], train[1::2])
        best, chosen = -1.0, None
        for table in tables:
            known = trial.where_known(table)
            for predict in (_trend, _neighbours):
                right, of = _in_order(known, table, predict, rng)
                if of and right / of > best:
                    best, chosen = right / of, (table, predict)
        if chosen is not None:
            known = _Trial(where, by_place, train, test).where_known(chosen[0])
            right, of = _in_order(known, chosen[0], chosen[1], rng)
            hits, tried = hits + right, tried + of
    return Trained(Rate(hits, tried), Rate(tried / 2, tried))


def told_best(hits: npt.ArrayLike, chances: npt.ArrayLike, rng: np.random.Generator) -> Trained:
    """Return how often a guess is right that is chosen, among several, by how it does in training.

    `hits` has a line for each way to guess, with a number from 0 to 1 for each try (NaN: no try);
    `chances` what each would be by chance.

    >>> from sfumato.randomness import repeatable
    >>> rng = repeatable(0)
    >>> told_best([[0.0] * 80, [1.0] * 80], [[0.5] * 80, [0.5] * 80], rng).success.share
    1.0
    """
    right = np.atleast_2d(np.asarray(hits, np.float64))
    chance = np.broadcast_to(np.atleast_2d(np.asarray(chances, np.float64)), right.shape)
    known = ~np.isnan(right) & ~np.isnan(chance)
    ways = []
    for own, by_chance, has in zip(right, chance, known, strict=True):
        place = np.flatnonzero(has)
        ways.append(Tries(place, own[place], by_chance[place]))
    return best_of(ways, right.shape[1], rng)


@dataclass(frozen=True, slots=True, eq=False)
class Tries:
    """One way to guess: at which things it was tried, how it went, and what chance would do."""

    place: Ints
    hits: Reals
    chances: Reals


def best_of(ways: Sequence[Tries], count: int, rng: np.random.Generator) -> Trained:
    """Return the same as `told_best`, of ways that were tried at few of so many things."""
    halves = _halves(count, rng)
    in_first = np.empty(count, np.bool_)
    at = np.empty(count, np.int64)
    for half, is_first in zip(halves, (True, False), strict=True):
        in_first[half] = is_first
        at[half] = np.arange(len(half))
    found, expected, tried = 0.0, 0.0, 0
    for train, is_first in zip(halves, (True, False), strict=True):
        if not len(train) or not ways:
            continue
        scores = []
        # what was not tried adds nothing; things are added up in the order in which they were drawn
        gain, spread = np.zeros(len(train)), np.zeros(len(train))
        for way in ways:
            own = in_first[way.place] == is_first
            where, chance = at[way.place[own]], way.chances[own]
            gain[where], spread[where] = way.hits[own] - chance, chance * (1 - chance)
            scores.append(_added_up(gain) / np.sqrt(_added_up(spread) + 1))
            gain[where] = spread[where] = 0.0
        best = ways[int(np.argmax(scores))]
        tested = np.flatnonzero(in_first[best.place] != is_first)
        tested = tested[np.argsort(at[best.place[tested]])]
        found += float(best.hits[tested].sum())
        expected += float(best.chances[tested].sum())
        tried += len(tested)
    return Trained(Rate(found, tried), Rate(expected, tried))


def _added_up(values: Reals) -> float:
    return float(np.add.accumulate(values)[-1])


def _ranked(values: npt.NDArray[Any]) -> Reals:
    """Return ranks from 0 to 1, equal values alike: what is far out must not decide means."""
    if _is_dense(values):  # numbering what may occur is quicker than sorting
        occurs = np.zeros(int(values.max()) + 1, np.bool_)
        occurs[values] = True
        number = np.cumsum(occurs) - 1
        return np.asarray(number[values] / max(int(number[-1]), 1))
    values = values.astype(np.float64)
    known = ~np.isnan(values)
    ranks = np.full(len(values), np.nan)
    distinct, at = np.unique(values[known], return_inverse=True)
    ranks[known] = at / max(len(distinct) - 1, 1)
    return ranks


def numbered_means(total: Reals, size: Ints) -> Ints | None:
    """Return numbers in the order of means, found by counting totals and sizes that may occur
    instead of sorting means; None where these are too many, or not whole. No size is 0.

    >>> numbered_means(np.array([3.0, 2.0, 1.5, 1.0]), np.array([2, 1, 1, 2])).tolist()
    [1, 2, 1, 0]
    """
    twice = (2 * total).astype(np.int64)  # the middle of two values is a half at the least
    width = int(size.max(initial=0)) + 1
    span = (int(twice.max(initial=0)) + 1) * width
    if span > _SPARSEST * len(size) or twice.min(initial=0) < 0 or (twice != 2 * total).any():
        return None
    keys = twice * width + size
    occurs = np.zeros(span, np.bool_)
    occurs[keys] = True
    used = np.flatnonzero(occurs)
    number = np.empty(span, np.int64)
    number[used] = np.unique(used // width / 2 / (used % width), return_inverse=True)[1]
    return np.asarray(number[keys])


def _is_dense(values: npt.NDArray[Any]) -> bool:
    """Return whether values are whole numbers, and not far more of them than things."""
    whole = np.issubdtype(values.dtype, np.integer) and len(values) > 0
    return bool(whole and values.min() >= 0 and values.max() < _SPARSEST * len(values))


def _halves(count: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    order = permutation(rng, count)
    return order[: count // 2], order[count // 2 :]


@dataclass(frozen=True, eq=False)
class _Trial:
    """Things to learn from and things to be tested, where they are, and all in that order."""

    where: Reals
    by_place: Ints
    train: Ints
    test: Ints

    def where_known(self, table: Reals) -> _Trial:
        """Return the trial with the things of which a quantity is known."""
        unknown = np.isnan(table)
        if not unknown.any():
            return self  # which has its order already
        train, test = (each[~unknown[each]] for each in (self.train, self.test))
        return _Trial(self.where, self.by_place, train, test)

    @cached_property
    def _is_learned(self) -> npt.NDArray[np.bool_]:
        """Whether each thing, in the order of places, is learned from."""
        found = np.zeros(len(self.where), np.bool_)
        found[self.train] = True
        return found[self.by_place]

    @cached_property
    def ordered(self) -> Ints:
        """What is learned from, in the order of places."""
        return self.by_place[self._is_learned]

    @cached_property
    def after(self) -> Ints:
        """How many of those lie before each that is tested."""
        before = np.empty(len(self.where), np.int64)
        before[self.by_place] = np.cumsum(self._is_learned)
        return before[self.test]

    @cached_property
    def off_centre(self) -> Reals:
        """How far what is learned from lies behind the middle of it."""
        where = self.where[self.train]
        return np.asarray(where - where.mean())

    @cached_property
    def tested(self) -> Reals:
        """Where those are that are tested."""
        return self.where[self.test]


def _in_order(
    trial: _Trial,
    table: Reals,
    predict: Callable[[_Trial, Reals], Reals],
    rng: np.random.Generator,
) -> tuple[float, int]:
    """Return how many pairs of tested things the prediction has in order, where equal guesses count
    a half, and how many there are; things that are equal are no pair."""
    tested = len(trial.test)
    if len(trial.train) < 2 or tested < 2:
        return 0.0, 0
    guess = predict(trial, table)
    order = permutation(rng, tested)[: tested // 2 * 2]
    one, other = order[::2], order[1::2]
    first, second = table[trial.test[one]], table[trial.test[other]]
    rises, falls = first < second, first > second
    first, second = guess[one], guess[other]
    said, denied = first < second, first > second
    right = np.count_nonzero(rises & said) + np.count_nonzero(falls & denied)
    wrong = np.count_nonzero(rises & denied) + np.count_nonzero(falls & said)
    counted = np.count_nonzero(rises) + np.count_nonzero(falls)
    return (counted + right - wrong) / 2, counted


def _trend(trial: _Trial, table: Reals) -> Reals:
    """Return a guess that rises or falls with the place, as the quantity did in training."""
    learned = table[trial.train]
    together = float((trial.off_centre * (learned - learned.mean())).sum())
    return np.asarray(trial.tested * np.sign(together))


def _neighbours(trial: _Trial, table: Reals) -> Reals:
    """Return the mean of the quantity among those that lie nearest, a few of them."""
    count = len(trial.train)
    width = min(max(1, int(count**0.25)), count)
    means = np.convolve(table[trial.ordered], np.ones(width) / width, "valid")
    first = np.clip(trial.after - width // 2, 0, len(means) - 1)
    return np.asarray(means[first])
