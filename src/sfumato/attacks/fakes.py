"""Fakes that can be told from people: a record that gives itself away protects nobody.

Which records are fake only the original tells: combinations of a block that the release has more
often than the original. An attacker who has seen some of them looks at what the release alone shows
of each combination: how common it is, how common its values and pairs of values are, how many
rows are like it, how large its group is, and where it stands.
"""

from __future__ import annotations

from itertools import combinations
from typing import cast

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
from sfumato.table.groups import packed

_OTHERS = 1_000
_NEAR = 0.1  # of all rows lie between the two values

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


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
        keys = packed([code.astype(np.int64) for code in codes])
        _, kind = np.unique(keys, return_inverse=True)
        shown, real = kind[: len(group)], kind[len(group) :]
        count = np.bincount(shown, minlength=int(kind.max()) + 1)
        people = np.bincount(real, minlength=len(count))
        told = np.logical_and.reduce([_is_value(release, original, name) for name in names])
        fake = (np.maximum(count - people, 0) / np.maximum(count, 1))[shown]
        impossible += int((told & (people == 0)[shown]).sum())
        published = [code[: len(group)] for code in codes]
        for feature in _features(published, shown, group, rng):
            for sign in (1, -1):
                rights.append(_told(fake * told, (1 - fake) * told, sign * feature, pairs, rng))
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
) -> list[Reals]:
    """Return what may give a row away, each a number a row."""
    rarest = np.min([np.bincount(column)[column] for column in columns], axis=0)
    found = [np.bincount(kind)[kind], rarest, np.bincount(group)[group], np.arange(len(group))]
    lifts = []
    for one, other in combinations(columns, 2):
        _, pair = np.unique(packed([one, other]), return_inverse=True)
        expected = np.bincount(one)[one] * (np.bincount(other)[other] / len(group))
        lifts.append(np.bincount(pair)[pair] / expected)
    if lifts:
        found += [np.min(lifts, axis=0), _near(columns, rng)]
    return [np.asarray(each, np.float64) for each in found]


def _near(columns: list[Ints], rng: np.random.Generator) -> Reals:
    """Return how many of some rows have, in every column, a value near that of each row."""
    rows = len(columns[0])
    ranks = [np.argsort(np.argsort(column, kind="stable")) / rows for column in columns]
    others = draw(rows, _OTHERS, rng)
    found = np.zeros(rows)
    for part in parts(rows, len(others)):
        near = np.ones((part.stop - part.start, len(others)), np.bool_)
        for rank in ranks:
            near &= np.abs(rank[part, None] - rank[others]) < _NEAR
        found[part] = near.sum(axis=1)
    return found


def _told(fake: Reals, real: Reals, feature: Reals, pairs: int, rng: np.random.Generator) -> Reals:
    """Return for pairs of a fake and a person's record whether the feature is larger in the fake;
    both are drawn by how likely they are that."""
    if fake.sum() == 0 or real.sum() == 0:
        return np.full(pairs, np.nan)
    one, other = (
        np.minimum(np.searchsorted(np.cumsum(weight), at * weight.sum()), len(weight) - 1)
        for weight, at in ((fake, (np.arange(pairs) + 0.5) / pairs), (real, rng.random(pairs)))
    )
    return np.asarray((1 + np.sign(feature[one] - feature[other])) / 2)


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
