"""The oracles that read, judge and compare releases, on releases written by hand."""

from __future__ import annotations

import csv
import datetime
import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from . import samples
from .cells import CellError, Exact, Node, Range, Reading, Star, ValueSet, covered, parse_cell
from .consistency import (
    anatomized_from,
    anatomized_margins_from,
    generalized_from,
    perfect_matching,
)
from .ncp import cell_penalty, ncp
from .points import NoPoint, point_of_text, point_of_value
from .release import ReleaseError, groups, read_release, split_csv
from .verdict import claim_holds, problems, verdict

AGE = Reading.of("int64", "numeric")
SEX = Reading.of("string", "categorical")
SIZE = Reading.of("string", "ordinal", order=["small", "medium", "large"])
ZIP = Reading.of("string", "categorical", hierarchy=samples.ZIPCODES)
BORN = Reading.of("date32[day]", "numeric")
BANDS = Reading.of("int64", "numeric", hierarchy=[("17", "[15, 20[", "*"), ("20", "[20, 25[", "*")])


def number(text: str) -> Fraction:
    return Fraction(text)


# --- points ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text", "dtype"),
    [
        (33, "33", "int32"),
        (33.0, "33", "double"),
        (0.1, "0.1", "double"),
        (1e-05, "0.00001", "double"),
        (pa.scalar(0.1, pa.float32()).as_py(), "0.1", "float"),
        (Decimal("1.50"), "1.50", "decimal128(10, 2)"),
        (True, "true", "bool"),
        ("true", "true", "string"),
        ("", "", "string"),
        ("x", "x", "dictionary<values=string, indices=int32, ordered=0>"),
        (datetime.date(2026, 1, 31), "2026-01-31", "date32[day]"),
        (
            datetime.datetime(2026, 1, 31, 12, 0, 0, 500),
            "2026-01-31T12:00:00.000500",
            "timestamp[us]",
        ),
        (
            datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.UTC),
            "2026-01-31T12:00:00Z",
            "timestamp[us, tz=UTC]",
        ),
        (datetime.time(1, 2, 3), "01:02:03", "time32[s]"),
        (datetime.timedelta(milliseconds=1500), "1500", "duration[ms]"),
    ],
)
def test_a_value_and_its_text_are_the_same_point(value, text, dtype):
    assert point_of_value(value) == point_of_text(text, dtype)


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("x", "int32"),
        ("1/2", "int32"),
        ("", "int64"),
        ("nan", "double"),
        ("inf", "double"),
        ("yes", "bool"),
        ("2026-13-01", "date32[day]"),
        ("1,5", "decimal128(4, 1)"),
    ],
)
def test_a_text_that_is_no_value(text, dtype):
    with pytest.raises(NoPoint):
        point_of_text(text, dtype)


def test_missing_values_are_none():
    assert point_of_value(None) is None
    assert point_of_value(float("nan")) is None


# --- cells ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reading", "cell"),
    [
        (None, AGE, Exact(None)),
        ("25", AGE, Exact(number("25"))),
        ("-25", AGE, Exact(number("-25"))),
        ("[25, 28]", AGE, Range(number("25"), number("28"))),
        ("[-5, 28]", AGE, Range(number("-5"), number("28"))),
        ("{null, [25, 28]}", AGE, ValueSet((Exact(None), Range(number("25"), number("28"))))),
        ("{33 | 41}", AGE, ValueSet((Exact(number("33")), Exact(number("41"))))),
        ("*", AGE, Star()),
        ("[2026-01-30, 2026-01-31]", BORN, Range(Fraction(739646), Fraction(739647))),
        ("{Female, Male}", SEX, ValueSet((Exact("Female"), Exact("Male")))),
        ("{null, Female}", SEX, ValueSet((Exact(None), Exact("Female")))),
        ('{"a, b", "c}", d}', SEX, ValueSet((Exact("a, b"), Exact("c}"), Exact("d")))),
        ('{"", x}', SEX, ValueSet((Exact(""), Exact("x")))),
        ("two words", SEX, Exact("two words")),
        ("", SEX, Exact("")),
        ('""', SEX, Exact("")),
        ('"*"', SEX, Exact("*")),
        ('"null"', SEX, Exact("null")),
        ('"[25, 28]"', SEX, Exact("[25, 28]")),
        ('"a \\"b\\" \\u00e9"', SEX, Exact('a "b" é')),
        ("[small, large]", SIZE, Range("small", "large")),
        ("47901", ZIP, Exact("47901")),
        ("4790*", ZIP, Node("4790*")),
        ("*", ZIP, Star()),
        ("[15, 20[", BANDS, Node("[15, 20[")),
        ('"[15, 20["', Reading.of("string", "categorical", hierarchy=[("17", "[15, 20[", "*")]),
         Node("[15, 20[")),
        ("17", BANDS, Exact(number("17"))),
    ],
)  # fmt: skip
def test_cells(text, reading, cell):
    assert parse_cell(text, reading) == cell


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("[28, 25]", AGE),
        ("[25, 28", AGE),
        ("[25,28]", AGE),
        ("[25, 28] ", AGE),
        ("[25]", AGE),
        ("[null, 28]", AGE),
        ("old", AGE),
        ("null", AGE),
        ("", AGE),
        ("{25, 25}", AGE),
        ("{25, 26 | 27}", AGE),
        ("[a, b]", SEX),
        ("a, b", SEX),
        ("a|b", SEX),
        ('a"b', SEX),
        ('"a', SEX),
        ("{}", SEX),
        ("{a", SEX),
        ("{a, }", SEX),
        ("{a, *}", SEX),
        ("{a, {b}}", SEX),
        ("null", SEX),
        ("[large, small]", SIZE),
        ("[small, huge]", SIZE),
    ],
)
def test_what_is_no_cell(text, reading):
    with pytest.raises(CellError):
        parse_cell(text, reading)


def test_what_cells_cover():
    ages = [None, *(Fraction(n) for n in range(24, 30))]
    assert covered(parse_cell("[25, 28]", AGE), ages, AGE) == {Fraction(n) for n in range(25, 29)}
    assert covered(parse_cell("{null, 25}", AGE), ages, AGE) == {None, Fraction(25)}
    assert covered(parse_cell("*", AGE), ages, AGE) == set(ages)
    assert covered(parse_cell(None, AGE), ages, AGE) == {None}
    sizes = [None, "small", "medium", "large"]
    assert covered(parse_cell("[small, medium]", SIZE), sizes, SIZE) == {"small", "medium"}
    zips = [None, "47901", "47902", "47308", "99999"]
    assert covered(parse_cell("4790*", ZIP), zips, ZIP) == {"47901", "47902"}
    assert covered(parse_cell("*", ZIP), zips, ZIP) == set(zips)


def test_a_value_that_is_also_a_label_is_itself():
    padded = Reading.of(
        "string", "categorical", hierarchy=[("flu", "flu", "*"), ("flu A", "A", "*")]
    )
    assert parse_cell("flu", padded) == Exact("flu")
    # A node that stands in for its unpublished leaves keeps its label, in a typed column too.
    pruned = Reading.of("int64", "categorical", hierarchy=[("479**", "479**", "*")])
    assert parse_cell("479**", pruned) == Node("479**")


def test_csv_fields():
    assert split_csv('a,b\n,""\n') == [["a", "b"], [None, ""]]
    assert split_csv('"x\r\ny",1\r\n"""",2') == [["x\r\ny", "1"], ['"', "2"]]
    with pytest.raises(ValueError, match="quoted"):
        split_csv('"a"b,c\n')


# --- releases -------------------------------------------------------------------------------------


@pytest.fixture(params=["parquet", "csv"])
def hospital(request, tmp_path):
    return samples.hospital(tmp_path / "hospital", request.param)


@pytest.fixture(params=["parquet", "csv"])
def transactions(request, tmp_path):
    return samples.transactions(tmp_path / "transactions", request.param)


def read_vector(shared: Path, name: str, *numbers: str) -> list[dict[str, object]]:
    with (shared / "vectors" / f"{name}.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    return [{k: int(v) if k in numbers else v for k, v in row.items()} for row in rows]


def test_good_releases_pass(hospital, transactions):
    for folder in (hospital, transactions):
        assert problems(read_release(folder)) == []
        assert verdict(folder) == 0


def test_groups_and_claims_of_the_hospital(hospital):
    release = read_release(hospital)
    assert {group: len(rows) for group, rows in groups(release).items()} == {1: 3, 2: 3, 3: 2}
    about = {"model": "l-diversity", "attribute": "disease"}
    assert claim_holds(release, about | {"variant": "distinct", "l": 2})
    assert not claim_holds(release, about | {"variant": "distinct", "l": 3})
    assert not claim_holds(release, {"model": "k-anonymity", "k": 3})
    # What a group has too much of: 3 (1/3 - 1/8) = 5/8 in the first (Fever, twice in the table,
    # makes it 1/2 in the second), and (1/2 - 1/8) + (1/2 - 2/8) = 5/8 in the third.
    near = {"model": "t-closeness", "attribute": "disease", "distance": "equal"}
    assert claim_holds(release, near | {"t": 0.625})
    assert not claim_holds(release, near | {"t": 0.624})


def test_penalty_of_the_hospital_by_hand(shared, hospital):
    original = read_vector(shared, "hospital_a", "age")
    ages = Fraction(3 * 11 + 3 * 8 + 2 * 4, 64 - 22)
    sexes = Fraction(6)
    zips = 6 * Fraction(3, 4)
    penalty = ncp(read_release(hospital), original)
    assert penalty.sum == ages + sexes + zips
    assert penalty.mean == penalty.sum / 24
    # Two suppressed records count as two rows of `*`.
    more = ncp(read_release(hospital), original, suppressed=2)
    assert (more.sum, more.mean) == (penalty.sum + 6, (penalty.sum + 6) / 30)


def test_penalty_of_single_cells():
    ages = [Fraction(20), Fraction(40)]
    for text, expected in [("{null, 30}", 0), ("{null, [20, 30]}", Fraction(1, 2)), (None, 0)]:
        assert cell_penalty(parse_cell(text, AGE), ages, AGE) == expected
    sexes = ["Female", "Male", "Other"]
    assert cell_penalty(parse_cell("{null, Female}", SEX), sexes, SEX) == 0
    assert cell_penalty(parse_cell("{null, Female, Male}", SEX), sexes, SEX) == Fraction(2, 3)
    assert cell_penalty(parse_cell("[small, medium]", SIZE), ["small"], SIZE) == Fraction(1, 2)
    assert cell_penalty(parse_cell("4730*", ZIP), ["47308"], ZIP) == Fraction(1, 4)


def test_the_hospital_comes_from_its_table(shared, hospital):
    original = read_vector(shared, "hospital_a", "age")
    release = read_release(hospital)
    assert generalized_from(original, release)
    assert not generalized_from(original[:-1], release)
    older = [row | ({"age": 65} if row["name"] == "Boby" else {}) for row in original]
    assert not generalized_from(older, release)
    cured = [row | ({"disease": "Fever"} if row["name"] == "Boby" else {}) for row in original]
    assert not generalized_from(cured, release)
    assert not generalized_from(read_vector(shared, "hospital_b", "age"), release)


def test_the_transactions_come_from_their_table(shared, transactions):
    original = read_vector(shared, "transactions", "age", "zipcode", "salary")
    release = read_release(transactions)
    assert anatomized_margins_from(original, release)
    assert anatomized_from(original, release)
    # Cary's and Henry's salaries swapped: the margins are the same, but no dealing fits.
    salaries = {"Cary": 6000, "Henry": 4700}
    swapped = [row | {"salary": salaries.get(row["name"], row["salary"])} for row in original]
    assert anatomized_margins_from(swapped, release)
    assert not anatomized_from(swapped, release)
    # Within a group salaries may be anybody's.
    salaries = {"Cary": 6000, "Ben": 4700}
    swapped = [row | {"salary": salaries.get(row["name"], row["salary"])} for row in original]
    assert anatomized_from(swapped, release)
    assert not anatomized_margins_from([row | {"salary": 1} for row in original], release)


def test_matching_moves_earlier_choices_along():
    assert perfect_matching([]) == {}
    chain = [[0, 1], [0, 2], [0]]
    assert perfect_matching(chain) == {0: 1, 1: 2, 2: 0}
    assert perfect_matching([[0, 1], [0, 1], [0, 1]]) is None
    assert perfect_matching([[0], []]) is None


def test_missing_and_awkward_cells_survive_both_formats(tmp_path):
    wards = [None, '""', '"Ward 3, east"', '"null"', "'=1+1", "-5"]
    read = {}
    for file_format in ("parquet", "csv"):
        cells = wards if file_format == "csv" else [*wards[:4], "=1+1", "-5"]
        folder = samples.write_release(
            tmp_path / file_format,
            layout="generalized",
            rows=6,
            attributes=[
                {"name": "ward", "role": "sensitive", "kind": "categorical", "type": "string"}
            ],
            tables={"records": {"group": [1] * 6, "ward": cells}},
            guarantees=[{"model": "k-anonymity", "k": 6}],
            file_format=file_format,
        )
        read[file_format] = [row["ward"].point for row in read_release(folder).tables["records"]]
        assert verdict(folder) == 0
    assert read["csv"] == read["parquet"] == [None, "", "Ward 3, east", "null", "=1+1", "-5"]


def test_typed_parquet_columns_are_values(tmp_path):
    born = [datetime.date(2020, 1, 1), None]
    folder = samples.write_release(
        tmp_path / "typed",
        layout="generalized",
        rows=2,
        attributes=[
            {"name": "born", "role": "sensitive", "kind": "numeric", "type": "date32[day]"}
            | {"domain": {"min": "2020-01-01", "max": "2020-12-31"}}
        ],
        tables={"records": {"group": [1, 1], "born": born}},
        guarantees=[{"model": "k-anonymity", "k": 2}],
    )
    assert verdict(folder) == 0
    release = read_release(folder)
    assert [row["born"] for row in release.tables["records"]] == [
        Exact(point_of_text("2020-01-01", "date32[day]")),
        Exact(None),
    ]
    file = folder / "records.parquet"
    pq.write_table(pa.table({"group": [1, 1], "born": ["soon", None]}), file)
    with pytest.raises(ReleaseError, match="checksum"):
        read_release(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["tables"][0]["sha256"] = samples.sha256(file)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ReleaseError, match="CellError"):
        read_release(folder)
