"""A table with its columns recoded, before any method sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import SchemaError
from sfumato.randomness import Randomness
from sfumato.recoding.bins import BinInto
from sfumato.recoding.dates import ShiftDates
from sfumato.recoding.step import Step
from sfumato.recoding.texts import MapValues
from sfumato.recoding.words import Steps, days_of_shift, steps_from_policy
from sfumato.schema.attribute import Attribute, Kind
from sfumato.schema.distinct import distinct
from sfumato.schema.frames import as_columns
from sfumato.schema.kinds import is_text, kind_of
from sfumato.schema.lazy_table import Columns, LazyTable
from sfumato.schema.schema import Schema

Days = npt.NDArray[np.int64]
PURPOSE = "date shift"


def recode(
    data: Any,
    steps: Mapping[str, Any],
    *,
    unit: str | None = None,
    rng: np.random.Generator | None = None,
) -> Columns:
    """Return the table with the steps of each named column applied, in order.

    Steps are given as in a policy, `[{"top": 90}, {"round": 5}]`, or as the classes of this room.
    A missing value stays missing. Dates are shifted by one number of days a person: the people are
    the distinct values of the column `unit`, and without it every row is a person. The numbers are
    drawn from `rng`, by default from the operating system. A lazy table stays one, and its columns
    change as they are read.

    Refuses (SchemaError) columns that are not there, steps that do not fit a column's type,
    values outside the edges of `bins`, missing units, and shifts of different numbers of days.

    >>> people = pa.table({"age": [33, 97, None], "zipcode": ["13021", "13068", "48104"]})
    >>> recode(people, {"age": [{"top": 90}, {"round": 5}], "zipcode": {"mask": 2}}).to_pydict()
    {'age': [35, 90, None], 'zipcode': ['13*', '13*', '48*']}
    """
    table = as_columns(data)
    read = {name: steps_from_policy(given, name) for name, given in steps.items()}
    for name in read:
        if name not in table.column_names:
            raise SchemaError(f"column '{name}' is to be recoded and is not in the table")
    days = _drawn(table, read, unit, rng)

    def change(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
        for step in read[name]:
            column = _changed(column, step, name, days)
        return column

    if isinstance(table, LazyTable):
        # each is changed here for its type and refusals, and again whenever it is read
        types = {name: change(name, table[name]).type for name in read}
        return table.with_changed(types, change)
    for name in read:
        changed = change(name, table[name])
        table = table.set_column(table.column_names.index(name), name, changed)
    return table


def with_orders(schema: Schema, table: Columns, steps: Steps) -> Schema:
    """Return the schema that states the order of a recoded table's bins, where it states nothing.

    The bins are the policy's, whichever of them occur.
    """
    return replace(schema, attributes=tuple(_with_order(each, table, steps) for each in schema))


def _with_order(attribute: Attribute, table: Columns, steps: Steps) -> Attribute:
    has_bins = any(isinstance(step, BinInto) for step in steps.get(attribute.name, ()))
    is_open = attribute.kind in (None, Kind.ORDINAL) and attribute.hierarchy is None
    if not has_bins or not is_open or attribute.order or attribute.domain:
        return attribute
    column = table[attribute.name]
    if not pa.types.is_dictionary(column.type) or not column.type.ordered:
        return attribute
    return replace(attribute, order=tuple(column.chunk(0).dictionary.to_pylist()))


def idle_keys(data: Columns, steps: Steps) -> dict[str, int]:
    """Return by column how many keys of its maps no value has when the map is reached."""
    found: dict[str, int] = {}
    for name, own in steps.items():
        column = data[name]
        for step in own:
            if isinstance(step, MapValues) and not pa.types.is_null(column.type):
                idle = step.idle(distinct(column, name).values, name)
                if idle:
                    found[name] = found.get(name, 0) + idle
            if not isinstance(step, ShiftDates):  # whose days are not what is asked here
                column = _changed(column, step, name, None)
    return found


def _changed(column: pa.ChunkedArray, step: Step, name: str, days: Days | None) -> pa.ChunkedArray:
    if pa.types.is_null(column.type):
        return column  # no value at all: nothing to change, and no type to fit
    if kind_of(column.type) is None:
        raise SchemaError(
            f"column '{name}', `recode`: values of type {column.type} cannot be recoded; "
            "convert the column, or leave it out"
        )
    if isinstance(step, ShiftDates):
        assert days is not None  # drawn for every table with such a step
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        return pa.chunked_array([step.moved(column.combine_chunks(), days, name)])
    if pa.types.is_dictionary(column.type) and column.type.ordered:
        column = column.unify_dictionaries()
        if column.num_chunks:
            return _changed_categories(column, step, name)
    found = distinct(column, name)
    values = step.recode(found.values, name)
    codes = pa.array(found.codes, mask=found.codes == len(found.values))
    return pa.chunked_array([values.take(codes)])


def _changed_categories(column: pa.ChunkedArray, step: Step, name: str) -> pa.ChunkedArray:
    """Return a column of ordered categories whose order stays if the step leaves them in it."""
    entries = column.chunk(0).dictionary
    changed = step.recode(distinct(pa.chunked_array([entries]), name).values, name)
    indices = pa.concat_arrays([chunk.indices for chunk in column.chunks])
    if len(changed) < len(entries) or not is_text(changed.type):
        return pa.chunked_array([changed.take(indices)])
    labels = changed.to_pylist()
    kept = [label for label in dict.fromkeys(labels) if label is not None]
    place = {label: at for at, label in enumerate(kept)}
    codes = [None if label is None else place[label] for label in labels]
    inside = [code for code in codes if code is not None]
    plain = pa.array(labels, pa.string())
    if inside != sorted(inside):
        return pa.chunked_array([plain.take(indices)])
    cells = pa.array(codes, pa.int32()).take(indices)
    return pa.chunked_array(
        [pa.DictionaryArray.from_arrays(cells, pa.array(kept, pa.string()), ordered=True)]
    )


def _drawn(
    table: Columns, steps: Steps, unit: str | None, rng: np.random.Generator | None
) -> Days | None:
    """Return by how many days each row's dates move, None where none do."""
    most = days_of_shift(steps)
    if most is None:
        return None
    rng = rng or Randomness.fresh().generator(PURPOSE)
    if unit is None:
        return np.asarray(rng.integers(-most, most, table.num_rows, endpoint=True), np.int64)
    if unit not in table.column_names:
        raise SchemaError(f"the unit is column '{unit}', which is not in the table")
    found = distinct(table[unit], unit)
    missing = int(found.counts[-1])
    if missing:
        raise SchemaError(
            f"column '{unit}' tells people apart and is missing in {missing} of "
            f"{table.num_rows} rows: fill it in, or drop those rows"
        )
    drawn = np.asarray(rng.integers(-most, most, len(found.values), endpoint=True), np.int64)
    return drawn[found.codes]
