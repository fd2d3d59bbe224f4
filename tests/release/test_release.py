"""The release object: tables in one form, fitting the manifest, with nothing of the input left."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import ReleaseDamaged
from sfumato.release.release import Release
from sfumato.release.tables import TEXT, text_column


def with_column(release: Release, name: str, values) -> Release:
    """Return the release with one column of its records replaced."""
    records = release.tables["records"]
    position = records.column_names.index(name)
    return Release(
        release.manifest,
        {"records": records.set_column(position, name, values)},
        release.hierarchies,
    )


def test_texts_are_coded_by_sorted_dictionaries(generalized):
    records = generalized.tables["records"]
    assert records.schema.field("age").type == TEXT
    assert records["disease"].chunk(0).dictionary.to_pylist() == ["", '"Colic, mild"', "Flu"]
    assert records["disease"].to_pylist() == ["Flu", '"Colic, mild"', "", None]
    assert records.schema.field("group").type == pa.int32()
    assert records.schema.field("joined").type == pa.date32()


def test_values_without_a_cell_leave_the_dictionary(generalized):
    whole = pa.array(["Flu", "Plague", "Gout", "Flu", "Acne"]).dictionary_encode()
    kept = whole.filter(pa.array([True, False, True, True, True]))
    assert "Plague" in kept.dictionary.to_pylist()
    changed = with_column(generalized, "disease", kept)
    published = changed.tables["records"]["disease"].chunk(0)
    assert published.dictionary.to_pylist() == ["Acne", "Flu", "Gout"]
    assert published.to_pylist() == ["Flu", "Gout", "Flu", "Acne"]


def test_metadata_of_the_input_is_dropped(generalized):
    records = generalized.tables["records"]
    noted = records.replace_schema_metadata({"pandas": '{"index_columns": ["name"]}'})
    field = noted.schema.field("age").with_metadata({"source": "people.csv"})
    noted = noted.set_column(1, field, noted["age"])
    release = Release(generalized.manifest, {"records": noted}, generalized.hierarchies)
    schema = release.tables["records"].schema
    assert schema.metadata is None
    assert all(field.metadata is None for field in schema)


@pytest.mark.parametrize(
    "dtype",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.int64(), pa.large_string()),
    ],
    ids=str,
)
def test_texts_may_come_in_any_layout(generalized, dtype):
    texts = ["Flu", None, "Gout", "Flu"]
    if pa.types.is_dictionary(dtype):
        codes = pa.array([1, None, 0, 1], dtype.index_type)
        values = pa.DictionaryArray.from_arrays(codes, pa.array(["Gout", "Flu"], dtype.value_type))
    else:
        values = pa.array(texts, dtype)
    changed = with_column(generalized, "disease", values).tables["records"]["disease"]
    assert changed.type == TEXT
    assert changed.to_pylist() == texts


def test_dictionaries_of_other_values_are_decoded(generalized):
    ages = pa.array([30, 31, None, 30], pa.int32())
    changed = with_column(generalized, "age", ages.dictionary_encode())
    assert changed.tables["records"]["age"].combine_chunks().equals(ages)


def test_a_column_of_nulls_takes_its_type(generalized):
    changed = with_column(generalized, "age", pa.nulls(4))
    assert changed.tables["records"].schema.field("age").type == pa.int32()
    changed = with_column(generalized, "disease", pa.nulls(4))
    assert changed.tables["records"].schema.field("disease").type == TEXT


def test_another_manifest_is_taken_if_it_describes_the_same_tables(generalized):
    other = generalized.manifest.model_copy(update={"suppressed": 3})
    restated = generalized.restated(other)
    assert restated.manifest is other
    assert restated.tables["records"] is generalized.tables["records"]
    for wrong in ({"tables": ()}, {"attributes": generalized.manifest.attributes[1:]}):
        with pytest.raises(ReleaseDamaged):
            generalized.restated(generalized.manifest.model_copy(update=wrong))


def test_columns_stand_in_the_order_of_the_manifest(generalized):
    records = generalized.tables["records"]
    shuffled = records.select(list(reversed(records.column_names)))
    release = Release(generalized.manifest, {"records": shuffled}, generalized.hierarchies)
    assert release.tables["records"].equals(records)


@settings(deadline=None)
@given(st.lists(st.lists(st.none() | st.text(max_size=3), max_size=5), max_size=4))
def test_coding_keeps_the_texts_of_any_chunks(chunks):
    plain = pa.chunked_array([pa.array(chunk, pa.string()) for chunk in chunks], pa.string())
    coded = pa.chunked_array(
        [pa.array(chunk, pa.string()).dictionary_encode() for chunk in chunks],
        pa.dictionary(pa.int32(), pa.string()),
    )
    for column in (plain, coded):
        result = text_column(column)
        assert result.type == TEXT
        assert result.to_pylist() == plain.to_pylist()
        assert result.dictionary.to_pylist() == sorted(set(plain.to_pylist()) - {None})


def test_a_dictionary_with_doubled_and_null_entries_is_made_plain():
    odd = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, 3], pa.int32()), pa.array(["b", None, "b", "a"])
    )
    result = text_column(pa.chunked_array([odd]))
    assert result.to_pylist() == ["b", None, "b", "a"]
    assert result.dictionary.to_pylist() == ["a", "b"]


def test_neither_representation_nor_pickle_says_more_than_the_cells(generalized):
    assert repr(generalized) == "Release(mondrian, generalized; records: 4 rows)"
    again = pickle.loads(pickle.dumps(generalized))
    assert again.tables["records"].equals(generalized.tables["records"])


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("age", pa.array([1.5, 2, 3, 4]), "column 'age' does not hold values of its type"),
        ("age", pa.array([1, 2, 3, 4], pa.int64()), "column 'age'"),
        ("age", pa.array([[1], [2], [3], [4]]), "column 'age'"),
        ("joined", pa.array([1, 2, 3, 4]), "column 'joined'"),
        ("group", pa.array(["1", "1", "2", "2"]), "column 'group'"),
        ("group", pa.array([1, 1, 2, None]), "column 'group'"),
        ("group", pa.array([1, 1, 2, 2**40]), "column 'group'"),
    ],
)
def test_columns_of_another_type_are_refused_without_their_values(
    generalized, name, values, message
):
    with pytest.raises(ReleaseDamaged, match=message) as refusal:
        with_column(generalized, name, values)
    assert str(2**40) not in str(refusal.value)


def test_other_columns_and_tables_are_refused(generalized):
    records = generalized.tables["records"]
    manifest = generalized.manifest
    match = "table 'records' does not have the columns"
    for wrong in (
        records.drop_columns(["age"]),
        records.append_column("name", records["disease"]),
        records.append_column("age", records["age"]),
        records.append_column("age.bucket", records["group"]),
    ):
        with pytest.raises(ReleaseDamaged, match=match):
            Release(manifest, {"records": wrong})
    with pytest.raises(ReleaseDamaged, match="not those that its manifest lists"):
        Release(manifest, {})
    with pytest.raises(ReleaseDamaged, match="not those that its manifest lists"):
        Release(manifest, {"records": records, "extra": records})
    with pytest.raises(ReleaseDamaged, match="belongs to no attribute"):
        Release(manifest, {"records": records}, {"size": generalized.hierarchies["zip code"]})


def test_local_tables_may_have_buckets_with_gaps(generalized):
    manifest = generalized.manifest.model_copy(update={"layout": "local"})
    buckets = pa.array([3, None, 3, None])
    records = generalized.tables["records"].append_column("disease.bucket", buckets)
    published = Release(manifest, {"records": records}).tables["records"]
    assert published.column_names[-3:] == ["disease", "disease.bucket", "paid"]
    assert pc.sum(published["disease.bucket"]).as_py() == 6
