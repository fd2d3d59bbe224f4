"""The data of a reproduction: real files, told apart by their columns, or synthetic look-alikes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.datasets import census, hospital, load_adult, load_census_income
from sfumato.datasets.uci import ADULT, CENSUS_INCOME
from sfumato.errors import InputError
from sfumato.io.read import read_table
from sfumato.papers.grid import About

_PARQUET = b"PAR1"
_COMMENT = b"|"
_CENSUS_1990 = ("dAge", "iSex", "iMarital", "iClass", "dIncome1", "iYearsch")


@dataclass(frozen=True, slots=True)
class Real:
    """A known set of real data: how it is called, which files it comes in, how it is read."""

    title: str
    files: str
    columns: tuple[str, ...]
    parts: tuple[str, ...]
    load: Callable[[Path], pa.Table]


REAL: Mapping[str, Real] = {
    "adult": Real(
        "UCI Adult",
        "adult.data, adult.test, a folder with both, or a Parquet file with its 15 columns",
        tuple(ADULT.schema.names),
        ADULT.parts,
        load_adult,
    ),
    "census-income": Real(
        "UCI Census-Income (KDD)",
        "census-income.data, a folder with it, or a Parquet file with its 42 columns",
        tuple(CENSUS_INCOME.schema.names),
        CENSUS_INCOME.parts,
        load_census_income,
    ),
    "census-1990": Real(
        "UCI US Census 1990",
        "a Parquet file with its columns",
        _CENSUS_1990,
        (),
        read_table,
    ),
}
SYNTHETIC: Mapping[str, tuple[str, Callable[[int], pa.Table]]] = {
    "census": ("the synthetic census", census),
    "hospital": ("synthetic hospital stays", hospital),
}


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """The rows that experiments run on, and what a page says of them."""

    about: About
    rows: pa.Table


def real(path: str | os.PathLike[str]) -> Data:
    """Return the data of a file, or folder, that is one of the known sets.

    Refuses (InputError) a file that is none of them, or lacks columns, and says which would do.
    """
    file = Path(path)
    key = _recognised(file)
    rows = REAL[key].load(file)
    if lacking := [name for name in REAL[key].columns if name not in rows.column_names]:
        raise InputError(
            f"{file}: lacks column '{lacking[0]}' of {REAL[key].title}; give {REAL[key].files}"
        )
    return Data(About(key, REAL[key].title, rows.num_rows, True, fingerprint(rows)), rows)


def synthetic(key: str, rows: int) -> Data:
    """Return so many rows of a synthetic look-alike, always the same ones."""
    title, make = SYNTHETIC[key]
    made = make(rows)
    return Data(About(key, title, rows, False, fingerprint(made)), made)


def complete(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return the named columns, without the rows that have a missing cell in one of them."""
    chosen = table.select(list(names))
    return chosen.filter(reduce(pc.and_, [column.is_valid() for column in chosen.columns]))


def fingerprint(table: pa.Table) -> str:
    """Return a checksum of all cells, whatever file they came from.

    >>> one, two = pa.table({"a": [1, 2]}), pa.table({"a": [1, 3]})
    >>> fingerprint(one) == fingerprint(pa.concat_tables([one.slice(0, 1), one.slice(1)]))
    True
    >>> fingerprint(one) == fingerprint(two)
    False
    """
    digest = hashlib.sha256(str(table.schema.remove_metadata()).encode())
    for column in table.columns:
        # taken anew: the bytes of a slice, or of what a reader left under a null, are its own
        whole = column.combine_chunks().take(pa.array(range(table.num_rows), pa.int64()))
        if isinstance(whole, pa.ChunkedArray):
            whole = whole.combine_chunks()
        sink = pa.BufferOutputStream()
        batch = pa.record_batch([whole], names=["column"])
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        digest.update(sink.getvalue())
    return digest.hexdigest()[:16]


def _recognised(file: Path) -> str:
    """Return the key of the set whose columns, or number of fields, the file has."""
    if file.is_dir():
        for key, each in REAL.items():
            if any((file / part).is_file() for part in each.parts):
                return key
        raise _unknown(file, "the folder has none of their files")
    try:
        with file.open("rb") as opened:
            is_parquet = opened.read(len(_PARQUET)) == _PARQUET
            opened.seek(0)
            first = b"" if is_parquet else _first_line(opened)
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from None
    if not is_parquet:
        fields = first.count(b",") + 1
        for key, each in REAL.items():
            if each.parts and fields == len(each.columns):
                return key
        raise _unknown(file, f"its first line has {fields} fields")
    try:
        names = set(pq.read_schema(file).names)
    except (pa.ArrowException, OSError):
        raise InputError(f"{file}: a damaged Parquet file") from None
    shares = {key: len(names & set(each.columns)) for key, each in REAL.items()}
    nearest = max(shares, key=lambda key: shares[key] / len(REAL[key].columns))
    lacking = [name for name in REAL[nearest].columns if name not in names]
    if len(lacking) * 2 > len(REAL[nearest].columns):
        raise _unknown(file, f"it has {len(names)} columns")
    if lacking:
        raise InputError(
            f"{file}: lacks {len(lacking)} columns of {REAL[nearest].title}, "
            f"'{lacking[0]}' first; give {REAL[nearest].files}"
        )
    return nearest


def _first_line(opened: IO[bytes]) -> bytes:
    """Return the first line that is neither empty nor a comment."""
    lines = (line.strip() for line in opened)
    return next((line for line in lines if line and not line.startswith(_COMMENT)), b"")


def _unknown(file: Path, seen: str) -> InputError:
    known = "; ".join(f"{each.title} ({each.files})" for each in REAL.values())
    return InputError(f"{file}: not one of the known data sets, {seen}; give {known}")
