"""Where memory is short, the message says so, and blames neither quotes nor sfumato."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pytest

from sfumato import short_memory
from sfumato.errors import InputError
from sfumato.io import csv_files
from sfumato.io.read import read_table

ENOUGH, LITTLE = float("inf"), 1000.0
THREAD = pa.ArrowException("Unknown error: Failed to launch worker thread: Resource temporarily …")
# Reads a table with so many megabytes of address space beyond what the libraries have taken.
CHILD = """
import os, resource, sys
from pathlib import Path
from sfumato.errors import InputError
from sfumato.io.read import read_table
taken = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
most = taken + int(sys.argv[2]) * 2**20
resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
try:
    read_table(sys.argv[1])
except InputError as error:
    print(error)
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    return path


def failing(monkeypatch, error: Exception, room: float) -> None:
    def fails(*_, **__):
        raise error

    monkeypatch.setattr(csv_files.csv, "read_csv", fails)
    monkeypatch.setattr(short_memory, "_room_left", lambda: room)


@pytest.mark.parametrize(
    ("error", "room"),
    [
        (MemoryError(), ENOUGH),
        (pa.ArrowMemoryError("malloc of size 64 failed"), ENOUGH),
        (THREAD, ENOUGH),
        (pa.ArrowInvalid("whatever"), LITTLE),
        (TypeError("Got unexpected argument type <class 'str'> for compute function"), LITTLE),
    ],
)
def test_lack_of_memory_is_told_as_such(monkeypatch, file, error, room):
    failing(monkeypatch, error, room)
    with pytest.raises(InputError, match="not enough memory to read this table") as found:
        read_table(file)
    assert found.value.__suppress_context__


def test_with_enough_memory_errors_stay_what_they_are(monkeypatch, file):
    failing(monkeypatch, pa.ArrowInvalid("whatever"), ENOUGH)
    with pytest.raises(InputError, match="does not read as CSV"):
        read_table(file)
    failing(monkeypatch, TypeError("a fault of ours"), ENOUGH)
    with pytest.raises(TypeError):
        read_table(file)


def test_bad_quotes_are_told_even_where_memory_is_short(monkeypatch, file):
    file.write_text('a,b\n1,"2\n3,4\n')
    failing(monkeypatch, pa.ArrowInvalid("whatever"), LITTLE)
    with pytest.raises(InputError, match="quotes in the row that starts on line 2"):
        read_table(file)


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited so on Linux only")
def test_a_process_with_little_address_space(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("a,b\n" + "".join(f"{n},x{n}\n" for n in range(700_000)))
    told = []
    for megabytes in (20, 80):  # a library may end a process itself where memory ends
        done = subprocess.run(
            [sys.executable, "-c", CHILD, str(path), str(megabytes)],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert "CSV" not in done.stdout and "Traceback" not in done.stderr, done
        told.append(done.stdout)
    assert any("not enough memory to read this table" in each for each in told)
