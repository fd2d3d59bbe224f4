"""One Parquet file by several threads: the bytes of Arrow's own writer, however tables are made."""

from __future__ import annotations

import datetime
import io
from concurrent.futures import Future, ThreadPoolExecutor
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import ClaimBroken, InputError
from sfumato.release import Release, parquet_file
from sfumato.release.parquet_file import write_parquet

ROWS = 1_000


@pytest.fixture
def in_small_groups(monkeypatch):
    """Row groups of so few rows that a small table has several."""

    def small(rows: int) -> None:
        monkeypatch.setattr(parquet_file, "_MANY_ROWS", 1)
        monkeypatch.setattr(parquet_file, "_ROWS_OF_GROUP", rows)

    return small


def table_of_all_types() -> pa.Table:
    rng = np.random.default_rng(3)
    numbers = rng.integers(0, 50, ROWS)
    gone = rng.random(ROWS) < 0.2
    texts = pa.array([f"[{n}, {n + 3}]" for n in numbers], mask=gone)
    return pa.table(
        {
            "group": pa.array(rng.integers(1, 300, ROWS), pa.int32()),
            "age": texts.dictionary_encode(),
            "note": texts,
            "salary": pa.array(numbers, pa.int32()),
            "weight": pa.array(rng.random(ROWS), mask=gone),
            "born": pa.array([datetime.date(2000, 1, 1 + n % 28) for n in numbers]),
            "seen": pa.array(numbers * 86_400, pa.timestamp("ms")),
            "paid": pa.array([Decimal(int(n)) / 4 for n in numbers], pa.decimal128(9, 2)),
            "smokes": pa.array(numbers % 2 == 0, mask=gone),
            "nothing": pa.nulls(ROWS, pa.string()),
            "disease.bucket": pa.array(rng.integers(1, 300, ROWS), pa.int32(), mask=gone),
            "count": pa.array(np.ones(ROWS), pa.int32()),
        }
    )


def written(table: pa.Table, path, threads: ThreadPoolExecutor | None) -> bytes:
    path.unlink(missing_ok=True)
    write_parquet(table, path, threads)
    return path.read_bytes()


@pytest.mark.parametrize("size", [1, 17, 50, 999, 1_000, 5_000])
def test_threads_write_the_bytes_of_one(tmp_path, in_small_groups, size):
    in_small_groups(size)
    table = table_of_all_types()
    path = tmp_path / "records.parquet"
    with ThreadPoolExecutor(3) as threads:
        assert written(table, path, threads) == written(table, path, None)
    assert pq.ParquetFile(path).metadata.num_row_groups == -(-ROWS // size)


def test_others_read_what_threads_wrote(tmp_path, in_small_groups):
    in_small_groups(64)
    table, path = table_of_all_types(), tmp_path / "records.parquet"
    with ThreadPoolExecutor(2) as threads:
        write_parquet(table, path, threads)
    assert pq.read_table(path).equals(table)
    assert (
        pl.read_parquet(path)
        .select("note", "salary")
        .equals(pl.from_arrow(table).select("note", "salary"))
    )


@pytest.mark.parametrize("columns", [1, 14, 15, 40])
def test_tables_of_many_columns_and_chunks(tmp_path, in_small_groups, columns):
    in_small_groups(300)
    one = pa.table({f"c{n}": pa.array(np.arange(ROWS) % (n + 2)) for n in range(columns)})
    table = pa.concat_tables([one.slice(0, 10), one.slice(10, 700), one.slice(710)])
    path = tmp_path / "records.parquet"
    with ThreadPoolExecutor(2) as threads:
        assert written(table, path, threads) == written(table, path, None)


def test_default_groups_are_those_of_arrow(tmp_path):
    """So that files are what they were before threads wrote them."""
    rows = (1 << 20) + 5
    table = pa.table({"salary": pa.array(np.arange(rows, dtype=np.int32) % 1_000)})
    path = tmp_path / "records.parquet"
    with ThreadPoolExecutor(2) as threads:
        write_parquet(table, path, threads)
    sink = pa.BufferOutputStream()
    pq.write_table(
        table, sink, compression="zstd", write_statistics=False, write_batch_size=1 << 20
    )
    assert path.read_bytes() == sink.getvalue().to_pybytes()


def test_a_thread_that_fails_leaves_no_release(generalized, tmp_path, in_small_groups, monkeypatch):
    in_small_groups(1)

    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(parquet_file, "_encoded", full)
    with pytest.raises(InputError, match="No space left"):
        generalized.save(tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_few_row_groups_are_encoded_ahead_and_none_after_a_failure(tmp_path, in_small_groups):
    in_small_groups(10)
    asked: list[Future] = []

    class Noted(ThreadPoolExecutor):
        def submit(self, *arguments, **more):
            asked.append(super().submit(*arguments, **more))
            return asked[-1]

    class Full(io.BytesIO):
        def write(self, content):
            if self.tell() > 4:
                raise OSError(28, "No space left on device")
            return super().write(content)

    table = pa.table({"a": np.arange(ROWS), "b": np.arange(ROWS)})
    with Noted(1) as threads, pytest.raises(OSError, match="No space"):
        parquet_file._write_side_by_side(table, Full(), threads)
    ahead = parquet_file._AHEAD + 1
    assert 2 < len(asked) <= 2 * ahead < ROWS // 10
    assert all(each.cancelled() or each.done() for each in asked)


def test_a_block_that_fails_waits_for_no_columns(generalized, tmp_path, in_small_groups):
    in_small_groups(1)
    with pytest.raises(ClaimBroken), generalized.saving(tmp_path / "out"):
        raise ClaimBroken("no")
    assert not list(tmp_path.iterdir())
    generalized.save(tmp_path / "out")
    assert Release.load(tmp_path / "out").tables["records"].equals(generalized.tables["records"])
