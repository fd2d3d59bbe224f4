"""Real files are told apart by their columns; what is none of them is refused with advice."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import InputError
from sfumato.papers.data import complete, fingerprint, real, synthetic
from sfumato.papers.reproduce import reproduce

LINE = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male,"
    " 2174, 0, 40, United-States, <=50K"
)


@pytest.fixture
def adult(tmp_path):
    place = tmp_path / "adult.data"
    place.write_text(f"{LINE}\n{LINE}\n")
    return place


def test_the_same_cells_from_any_file(adult, tmp_path):
    text = real(adult)
    assert (text.about.key, text.about.rows, text.about.is_real) == ("adult", 2, True)
    pq.write_table(text.rows, tmp_path / "people.parquet", row_group_size=1)
    assert real(tmp_path / "people.parquet").about == text.about
    assert real(tmp_path).about == text.about  # the folder
    adult.write_text(f"|a comment\n{LINE}\n{LINE.replace('39', '40')}\n")
    assert real(adult).about.fingerprint != text.about.fingerprint


def test_census_files_are_recognised(shared):
    assert real(shared / "data" / "uscensus1990_sample.parquet").about.key == "census-1990"
    assert real(shared / "data" / "adult.parquet").about.rows == 48_842


@pytest.mark.parametrize("gone", ["occupation", "salary-class"])
def test_a_missing_column_is_named(adult, tmp_path, gone):
    place = tmp_path / "people.parquet"
    pq.write_table(real(adult).rows.drop_columns([gone]), place)
    with pytest.raises(InputError, match=rf"lacks 1 columns of UCI Adult, '{gone}'.*adult\.data"):
        real(place)


def test_other_files_are_refused_with_what_would_do(tmp_path):
    place = tmp_path / "other.parquet"
    pq.write_table(pa.table({"a": [1], "b": [2]}), place)
    (tmp_path / "other.csv").write_text("a,b,c\n1,2,3\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "folder").mkdir()
    for name in ("other.parquet", "other.csv", "empty.csv", "folder"):
        with pytest.raises(InputError, match=r"known data sets.*UCI Adult.*Census-Income"):
            real(tmp_path / name)
    with pytest.raises(InputError, match="cannot be read"):
        real(tmp_path / "none.csv")
    place.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(InputError, match="damaged"):
        real(place)


def test_data_of_another_paper_are_refused_before_anything_is_made(shared, tmp_path, toys):
    out = tmp_path / "out"
    with pytest.raises(InputError, match=r"toy do not run on UCI US Census 1990; give UCI Adult"):
        reproduce("toy", [shared / "data" / "uscensus1990_sample.parquet"], out=out)
    assert not out.exists()
    assert not toys.MEASURED


def test_look_alikes_are_always_the_same():
    one = synthetic("census", 50)
    assert one.about == synthetic("census", 50).about
    assert not one.about.is_real
    assert one.about.fingerprint != synthetic("census", 51).about.fingerprint


def test_fingerprints_see_every_cell_name_and_type():
    table = pa.table({"a": [1, None, 3], "b": ["x", "y", "z"]})
    others = [
        table.rename_columns(["a", "c"]),
        table.set_column(0, "a", pa.array([1, 2, 3])),
        table.set_column(0, "a", pa.array([1, None, 3], pa.int32())),
        table.take([0, 2, 1]),
    ]
    assert fingerprint(table) not in {fingerprint(each) for each in others}
    longer = pa.concat_tables([table.slice(0, 2), table.slice(2)])
    assert fingerprint(longer) == fingerprint(table)


def test_incomplete_rows_are_left_out():
    table = pa.table({"a": [1, None, 3], "b": ["x", "y", None], "c": [None, None, None]})
    assert complete(table, ["a", "b"]).to_pylist() == [{"a": 1, "b": "x"}]
