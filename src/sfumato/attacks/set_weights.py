"""How likely a person's values make the sets of each record: the weights of all records."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sfumato.answers.set_axes import Axis
from sfumato.attacks.set_kernels import BLOCK, Heaviest, Weights, mark_members

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Which records hold the values of some people, ascending rows, in bits.

    Those of what person i has of an attribute begin at `begin[attribute][i]` of `words`, and so
    many of them are set.
    """

    axes: Mapping[str, Axis]
    people: Ints
    words: npt.NDArray[np.uint64]
    begin: Mapping[str, Ints]
    count: Mapping[str, Ints]

    @classmethod
    def by(cls, axes: Mapping[str, Axis], places: Mapping[str, Ints], people: Ints) -> Held:
        """Return the bits of all attributes; `places` has where people's values stand."""
        words, filled = [np.zeros(0, np.uint64)], 0
        begin, count = {}, {}
        for name, axis in axes.items():
            values, of = np.unique(places[name][people], return_inverse=True)
            line = np.full(axis.size, -1, np.int64)
            inside = values >= 0
            line[values[inside]] = np.flatnonzero(inside)
            own = np.zeros((len(values), (len(axis.members) + 63) // 64), np.uint64)
            mark_members(axis.members, line, own)
            begin[name] = filled + of * own.shape[1]
            count[name] = np.bitwise_count(own).sum(axis=1, dtype=np.int64)[of]
            filled += own.size
            words.append(own.ravel())
        return cls(axes, people, np.concatenate(words), begin, count)

    def weights(self, rows: Ints, names: Sequence[str]) -> Weights:
        """Return what weighs the records for some of the people, by some attributes."""
        place = np.searchsorted(self.people, rows)
        hard = [name for name in names if self.axes[name].own >= 1]
        ordered = [*hard, *(name for name in names if self.axes[name].own < 1)]
        at = np.empty((len(rows), len(ordered)), np.int64)
        for column, name in enumerate(ordered):
            at[:, column] = self.begin[name][place]
        if hard:  # what the fewest records hold comes first: most words are done with it
            counts = np.stack([self.count[name][place] for name in hard], axis=1)
            order = np.argsort(counts, axis=1)
            at[:, : len(hard)] = np.take_along_axis(at[:, : len(hard)], order, axis=1)
        each = np.array([factors(self.axes[name]) for name in ordered]).reshape(-1, 2)
        inside, outside = np.ascontiguousarray(each.T)
        records = max((len(axis.members) for axis in self.axes.values()), default=0)
        return Weights(self.words, at, len(hard), inside, outside, records)


def room() -> Heaviest:
    """Return room for the weights of as many records as are weighed at a time."""
    words = (BLOCK + 63) >> 6
    bits, some = np.empty(words, np.uint64), np.empty(words, np.int64)
    return Heaviest(bits, some, np.empty(BLOCK, np.int64), np.empty(BLOCK, np.float64))


def in_shares(count: int, do: Callable[[int, int], None]) -> None:
    """Let threads do the work for equal shares of some people."""
    threads = max(1, min(os.cpu_count() or 1, count))
    bounds = np.linspace(0, count, threads + 1).astype(int).tolist()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda ends: do(*ends), pairwise(bounds)))


def factors(axis: Axis) -> tuple[float, float]:
    """Return how much likelier than any set one is that holds the own value, or that does not.

    Sets without it are drawn as any set is, with the probability 1 - p that the manifest states.
    """
    size, eta = axis.size, axis.eta
    if eta == 1 and axis.own >= 1:
        return 1.0, 0.0  # a value in clear is theirs or not
    scale = size / eta
    return axis.own * scale, 0.0 if eta == size else axis.outside * scale
