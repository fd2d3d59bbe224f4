"""Rows are ordered by SipHash, as its paper has it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.siphash import siphash

from sfumato.errors import ParameterError
from sfumato.rows.keyed_hash import copies, row_hashes


@given(
    lines=st.lists(
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3), min_size=1, max_size=9
    ),
    key=st.binary(min_size=16, max_size=16),
)
def test_a_row_has_the_hash_of_its_codes_in_eight_bytes_each(
    lines: list[list[int]], key: bytes
) -> None:
    expected = [
        siphash(key, b"".join(code.to_bytes(8, "little", signed=True) for code in line))
        for line in lines
    ]
    assert row_hashes(list(np.array(lines, np.int64).T), key).tolist() == expected


def test_narrow_codes_hash_like_wide_ones() -> None:
    key, codes = bytes(range(16)), np.array([3, 1, 2])
    wide = row_hashes([codes.astype(np.int64)], key)
    assert row_hashes([codes.astype(np.int32)], key).tolist() == wide.tolist()


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1))
def test_equal_rows_are_numbered(rows: list[tuple[int, int]]) -> None:
    found = copies([np.array(column) for column in zip(*rows, strict=True)])
    assert found.tolist() == [rows[:place].count(row) for place, row in enumerate(rows)]


def test_a_key_has_sixteen_bytes() -> None:
    with pytest.raises(ParameterError, match="16 bytes"):
        row_hashes([np.zeros(1, np.int64)], b"short")
