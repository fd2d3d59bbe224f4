"""Values come back from their texts as they were, in whatever form a file has them."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.engines.spark import dictionaries, pieces
from sfumato.errors import InputError

DAYS = [datetime.datetime(2026, 1, day, 1, 2, 3) for day in (1, 2, 3)]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["b", "a", None]),
        pa.array(["b", "a", None], pa.large_string()),
        pa.array(["b", "a", None], pa.string_view()),
        pa.array(["b", "a", None]).dictionary_encode(),
        pa.array(["b", "a", None], pa.large_string()).dictionary_encode(),
        pa.nulls(3),
        pa.array([1, 2, None], pa.uint64()),
        pa.array([0.1, -2.5, None]),
        pa.array([0.1, -2.5, None], pa.float32()),
        pa.array([0.5, -2.5, None], pa.float16()),
        pa.array([Decimal("0.10"), Decimal("-2.50"), None], pa.decimal128(30, 2)),
        pa.array([Decimal("0.10"), Decimal("-2.50"), None], pa.decimal256(50, 2)),
        pa.array([True, False, None]),
        pa.array([day.date() for day in DAYS]),
        pa.array([day.time() for day in DAYS[:1]] * 3),
        pa.array(DAYS, pa.timestamp("ns")),
        pa.array(DAYS, pa.timestamp("us", "Europe/Berlin")),
        pa.array([datetime.timedelta(1), None, datetime.timedelta(-2)]),
    ],
    ids=lambda column: str(column.type),
)
def test_values_come_back_in_the_type_of_the_file(tmp_path, column):
    pq.write_table(pa.table({"a": column}), tmp_path / "a.parquet")
    source = pieces.listed(tmp_path / "a.parquet")
    counted = dictionaries._summed(map(dictionaries._counted, source.read(0, ["a"])))
    found = dictionaries._raw(counted, source, "a")
    cells = found.cells(source.schema.field("a").type)
    assert cells.type == source.schema.field("a").type
    there = {each for each in column.to_pylist() if each is not None}
    assert set(cells.to_pylist()) == there
    assert found.counts.sum() == 3 and found.counts[-1] == column.to_pylist().count(None)


def test_values_that_do_not_fit_the_common_type_are_refused_without_them(tmp_path):
    pq.write_table(pa.table({"a": [2**53 + 1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": [0.5]}), tmp_path / "2.parquet")
    source = pieces.listed(tmp_path)
    with pytest.raises(InputError, match="do not fit the types") as refused:
        list(source.read(0, ["a"]))
    assert str(2**53 + 1) not in str(refused.value)
