"""A classifier of secrets, learned from a release that hides them in buckets.

A bucket tells who is in it and which values they have, not who has which. But people with like
cells are in many buckets: which values these have in common is theirs. Naive Bayes is learned by
expectation and maximisation. At first everybody has every value of their bucket, by its share.
Then, in turn, it is counted how often each value goes with each cell; and within every bucket
values are given to people by these likelihoods, such that each person has one value and each value
its people. Every block of quasi-identifiers, which a release shuffles on its own, is learned on
its own.

*Source*: Kifer, "Attacks on Privacy and deFinetti's Theorem" (2009). Departs from the paper: what
the paper draws by chance is computed by its expectation, and a bucket's matching by balancing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from sfumato.attacks.adversary import Adversary
from sfumato.attacks.balance_kernels import Few, Room, balance
from sfumato.attacks.buckets_shown import Features, Lessons
from sfumato.attacks.definetti_kernels import add_sharpened
from sfumato.attacks.fits import Fits
from sfumato.attacks.reach import MISSING
from sfumato.attacks.stage import Secret

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
T = TypeVar("T")

ITERATIONS: Final = 10
ROUNDS: Final = 4  # of balancing a bucket
# That are learned from: people of a bucket with the same cells count as one row.
MOST_ROWS: Final = 200_000
_ROOM = 1 << 17  # products of people and values of a bucket, which are kept between rounds
_FEW = 5  # values, and people, of a bucket that is balanced side by side with others
_LANES = 64  # of these, at a time
_NO_TALLY: Final = np.zeros((0, 0))
_SHARES = 4  # of the work, whatever the machine: sums do not depend on the number of its threads


@dataclass(frozen=True, slots=True, eq=False)
class Classifier:
    """What was learned: how much likelier than by chance each value (a line of `ratio`) goes with
    each category of cells, and the factors of the values in buckets (`scale`, a line a block), as
    far as those are `balanced`.

    `rows` is how many people it was learned from, of those who have the secret in a bucket.
    """

    secret: Secret
    lessons: Lessons
    ratio: Reals
    scale: Reals
    balanced: Bools
    rows: int

    def sharpened(self, eyes: Adversary, rows: Ints) -> Reals:
        """Return how likely each person has each value, by the groups that they may be in and the
        classifier; zeros where no group that tells anything fits."""

        def measure(kinds: Ints, fits: Fits) -> Reals:
            self._balance(fits.group)
            out = np.zeros((fits.people, self.secret.count))
            lessons, widest = self.lessons, self.lessons.widest
            add_sharpened(
                *(*fits.by_group, self._ranks(eyes, kinds)),
                *(lessons.columns, lessons.shown, lessons.buckets, lessons.stretches),
                *(self.ratio, self.scale, np.empty(widest), np.empty(widest)),
                *(np.zeros(self.secret.count), out),
            )
            return out

        found = eyes.by_kind(rows, measure)
        found /= np.maximum(found.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        return found

    def balance(self, eyes: Adversary, rows: Ints) -> None:
        """Find the factors of the buckets that some people may be in: all at once, since threads
        take longer to start than a few buckets do."""
        for _, fits in eyes.fits_in_parts(eyes.kinds(rows)[0]):
            self._balance(fits.group)

    def _balance(self, groups: Ints) -> None:
        """Find the factors of the buckets that people of some groups are in."""
        units = self.lessons.units_of(groups)
        units = units[~self.balanced[units]]
        if len(units):
            _in_shares(units, lambda own: _balance(self.lessons, self.ratio, self.scale, own))
            self.balanced[units] = True

    def alone(self, eyes: Adversary, rows: Ints) -> Alone:
        """Return what it says of people by their cells alone, whichever buckets they may be in."""
        with np.errstate(divide="ignore"):
            prior = np.log(eyes.prior(self.secret))
        tables, places = [], []
        for features, ranks in zip(self.lessons.features, self._ranks(eyes, rows).T, strict=True):
            distinct, place = np.unique(ranks, return_inverse=True)
            tables.append(np.log(_mean_ratio(features, distinct, self.ratio)))
            places.append(place)
        return Alone(prior, tables, places)

    def _ranks(self, eyes: Adversary, rows: Ints) -> Ints:
        return np.stack([eyes.side.people[each.name][rows] for each in self.lessons.features], 1)


@dataclass(frozen=True, slots=True, eq=False)
class Alone:
    """What a classifier says of anybody with some cells, in the data or not.

    The shares of the whole release times the likelihoods: the mean of all cells that cover a
    person's, by how frequent they are. All are logarithms, with a table of lines for each
    attribute, and each person's line in it.
    """

    prior: Reals
    tables: Sequence[Reals]
    places: Sequence[Ints]

    def of(self, part: slice) -> Reals:
        """Return how likely each person of a part has each value."""
        found = np.tile(self.prior, (part.stop - part.start, 1))
        for table, place in zip(self.tables, self.places, strict=True):
            found += table[place[part]]
        found -= found.max(axis=1, keepdims=True)
        np.exp(found, out=found)
        found /= found.sum(axis=1, keepdims=True)
        return found


def learn(lessons: Lessons, secret: Secret, rng: np.random.Generator) -> Classifier:
    """Return the classifier of a secret, learned from buckets drawn at random, or from all."""
    order = rng.permutation(lessons.count)
    rows = np.cumsum(lessons.rows[order])
    units = np.sort(order[: max(1, int(np.searchsorted(rows, MOST_ROWS, "right")))])
    ratio = np.ones((secret.count, lessons.categories))
    scale = np.ones((lessons.blocks, len(lessons.buckets.value)))
    for turn in range(ITERATIONS):
        # at first nothing is likelier than anything else, and shares are balanced as they are
        tally = _tally(lessons, ratio, scale, units, ROUNDS if turn else 0)
        ratio = _ratios(lessons, tally)
    none_yet = np.zeros(lessons.count, np.bool_)
    return Classifier(secret, lessons, ratio, scale, none_yet, round(lessons.sizes[units].sum()))


def _tally(lessons: Lessons, ratio: Reals, scale: Reals, units: Ints, rounds: int) -> Reals:
    """Return how many people have each value with each category, if they are matched by ratios."""

    def do(own: Ints) -> Reals:
        tally = np.zeros_like(ratio)
        _balance(lessons, ratio, scale, own, tally, rounds)
        return tally

    found = _in_shares(units, do)
    return np.asarray(sum(found[1:], found[0]))


def _balance(
    lessons: Lessons,
    ratio: Reals,
    scale: Reals,
    units: Ints,
    tally: Reals = _NO_TALLY,
    rounds: int = ROUNDS,
) -> None:
    most = int(min(np.diff(lessons.buckets.start, axis=1).max(initial=1), _ROOM))
    room = Room(
        np.empty(lessons.widest),
        np.empty(lessons.widest),
        np.empty(most),
        np.empty(most),
        np.empty((most, lessons.shown.categories.shape[1]), np.int32),
        np.empty(max(lessons.widest, _ROOM)),
    )
    wide, tall, attributes = min(lessons.widest, _FEW), min(most, _FEW), room.lines.shape[1]
    few = Few(
        np.empty((wide, _LANES)),
        np.empty((wide, _LANES)),
        np.empty(_LANES),
        np.empty((tall, _LANES)),
        np.empty((tall, _LANES)),
        np.empty((wide * tall, _LANES)),
        np.empty((_LANES, tall, attributes), np.uint32),
    )
    balance(units, lessons.shown, lessons.buckets, ratio, rounds, scale, tally, room, few)


def _in_shares(units: Ints, do: Callable[[Ints], T]) -> list[T]:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(do, np.array_split(units, _SHARES)))


def _ratios(lessons: Lessons, tally: Reals) -> Reals:
    """Return how much likelier each category is with each value than it is at all.

    As if so many more people had each value as the attribute has categories, with categories as
    frequent among them as among all: values that are rare learn nothing.
    """
    ratio = np.ones_like(tally)
    for features in lessons.features:
        own = tally[:, features.first : features.last]
        people, values = own.sum(axis=0), own.sum(axis=1, keepdims=True)
        share = people / max(people.sum(), np.finfo(float).tiny)
        added = max(int((people > 0).sum()), 1)
        with np.errstate(invalid="ignore"):  # of categories that nobody has
            found = own / share
        found += added
        found /= values + added
        found[:, share <= 0] = 1.0
        ratio[:, features.first : features.last] = found
    return ratio


def _mean_ratio(features: Features, distinct: Ints, ratio: Reals) -> Reals:
    """Return the mean ratios of the cells that cover each of some ascending ranks, 1 where none
    does."""
    reach, width = features.reach, features.last - features.first
    own = features.category - features.first
    change = np.zeros((len(distinct) + 1, width))
    for ends, sign in ((reach.low, 1), (reach.high, -1)):
        at = np.searchsorted(distinct, ends, "left" if sign > 0 else "right")
        np.add.at(change, (at, own[reach.cell]), sign * features.people[reach.cell])
    weight = np.cumsum(change, axis=0)[:-1]
    nulls = np.bincount(own[reach.nulls], features.people[reach.nulls], minlength=width)
    weight[distinct == MISSING] = nulls
    own_ratio = ratio[:, features.first : features.last]
    found = np.ones((len(distinct), len(ratio)))
    covering = np.count_nonzero(weight, axis=1)
    # exact cells: a rank is in one category, whose ratios are the mean
    alone = np.flatnonzero(covering == 1)
    found[alone] = own_ratio[:, weight[alone].argmax(axis=1)].T
    several = np.flatnonzero((covering > 1) & (weight.sum(axis=1) > 1e-9))
    if len(several):
        shares = weight[several] / weight[several].sum(axis=1, keepdims=True)
        # not by BLAS, whose threads take longer to meet than such a product does
        found[several] = np.einsum("ij,kj->ik", shares, own_ratio)
    return found
