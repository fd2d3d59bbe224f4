"""One complete table that a release may have come from, for tools that want rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers.choices import MISSING, CellReader, Choices
from sfumato.answers.dealing import dealt_anew
from sfumato.answers.number_line import NumberLine, Ticks
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.release import AttributeEntry, Release
from sfumato.schema.attribute import RESERVED_SUFFIX
from sfumato.schema.distinct import distinct
from sfumato.schema.hierarchy import Hierarchy
from sfumato.schema.kinds import is_text

Ints = npt.NDArray[np.int64]

_RECORDS = ("generalized", "sliced", "local")
_LARGEST = 2**63 - 1
_BITS, _PARTS = 62, 6


def to_microdata(release: Release, rng: np.random.Generator) -> pa.Table:
    """Return one table that the release may have come from: the published attributes, no groups.

    A generalised cell becomes one of the values that it may hold, each as likely as any other:
    a number or date of a range (a missing one, too, where the cell says so and values can be
    counted), a value of a set or below a node of a hierarchy. A node under which the release names
    no value is taken by its label: as an interval or part of a year where it reads as one, as it
    stands in a column of text, and else as missing. A withheld cell (`*`) gets the value of another
    row; where all are withheld, one of the manifest's domain. Tables that share only the group
    (`anatomized`) are joined at random within each group. `sliced` and `local` records stay as
    they are published: their blocks and buckets were dealt at random when they were made.

    *What it is not.* No row is evidence about any person. Cells are drawn one by one, so that
    joint statistics are destroyed: within a group those of generalised attributes, across blocks,
    tables and buckets those of all. Spread is overstated, and a second table differs from the
    first; ask `answer` for counts and sums, with their bounds. Fake records (`parameters.fakes` of
    them) are not marked, and stay.

    Refuses (ParameterError) the layout `sets`, whose cells are not to be read one by one; and
    (ReleaseDamaged) a release whose cells or groups do not fit its manifest.

    >>> import sfumato as sf
    >>> people = pa.table({"age": [25, 28, 41, 47], "illness": ["Flu", "Fever", "HIV", "Flu"]})
    >>> schema = sf.Schema.of(age="quasi-identifier", illness="sensitive")
    >>> release = sf.Mondrian(k=2).publish(people, schema)
    >>> rows = to_microdata(release, sf.Randomness.test(7).generator("microdata"))
    >>> rows.column_names, str(rows["age"].type)
    (['age', 'illness'], 'int64')
    >>> sorted(age // 20 for age in rows["age"].to_pylist())
    [1, 1, 2, 2]
    """
    return plausible_table(release, [entry.name for entry in release.manifest.attributes], rng)


def plausible_table(
    release: Release, attributes: Sequence[str], rng: np.random.Generator, *, redealt: bool = False
) -> pa.Table:
    """Return some attributes of one table that the release may have come from; see `to_microdata`.

    With `redealt`, blocks and buckets are dealt once more within their groups, so that two tables
    differ as much as what the release may have come from.
    """
    manifest = release.manifest
    if manifest.layout in _RECORDS:
        tables = [release.tables["records"]]
        if redealt:
            tables = dealt_anew(release, attributes, rng)
    elif manifest.layout == "anatomized":
        tables = _joined(release, attributes, rng)
    else:
        raise ParameterError(f"no table of records is drawn from the layout {manifest.layout}")
    columns = {}
    for name in attributes:
        entry = manifest.attribute(name)
        holder = next((table for table in tables if name in table.column_names), None)
        if holder is None:
            raise ReleaseDamaged(f"no table holds the attribute '{name}'")
        columns[name] = _drawn(holder, entry, release.hierarchies.get(name), rng)
    return pa.table(columns)


def _joined(
    release: Release, attributes: Sequence[str], rng: np.random.Generator
) -> list[pa.Table]:
    """Return the tables of attributes, a row a record, such that equal places are one record."""
    tables, groups = [], None
    order = rng.permutation(release.manifest.rows)
    for entry in release.manifest.tables:
        if not set(entry.attributes).intersection(attributes):
            continue
        table = release.tables[entry.name]
        rows = np.arange(table.num_rows)
        if entry.count is not None:
            counts = table[entry.count].to_numpy().astype(np.int64)
            if counts.min(initial=1) < 1 or counts.sum() != release.manifest.rows:
                raise ReleaseDamaged(f"table '{entry.name}' does not count all records")
            rows = np.repeat(rows, counts)
        rows = rng.permutation(rows)
        ids = table["group"].to_numpy()[rows] if entry.group else np.zeros(len(rows), np.int32)
        by_group = np.argsort(ids, kind="stable")
        if groups is None:
            groups = ids[by_group]
        if len(ids) != len(order) or not np.array_equal(ids[by_group], groups):
            raise ReleaseDamaged(f"the groups of table '{entry.name}' are not those of the others")
        tables.append(table.take(pa.array(rows[by_group][order])))
    return tables


def _drawn(
    table: pa.Table, entry: AttributeEntry, hierarchy: Hierarchy | None, rng: np.random.Generator
) -> pa.Array:
    """Return a value for every cell of an attribute."""
    cells = distinct(table[entry.name], entry.name)
    if pa.types.is_null(entry.dtype):
        return pa.nulls(table.num_rows, entry.dtype)
    if not is_text(cells.values.type):  # typed columns are exact
        return table[entry.name].cast(entry.dtype).combine_chunks()
    texts = cells.values.to_pylist()
    slots = cells.codes.astype(np.int64)
    # a cell in a bucket is exact, even where its text is also a label of the hierarchy
    hidden = _in_bucket(table, entry.name) & (slots < len(texts))
    exact, place = np.unique(slots[hidden], return_inverse=True)
    slots[hidden] = len(texts) + 1 + place
    reader = CellReader(entry, hierarchy)
    choices = reader.read(texts, [texts[code] for code in exact.tolist()])
    return _draw(choices, slots, reader.line, rng)


def _in_bucket(table: pa.Table, name: str) -> npt.NDArray[np.bool_]:
    buckets = name + RESERVED_SUFFIX
    if buckets not in table.column_names:
        return np.zeros(table.num_rows, np.bool_)
    told = table[buckets].is_valid().combine_chunks().to_numpy(zero_copy_only=False)
    return np.asarray(told, np.bool_)


def _draw(
    choices: Choices, slots: Ints, line: NumberLine | None, rng: np.random.Generator
) -> pa.Array:
    """Return a value for each row, given the number of its cell."""
    counts = np.diff(choices.first)
    options = choices.option[choices.first[slots] + rng.integers(0, counts[slots])]
    pool = choices.values
    ranged = np.flatnonzero(choices.is_range[slots])
    if line is not None and len(ranged):
        numbers, is_missing = _numbers(choices, slots[ranged], line, rng)
        places = len(pool) + np.arange(len(ranged))
        options[ranged] = np.where(is_missing, MISSING, places)
        pool = pa.concat_arrays([pool, numbers])
    withheld = choices.is_anything[slots]
    told = np.flatnonzero(~withheld)
    if withheld.any() and len(told):
        options[withheld] = options[told[rng.integers(0, len(told), int(withheld.sum()))]]
    return pool.take(pa.array(options, mask=options == MISSING))


def _numbers(
    choices: Choices, slots: Ints, line: NumberLine, rng: np.random.Generator
) -> tuple[pa.Array, npt.NDArray[np.bool_]]:
    """Return a number for each row whose cell is a range, and whether it is missing after all."""
    if not line.is_grid:
        # along the numbers, not along the floats that there are; a missing one has no weight there
        both = choices.low.astype(np.int64), choices.high.astype(np.int64)
        low, high = (line.positions(ticks)[slots] for ticks in both)
        share = rng.random(len(slots))
        reals = np.clip(low * (1.0 - share) + high * share, low, high)
        narrow = pa.array(reals.astype(line.dtype.to_pandas_dtype()))
        return narrow, np.zeros(len(slots), np.bool_)
    step = line.step
    counted = (choices.high - choices.low) // step + 1
    ends = max(counted.max(), choices.high.max(), -choices.low.min())
    width = np.int64 if ends < _LARGEST else object  # numbers of Python where 64 bits do not do
    values = counted.astype(width)[slots]
    offset = _below(values + choices.with_null[slots], rng)
    is_missing = np.asarray(offset == values, np.bool_)
    ticks = choices.low.astype(width)[slots] + np.where(is_missing, 0, offset) * step
    if not pa.types.is_decimal(line.dtype):
        return line.values(ticks), is_missing
    different, place = np.unique(ticks, return_inverse=True)  # each is made by Python
    return line.values(different).take(pa.array(place)), is_missing


def _below(limits: Ticks, rng: np.random.Generator) -> npt.NDArray[Any]:
    """Return for each limit a whole number from 0 to below it, all equally likely.

    Limits beyond 64 bits, which have 256 at most, are met to one part in 2 ** 100.
    """
    if limits.dtype != object:
        return np.asarray(rng.integers(0, limits))
    whole = np.zeros(len(limits), object)
    for _ in range(_PARTS):
        whole = whole * 2**_BITS + rng.integers(0, 2**_BITS, len(limits)).astype(object)
    return np.asarray(whole * limits // 2 ** (_PARTS * _BITS))
