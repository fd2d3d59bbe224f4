"""Columns of sets: small codes in memory, plain values in files."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.methods import SensitiveQID
from sfumato.publish import set_records
from sfumato.release import AttributeEntry, Release, set_columns
from sfumato.release.set_columns import (
    code_type,
    normal_sets,
    refuse_too_many,
    set_codes,
    set_column,
)
from sfumato.schema import Kind, Role, Schema


def entry(domain, dtype="string") -> AttributeEntry:
    return AttributeEntry(
        name="x", role=Role.SENSITIVE, kind=Kind.CATEGORICAL, type=dtype, domain=domain
    )


@pytest.mark.parametrize(
    ("size", "dtype"), [(255, np.uint8), (256, np.uint16), (65_535, np.uint16), (65_536, np.uint32)]
)
def test_codes_are_as_small_as_the_domain_allows(size, dtype):
    assert code_type(size) is dtype


def test_members_are_coded_by_the_domain_in_its_order():
    lists = pa.chunked_array([[["b", None], ["c", "b"]], [["a", "c"]]])
    column = normal_sets(lists, entry(("c", "b", "a", None)))
    assert column.type == pa.list_(pa.dictionary(pa.uint8(), pa.string()))
    assert column.values.dictionary.to_pylist() == ["c", "b", "a"]
    assert column.to_pylist() == lists.to_pylist()
    starts, codes = set_codes(column, entry(("c", "b", "a", None)))
    assert starts.tolist() == [0, 2, 4, 6]
    assert codes.tolist() == [1, 3, 0, 1, 2, 0]


def test_members_outside_the_domain_are_kept_for_a_judge():
    column = normal_sets(pa.chunked_array([[["b", "z"]]]), entry(("b", "a")))
    assert column.to_pylist() == [["b", "z"]]
    with pytest.raises(ReleaseDamaged, match="outside its domain"):
        set_codes(column, entry(("b", "a")))
    with pytest.raises(ReleaseDamaged, match="lacks a set"):
        set_codes(normal_sets(pa.chunked_array([[["b"], None]]), entry(("b",))), entry(("b",)))


def test_texts_are_no_numbers():
    with pytest.raises(ValueError, match="another type"):
        normal_sets(pa.chunked_array([[["1"]]]), entry(("1",), "int32"))


def test_what_is_in_the_form_is_not_copied():
    column = set_column(np.array([[0, 1], [1, 2]], np.uint8), pa.array(["a", "b", "c"]))
    again = normal_sets(pa.chunked_array([column]), entry(("a", "b", "c")))
    assert again.values.indices.buffers()[1].address == column.values.indices.buffers()[1].address


@pytest.mark.parametrize(
    "values", [["a", "b", "c", None], [1, 2, 3, None]], ids=["texts", "numbers"]
)
def test_files_are_small_and_anybody_can_read_them(tmp_path, values):
    rows = 20_000
    data = pa.table({"x": values * (rows // 4)})
    release = SensitiveQID(l=2).publish(data, Schema.of(x="sensitive"))
    release.save(tmp_path / "out")
    file = tmp_path / "out" / "records.parquet"
    plain = pq.read_table(file)["x"]
    assert plain.type.value_type == data["x"].type
    assert plain.to_pylist() == release.tables["records"]["x"].to_pylist()
    assert file.stat().st_size < rows  # two codes of two bits each and little else
    again = Release.load(tmp_path / "out")
    assert again.tables["records"].equals(release.tables["records"])


@pytest.mark.parametrize(("rows", "size"), [(2**30, 2), (2**31 // 5 + 1, 5), (2**31, 1)])
def test_more_members_than_offsets_can_number_are_refused(rows, size):
    """Lines of no memory: all are one and the same."""
    codes = np.broadcast_to(np.zeros((1, 1), np.uint8), (rows, size))
    with pytest.raises(ParameterError, match=f"{rows} sets of {size} values are more than"):
        set_column(codes, pa.array(["a", "b"]))
    refuse_too_many(2**31 // size - 1, size)


def test_they_are_refused_before_any_set_is_drawn(monkeypatch):
    monkeypatch.setattr(set_columns, "MOST_MEMBERS", 7)
    monkeypatch.setattr(set_records, "random_sets", None)
    data = pa.table({"x": ["a", "b", "c", "a"]})
    with pytest.raises(ParameterError, match="at most 1, or publish the rows in several"):
        SensitiveQID(l=2).publish(data, Schema.of(x="sensitive"))
