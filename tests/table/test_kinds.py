"""Rows by kind: as many kinds as combinations that occur, each with its rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sfumato.schema import Attribute, Role, Schema
from sfumato.table import Table, encode
from sfumato.table.kinds import Kinds
from sfumato.table.whole import frame_of

ROWS = st.lists(
    st.tuples(st.none() | st.integers(0, 1), st.sampled_from("ab")), min_size=1, max_size=40
)


def table_of(rows: list) -> Table:
    numbers, letters = ([row[i] for row in rows] for i in range(2))
    data = pa.table({"one": pa.array(numbers, pa.int8()), "two": pa.array(letters, pa.string())})
    return encode(
        data, Schema(tuple(Attribute(n, Role.QUASI_IDENTIFIER) for n in data.schema.names))
    )


@given(ROWS)
def test_every_row_is_of_the_kind_that_has_its_codes(rows):
    table = table_of(rows)
    kinds = Kinds.of(table.columns)
    if kinds is None:
        widths = [column.cardinality + 1 for column in table.columns]
        assert np.prod(widths) > len(rows)
        return
    held = list(zip(*(column.codes.tolist() for column in table.columns), strict=True))
    shown = list(zip(*(column.codes.tolist() for column in kinds.columns), strict=True))
    assert shown == sorted(set(held))
    counts = Counter(held)
    assert kinds.counts.tolist() == [counts[each] for each in shown]
    numbers = np.arange(len(shown), dtype=np.int32)
    assert [shown[number] for number in kinds.of_rows(numbers)] == held


def test_more_kinds_than_rows_are_not_looked_for():
    assert Kinds.of(frame_of(table_of([(0, "a")])).columns) is None
    assert Kinds.of(table_of([(0, "a")]).columns) is None
    wide = encode(pa.table({"n": list(range(9))}), Schema.of(n="quasi-identifier"))
    assert Kinds.of(wide.columns * 200) is None  # beyond what any number can hold
