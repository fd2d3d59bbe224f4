"""Columns of sets as text."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import ReleaseDamaged
from sfumato.release.set_cells import set_texts, sets_from_texts

members = st.none() | st.text(max_size=4) | st.text(alphabet='{}[],| "\\nul', max_size=5)


@settings(deadline=None)
@given(st.lists(st.none() | st.lists(members, min_size=1, max_size=4), max_size=5))
def test_sets_of_any_texts_read_back(lists):
    column = pa.array(lists, pa.list_(pa.string()))
    texts = set_texts(pa.chunked_array([column]))
    assert sets_from_texts(texts, pa.string()).to_pylist() == lists


def test_sets_of_numbers_read_back():
    column = pa.chunked_array([pa.array([[9, 10], None, [7, None]], pa.list_(pa.int32()))])
    texts = set_texts(column)
    assert texts.to_pylist() == ["{9 | 10}", None, "{7 | null}"]
    assert sets_from_texts(texts, pa.int32()).equals(column.combine_chunks())


def test_a_slice_of_lists_is_written_as_such():
    column = pa.array([[1], None, [2, 3], [4]], pa.list_(pa.int32())).slice(1, 2)
    assert set_texts(pa.chunked_array([column])).to_pylist() == [None, "{2 | 3}"]


@pytest.mark.parametrize(
    "text",
    ["", "33", "{33", "{33|41}", "{33 |  41}", "{33, 41}", "{x}", '{"33"}', "{33 | }", "{033}"],
)
def test_malformed_sets_are_refused(text):
    with pytest.raises(ReleaseDamaged, match="does not follow the cell grammar") as refusal:
        sets_from_texts(pa.array([text]), pa.int32())
    assert "33" not in str(refusal.value)
