"""Footers of Parquet files: what they say of the bytes before them, moved to another place.

A footer is a structure of Thrift's compact protocol. It is read here as far as its form goes, so
that whatever stands in it is written again as it was; only places in the file, sums and the list of
row groups are changed. The numbers of fields are those of the format's `parquet.thrift`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MAGIC = b"PAR1"
_LENGTH = 4  # bytes that tell the footer's, before the last magic

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_DOUBLE_BYTES = 8
_LONG = 15  # elements of a list, from which on their number stands apart; and the largest step

# FileMetaData
_ROWS, _ROW_GROUPS = 3, 4
# RowGroup
_COLUMNS, _BYTES, _BEGIN, _STORED_BYTES, _ORDINAL = 1, 2, 5, 6, 7
# ColumnChunk, and its ColumnMetaData
_CHUNK_PLACES, _METADATA = (2, 4, 6), 3
_PAGE_PLACES = (9, 10, 11, 14)

# Fields by their numbers, each a type and a value.
Struct = dict[int, tuple[int, Any]]


@dataclass(frozen=True, slots=True)
class Encoded:
    """A Parquet file in memory, taken apart: what lies before its footer, and the footer."""

    data: memoryview
    footer: Struct

    @classmethod
    def of(cls, file: bytes | memoryview) -> Encoded:
        """Return the parts of a whole file."""
        content = memoryview(file).cast("B")  # those of Arrow are of signed bytes
        end = len(content) - len(MAGIC) - _LENGTH
        length = int.from_bytes(content[end : end + _LENGTH], "little")
        footer, _ = _read(content[end - length : end], 0, _STRUCT)
        return cls(content[len(MAGIC) : end - length], footer)

    def row_group(self) -> Struct:
        """Return what is said of the only row group."""
        _, (_, (only,)) = self.footer[_ROW_GROUPS]
        found: Struct = only
        return found


def united(parts: Sequence[Encoded], begin: int, ordinal: int) -> Struct:
    """Return the row group whose columns are those of the parts, written one by one from `begin`.

    Each part has some columns of the same rows, and was written as a file of its own.
    """
    columns = []
    at = begin
    for part in parts:
        _, (_, chunks) = part.row_group()[_COLUMNS]
        columns += [_moved_chunk(chunk, at - len(MAGIC)) for chunk in chunks]
        at += len(part.data)
    group = dict(parts[0].row_group())
    group[_COLUMNS] = _LIST, (_STRUCT, columns)
    for total in (_BYTES, _STORED_BYTES):
        if total in group:
            group[total] = _I64, sum(part.row_group()[total][1] for part in parts)
    if _BEGIN in group:
        group[_BEGIN] = _I64, begin
    if _ORDINAL in group:
        group[_ORDINAL] = _I16, ordinal
    return group


def ending(like: Encoded, row_groups: Sequence[Struct], rows: int) -> bytes:
    """Return how a file ends that has these row groups, and else says what another footer says."""
    footer = like.footer | {
        _ROWS: (_I64, rows),
        _ROW_GROUPS: (_LIST, (_STRUCT, list(row_groups))),
    }
    written = bytearray()
    _write(written, _STRUCT, footer)
    return bytes(written) + len(written).to_bytes(_LENGTH, "little") + MAGIC


def _moved_chunk(chunk: Struct, by: int) -> Struct:
    """Return what is said of a column, whose bytes lie elsewhere."""
    moved = _moved(chunk, _CHUNK_PLACES, by)
    kind, metadata = chunk[_METADATA]
    return moved | {_METADATA: (kind, _moved(metadata, _PAGE_PLACES, by))}


def _moved(struct: Struct, places: Sequence[int], by: int) -> Struct:
    # a place of zero is none
    return {
        number: (kind, value + by if number in places and value else value)
        for number, (kind, value) in struct.items()
    }


# Thrift's compact protocol


def _read(data: memoryview, at: int, kind: int) -> tuple[Any, int]:
    """Return a value of a type, and where the next one begins."""
    if kind == _STRUCT:
        return _read_struct(data, at)
    if kind in (_LIST, _SET):
        size, of = data[at] >> 4, data[at] & 0xF
        at += 1
        if size == _LONG:
            size, at = _read_number(data, at)
        values = []
        for _ in range(size):
            value, at = _read(data, at, of)
            values.append(value)
        return (of, values), at
    if kind == _BINARY:
        size, at = _read_number(data, at)
        return bytes(data[at : at + size]), at + size
    if kind == _DOUBLE:
        return bytes(data[at : at + _DOUBLE_BYTES]), at + _DOUBLE_BYTES
    if kind in (_TRUE, _FALSE, _BYTE):  # of a list, where a byte stands for each
        return data[at], at + 1
    if kind in (_I16, _I32, _I64):
        number, at = _read_number(data, at)
        return (number >> 1) ^ -(number & 1), at
    raise ValueError("a footer of a form that is not known")


def _read_struct(data: memoryview, at: int) -> tuple[Struct, int]:
    found: Struct = {}
    number = 0
    while data[at]:
        step, kind = data[at] >> 4, data[at] & 0xF
        at += 1
        if step:
            number += step
        else:
            coded, at = _read_number(data, at)
            number = (coded >> 1) ^ -(coded & 1)
        if kind in (_TRUE, _FALSE):  # which is the value, too
            found[number] = kind, None
            continue
        value, at = _read(data, at, kind)
        found[number] = kind, value
    return found, at + 1


def _read_number(data: memoryview, at: int) -> tuple[int, int]:
    found = shift = 0
    while data[at] & 0x80:
        found |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
    return found | data[at] << shift, at + 1


def _write(out: bytearray, kind: int, value: Any) -> None:
    """Append a value of a type."""
    if kind == _STRUCT:
        _write_struct(out, value)
    elif kind in (_LIST, _SET):
        of, values = value
        out.append(min(len(values), _LONG) << 4 | of)
        if len(values) >= _LONG:
            _write_number(out, len(values))
        for each in values:
            _write(out, of, each)
    elif kind == _BINARY:
        _write_number(out, len(value))
        out += value
    elif kind == _DOUBLE:
        out += value
    elif kind in (_TRUE, _FALSE, _BYTE):
        out.append(value)
    else:
        _write_number(out, _folded(value))


def _write_struct(out: bytearray, struct: Struct) -> None:
    before = 0
    for number, (kind, value) in sorted(struct.items()):
        step = number - before
        if 0 < step <= _LONG:
            out.append(step << 4 | kind)
        else:
            out.append(kind)
            _write_number(out, _folded(number))
        if kind not in (_TRUE, _FALSE):
            _write(out, kind, value)
        before = number
    out.append(0)


def _folded(number: int) -> int:
    """Return a number without its sign, small where it is near zero."""
    return number << 1 if number >= 0 else (-number << 1) - 1


def _write_number(out: bytearray, number: int) -> None:
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
