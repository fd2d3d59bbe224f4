"""People who are not in the data but might have been.

Whether an attack succeeds on people because they are in a release is told by trying it on others.
Where nobody gives such people, they are made of the data's own: what an adversary may know of one
comes partly from one row and partly from a similar one, and differs from both. Such a person may
by chance agree with a third, as a stranger may: strangers that agree with nobody would be told
apart by that alone, in a table that has room for few different people.

What they keep secret comes from a further row of the wider neighbourhood: the secret of a parent
would be in the parent's group, and so would be found like that of the parent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ParameterError
from sfumato.schema.distinct import distinct

Ints = npt.NDArray[np.int64]

GIVEN = "people of a table of controls"
MADE = "synthetic people, crossed from similar rows of the data"
NONE = "nobody: the data have too few different rows to make any"

_NEAR = 8  # rows in a sorted order that count as similar
_WIDE = 50  # and those whose secrets a stranger might have
_LOOKED_AT = 200_000  # rows that are sorted at most
_TRIES = 40


def given_controls(controls: pa.Table, original: pa.Table, known: Sequence[str]) -> pa.Table:
    """Return a table of controls with the columns and types of the original.

    Columns that are not known of people may be lacking; they are missing then.

    Refuses (ParameterError) controls that lack what an adversary knows of people, or whose columns
    have types that cannot be compared.
    """
    columns = []
    for field in original.schema:
        if field.name not in controls.column_names:
            if field.name in known:
                raise ParameterError(
                    f"the controls have no column '{field.name}', which an adversary knows of "
                    "people; give a table with the quasi-identifiers of the data"
                )
            columns.append(pa.nulls(controls.num_rows, field.type))
            continue
        try:
            columns.append(controls[field.name].cast(field.type))
        except (pa.ArrowException, ValueError):
            raise ParameterError(
                f"the controls have another type than the data in column '{field.name}'"
            ) from None
    return pa.table(columns, schema=original.schema)


def made_controls(
    original: pa.Table, known: Sequence[str], count: int, rng: np.random.Generator
) -> pa.Table:
    """Return at most so many people who are not in the data, crossed from similar rows of it."""
    rows = original.num_rows
    chosen = np.sort(rng.permutation(rows)[:_LOOKED_AT]) if rows > _LOOKED_AT else np.arange(rows)
    codes = [_ordered_codes(original, name)[chosen] for name in known]
    made: dict[str, list[Ints]] = {name: [] for name in original.column_names}
    have = 0
    for _ in range(_TRIES):
        if have >= count or len(chosen) < 3:
            break
        parents = _cross(codes, count - have, rng)
        for name, own in zip(known, parents.known, strict=True):
            made[name].append(chosen[own])
        for name in original.column_names:
            if name not in known:
                made[name].append(chosen[parents.secret])
        have += len(parents.secret)
    empty = np.zeros(0, np.int64)
    return pa.table(
        {
            name: original[name].take(pa.array(np.concatenate([empty, *parts])))
            for name, parts in made.items()
        }
    )


class _Parents:
    """From which row each value of some made people comes: what is known of them, and the rest."""

    __slots__ = ("known", "secret")

    def __init__(self, known: list[Ints], secret: Ints) -> None:
        self.known = known
        self.secret = secret


def _cross(codes: Sequence[Ints], count: int, rng: np.random.Generator) -> _Parents:
    """Return up to so many crossings of rows that lie near each other in a random order of the
    attributes, those that differ from both parents."""
    rows = len(codes[0])
    order = np.lexsort([codes[place] for place in rng.permutation(len(codes))])
    at = rng.integers(0, rows, count)
    near = min(_NEAR, rows - 1)
    step = rng.integers(1, near + 1, count) * rng.choice([-1, 1], count)
    one, other = order[at], order[(at + step) % rows]
    from_other = rng.random((len(codes), count)) < 0.5
    known = [np.where(pick, other, one) for pick in from_other]
    if len(codes) == 1:
        kept = np.ones(count, np.bool_)  # of one attribute a stranger may have any value
    else:
        kept = _differs(codes, known, one) & _differs(codes, known, other)
    wide = min(_WIDE, rows - 1)
    away = rng.integers(1, wide + 1, count) * rng.choice([-1, 1], count)
    secret = order[(at + away) % rows]
    return _Parents([own[kept] for own in known], secret[kept])


def _differs(codes: Sequence[Ints], known: Sequence[Ints], parent: Ints) -> npt.NDArray[np.bool_]:
    differs = np.zeros(len(parent), np.bool_)
    for column, own in zip(codes, known, strict=True):
        differs |= column[own] != column[parent]
    return differs


def _ordered_codes(original: pa.Table, name: str) -> Ints:
    """Return the codes of a column in the order of its values, missing ones last."""
    found = distinct(original[name], name)
    place = np.empty(len(found.values) + 1, np.int64)
    place[pc.sort_indices(found.values).to_numpy()] = np.arange(len(found.values))
    place[-1] = len(found.values)
    return place[found.codes]
