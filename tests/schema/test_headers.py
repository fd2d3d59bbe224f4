"""Tables without a header: told, and not repeated; headers with odd names are left in peace."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.errors import InputError, SchemaError
from sfumato.io.read import read_table
from sfumato.jobs.anonymize import anonymize
from sfumato.jobs.check import check
from sfumato.jobs.draft import draft
from sfumato.schema import Schema
from sfumato.schema.headers import about_header, look_like_cells

ADULT = ["39", "State-gov", "77516", "Bachelors", "13", "Never-married", "Male", "2174", "<=50K"]
SECRETS = ("39", "State-gov", "77516", "Bachelors", "2174")


def adult(rows: int = 40, jobs: str = "State-gov Private", header: bool = False) -> str:
    """Return a CSV of people like those of the UCI's file, which has no header."""
    lines = [",".join(ADULT)]
    for i in range(rows):
        cells = [
            *(20 + i, jobs.split()[i % 2], 60000 + 900 * i, ("Bachelors", "HS-grad")[i % 2]),
            *(9 + i % 6, ("Divorced", "Never-married")[i % 2], ("Male", "Female")[i // 3 % 2]),
            *(0 if i % 5 else 5000, ("<=50K", ">50K")[i // 2 % 2]),
        ]
        lines.append(",".join(map(str, cells)))
    names = ["age,work,weight,school,years,marital,sex,gain,income"] if header else []
    return "\n".join([*names, *lines]) + "\n"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (ADULT, True),
        (["1"], True),
        (["a", "b", "1"], True),
        (["country", "2019", "2020", "2021", "2022"], False),
        (["1", "2", "3"], False),
        (["age", "sex", "2020"], True),
        (["age", "sex"], False),
        (["id", "q1", "q2", "10", "20", "30"], False),
        (["2020-01-31", "Flu", "33"], True),
        (["ann@example.org", "41", "Bonn"], True),
        ([], False),
    ],
)
def test_names_that_look_like_cells(names, expected):
    assert look_like_cells(names) is expected


def test_a_missing_header_is_told_in_numbers(tmp_path):
    (tmp_path / "adult.csv").write_text(adult())
    (told,) = about_header(read_table(tmp_path / "adult.csv"))
    assert "9 of 9 column names" in told
    assert "columns 1, 2, 3, 4, 5 …" in told
    assert not any(f"'{secret}'" in told or f" {secret}," in told for secret in SECRETS[1:])


@pytest.mark.parametrize(
    "table",
    [
        {"age": [33, 41], "sex": ["f", "m"]},
        {"country": ["Italy", "Spain"], "2019": [1900.5, 2200.0], "2020": [1800.5, 2300.0]},
        {"1": [0, 5], "2": [1, 7], "3": [0, 4]},
        {"age": [1, 99], "40": [1, 99], "50": [1, 99]},
        {"name": ["Ann", "Bob"], "word": ["a", "b"]},
        {"yes": ["yes", "no"], "age": [1, 2], "no": ["no", "yes"]},
        {"x": [None, None]},
    ],
)
def test_a_header_is_not_suspected(table):
    assert about_header(pa.table(table)) == ()


def test_texts_alone_can_tell():
    table = pa.table({"Flu": ["Gout", "Flu"], "Bonn": ["Bonn", "Rome"], "Ann": ["Bea", "Cid"]})
    assert about_header(table)


def test_commands_tell_it(tmp_path):
    data, policy = tmp_path / "adult.csv", tmp_path / "policy.yaml"
    data.write_text(adult())
    made = draft(data, policy)
    assert any("no header" in each for each in made.warnings)
    assert any("no header" in each for each in check(data, policy).warnings)
    roles = ["insensitive"] * 8
    lines = [f'  "{name}": {{role: {role}}}' for name, role in zip(ADULT[1:], roles, strict=True)]
    policy.write_text(
        "attributes:\n"
        + "\n".join(['  "39": {role: quasi-identifier}', *lines])
        + "\nmethod: {name: mondrian, k: 3}\n"
    )
    done = anonymize(data, policy, tmp_path / "release")
    assert any("no header" in each for each in done.warnings)
    data.write_text(adult(header=True))
    made = draft(data, tmp_path / "another.yaml")
    assert not any("no header" in each for each in made.warnings)


def test_messages_do_not_repeat_the_first_row(tmp_path):
    with pytest.raises(SchemaError) as said:
        Schema.of(age="quasi-identifier").aligned(ADULT)
    assert "does the table have a header?" in str(said.value)
    everybody = [str(said.value)]
    with pytest.raises(SchemaError) as said:
        Schema.of({"39": "quasi-identifier"}).aligned(ADULT)
    everybody.append(str(said.value))
    (tmp_path / "twice.csv").write_text("39,Flu,77516,Flu\n41,Gout,77517,Flu\n")
    with pytest.raises(InputError) as said:
        read_table(tmp_path / "twice.csv")
    everybody.append(str(said.value).replace(str(tmp_path), ""))
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.csv").write_text("39,77516,Flu\n41,77517,Flu\n")
    (tmp_path / "parts" / "b.csv").write_text("40,77519,Gout\n41,77517,Flu\n")
    with pytest.raises(InputError) as said:
        read_table(tmp_path / "parts")
    everybody.append(str(said.value).replace(str(tmp_path), ""))
    for line in everybody:
        assert not any(secret in line for secret in (*SECRETS, "Flu", "Gout", "40")), line
