"""Who is in several originals at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.attacks.stage import Secret, Side, read
from sfumato.errors import ParameterError
from sfumato.schema.text import to_texts
from sfumato.table.groups import packed

Ints = npt.NDArray[np.int64]


def by_identifier(originals: Sequence[pa.Table], identifier: str) -> list[Ints]:
    """Return the rows of people who are in all originals, in the same order for each.

    Identifiers are compared as texts; rows without one belong to nobody.

    Refuses (ParameterError) an identifier that names two rows of one original.
    """
    columns = [read(original, identifier) for original in originals]
    texts = [to_texts(column.values) for column in columns]
    known = pc.unique(pa.concat_arrays(texts))
    keys = []
    for column, own in zip(columns, texts, strict=True):
        place = pc.index_in(own, value_set=known).to_numpy(zero_copy_only=False).astype(np.int64)
        if (column.counts[:-1] > 1).any():
            raise ParameterError(
                f"column '{identifier}' names several rows of one original; the attack needs one "
                "row a person"
            )
        keys.append(np.append(place, -1)[column.codes])
    return _common(keys)


def by_values(sides: Sequence[Side], secret: Secret, places: Sequence[int]) -> list[Ints]:
    """Return the rows of people who agree in all shared quasi-identifiers and the sensitive value.

    Where several rows agree, as many people are taken as the original with the fewest has.
    """
    chosen = [sides[place] for place in places]
    names = [n for n in chosen[0].view.known if all(n in side.view.known for side in chosen)]
    columns = [np.concatenate([side.people[name][:] for side in chosen]) for name in names]
    columns.append(np.concatenate([secret.sides[place].truth[:] for place in places]))
    whole = packed([column - column.min() for column in columns])
    _, whole = np.unique(whole, return_inverse=True)
    ends = np.cumsum([len(secret.sides[place].truth) for place in places])[:-1]
    width = len(whole) + 1
    return _common([key * width + _repeats(key) for key in np.split(whole, ends)])


def _repeats(keys: Ints) -> Ints:
    """Return how many earlier rows have the same key."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    first = np.repeat(starts, np.diff(np.append(starts, len(ordered))))
    repeats = np.empty(len(keys), np.int64)
    repeats[order] = np.arange(len(keys)) - first
    return repeats


def _common(keys: Sequence[Ints]) -> list[Ints]:
    """Return where each of the keys that all have stands; negative ones are nobody's."""
    shared = reduce(np.intersect1d, keys)
    shared = shared[shared >= 0]
    found = []
    for each in keys:
        order = np.argsort(each, kind="stable")
        found.append(order[np.searchsorted(each[order], shared)])
    return found
