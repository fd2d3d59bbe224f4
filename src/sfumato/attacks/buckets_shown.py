"""What a release shows of the buckets in which it shuffles a secret: who is in them, and which
values they hold.

In anatomised and sliced releases the groups are the buckets, and every block of quasi-identifiers
shows who is in them. In the layout `local` a bucket has rows of several groups.

Cells are put into few categories, of which a classifier can learn something: where an attribute
has many cells, ordered ones go with their neighbours, and rare ones of the others together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from sfumato.attacks.adversary import Adversary
from sfumato.attacks.definetti_kernels import Buckets, Shown, Stretches
from sfumato.attacks.reach import Reach
from sfumato.attacks.stage import Secret
from sfumato.attacks.view import Block, Held, buckets_of, paired
from sfumato.schema.attribute import RESERVED_SUFFIX, Kind
from sfumato.table.groups import BLOCK, counting_order, packed, spread, starts_of
from sfumato.table.sorting import sorted_by

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

LAYOUTS: Final = ("anatomized", "sliced", "local")
CATEGORIES: Final = 32  # of an attribute, at most


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """One attribute: the category of each cell, from `first` to before `last`, and how many people
    have the cell."""

    name: str
    reach: Reach
    category: Ints
    people: Reals
    first: int
    last: int


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """The buckets of a secret; `columns` says which feature each cell of a block's combinations is.

    `categories` is how many there are in all, of which the first has no meaning.
    """

    features: Sequence[Features]
    columns: Ints
    shown: Shown
    buckets: Buckets
    stretches: Stretches
    categories: int

    @property
    def blocks(self) -> int:
        """The number of blocks that are shuffled on their own."""
        return len(self.columns)

    @property
    def count(self) -> int:
        """The number of buckets."""
        return len(self.buckets.values) - 1

    @property
    def sizes(self) -> Reals:
        """The number of people in each bucket."""
        held = np.concatenate(([0.0], np.cumsum(self.buckets.weight)))
        return np.asarray(np.diff(held[self.buckets.values]))

    @property
    def rows(self) -> Ints:
        """The number of rows in each bucket, where people with the same cells are one."""
        return np.asarray(np.diff(self.buckets.start, axis=1).max(axis=0))

    def units_of(self, groups: Ints) -> Ints:
        """Return the buckets that people of some groups are in, ascending."""
        shown = self.shown
        groups = _distinct(groups, shown.start.shape[1] - 1)
        _, rows = spread(shown.start[:, groups].ravel(), shown.start[:, groups + 1].ravel())
        _, entries = spread(shown.entries[rows], shown.entries[rows + 1])
        return _distinct(self.buckets.bucket[entries], self.count)

    @property
    def widest(self) -> int:
        """The most values that a bucket holds."""
        return int(np.diff(self.buckets.values).max(initial=1))

    @classmethod
    def of(cls, eyes: Adversary, secret: Secret) -> Lessons:
        """Return what a release of one of the layouts shows of a secret's buckets."""
        if eyes.release.manifest.layout == "local":
            return cls._of_rows(eyes, secret)
        blocks = eyes.view.blocks
        entries = np.arange(sum(len(block.group) for block in blocks) + 1)
        bucket = np.concatenate([block.group for block in blocks])
        count = np.concatenate([block.count for block in blocks]).astype(np.float64)
        every, told = entries[:-1], secret.sides[0]  # entries stand as combinations do
        start = _group_starts(eyes, blocks)
        buckets = Buckets(
            *(bucket, every, count, every, start), *(told.start, told.value, told.weight)
        )
        return cls._made(eyes, blocks, entries, start, buckets)

    @classmethod
    def _of_rows(cls, eyes: Adversary, secret: Secret) -> Lessons:
        """Return the buckets of the layout `local`, whose records say which they are in."""
        table, names = eyes.release.tables["records"], eyes.view.known
        hidden, bucket = buckets_of(table, secret.name)
        bucket -= 1
        group = table["group"].to_numpy().astype(np.int64)[hidden] - 1
        cells = []
        for name in names:
            found = eyes.columns["records"][name]
            codes = found.codes
            if name + RESERVED_SUFFIX in table.column_names:
                told = table[name + RESERVED_SUFFIX].is_null().to_numpy()
                codes = np.where(told, codes, np.int32(len(found.values) + 1))
            cells.append(codes[hidden])
        order = sorted_by([group, *cells, bucket])
        key, in_order = packed([group, *cells])[order], bucket[order]
        # where a combination begins, and where an entry, which is one with a bucket
        begins = _changes(key)
        enters = np.flatnonzero(begins | _changes(in_order))
        begin = np.flatnonzero(begins)
        first = order[begin]
        rows = np.stack([codes[first] for codes in cells]).T
        block = Block(names, group[first], rows, np.diff(begin, append=len(order)))
        buckets, count = in_order[enters], np.diff(enters, append=len(order)).astype(np.float64)
        combination = np.cumsum(begins)[enters] - 1
        entries = np.append(np.flatnonzero(begins[enters]), len(enters))
        secrets = eyes.columns["records"][secret.name].codes[hidden]
        held = Held(*paired(bucket, secrets))
        # the same secret as of groups, if those were the buckets
        view = replace(eyes.view, groups=int(bucket.max()) + 1, held={secret.name: held})
        told = Secret.of(secret.name, [replace(eyes.side, view=view)]).sides[0]
        sizes = np.bincount(buckets, minlength=len(told.start) - 1)
        order = counting_order(buckets.astype(np.int32), len(sizes))
        start = np.append(0, np.cumsum(sizes))
        lists = Buckets(
            *(buckets, combination, count, order, start[np.newaxis]),
            *(told.start, told.value, told.weight),
        )
        return cls._made(eyes, [block], entries, _group_starts(eyes, [block]), lists)

    @classmethod
    def _made(
        cls,
        eyes: Adversary,
        blocks: Sequence[Block],
        entries: Ints,
        start: Ints,
        buckets: Buckets,
    ) -> Lessons:
        """Return what blocks show whose groups start there, with the lists of buckets."""
        features = _features(eyes, blocks)
        place = {each.name: at for at, each in enumerate(features)}
        width = max(len(block.names) for block in blocks)
        columns = np.full((len(blocks), width), -1)
        rows = np.cumsum([0, *(len(block.group) for block in blocks)])
        # of half the width: these are most of what is fetched of a bucket
        cells = np.full((rows[-1], width), -1, np.int32)
        categories = np.zeros((rows[-1], width), np.int32)
        base = np.cumsum([0, *(each.reach.count for each in features)])
        category = np.concatenate([each.category for each in features]).astype(np.int32)
        for at, block in enumerate(blocks):
            own = [place[name] for name in block.names]
            columns[at, : len(own)] = own
            for first in range(0, len(block.group), BLOCK):
                some = block.cells[first : first + BLOCK] + base[own]
                begin = rows[at] + first
                part = slice(begin, begin + len(some)), slice(len(own))
                cells[part], categories[part] = some, category[some]
        return cls(
            features,
            columns,
            Shown(start, cells, categories, entries),
            buckets,
            _stretches(features),
            features[-1].last,
        )


def _group_starts(eyes: Adversary, blocks: Sequence[Block]) -> Ints:
    """Return where each group's combinations start, by block: blocks come one after the other."""
    before = np.cumsum([0, *(len(block.group) for block in blocks)])
    starts = [starts_of(block.group, eyes.view.groups) for block in blocks]
    return np.asarray(np.stack(starts) + before[:-1, np.newaxis])


def _changes(values: Ints) -> npt.NDArray[np.bool_]:
    """Return whether each value is another one than the last, which the first is."""
    found = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=found[1:])
    return found


def _distinct(numbers: Ints, count: int) -> Ints:
    """Return which of the numbers below `count` there are, ascending."""
    occurs = np.zeros(count, np.bool_)
    occurs[numbers] = True
    return np.flatnonzero(occurs)


def _features(eyes: Adversary, blocks: Sequence[Block]) -> list[Features]:
    found = []
    first = 1
    for block in blocks:
        for column, name in enumerate(block.names):
            reach = eyes.side.reaches[name]
            counts = np.bincount(block.cells[:, column], block.count, minlength=reach.count)
            people = counts.astype(np.float64)
            kind = eyes.release.manifest.attribute(name).kind
            own = categories_of(reach, people, kind is not Kind.CATEGORICAL)
            last = first + int(own.max(initial=0)) + 1
            found.append(Features(name, reach, own + first, people, first, last))
            first = last
    return found


def categories_of(reach: Reach, people: Reals, ordered: bool) -> Ints:
    """Return the category of each cell: its own, if that does not make too many.

    Of ordered cells neighbours go together, about as many people in each category; cells that may
    be a missing value are one of their own. Of others, the rarest go together.
    """
    used = np.flatnonzero(people)
    found = np.zeros(len(people), np.int64)
    if len(used) <= CATEGORIES:
        found[used] = np.arange(len(used))
        return found
    if not ordered:
        frequent = used[np.argsort(-people[used], kind="stable")]
        found[frequent] = np.minimum(np.arange(len(frequent)), CATEGORIES - 1)
        return found
    lows, highs = np.full(len(people), np.inf), np.full(len(people), -np.inf)
    np.minimum.at(lows, reach.cell, reach.low)
    np.maximum.at(highs, reach.cell, reach.high)
    told = used[~reach.nulls[used]]
    told = told[np.argsort(lows[told] + highs[told], kind="stable")]
    before = np.cumsum(people[told]) - people[told] / 2
    share = before / max(people[told].sum(), 1)
    found[told] = np.minimum((share * (CATEGORIES - 1)).astype(np.int64), CATEGORIES - 2)
    found[reach.nulls] = CATEGORIES - 1
    return found


def _stretches(features: Sequence[Features]) -> Stretches:
    starts, filled = [], 0
    for each in features:
        own = np.searchsorted(each.reach.cell, np.arange(each.reach.count))
        starts.append(own + filled)
        filled += len(each.reach.cell)
    return Stretches(
        np.concatenate([*starts, [filled]]),
        np.concatenate([each.reach.low for each in features]),
        np.concatenate([each.reach.high for each in features]),
        np.concatenate([each.reach.nulls for each in features]),
    )
