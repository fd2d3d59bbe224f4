"""Leaks of order and residue: what a release tells by how it is written down.

Rows, groups and buckets come in random order, and sets and dictionaries in one that does not depend
on the data, so that an attacker does no better than chance, not even one who trains on half of the
truth (or of the rows) and is tried on the other half. Whoever owns the original can try.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.attacks.adversary import Adversary
from sfumato.attacks.fakes import fake_leaks
from sfumato.attacks.file_leaks import file_leaks
from sfumato.attacks.joins import join_leaks
from sfumato.attacks.leak import leak
from sfumato.attacks.order import numbered_means, told_best, told_order
from sfumato.attacks.outcome import Outcome
from sfumato.attacks.own_rows import OwnRows, attributes_of
from sfumato.attacks.set_adversary import SetAdversary
from sfumato.attacks.set_leaks import set_leaks
from sfumato.attacks.targets import draw
from sfumato.attacks.transition_adversary import TransitionAdversary
from sfumato.attacks.transition_bayes import transition_leaks
from sfumato.attacks.view import columns_of
from sfumato.release import Release
from sfumato.release.transitions import is_randomised
from sfumato.schema.attribute import RESERVED_SUFFIX
from sfumato.schema.distinct import Distinct, DistinctColumns

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

SAMPLE = 20_000  # rows that are looked at
_PEOPLE = 5_000


def leaks(
    release: Release,
    original: pa.Table,
    *,
    path: str | PathLike[str] | None = None,
    published: Release | None = None,
    adversary: Adversary | SetAdversary | None = None,
    sample: int = SAMPLE,
    rng: np.random.Generator,
) -> list[Outcome]:
    """Return what the order of rows, numbers, lists and sets, and the files themselves, tell.

    `path` is the folder of the release: without it, files are not looked at. They are those of
    `published`, where the release is only what of it can be compared. The original has the
    rows in the order in which they were given to the method. `adversary` is one of the release and
    the original, if there is one already.
    """
    columns = adversary.columns if isinstance(adversary, Adversary) else columns_of(release)
    given = DistinctColumns(original)
    found = [
        *_neighbours(release, columns, sample, rng),
        *_sorted_rows(release, columns, sample, rng),
    ]
    if release.manifest.layout == "sets":
        known = adversary if isinstance(adversary, SetAdversary) else None
        found += set_leaks(release, original, sample, rng, known)
    elif is_randomised(release.manifest):
        eyes = TransitionAdversary.of(release, original, original.slice(0, 0), sample=1, rng=rng)
        found += transition_leaks(eyes, sample, rng)
    else:
        if not isinstance(adversary, Adversary):
            adversary = Adversary.of(release, original, original.slice(0, 0), sample=1, rng=rng)
        own = OwnRows.of(adversary, original, min(sample, _PEOPLE), rng, given)
        found += [*_row_order(own), *_group_ids(own, adversary), *_bucket_ids(own)]
        found += join_leaks(own)
        found += fake_leaks(release, original, sample, rng)
    if path is not None:
        found += file_leaks(path, published or release, original, given)
    return found


def _row_order(own: OwnRows) -> list[Outcome]:
    """Return whether places of rows tell the order of the input."""
    found = []
    for table, names in attributes_of(own.release).items():
        rows = own.rows(table, [name for name in names if own.has(name)])
        known = rows >= 0
        told = told_order(rows[known], [own.person[known]], own.rng)
        how = (
            "Rows of the table are matched with people; their places are to tell which of "
            "two people came first in the input."
        )
        where = f"table '{table}'"
        found.append(leak("row order", how, told, own.original.num_rows, where=where))
    return found


def _sorted_rows(
    release: Release,
    distinct_of: Mapping[str, DistinctColumns],
    sample: int,
    rng: np.random.Generator,
) -> list[Outcome]:
    """Return whether places of rows tell their values."""
    found = []
    for entry in release.manifest.tables:
        content = release.tables[entry.name]
        rows = draw(content.num_rows, sample, rng)
        columns = [
            name for name in content.column_names if not pa.types.is_list(content[name].type)
        ]
        if not columns:
            continue
        codes = [_ordered(distinct_of[entry.name][name], rows) for name in columns]
        how = (
            "Places of rows in the table are to tell which of two rows has the larger "
            "value, in the column for which they do so best in one half; it is tried on the other."
        )
        told, where = told_order(rows, codes, rng), f"table '{entry.name}'"
        found.append(leak("sorted rows", how, told, content.num_rows, where=where))
    return found


def _neighbours(
    release: Release,
    distinct_of: Mapping[str, DistinctColumns],
    sample: int,
    rng: np.random.Generator,
) -> list[Outcome]:
    """Return whether neighbouring rows are alike more often than by chance."""
    found = []
    for entry in release.manifest.tables:
        content = release.tables[entry.name]
        total = content.num_rows
        if total < 2:
            continue
        first = 2 * draw(total // 2, sample, rng)  # no row twice: pairs do not hang together
        hits, chances = [], []
        for name in content.column_names:
            if pa.types.is_list(content[name].type):
                continue
            own = distinct_of[entry.name][name]
            codes, counts = own.codes, own.counts.astype(np.float64)
            hits.append(codes[first] == codes[first + 1])
            chances.append([float((counts * (counts - 1)).sum() / (total * (total - 1.0)))])
        if not hits:
            continue
        how = (
            "Rows of the table that follow each other are to have the same group, "
            "bucket or value, in the column where they do so most in one half, tried on the other; "
            "chance is two rows drawn at random."
        )
        told = told_best(np.array(hits, np.float64), np.array(chances), rng)
        where = f"table '{entry.name}'"
        found.append(leak("neighbouring rows", how, told, total, where=where))
    return found


def _group_ids(own: OwnRows, adversary: Adversary) -> list[Outcome]:
    """Return whether numbers of groups tell input order, values or sizes of groups."""
    count = adversary.view.groups
    quantities = _positions(own.group, own.person, count)
    quantities.append(adversary.sizes)
    for table, names in attributes_of(own.release).items():
        quantities += _of_units(own, table, names, own.groups(table), count)
    how = (
        "Numbers of groups are to tell which of two groups comes first in the input, is larger or "
        "has larger values, whichever they tell best in training."
    )
    told = told_order(np.arange(count), quantities, own.rng)
    return [leak("group ids", how, told, own.original.num_rows, figures={"groups": count})]


def _bucket_ids(own: OwnRows) -> list[Outcome]:
    """Return whether numbers of buckets tell input order, values or sizes of buckets."""
    found = []
    for table, names in attributes_of(own.release).items():
        content = own.release.tables[table]
        rows: Ints | None = None
        for name in names:
            if name + RESERVED_SUFFIX not in content.column_names or not own.has(name):
                continue
            buckets = own.column(table, name).buckets
            assert buckets is not None
            inside = buckets >= 0
            if not inside.any():
                continue
            count = int(buckets.max()) + 1
            sizes = np.bincount(buckets[inside], minlength=count)
            rows = own.rows(table, names) if rows is None else rows
            placed = rows >= 0
            placed[placed] = inside[rows[placed]]
            quantities = _positions(buckets[rows[placed]], own.person[placed], count)
            quantities.append(sizes if sizes.all() else np.where(sizes > 0, sizes, np.nan))
            quantities += _of_units(own, table, names, np.where(inside, buckets, count), count)
            how = (
                "Numbers of buckets are to tell which of two buckets comes first in the input, is "
                "larger or has larger values, whichever they tell best in training. A number that "
                "is not used is certain to tell of a bucket that was withheld."
            )
            found.append(
                leak(
                    "bucket ids",
                    how,
                    told_order(np.arange(count), quantities, own.rng),
                    own.original.num_rows,
                    attribute=name,
                    where=f"table '{table}'",
                    figures={"buckets": float((sizes > 0).sum())},
                    certain=int((sizes == 0).sum()),
                )
            )
    return found


def _of_units(
    own: OwnRows, table: str, names: Sequence[str], unit: Ints, count: int
) -> list[Reals | Ints]:
    """Return means of the values, and of their texts' order, of the rows of each unit, or numbers
    in the order of these; rows whose unit is `count` are in none."""
    found: list[Reals | Ints] = []
    sizes = np.bincount(unit, minlength=count)[:count]
    for name in names:
        if not own.has(name):
            continue
        column = own.column(table, name)
        for each in (column.middles, column.cells.astype(np.float64)):
            unknown = np.isnan(each)
            if unknown.any():
                found.append(_means(unit[~unknown], each[~unknown], count))
            else:
                found.append(_means(unit, each, count, sizes))
    return found


def _positions(unit: Ints, people: Ints, count: int) -> list[Reals | Ints]:
    """Return where each unit's people are in the input, the first of them and on average."""
    first = np.full(count, np.inf)
    np.minimum.at(first, unit, people)
    return [np.where(np.isinf(first), np.nan, first), _means(unit, people, count)]


def _means(
    unit: Ints, values: npt.ArrayLike, count: int, sizes: Ints | None = None
) -> Reals | Ints:
    """Return the mean of each unit, of these `sizes` if they are known, or numbers in the order of
    the means; NaN where a unit has no value."""
    sums = np.bincount(unit, np.asarray(values, np.float64), minlength=count)
    total = sums[:count].astype(np.float64, copy=False)
    size = np.bincount(unit, minlength=count)[:count] if sizes is None else sizes
    if not size.all():
        return np.where(size > 0, total / np.maximum(size, 1), np.nan)
    numbers = numbered_means(total, size)
    return total / size if numbers is None else numbers


def _ordered(found: Distinct, rows: Ints) -> Ints:
    """Return the codes of some rows in the order of the values, missing ones last."""
    place = np.empty(len(found.values) + 1, np.int64)
    place[pc.array_sort_indices(found.values).to_numpy()] = np.arange(len(found.values))
    place[-1] = len(found.values)
    return np.asarray(place[found.codes[rows]])
