"""Fakes that can be told from people: a record that gives itself away protects nobody.

Which records are fake only the original tells: combinations of a block that the release has more
often than the original. An attacker who has seen some of them looks at what the release alone shows
of each combination: how common it is, how common its values and pairs of values are, how many
rows are like it, how large its group is, and where it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.attacks.leak import leak
from sfumato.attacks.order import told_best
from sfumato.attacks.outcome import Outcome
from sfumato.attacks.stage import parts
from sfumato.attacks.targets import draw
from sfumato.release import Release
from sfumato.schema.distinct import distinct
from sfumato.schema.kinds import is_text
from sfumato.schema.text import to_texts
from sfumato.table.groups import Groups

_OTHERS = 1_000
_NEAR = 0.1  # of all rows lie between the two values

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Feature = Callable[[Ints], npt.NDArray[Any]]


def fake_leaks(
    release: Release, original: pa.Table, sample: int, rng: np.random.Generator
) -> list[Outcome]:
    """Return whether fakes can be told from records of people; nothing where there are none."""
    fakes = release.manifest.parameters.get("fakes")
    blocks = release.manifest.parameters.get("columns")
    if release.manifest.layout != "sliced" or not fakes or not isinstance(blocks, list):
        return []
    records = release.tables["records"]
    group = np.asarray(records["group"].to_numpy(), np.int64)
    pairs = max(1, min(int(cast(int, fakes)), sample))
    rights, impossible = [], 0
    for names in cast(list[list[str]], blocks):
        if not set(names) <= set(original.column_names):
            continue
        codes = [_codes(records, original, name) for name in names]
        kinds = Groups.of_equal(codes)
        ids = kinds.ids.astype(np.int64)
        shown, real = ids[: len(group)], ids[len(group) :]
        count = np.bincount(shown, minlength=kinds.count)
        people = np.bincount(real, minlength=kinds.count)
        told = np.logical_and.reduce([_is_value(release, original, name) for name in names])
        fake = (np.maximum(count - people, 0) / np.maximum(count, 1))[shown]
        impossible += int((told & (people == 0)[shown]).sum())
        published = [code[: len(group)] for code in codes]
        # of pairs of a fake and a person's record, each drawn by how likely a row is that
        fakes_ends, ends = (np.cumsum(each * told) for each in (fake, 1 - fake))
        totals = [float((each * told).sum()) for each in (fake, 1 - fake)]
        at = (np.arange(pairs) + 0.5) / pairs * totals[0]
        drawn = np.minimum(np.searchsorted(fakes_ends, at), len(group) - 1)
        for feature in _features(published, shown, group, rng):
            for sign in (1, -1):
                if not all(totals):
                    rights.append(np.full(pairs, np.nan))
                    continue
                rights.append(_told(drawn, (ends, totals[1]), feature, sign, rng))
    if not rights:
        return []
    how = (
        "Of a fake and a person's record the fake is to be picked, by how common its values, their "
        "pairs or all together are, by how many rows are like it, by the size of its group or by "
        "its place, whichever does best in training. A combination that nobody in the original has "
        "counts as a fake, and so does one of several that are alike."
    )
    told = told_best(np.stack(rights), np.full((len(rights), 1), 0.5), rng)
    figures = {"fakes": float(cast(int, fakes)), "combinations_of_nobody": float(impossible)}
    where = "table 'records'"
    return [leak("fakes", how, told, original.num_rows, figures=figures, where=where)]


def _features(
    columns: list[Ints], kind: Ints, group: Ints, rng: np.random.Generator
) -> list[Feature]:
    """Return what may give rows away, each a number for any of the rows."""
    rarest = np.min([_alike(column) for column in columns], axis=0)
    found = [_alike(kind), rarest, _alike(group), np.arange(len(group))]
    lifts = []
    for one, other in combinations(columns, 2):
        pair = Groups.of_equal([one, other]).ids
        expected = _alike(one) * (_alike(other) / len(group))
        lifts.append(_alike(pair) / expected)
    if not lifts:
        return [each.__getitem__ for each in found]
    found.append(np.min(lifts, axis=0))
    return [*(each.__getitem__ for each in found), _Near.of(columns, rng)]


def _alike(codes: npt.NDArray[np.integer[Any]]) -> Ints:
    """Return for each row how many have its code."""
    return np.asarray(np.bincount(codes)[codes])


@dataclass(frozen=True, slots=True, eq=False)
class _Near:
    """How many of some other rows have, in every column, a value near that of a row.

    By column, others stand in the order of their `ranks`, and `before[i]` has the bits of the first
    i of them: who is near in a column are some that follow each other.
    """

    ranks: list[Reals]
    ordered: list[Reals]
    before: list[npt.NDArray[np.uint64]]

    @classmethod
    def of(cls, columns: list[Ints], rng: np.random.Generator) -> _Near:
        rows = len(columns[0])
        ranks = []
        for column in columns:
            rank = np.empty(rows)
            rank[np.argsort(column, kind="stable")] = np.arange(rows)
            ranks.append(rank / rows)
        others = draw(rows, _OTHERS, rng)
        ordered, before = [], []
        for rank in ranks:
            order = np.argsort(rank[others])
            bits = np.zeros((len(others) + 1, len(others) // 64 + 1), np.uint64)
            bits[np.arange(1, len(others) + 1), order // 64] = np.uint64(1) << (order % 64).astype(
                np.uint64
            )
            ordered.append(rank[others][order])
            before.append(np.bitwise_or.accumulate(bits, axis=0))
        return cls(ranks, ordered, before)

    def __call__(self, rows: Ints) -> Reals:
        """Return the number for each of some rows."""
        found = np.empty(len(rows))
        for part in parts(len(rows), 4 * self.before[0].shape[1]):
            near: npt.NDArray[np.uint64] | None = None
            for rank, ordered, before in zip(self.ranks, self.ordered, self.before, strict=True):
                own = rank[rows[part]]
                # those between are near; whether the ones at the ends are, only differences tell
                first = np.searchsorted(ordered, own - _NEAR) - 1
                last = np.searchsorted(ordered, own + _NEAR) - 1
                for _ in range(2):
                    first += ~_is_near(ordered, first, own)
                    last += _is_near(ordered, last, own)
                bits = before[np.maximum(last, 0)] & ~before[np.minimum(first, len(ordered))]
                near = bits if near is None else near & bits
            assert near is not None
            found[part] = np.bitwise_count(near).sum(axis=1)
        return found


def _is_near(ordered: Reals, place: Ints, own: Reals) -> npt.NDArray[np.bool_]:
    inside = (place >= 0) & (place < len(ordered))
    rank = ordered[np.clip(place, 0, len(ordered) - 1)]
    return np.asarray(inside & (np.abs(own - rank) < _NEAR))


def _told(
    fakes: Ints, real: tuple[Reals, float], feature: Feature, sign: int, rng: np.random.Generator
) -> Reals:
    """Return for pairs of a fake and a person's record whether the feature is larger in the fake,
    or smaller (`sign` -1)."""
    ends, total = real
    others = np.minimum(np.searchsorted(ends, rng.random(len(fakes)) * total), len(ends) - 1)
    return np.asarray((1 + sign * np.sign(feature(fakes) - feature(others))) / 2)


def _is_value(release: Release, original: pa.Table, name: str) -> npt.NDArray[np.bool_]:
    """Return which published cells are values rather than ranges, sets or labels of a hierarchy."""
    cells = distinct(release.tables["records"][name], name)
    if not is_text(cells.values.type):
        return np.ones(len(cells.codes), np.bool_)
    known = set(to_texts(distinct(original[name], name).values).to_pylist())
    texts = cells.values.to_pylist()
    plain = [
        text in known or (name not in release.hierarchies and text[:1] not in ("[", "{", "*"))
        for text in texts
    ]
    return np.array([*plain, True], np.bool_)[cells.codes]


def _codes(records: pa.Table, original: pa.Table, name: str) -> Ints:
    """Return codes of the published cells and after them of the original's values, by text; in the
    order of numbers where all are, else of texts."""
    columns = [distinct(table[name], name) for table in (records, original)]
    texts = [to_texts(column.values).to_pylist() for column in columns]
    named = {*texts[0], *texts[1]}
    try:
        ordered = sorted(named, key=float)
    except ValueError:
        ordered = sorted(named)
    place = {text: at for at, text in enumerate(ordered)}
    found = []
    for column, own in zip(columns, texts, strict=True):
        found.append(np.array([*map(place.get, own), len(place)], np.int64)[column.codes])
    return np.concatenate(found)
