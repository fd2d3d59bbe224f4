"""The coding of a table in pieces: one dictionary for all tasks, made as for a table in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.engines.spark.dictionaries import RawValues
from sfumato.engines.spark.pieces import Source
from sfumato.errors import EngineUnavailable, InputError
from sfumato.jobs.recode import about_recoding
from sfumato.predicates.flags import flagged
from sfumato.predicates.parse import parse
from sfumato.recoding import Steps, recode, with_orders
from sfumato.schema import Kind, Role, Schema
from sfumato.schema.distinct import distinct
from sfumato.schema.text import to_texts
from sfumato.table import Column, Table
from sfumato.table.encode import coding, refuse_reserved, refuse_telling, refuse_type

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Recoded:
    """What the raw values of a column, told by their texts, become by the policy's steps.

    `cells` has the new value of each raw one, and null last; `codes` its code, and last that of a
    missing value, where the column is published.
    """

    texts: pa.Array
    cells: pa.Array
    codes: npt.NDArray[np.int32] | None


@dataclass(frozen=True, slots=True, eq=False)
class TableCoding:
    """How rows become codes, wherever they are read.

    `frame` is the table without a row: its schema is resolved and its columns know all values of
    the whole. `counts` has by column how many rows of the whole have each code, missing ones last.
    """

    frame: Table
    counts: Mapping[str, Ints]
    columns: Mapping[str, Recoded]
    read: tuple[str, ...]

    def coded(self, source: Source, task: int) -> Iterator[Table]:
        """Yield the coded rows of a task's pieces, with the flags of semi-sensitive cells."""
        for raw in source.read(task, self.read):
            yield self._coded(raw)

    def _coded(self, raw: pa.Table) -> Table:
        rows, coded = raw, {}
        for name, recoded in self.columns.items():
            found = distinct(raw[name], name)
            texts = to_texts(found.values).cast(pa.string())
            places = pc.index_in(texts, recoded.texts)
            if places.null_count:  # every value was met when the dictionary was made
                raise InputError(f"column '{name}' has changed while it was read; begin again")
            places = np.append(places.to_numpy(), len(recoded.texts)).astype(np.int64)
            cells = places[found.codes]
            if recoded.codes is not None:
                coded[name] = recoded.codes[cells]
            new = recoded.cells.take(pa.array(cells))
            rows = rows.set_column(rows.column_names.index(name), name, pa.chunked_array([new]))
        columns = tuple(replace(each, codes=coded[each.name]) for each in self.frame.columns)
        return flagged(Table(self.frame.schema, columns, raw.num_rows), rows)


def table_coding(
    source: Source, schema: Schema, raw: Mapping[str, RawValues], steps: Steps
) -> tuple[TableCoding, Schema, tuple[str, ...]]:
    """Return the coding, the schema after the policy's steps, and warnings about these.

    Refuses (SchemaError, HierarchyError) what `recode` and `encode` refuse of columns.
    """
    warnings: tuple[str, ...] = ()
    counts: dict[str, Ints] = {}
    columns: dict[str, Recoded] = {}
    coded: dict[str, Column] = {}
    for name, values in raw.items():
        before = pa.table({name: values.cells(source.schema.field(name).type)})
        after = before
        if name in steps and before.num_rows:
            own = {name: steps[name]}
            after = recode(before, own)
            schema = with_orders(schema, after, own)
            warnings += about_recoding(before, after, own, schema)
        attribute = schema[name]
        found = distinct(after[name], name)
        rows = np.bincount(found.codes, values.counts[:-1], len(found.values) + 1).astype(np.int64)
        rows[-1] += values.counts[-1]
        codes = None
        if attribute.is_published:
            made = coding(found.values, rows, after[name], attribute)
            coded[name] = made.column
            order = np.argsort(made.code_of)
            counts[name] = rows[order]
            codes = np.append(made.code_of[found.codes], made.code_of[-1:]).astype(np.int32)
            if attribute.role is Role.INSENSITIVE:
                refuse_telling(name, int((rows[:-1] == 1).sum()), source.rows)
        cells = after[name].combine_chunks()
        cells = pa.concat_arrays([cells, pa.nulls(1, cells.type)])
        columns[name] = Recoded(to_texts(values.values).cast(pa.string()), cells, codes)
    attributes = tuple(
        coded[each.name].attribute if each.name in coded else each for each in schema
    )
    ordered = tuple(coded[each.name] for each in schema if each.name in coded)
    flags = {
        each.name: np.zeros(0, np.bool_)
        for each in schema.with_role(Role.SEMI_SENSITIVE)
        if each.density is None
    }
    frame = Table(replace(schema, attributes=attributes), ordered, 0, flags=flags)
    reads = _read_by_flags(schema)
    others = [name for name in source.schema.names if name in reads and name not in columns]
    return TableCoding(frame, counts, columns, (*columns, *others)), schema, warnings


def counted_columns(source: Source, schema: Schema, steps: Steps) -> list[str]:
    """Return the columns whose values must be known: what is published or recoded.

    Refuses (SchemaError) names and types that `encode` refuses.
    """
    refuse_reserved(source.schema.names)
    for attribute in schema:
        if attribute.is_published:
            refuse_type(source.schema.field(attribute.name).type, attribute.name)
    return [each.name for each in schema if each.is_published or each.name in steps]


def refuse_unknown_orders(source: Source, schema: Schema, steps: Steps) -> None:
    """Refuse (EngineUnavailable) categories whose order stands in the rows alone.

    Values are collected without their dictionaries; in another order, ranges, distances and rules
    such as `stage > 'II'` would mean something else.
    """
    for name in counted_columns(source, schema, steps):
        dtype, attribute = source.schema.field(name).type, schema[name]
        if not pa.types.is_dictionary(dtype) or not dtype.ordered:
            continue
        is_known = attribute.order is not None or attribute.kind is Kind.CATEGORICAL
        if not is_known or name in steps:
            raise EngineUnavailable(
                f"--engine spark does not know the order of the categories of '{name}', which "
                "stands in the rows: state the `order` (and no `recode`), or leave out "
                "--engine spark"
            )


def _read_by_flags(schema: Schema) -> set[str]:
    """Return the columns that say which semi-sensitive cells are sensitive."""
    semi = schema.with_role(Role.SEMI_SENSITIVE)
    named = {each.flag for each in semi if each.flag is not None}
    return named.union(*(parse(each.when).attributes for each in semi if each.when is not None))
