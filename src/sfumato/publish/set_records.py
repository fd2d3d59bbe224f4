"""The `sets` layout: one table of records whose protected cells are random sets of values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import ParameterError
from sfumato.measures.set_randomization import Randomization
from sfumato.publish.assemble import Published
from sfumato.publish.describe import describe
from sfumato.publish.exact import exact_column
from sfumato.publish.set_kernels import Sets, random_sets
from sfumato.randomness import split
from sfumato.release import AttributeEntry, TableEntry
from sfumato.release.dtypes import dtype_name
from sfumato.release.set_columns import code_type, refuse_too_many, set_column
from sfumato.schema.attribute import Kind
from sfumato.schema.text import to_texts
from sfumato.table import Column, Table
from sfumato.table.permutation import permutation

Order = npt.NDArray[np.int64]


def set_records(
    table: Table, randomizations: Mapping[str, Randomization], *, rng: np.random.Generator
) -> Published:
    """Return the records in random order: protected cells as random sets, all others exact.

    A protected column's values are its whole domain, whichever of them occur; where d is one more,
    a missing value is one too. Every cell's set is drawn on its own, and sorted, so that its order
    tells nothing.

    *Source*: Sei et al., section V-B.
    """
    order = permutation(rng, table.rows)
    generators = dict(zip(randomizations, split(rng, len(randomizations)), strict=True))

    def drawn(name: str) -> Sets:
        column, how = table[name], randomizations[name]
        _refuse_outside(column, how)
        refuse_too_many(table.rows, how.eta)  # before there is anything to draw
        return random_sets(
            column.codes[order],
            p=how.p,
            eta=how.eta,
            d=how.d,
            rng=generators[name],
            dtype=code_type(how.d),
        )

    # an attribute has a generator of its own, so threads change nothing but the time
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        sets = dict(zip(randomizations, threads.map(drawn, randomizations), strict=True))
    return records_of_sets(table, sets, order)


def records_of_sets(table: Table, sets: Mapping[str, Sets], order: Order) -> Published:
    """Return the records, in the given order of rows, with the sets of protected columns.

    `sets` has a line of codes for each record, already in that order. Nothing is generalised, so
    no hierarchy is published.
    """
    columns: dict[str, pa.Array] = {}
    attributes: list[AttributeEntry] = []
    for column in table.columns:
        if column.name in sets:
            missing = column.null_code if column.has_missing else None
            columns[column.name] = set_column(sets[column.name], column.values, missing)
            attributes.append(_entry(column))
            continue
        columns[column.name] = exact_column(column, column.codes, order)
        attributes.append(describe(column))
    names = tuple(column.name for column in table.columns)
    return Published(
        "sets",
        {"records": pa.table(columns)},
        [TableEntry(name="records", attributes=names)],
        attributes,
    )


def domain_size(column: Column) -> int:
    """Return the number of values in a column's domain, a missing one counted where it occurs."""
    return column.cardinality + int(column.has_missing)


def _entry(column: Column) -> AttributeEntry:
    """Return the manifest's entry: numbers are a list of values in order, as sets know no more."""
    texts = tuple(to_texts(column.values).to_pylist())
    return AttributeEntry(
        name=column.name,
        role=column.attribute.role,
        kind=Kind.ORDINAL if column.kind is Kind.NUMERIC else column.kind,
        type=dtype_name(column.values.type),
        domain=(*texts, None) if column.has_missing else texts,
    )


def _refuse_outside(column: Column, how: Randomization) -> None:
    if how.d != domain_size(column):
        raise ParameterError(
            f"'{column.name}' has {domain_size(column)} values, and its sets are of {how.d}"
        )
