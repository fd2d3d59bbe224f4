"""Loaders of UCI files: the Parquet form, the original text, and files that are neither."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from sfumato.datasets import load_adult, load_census_income
from sfumato.errors import InputError

TRAINING = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, "
    "2174, 0, 40, United-States, <=50K\n"
    "54, ?, 180211, Some-college, 10, Married-civ-spouse, ?, Husband, Asian-Pac-Islander, Male, "
    "0, 0, 60, ?, >50K\n"
    "\n"
)
TEST = (
    "|1x3 Cross validator\n"
    "25, Private, 226802, 11th, 7, Never-married, Machine-op-inspct, Own-child, Black, Male, 0, 0, "
    "40, United-States, <=50K.\n"
    "28, Local-gov, 336951, Assoc-acdm, 12, Married-civ-spouse, Protective-serv, Husband, White, "
    "Male, 0, 0, 40, United-States, >50K.\n"
    "\n"
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "adult.data").write_text(TRAINING)
    (tmp_path / "adult.test").write_text(TEST)
    return tmp_path


def complete(table: pa.Table) -> int:
    return table.drop_null().num_rows


def test_adult_from_parquet(shared):
    adult = load_adult(shared / "data" / "adult.parquet")
    assert adult.num_rows == 48_842
    assert complete(adult) == 45_222
    assert adult.schema.field("age").type == pa.int32()
    assert adult.schema.field("workclass").type == pa.string()
    assert adult["workclass"].null_count == 2_799
    assert pc.sum(pc.equal(adult["salary-class"], ">50K")).as_py() == 11_687


def test_census_income_from_parquet(shared):
    census = load_census_income(shared / "data" / "census_income.parquet")
    assert (census.num_rows, census.num_columns) == (199_523, 42)
    assert complete(census) == 95_130
    assert census.schema.field("instance-weight").type == pa.float64()
    assert pc.sum(pc.equal(census["income"], "50000+")).as_py() == 12_382


def test_adult_from_the_original_text(folder):
    adult = load_adult(folder / "adult.data")
    assert adult["age"].to_pylist() == [39, 54]
    assert adult["workclass"].to_pylist() == ["State-gov", None]
    assert adult["native-country"].to_pylist() == ["United-States", None]
    assert adult["salary-class"].to_pylist() == ["<=50K", ">50K"]
    assert adult["fnlwgt"].type == pa.int32()


def test_test_part_has_a_comment_line_and_dots(folder):
    adult = load_adult(str(folder / "adult.test"))
    assert adult["age"].to_pylist() == [25, 28]
    assert adult["salary-class"].to_pylist() == ["<=50K", ">50K"]


def test_folder_joins_both_parts_training_first(folder):
    assert load_adult(folder)["age"].to_pylist() == [39, 54, 25, 28]


def as_original(table: pa.Table, dotted: bool) -> str:
    """The table as UCI wrote it."""
    lines = []
    for row in table.to_pylist():
        cells = ["?" if cell is None else str(cell) for cell in row.values()]
        if dotted:
            cells[-1] = cells[-1].replace("-", "- ") + "."
        lines.append(", ".join(cells))
    return "\n".join(lines) + "\n"


def test_text_and_parquet_give_the_same_table(shared, tmp_path):
    for load, name, dotted in (
        (load_adult, "adult", False),
        (load_census_income, "census_income", True),
    ):
        table = load(shared / "data" / f"{name}.parquet").slice(0, 2_000)
        (tmp_path / "text").write_text(as_original(table, dotted))
        pq.write_table(table, tmp_path / "parquet")
        assert load(tmp_path / "text") == table
        assert load(tmp_path / "parquet") == table


def test_columns_of_a_parquet_file_may_come_in_another_order(folder):
    adult = load_adult(folder)
    pq.write_table(adult.select(adult.column_names[::-1]), folder / "reversed")
    assert load_adult(folder / "reversed") == adult


SECRET = "Zanzibar"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"|1x3 Cross validator\n", "is empty"),
        (b"1, 2, Zanzibar\n", "a line has 3 fields, Adult has 15"),
        (TRAINING.encode() + b"1, Zanzibar\n", "a line has 2 fields"),
        (TRAINING.replace("39", SECRET).encode(), "column 'age'.* must hold numbers"),
        (TRAINING.replace("<=50K", SECRET).encode(), "column 'salary-class' has 1 cells"),
        (TRAINING.replace("<=50K", "?").encode(), "column 'salary-class' has 1 cells"),
        (TRAINING.replace("White", "Wh\xefte").encode("latin-1"), "UTF-8"),
        (b"PAR1 and then Zanzibar", "damaged Parquet"),
    ],
)
def test_wrong_files_are_refused_without_quoting_them(tmp_path, content, words):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(InputError, match=words) as caught:
        load_adult(tmp_path / "file")
    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_other_tables_and_absent_files_are_refused(folder, shared):
    with pytest.raises(InputError, match="42 columns and lacks 11 of the 15"):
        load_adult(shared / "data" / "census_income.parquet")
    with pytest.raises(InputError, match="15 columns"):
        load_census_income(shared / "data" / "adult.parquet")
    with pytest.raises(InputError, match="a line has 15 fields, Census-Income has 42"):
        load_census_income(folder / "adult.data")
    with pytest.raises(InputError, match="cannot be read"):
        load_adult(folder / "nowhere.data")
    with pytest.raises(InputError, match=r"neither census-income\.data nor"):
        load_census_income(folder)
