"""People who are not in the data, as somebody gives them: a table that must be comparable."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ParameterError
from sfumato.schema.chunks import one_array
from sfumato.schema.distinct import distinct
from sfumato.schema.kinds import is_text, value_type
from sfumato.table.groups import packed

Ints = npt.NDArray[np.int64]

_TEXTS = (pa.string(), pa.large_string())
_ENOUGH = 30  # rows of which some should agree with the data in a category


def given_controls(
    controls: pa.Table, original: pa.Table, known: Sequence[str], rng: np.random.Generator
) -> pa.Table:
    """Return a table of controls with the columns and types of the original, which are plain.

    Columns that are not known of people may be lacking; they are missing then.

    Refuses (ParameterError) controls that lack what an adversary knows of people, whose columns
    have no values or such as cannot be compared, and controls that are rows of the data.
    """
    columns, told = [], []
    for field in original.schema:
        if field.name not in controls.column_names:
            if field.name in known:
                raise ParameterError(
                    f"the controls have no column '{field.name}', which an adversary knows of "
                    "people; give a table with the quasi-identifiers of the data"
                )
            columns.append(pa.nulls(controls.num_rows, field.type))
            continue
        column = _comparable(controls[field.name], original[field.name], field.name)
        columns.append(column)
        told.append(field.name)
    found = pa.table(columns, schema=original.schema)
    if found.num_rows:
        _refuse_the_data(found.select(told), original.select(told), rng)
    return found


def plain(table: pa.Table) -> pa.Table:
    """Return a table whose columns have the plain types of their values: no dictionaries."""
    names = table.column_names
    return pa.table([table[name].cast(value_type(table[name].type)) for name in names], names=names)


def as_read(table: pa.Table) -> pa.Table:
    """Return a table as `plain` does, but for texts, which are coded: whoever looks at them after
    this need not read them all again.

    They are numbered as rows first have them, as if somebody had read the texts one by one.

    >>> texts = pa.array(["b", "a", "b"]).dictionary_encode()
    >>> coded = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1]), pa.array(["a", "b", "c"]))
    >>> as_read(pa.table({"text": coded}))["text"].chunk(0).equals(texts.cast(
    ...     pa.dictionary(pa.int64(), pa.string())))
    True
    """
    columns = [_as_read(table[name]) for name in table.column_names]
    return pa.table(columns, names=table.column_names)


def _as_read(column: pa.ChunkedArray) -> pa.ChunkedArray:
    own = value_type(column.type)
    if column.type in _TEXTS:
        return column.dictionary_encode()
    if not pa.types.is_dictionary(column.type) or not is_text(own):
        return column.cast(own)
    coded = one_array(column.unify_dictionaries())
    used = pc.unique(coded.indices).drop_null()
    number = np.zeros(len(coded.dictionary), coded.indices.type.to_pandas_dtype())
    number[used.to_numpy()] = np.arange(len(used))
    codes = pa.array(number).take(coded.indices)
    texts = coded.dictionary.cast(own).take(used)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, texts)])


def _comparable(column: pa.ChunkedArray, data: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Return a column of controls with the type of the data's."""
    if len(column) and column.null_count == len(column) and data.null_count < len(data):
        raise ParameterError(
            f"the controls have no value at all in column '{name}'; "
            "leave out what is not known of them, unless an adversary knows it"
        )
    own = value_type(column.type)
    try:
        if _family(own) != _family(data.type) and not (is_text(own) or is_text(data.type)):
            raise ValueError
        found = column.cast(own).cast(data.type)
    except (pa.ArrowException, ValueError):
        raise ParameterError(
            f"the controls have another type than the data in column '{name}'"
        ) from None
    if is_text(data.type) and len(column) >= _ENOUGH and data.null_count < len(data):
        common = pc.any(pc.is_in(found, value_set=pc.unique(data).drop_null())).as_py()
        if not common:
            raise ParameterError(
                f"no value of the controls occurs in the data in column '{name}': "
                "the two tables write their values differently"
            )
    return found


def _family(dtype: pa.DataType) -> str:
    if pa.types.is_temporal(dtype):
        return "time"
    if pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_decimal(dtype):
        return "number"
    return "text" if is_text(dtype) else str(dtype)


def _refuse_the_data(controls: pa.Table, original: pa.Table, rng: np.random.Generator) -> None:
    """Refuse controls that agree with the data in all columns far more often than strangers do.

    A stranger agrees with somebody about as often as a person of the data does with another, or
    as people do whose values are shuffled. Whose controls are people of the data finds no attack
    to do better on the data than on them.
    """
    rows = original.num_rows
    both = pa.concat_tables([original, controls])
    columns = [distinct(both[name], name).codes for name in both.column_names]
    shuffled = [rng.permutation(codes[rows:]) for codes in columns]
    keys = packed([np.concatenate(each) for each in zip(columns, shuffled, strict=True)])
    keys = np.unique(keys, return_inverse=True)[1]
    counts = np.bincount(keys[:rows], minlength=int(keys.max()) + 1)
    count = controls.num_rows
    agree = float((counts[keys[rows : rows + count]] > 0).mean())
    others = float((counts[keys[:rows]] > 1).mean())
    chance = max(others, float((counts[keys[rows + count :]] > 0).mean()))
    # half of those who would not agree by chance, and more of them than chance may bring about
    if agree - chance > max((1 - chance) / 2, 3 / np.sqrt(count)):
        raise ParameterError(
            f"{agree:.0%} of the controls agree with a row of the data in all columns, while "
            f"{others:.0%} of the data agree with another row: controls must be people who are not "
            "in the data"
        )
