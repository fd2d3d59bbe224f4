"""Records whose blocks or buckets are dealt once more: another table that the release allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import ReleaseDamaged
from sfumato.release import Release
from sfumato.schema.attribute import RESERVED_SUFFIX
from sfumato.table.groups import counting_order

Ints = npt.NDArray[np.int64]

RECORDS = "records"


def dealt_anew(
    release: Release, attributes: Sequence[str], rng: np.random.Generator
) -> list[pa.Table]:
    """Return tables of some attributes, a row a record, such that equal places are one record.

    Within a group of a `sliced` release the cells of a block stay together and are dealt to its
    records; within a bucket of a `local` one its cells are. All deals are equally likely.

    Refuses (ReleaseDamaged) a sliced release that does not say which attributes are a block.
    """
    records = release.tables[RECORDS]
    if release.manifest.layout == "sliced":
        return _blocks(release, records, attributes, rng)
    tables = []
    for name in attributes:
        bucket = name + RESERVED_SUFFIX
        own = records.select([each for each in (name, bucket) if each in records.column_names])
        if bucket in own.column_names:
            ids = own[bucket].combine_chunks().fill_null(0).to_numpy(zero_copy_only=False)
            hidden = np.flatnonzero(ids)
            order = np.arange(len(ids))
            order[hidden] = hidden[_shuffled(ids[hidden], rng)]
            own = own.set_column(0, name, own[name].take(pa.array(order)))
        tables.append(own)
    return tables


def _blocks(
    release: Release, records: pa.Table, attributes: Sequence[str], rng: np.random.Generator
) -> list[pa.Table]:
    blocks = release.manifest.parameters.get("columns")
    listed = (
        [block for block in blocks if isinstance(block, list)] if isinstance(blocks, list) else []
    )
    ids = records["group"].to_numpy()
    tables: list[pa.Table] = []
    for block in listed:
        own = [name for name in attributes if name in block]
        if own:
            part = records.select(own)
            tables.append(part.take(pa.array(_shuffled(ids, rng))) if tables else part)
    if sum(table.num_columns for table in tables) != len(attributes):
        raise ReleaseDamaged("the blocks of a sliced release do not name all of its attributes")
    return tables


def _shuffled(ids: npt.NDArray[Any], rng: np.random.Generator) -> Ints:
    """Return for each place the row that comes there: a random one of its group."""
    if len(ids) == 0:
        return np.zeros(0, np.int64)
    if ids.min() < 1 or ids.max() > len(ids):
        raise ReleaseDamaged("the groups or buckets of the records are not numbered from 1 on")
    codes = np.asarray(ids, np.int32)
    count = int(codes.max()) + 1
    rows = rng.permutation(len(codes))
    found = np.empty(len(codes), np.int64)
    found[counting_order(codes, count)] = rows[counting_order(codes[rows], count)]
    return found
