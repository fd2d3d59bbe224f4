"""Which type a column of texts spells: whole numbers, numbers, truth values, dates, or text.

A column has a type only if all of its cells spell it and nothing is lost: `01234` is a code, not
a number, and a number too long for 64 bits stays the text that it is.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

_WHOLE = r"^(0|-?[1-9][0-9]*)$"
# An exponent needs its sign or a point before it: `1E50` is as likely a code.
_NUMBER = (
    r"^([nN]a[nN]|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-][0-9]+)?"
    r"|-?(0|[1-9][0-9]*)\.[0-9]+[eE][0-9]+)$"
)
_TRUTH = r"^(true|false)$|^(True|False)$|^(TRUE|FALSE)$"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_TIME = r"[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
_TIMESTAMP = _DATE[:-1] + _TIME + "$"
_ZONED = _DATE[:-1] + _TIME + r"(Z|[+-][0-9]{2}:?[0-9]{2})$"

_SPELLINGS = (
    (_WHOLE, pa.int64()),
    (_NUMBER, pa.float64()),
    (_TRUTH, pa.bool_()),
    (_DATE, pa.date32()),
    (_TIMESTAMP, pa.timestamp("us")),
    (_ZONED, pa.timestamp("us", "UTC")),
)


def typed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of texts, coded by one dictionary, in the type that its cells spell.

    In any type but text, blanks around a value do not count, and a quoted empty field is missing.

    >>> texts = pa.chunked_array([pa.array(["30", None, "41"]).dictionary_encode()])
    >>> typed(texts).type, typed(texts).to_pylist()
    (DataType(int64), [30, None, 41])
    >>> typed(pa.chunked_array([pa.array(["01234"]).dictionary_encode()])).type
    DataType(string)
    """
    if column.num_chunks == 0:
        return pa.chunked_array([], pa.null())
    values = _converted(column.chunk(0).dictionary)
    if pa.types.is_null(values.type):
        return pa.chunked_array([pa.nulls(len(column))])
    return pa.chunked_array(
        [
            pa.DictionaryArray.from_arrays(chunk.indices, values).dictionary_decode()
            for chunk in column.chunks
        ],
        values.type,
    )


def _converted(texts: pa.Array) -> pa.Array:
    if len(texts) == 0:
        return pa.nulls(0)
    bare = pc.utf8_trim_whitespace(texts)
    bare = pc.if_else(pc.equal(bare, ""), pa.scalar(None, pa.string()), bare)
    if bare.null_count == len(bare):
        return texts
    for pattern, dtype in _SPELLINGS:
        # missing ones are skipped by `all`
        if pc.all(pc.match_substring_regex(bare, pattern)).as_py():
            try:
                return bare.cast(dtype)
            except pa.ArrowInvalid:  # the 31st of February; too many digits
                return texts
    return texts
