"""The axes of a cross table, from a release of the layout `sets`: values, and who may have them.

Every record has a set of values on each axis. Of an attribute that was randomised these are the
published ones; of an exact attribute, the one value that it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.measures.set_randomization import Randomization
from sfumato.release import AttributeEntry, Release
from sfumato.release.cells import Exact, parse
from sfumato.release.set_columns import is_list, set_codes
from sfumato.schema.distinct import Distinct, distinct
from sfumato.schema.kinds import is_text
from sfumato.schema.text import from_texts, to_texts

Codes = npt.NDArray[np.int32]

RECORDS = "records"
# Makers of sets that are not drawn at random.
OTHER_MAKERS = ("rating",)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Axis:
    """An attribute of a cross table.

    `members` has the codes of each record's set, in ascending order: positions in `values`, which
    are all values of the domain, a missing one being null. A set holds a record's own value with
    probability `own`, and any other one with probability `other`; `telling` is their difference.
    By Bayes a set makes its members likelier by the factor `own`, and other values by `outside`.
    """

    name: str
    values: pa.Array
    members: Codes
    own: float
    other: float
    telling: float
    outside: float

    @property
    def size(self) -> int:
        """The number of values that there are."""
        return len(self.values)

    @property
    def eta(self) -> int:
        """The number of values in a set."""
        return int(self.members.shape[1])

    @property
    def is_telling(self) -> bool:
        """Whether a value that is there is more often in a set than one that is not."""
        return self.telling > 0


def records_of_sets(release: Release) -> pa.Table:
    """Return the records of a release of sets; ReleaseDamaged where it has none."""
    if RECORDS not in release.tables:
        raise ReleaseDamaged(f"a release of the layout sets has a table '{RECORDS}'")
    return release.tables[RECORDS]


def read_axis(release: Release, name: str) -> Axis:
    """Return the axis of a published attribute.

    Refuses (ReleaseDamaged) cells and parameters that are not those of the layout `sets`.
    """
    entry, column = release.manifest.attribute(name), release.tables[RECORDS][name]
    sets = release.manifest.parameters.get("sets")
    if not isinstance(sets, Mapping):
        raise ReleaseDamaged("the manifest does not say how sets were made: `sets` is missing")
    if name not in sets:
        return _exact_axis(entry, column)
    values, members = _members(entry, column)
    made = _randomization(name, sets[name], len(values))
    if len(members) and members.shape[1] != made.eta:
        raise _damage(name, "has sets of another size than the manifest says")
    chances = made.contains_own, made.contains_other, made.telling, made.outside
    return Axis(name, values, members, *chances)


def _randomization(name: str, stated: Any, size: int) -> Randomization:
    try:
        return Randomization(p=stated["p"], eta=stated["eta"], d=size)
    except (ParameterError, LookupError, TypeError):
        raise _damage(
            name, "has sets, and the manifest no p and eta that make sense for them"
        ) from None


def _exact_axis(entry: AttributeEntry, column: pa.ChunkedArray) -> Axis:
    if is_list(column.type):
        raise _damage(entry.name, "has sets, and the manifest does not say how they were made")
    found = distinct(column, entry.name)
    texts = found.values
    if is_text(texts.type):
        cells = [parse(text) for text in texts.to_pylist()]
        if not all(isinstance(cell, Exact) for cell in cells):
            raise _damage(entry.name, "has cells that are neither exact nor sets")
        texts = pa.array([cell.text for cell in cells if isinstance(cell, Exact)], pa.string())
    else:
        texts = to_texts(texts)
    if isinstance(entry.domain, tuple):
        listed = _listed(entry)
    else:
        listed = texts.take(pc.sort_indices(_typed(entry, texts))) if len(texts) else texts
    if not listed.null_count and (found.codes == len(found.values)).any():
        # domains of exact attributes list no missing value
        listed = pa.concat_arrays([listed, pa.nulls(1, pa.string())])
    codes = _coded(entry, listed, found, texts)
    return Axis(entry.name, _typed(entry, listed), codes.reshape(-1, 1), 1.0, 0.0, 1.0, 0.0)


def _members(entry: AttributeEntry, column: pa.ChunkedArray) -> tuple[pa.Array, Codes]:
    """Return the values of the domain, and the codes of every record's set as rows of a matrix."""
    if not is_list(column.type):
        raise _damage(entry.name, "has cells that are not sets, and the manifest says otherwise")
    starts, codes = set_codes(column.combine_chunks(), entry)
    sizes = np.diff(starts)
    eta = int(sizes[0]) if len(sizes) else 1
    if eta == 0 or (sizes != eta).any():
        raise _damage(entry.name, "has sets of different sizes, or empty ones")
    members = codes.reshape(-1, eta)
    if not _ascend(members):
        members = np.sort(members, axis=1)
        if not _ascend(members):
            raise _damage(entry.name, "has sets that hold a value twice")
    return _typed(entry, _listed(entry)), members


def _listed(entry: AttributeEntry) -> pa.Array:
    listed = pa.array(entry.domain, pa.string())
    if len(listed.unique()) < len(listed):
        raise _damage(entry.name, "has a domain that lists a value twice")
    return listed


def _coded(entry: AttributeEntry, listed: pa.Array, found: Distinct, texts: pa.Array) -> Codes:
    """Return the position in the listed values of every cell found; `texts` are the values found.

    Refuses (ReleaseDamaged) cells that are not listed.
    """
    known = pa.concat_arrays([texts, pa.nulls(1, pa.string())])  # a missing cell has the last code
    place = pc.index_in(known, value_set=listed).fill_null(-1).to_numpy().astype(np.int32)
    codes: Codes = place[found.codes]
    if (codes < 0).any():
        raise _damage(entry.name, "has values outside its domain")
    return codes


def _typed(entry: AttributeEntry, texts: pa.Array) -> pa.Array:
    if pa.types.is_null(entry.dtype) and texts.null_count == len(texts):
        return pa.nulls(len(texts))  # a column without any value has no type
    try:
        return from_texts(texts, entry.dtype)
    except (ValueError, pa.ArrowException):
        raise _damage(entry.name, "has values that are not of its type") from None


def _ascend(members: Codes) -> bool:
    return bool((members[:, 1:] > members[:, :-1]).all())


def _damage(name: str, what: str) -> ReleaseDamaged:
    return ReleaseDamaged(f"attribute '{name}' {what}")
