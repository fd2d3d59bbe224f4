"""Distinct values: hashing and counting must agree."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

from sfumato.errors import SchemaError
from sfumato.schema import Kind, Schema
from sfumato.schema import distinct as module
from sfumato.schema.distinct import distinct, looked_up
from sfumato.table import encode

_CELLS = st.lists(st.none() | st.integers(-4, 4), max_size=12)


@settings(deadline=None)
@given(_CELLS, _CELLS, st.sampled_from([0, 10**6, -(2**63) + 4, 2**63 - 5]))
def test_whole_numbers_close_together_or_far_apart(left, right, shift):
    def shifted(cells):
        return pa.array([None if cell is None else cell + shift for cell in cells], pa.int64())

    column = pa.chunked_array([shifted(left), shifted(right)])
    found = distinct(column, "c")
    cells = [*found.values.to_pylist(), None]
    assert [cells[code] for code in found.codes] == column.to_pylist()
    assert len(set(cells)) == len(cells)
    assert found.codes.dtype == np.int32
    assert found.counts.sum() == len(column)
    assert found.counts[-1] == column.null_count


@settings(deadline=None)
@given(st.lists(st.none() | st.integers(2**64 - 4, 2**64 - 1), min_size=1))
def test_numbers_beyond_64_signed_bits(cells):
    found = distinct(pa.chunked_array([pa.array(cells, pa.uint64())]), "c")
    values = [*found.values.to_pylist(), None]
    assert [values[code] for code in found.codes] == cells


def test_both_ways_are_taken(monkeypatch):
    monkeypatch.setattr(module, "_hash", lambda column: pytest.fail("hashed"))
    assert distinct(pa.chunked_array([[5, 7, 5]]), "c").values.to_pylist() == [5, 7]
    with pytest.raises(pytest.fail.Exception, match="hashed"):
        distinct(pa.chunked_array([[5, 10**9]]), "c")


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(SchemaError, match=r"'tags'.*cannot be compared"):
        distinct(pa.chunked_array([[[1], [2]]]), "tags")


def test_an_ordered_dictionary_of_numbers_keeps_its_order():
    cells = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, 0]), pa.array([3, 1, 2]), ordered=True
    )
    table = encode(pa.table({"grade": cells}), Schema.of(grade="quasi-identifier"))
    assert table["grade"].kind is Kind.ORDINAL
    assert table["grade"].values.to_pylist() == [3, 1, 2]


@pytest.mark.parametrize("wrong", [3, -1])
def test_places_beyond_a_table_are_refused_and_not_looked_up_elsewhere(wrong):
    places = np.zeros(40_000, np.int32)
    places[39_000] = wrong
    with pytest.raises(IndexError, match="beyond the ends"):
        looked_up(np.arange(3, dtype=np.int32), places)
    assert not looked_up(np.arange(3) > 0, np.zeros(40_000, np.int8)).any()
