"""People who are not in the data but might have been, made of the data's own rows.

Whether an attack succeeds on people because they are in a release is told by trying it on others.
Where nobody gives such people, they are made: two rows that share one attribute, drawn at random
(numbers share one of some fifty classes of equal size), each give half of the other attributes that
an adversary may know. So every value is as frequent among them as in the data, and attributes go
together in them, though less than in the data where three or more are bound to each other. Nobody
is sorted out: such a person may agree with somebody of the data, as a stranger may. Of two
attributes one is shared, so that where few values are numbers many of them agree with a parent.

What they keep secret comes from a further row that is like them in two attributes: the secret of a
parent would be in the parent's group, and so would be found like that of the parent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.schema.distinct import distinct
from sfumato.schema.kinds import is_number

Ints = npt.NDArray[np.int64]

GIVEN = "people of a table of controls"
MADE = "synthetic people, crossed from rows of the data that share an attribute"
NONE = "nobody: the data have too few rows to make any"

_CLASSES = 50  # of numbers
_IN_CLASS = 8  # rows of a class, at least
_PAIRS = 24  # pairs of attributes by which secrets are found, at most
_LOOKED_AT = 200_000  # rows that are crossed at most
_FEW_KEYS = 1 << 16  # that are looked up in a table of all that there could be
_DRAWS = 4  # until a row is found that is neither parent


def made_controls(
    original: pa.Table, known: Sequence[str], count: int, rng: np.random.Generator
) -> pa.Table:
    """Return so many people who are not in the data, at most as many as these have rows.

    Nobody where there are fewer than three rows.
    """
    rows = original.num_rows
    chosen = np.sort(rng.choice(rows, _LOOKED_AT, replace=False)) if rows > _LOOKED_AT else None
    table = original if chosen is None else original.take(pa.array(chosen))
    count = min(count, rows) if rows >= 3 and known else 0
    classes = np.array([_classes(table, name) for name in known]).reshape(
        len(known), table.num_rows
    )
    parents, known_of = _crossed(classes, count, rng)
    secret = _alike(classes, known_of, parents, rng)
    source = dict(zip(known, known_of, strict=True))
    return pa.table(
        {name: table[name].take(pa.array(source.get(name, secret))) for name in table.column_names},
        schema=original.schema,
    )


def _crossed(classes: Ints, count: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the rows of two parents of each, and the row that each attribute comes from."""
    attributes, rows = classes.shape
    one = rng.integers(0, max(rows, 1), count)
    shared = rng.integers(0, max(attributes, 1), count)
    other = np.empty(count, np.int64)
    for attribute in range(attributes):
        own = np.flatnonzero(shared == attribute)
        found = _like(classes[attribute], classes[attribute][one[own]], one[own, None], rng)
        anybody = rng.integers(0, max(rows, 1), len(own))
        other[own] = np.where(found >= 0, found, anybody)
    # the shared attribute comes last in the order of each, and never from the other
    order = rng.random((attributes, count))
    order[shared, np.arange(count)] = 2
    from_other = np.argsort(np.argsort(order, axis=0), axis=0) < attributes // 2
    return np.stack([one, other], axis=1), np.where(from_other, other, one)


def _alike(classes: Ints, made: Ints, parents: Ints, rng: np.random.Generator) -> Ints:
    """Return a row for each of some made people that is like them in two attributes, or in one,
    or any; it is no parent of theirs."""
    attributes, count = made.shape
    rows = classes.shape[1]
    own_class = np.take_along_axis(classes, made, axis=1) if count else made
    pairs = np.stack(np.triu_indices(attributes, 1), axis=1)
    pairs = rng.permutation(pairs)[:_PAIRS]
    found = np.full(count, -1)
    pair = rng.integers(0, max(len(pairs), 1), count)
    for number, (first, second) in enumerate(pairs):
        width = int(classes[second].max(initial=0)) + 1
        own = np.flatnonzero(pair == number)
        keys = classes[first] * width + classes[second]
        wanted = own_class[first, own] * width + own_class[second, own]
        found[own] = _like(keys, wanted, parents[own], rng)
    single = rng.integers(0, max(attributes, 1), count)
    for attribute in range(attributes):
        own = np.flatnonzero((found < 0) & (single == attribute))
        found[own] = _like(classes[attribute], own_class[attribute, own], parents[own], rng)
    own = np.flatnonzero(found < 0)
    # any row at all; in a table of three or more one of these is no parent
    anybody = rng.integers(0, max(rows, 1), len(own))
    for _ in range(2):
        anybody = np.where((parents[own] == anybody[:, None]).any(axis=1), anybody + 1, anybody)
        anybody %= max(rows, 1)
    found[own] = anybody
    return found


def _like(keys: Ints, wanted: Ints, parents: Ints, rng: np.random.Generator) -> Ints:
    """Return a random row with each wanted key that is none of the parents, -1 where none is."""
    asked, of = np.unique(wanted, return_inverse=True)
    place = _places(keys, asked)
    may = np.flatnonzero(place >= 0)
    # there are few people, and numpy sorts short numbers in no time
    place = place[may].astype(np.uint16 if len(asked) < 1 << 16 else np.int64)
    order = may[np.argsort(place, kind="stable")]
    sizes = np.bincount(place, minlength=len(asked))
    low, size = (np.cumsum(sizes) - sizes)[of], sizes[of]
    found = np.full(len(wanted), -1)
    for _ in range(_DRAWS):
        open_ = np.flatnonzero((found < 0) & (size > 0))
        drawn = order[low[open_] + rng.integers(0, size[open_])]
        free = (parents[open_] != drawn[:, None]).all(axis=1)
        found[open_[free]] = drawn[free]
    return found


def _places(keys: Ints, asked: Ints) -> Ints:
    """Return where each key stands among some ascending ones, -1 where it does not."""
    span = int(keys.max(initial=0)) + 1
    if span <= max(len(keys), _FEW_KEYS):
        found = np.full(span, -1)
        can_be = np.flatnonzero(asked < span)  # no row may have some that are asked for
        found[asked[can_be]] = can_be
        return found[keys]
    place = np.minimum(np.searchsorted(asked, keys), max(len(asked) - 1, 0))
    return np.where(asked[place] == keys, place, -1) if len(asked) else np.full(len(keys), -1)


def _classes(table: pa.Table, name: str) -> Ints:
    """Return the class of every row: one for each value, of numbers so many of equal size."""
    found = distinct(table[name], name)
    if not is_number(found.values.type):
        return found.codes.astype(np.int64)
    place = np.empty(len(found.values) + 1, np.int64)
    place[pc.sort_indices(found.values).to_numpy()] = np.arange(len(found.values))
    place[-1] = len(found.values)  # missing ones last, in a class of their own
    ordered = place[found.codes]
    counts = np.bincount(ordered, minlength=len(place))[:-1]
    middle = np.cumsum(counts) - counts / 2
    classes = max(1, min(_CLASSES, counts.sum() // _IN_CLASS))
    of_value = np.floor(middle * classes / max(counts.sum(), 1)).astype(np.int64)
    return np.asarray(np.append(of_value, classes)[ordered])
