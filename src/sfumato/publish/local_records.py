"""The `local` layout: quasi-identifier cells generalised by group, sensitive cells in buckets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.publish.assemble import Published, random_ids
from sfumato.publish.describe import describe, published_hierarchy
from sfumato.publish.exact import dictionary_column, exact_column
from sfumato.publish.generalize import generalize
from sfumato.release import AttributeEntry, TableEntry
from sfumato.release.cells import STAR, quote
from sfumato.rows.masking import masked_column
from sfumato.schema.attribute import RESERVED_SUFFIX, Role
from sfumato.schema.text import to_texts
from sfumato.table import Column, Groups, Table
from sfumato.table.groups import sorted_rows
from sfumato.table.permutation import permutation

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Bucketed:
    """The sensitive cells of one attribute: their rows, and the bucket of each."""

    rows: Ints
    buckets: Groups


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """One published attribute: its column of cells and what the manifest says of it."""

    cells: pa.Array
    entry: AttributeEntry
    labels: frozenset[str]


def local_records(
    table: Table,
    groups: Groups,
    bucketed: Mapping[str, Bucketed],
    withheld: Mapping[str, Bools],
    *,
    rng: np.random.Generator,
) -> Published:
    """Return the records: every cell generalised by group, in a bucket, or withheld.

    `bucketed` has the sensitive cells of each semi-sensitive and sensitive attribute; within a
    bucket values are permuted at random over its rows. `withheld[name]` are the rows whose cell
    is `*`.
    """
    group_ids = random_ids(groups.count, rng)
    order = permutation(rng, table.rows)
    columns: dict[str, pa.Array] = {"group": pa.array(group_ids[groups.ids[order]])}
    attributes, hierarchies = [], {}
    for column in table.columns:
        sensitive = bucketed.get(column.name)
        published = _cells(column, groups, sensitive, withheld.get(column.name), order, rng)
        columns[column.name] = published.cells
        if sensitive is not None:
            columns[column.name + RESERVED_SUFFIX] = _bucket_column(
                sensitive, table.rows, order, rng
            )
        attributes.append(published.entry)
        hierarchy = published_hierarchy(column, published.labels)
        if hierarchy is not None:
            hierarchies[column.name] = hierarchy
    names = tuple(column.name for column in table.columns)
    return Published(
        "local",
        {"records": pa.table(columns)},
        [TableEntry(name="records", attributes=names, group="group")],
        attributes,
        hierarchies,
    )


def _cells(
    column: Column,
    groups: Groups,
    sensitive: Bucketed | None,
    withheld: Bools | None,
    order: Ints,
    rng: np.random.Generator,
) -> _Cells:
    if column.attribute.role is Role.QUASI_IDENTIFIER:
        generalized = generalize(column, groups, rng=rng)
        cells = generalized.of_rows(groups.ids[order], column.codes, order)
        return _Cells(cells, describe(column, generalized.named), generalized.labels)
    if sensitive is None:  # kept as insensitive
        return _Cells(exact_column(column, column.codes, order), describe(column), frozenset())
    is_sensitive = np.zeros(len(column.codes), dtype=np.bool_)
    is_sensitive[sensitive.rows] = True
    permuted = _permuted(column, sensitive, rng)
    hidden = is_sensitive if withheld is None else is_sensitive | withheld
    generalized = generalize(masked_column(column, hidden), groups, rng=rng)
    told = np.unique(permuted[sensitive.rows])
    told = told[told < column.null_code].astype(np.int32)
    named = np.union1d(generalized.named, told).astype(np.int32)
    spelled = to_texts(column.values).to_pylist()
    labels = generalized.labels | {spelled[code] for code in told.tolist()}
    entry = describe(column, named)
    if generalized.is_exact and not (withheld is not None and withheld.any()):
        return _Cells(exact_column(column, permuted, order), entry, labels)
    # one dictionary: generalised cells, exact sensitive values, and the withheld cell
    texts = [*generalized.texts, *(quote(text) for text in spelled), STAR]
    cell = generalized.cell_of_group[groups.ids].astype(np.int32)
    offset = len(generalized.texts)
    exact = np.where(permuted == column.null_code, -1, permuted + offset)
    cell[is_sensitive] = exact[is_sensitive]
    if withheld is not None:
        cell[withheld] = len(texts) - 1
    return _Cells(dictionary_column(cell, texts, order), entry, labels)


def _permuted(column: Column, sensitive: Bucketed, rng: np.random.Generator) -> Codes:
    """Return the codes with sensitive ones permuted at random within their buckets."""
    ids = sensitive.buckets.ids
    one, other = (
        sorted_rows(shuffle, ids, sensitive.buckets.count)
        for shuffle in (permutation(rng, len(ids)), permutation(rng, len(ids)))
    )
    codes = column.codes.copy()
    codes[sensitive.rows[one]] = column.codes[sensitive.rows[other]]
    return codes


def _bucket_column(
    sensitive: Bucketed, rows: int, order: Ints, rng: np.random.Generator
) -> pa.Array:
    """Return the public bucket of each row, null where its cell is not in one."""
    public = np.zeros(rows, dtype=np.int32)
    public[sensitive.rows] = random_ids(sensitive.buckets.count, rng)[sensitive.buckets.ids]
    return pa.array(public[order], mask=public[order] == 0)
