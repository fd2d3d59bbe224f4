"""Reading frames, and refusing what is no table."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sfumato.errors import InputError
from sfumato.schema import as_arrow


def refusal(data) -> str:
    with pytest.raises(InputError) as caught:
        as_arrow(data)
    # A cause or context would be printed too, and quotes the cell that was stumbled over.
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return str(caught.value)


def test_an_arrow_table_is_passed_on_without_a_copy():
    data = pa.table({"age": [1, 2]})
    address = data["age"].chunk(0).buffers()[1].address
    assert as_arrow(data)["age"].chunk(0).buffers()[1].address == address


def test_metadata_of_the_frame_are_left_behind():
    data = pa.table({"age": [1]}).replace_schema_metadata({"pandas": "{}"})
    assert as_arrow(data).schema.metadata is None
    assert data.schema.metadata is not None


@pytest.mark.parametrize("data", [42, None, "people.csv", [1, 2], {"age": [1]}, object()])
def test_what_is_no_frame_is_refused_by_its_type(data):
    message = refusal(data)
    assert type(data).__name__ in message
    assert "people" not in message


@pytest.mark.parametrize("data", [pl.Series([1, 2]), pa.array([1, 2]), pa.chunked_array([[1]])])
def test_a_single_column_is_no_table(data):
    refusal(data)


def test_duplicate_names_are_refused_in_every_library():
    arrays = [pa.array([1]), pa.array([2]), pa.array([3])]
    assert "'a'" in refusal(pa.table(arrays, names=["a", "b", "a"]))
    assert "'a'" in refusal(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    assert "'1'" in refusal(pd.DataFrame([[1, 2]], columns=[1, "1"]))


@pytest.mark.parametrize("frame", [pd.DataFrame({"a": []}), pl.DataFrame(), pd.DataFrame()])
def test_a_table_without_rows_is_refused(frame):
    assert "empty" in refusal(frame)


@pytest.mark.parametrize("cells", [["secret", 1], [1, "secret"], [1 + 2j], [object()], [2**70]])
def test_columns_of_mixed_type_are_named_and_their_cells_are_not(cells):
    frame = pd.DataFrame({"fine": range(len(cells)), "odd": pd.Series(cells, dtype=object)})
    message = refusal(frame)
    assert "'odd'" in message and "'fine'" not in message
    assert "secret" not in message


def test_an_error_inside_a_stream_is_told_without_its_words():
    class Broken:
        def __arrow_c_stream__(self, requested_schema=None):
            raise ValueError("could not convert 'secret'")

    message = refusal(Broken())
    assert "Broken" in message and "ValueError" in message and "secret" not in message


def test_a_batch_like_object_is_read():
    class Batch:
        def __arrow_c_array__(self, requested_schema=None):
            return pa.record_batch({"age": [1, 2]}).__arrow_c_array__(requested_schema)

    assert as_arrow(Batch()).to_pydict() == {"age": [1, 2]}


def test_an_older_relation_is_read_by_its_own_method():
    class Relation:
        def to_arrow_table(self):
            return pa.table({"age": [1]})

    assert as_arrow(Relation()).num_rows == 1
