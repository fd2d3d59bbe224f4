"""What files tell beside their cells: no machine, user, path or time of the input.

That orders of rows, groups and dictionaries tell nothing is asked of every method in
`tests/contracts` and of files in `tests/attacks/test_leaks.py`.
"""

from __future__ import annotations

import getpass
import os
import socket

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from sfumato.methods import METHODS
from sfumato.randomness import Randomness
from sfumato.schema import Schema

ROLES = {"age": "quasi-identifier", "ill": "sensitive"}
LONG_AGO = 946684800  # when the input was written


@pytest.fixture
def folder(tmp_path):
    """A release of a frame that carries notes of its own: an index, a path, a host."""
    data = pa.table(
        {"age": [20 + n % 7 for n in range(70)], "ill": [f"i{n % 5}" for n in range(70)]}
    )
    data = data.replace_schema_metadata({"pandas": "an index", "host": socket.gethostname()})
    path = tmp_path / "input.parquet"
    pq.write_table(data, path)
    os.utime(path, (LONG_AGO, LONG_AGO))
    read = pq.read_table(path)
    release = METHODS["anatomy"](l=2).publish(
        read, Schema.of(ROLES), randomness=Randomness.secret(b"not that secret, but no test seed")
    )
    release.save(tmp_path / "release")
    return tmp_path / "release"


def test_no_metadata_beside_the_table(folder):
    for file in folder.glob("*.parquet"):
        metadata = pq.read_metadata(file)
        assert set(metadata.metadata or {}) <= {b"ARROW:schema"}
        assert metadata.created_by.startswith("parquet-cpp-arrow")
        assert pq.ParquetFile(file).read().schema.metadata is None
        content = file.read_bytes()
        for word in (socket.gethostname(), getpass.getuser() + "@", "pandas", "input.parquet"):
            assert word.encode() not in content


def test_statistics_are_those_of_the_published_cells(folder):
    for file in folder.glob("*.parquet"):
        reader = pq.ParquetFile(file)
        assert reader.metadata.num_row_groups == 1
        table = reader.read()
        for place, name in enumerate(table.column_names):
            found = reader.metadata.row_group(0).column(place).statistics
            column = (
                table[name].cast(pa.string())
                if pa.types.is_dictionary(table[name].type)
                else table[name]
            )
            ends = pc.min_max(column)
            if found is not None and found.has_min_max:
                assert (found.min, found.max) == (ends["min"].as_py(), ends["max"].as_py())


def test_times_are_those_of_the_run_and_owners_are_plain(folder):
    made = folder.stat().st_mtime
    for file in folder.rglob("*"):
        status = file.stat()
        assert status.st_mtime > LONG_AGO + 10**8
        assert abs(status.st_mtime - made) < 600
        assert status.st_nlink == 1 and not os.listxattr(file)
    assert "created" in (folder / "manifest.json").read_text()
    assert ":" not in (folder / "manifest.json").read_text().split('"created": "')[1].split('"')[0]
