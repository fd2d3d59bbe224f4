"""ARX projects: hierarchies found by their names, read as they are, and told where they fail."""

from __future__ import annotations

import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.audit import audit
from sfumato.errors import InputError
from sfumato.jobs.anonymize import anonymize
from sfumato.jobs.check import check
from sfumato.jobs.draft import draft
from sfumato.jobs.policy import Policy
from sfumato.release import Release
from sfumato.schema import Hierarchy, Role

SECRET = "SECRET-7f3a"
# What the nine hierarchies of the shared folder are called in ARX' own.
ADULT = (
    *("age", "education", "marital-status", "native-country", "occupation"),
    *("race", "salary-class", "sex", "workclass"),
)


def band(age: int, width: int = 5) -> str:
    low = age // width * width
    return f"[{low}, {low + width}["


@pytest.fixture
def people(tmp_path):
    """A table of ages, marital states and illnesses, and an ARX folder beside it."""
    ages = [20 + n % 20 for n in range(80)]
    data = pa.table(
        {
            "age": ages,
            "Marital Status": [("single", "married")[n % 2] for n in range(80)],
            "disease": [("Flu", "Cold", "HIV", "Angina")[(n + n // 20) % 4] for n in range(80)],
        }
    )
    pq.write_table(data, tmp_path / "people.parquet")
    folder = tmp_path / "arx"
    folder.mkdir()
    # back to front, as ARX writes a file in the order of the data
    lines = [f"{age};{band(age)};{band(age, 10)};*" for age in range(40, 9, -1)]
    (folder / "people_hierarchy_age.csv").write_bytes(
        b"\xef\xbb\xbf" + "\r\n".join(lines).encode() + b"\r\n"
    )
    (folder / "people_hierarchy_marital-status.csv").write_text('"single"\t"*"\n"married"\t"*"\n')
    (folder / "people_hierarchy_disease.csv").write_text(
        "Flu,mild,*\nCold,mild,*\nHIV,grave,*\nAngina,grave,*\n"
    )
    (folder / "people.csv").write_text("age;disease\n")
    return tmp_path


def drafted(place):
    return draft(place / "people.parquet", place / "policy.yaml", from_arx=place / "arx")


def test_hierarchies_become_those_of_the_policy(people):
    made = drafted(people)
    assert made.warnings == ()
    attributes = Policy.load(people / "policy.yaml").content.attributes
    assert {name: each.hierarchy for name, each in attributes.items()} == {
        "age": "arx/people_hierarchy_age.csv",
        "Marital Status": "arx/people_hierarchy_marital-status.csv",
        "disease": "arx/people_hierarchy_disease.csv",
    }
    assert [each.role for each in attributes.values()] == [
        *(Role.QUASI_IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE)
    ]
    assert "ARX generalises it by people_hierarchy_age.csv" in made.text


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_intervals_are_published_as_labels_and_asked_as_numbers(people, format):
    drafted(people)
    text = (people / "policy.yaml").read_text().replace("k: 5", "k: 10")
    (people / "policy.yaml").write_text(text)
    anonymize(people / "people.parquet", people / "policy.yaml", people / "out", format=format)
    assert audit(people / "out").ok
    release = Release.load(people / "out")
    cells = set(release.tables["records"]["age"].to_pylist())
    # a label with brackets is quoted: without quotes it would be a range
    assert cells <= {f'"{band(age, width)}"' for age in range(20, 40) for width in (5, 10)}
    assert len(cells) > 1
    (age,) = (each for each in release.manifest.attributes if each.name == "age")
    assert str(age.kind) == "numeric"
    # what a label excludes is excluded: nobody of [20, 30[ may be 30
    for edge in (20, 30, 40):
        below = release.count(f"age < {edge}")
        assert (below.low, below.value, below.high) == (4 * (edge - 20),) * 3


def test_what_does_not_fit_is_told_in_numbers(people):
    arx = people / "arx"
    (arx / "people_hierarchy_shoe size.csv").write_text(f"{SECRET};*\n")
    (arx / "people_hierarchy_disease.csv").write_text(f"Flu;mild;*\n{SECRET};*\n")
    lines = [f"{age};{band(age)};*" for age in range(20, 38)]
    (arx / "people_hierarchy_age.csv").write_text("\n".join([*lines, "38;[0, 38[;*", ""]))
    made = drafted(people)
    assert [warning.partition(";")[0] for warning in made.warnings] == [
        "no column of the data belongs to people_hierarchy_shoe size.csv",
        "column 'age': 1 of its 20 values have no entry in people_hierarchy_age.csv",
        "column 'age': 1 entries of people_hierarchy_age.csv stand under an interval that does "
        "not hold them",
        "column 'disease' goes without its hierarchy: hierarchy 'people_hierarchy_disease.csv': "
        "line 2 has 2 fields and line 1 has 3",
    ]
    assert SECRET not in made.text
    assert all(f"# From ARX: {warning}" in made.text for warning in made.warnings)
    # what the sensitive column allows is still found out
    assert Policy.load(people / "policy.yaml").content.attributes["disease"].l == 3
    report = check(people / "people.parquet", people / "policy.yaml")
    assert report.missing == {"age": ("39",)}
    assert report.wrong_intervals == {"age": (("38", "[0, 38["),)}


def test_two_files_for_a_column(people):
    arx = people / "arx"
    (arx / "other_hierarchy_age.csv").write_text("1;*\n")
    made = drafted(people)  # the data's own name decides
    assert made.warnings == ("no column of the data belongs to other_hierarchy_age.csv",)
    (people / "policy.yaml").unlink()
    (people / "people.parquet").rename(people / "else.parquet")
    with pytest.raises(InputError, match=r"'age' has several .*: other_\S+csv, people_\S+csv;"):
        draft(people / "else.parquet", people / "policy.yaml", from_arx=arx)
    assert not (people / "policy.yaml").exists()


def test_folders_without_hierarchies(people):
    for place, expected in ((people, "no file such as"), (people / "none", "cannot be read")):
        with pytest.raises(InputError, match=expected):
            draft(people / "people.parquet", from_arx=place)


def test_paths_of_a_printed_policy_start_at_the_working_folder(people, monkeypatch):
    monkeypatch.chdir(people / "arx")
    made = draft("../people.parquet", from_arx=people / "arx")
    assert "hierarchy: people_hierarchy_age.csv}" in made.text


def test_numbers_and_masks_give_way_to_the_file(people):
    data = pa.table({"zip": ["13001", "13002", "14003", "14004"] * 5, "size": [1.0, 2.0] * 10})
    pq.write_table(data, people / "people.parquet")
    zips = [f"{z};{z[:2]}***;*****" for z in ("13001", "13002", "14003", "14004")]
    (people / "arx" / "people_hierarchy_zip.csv").write_text("\n".join(zips))
    (people / "arx" / "people_hierarchy_size.csv").write_text("1.0;any\n2.0;any\n")
    made = drafted(people)
    assert not [warning for warning in made.warnings if warning.startswith("column")]
    assert "widen digit by digit" not in made.text
    schema = Policy.load(people / "policy.yaml").schema()
    hierarchies = {each.name: each.hierarchy for each in schema}
    assert isinstance(hierarchies["zip"], Hierarchy)
    assert hierarchies["zip"].rows()[0] == ("13001", "13***", "*")
    anonymize(people / "people.parquet", people / "policy.yaml", people / "out")
    assert audit(people / "out").ok


def test_the_adult_project_of_arx(shared, tmp_path):
    for name in ADULT:
        source = shared / "data" / "hierarchies" / f"adult_{name}.csv"
        shutil.copyfile(source, tmp_path / f"adult_hierarchy_{name}.csv")
    table = pq.read_table(shared / "data" / "adult.parquet").slice(0, 3000)
    pq.write_table(table, tmp_path / "adult.parquet")
    made = draft(tmp_path / "adult.parquet", tmp_path / "policy.yaml", from_arx=tmp_path)
    # ARX' own file puts 5 under 0-4
    assert len(made.warnings) == 1
    assert "35 entries of adult_hierarchy_age.csv stand under" in made.warnings[0]
    attributes = Policy.load(tmp_path / "policy.yaml").content.attributes
    with_file = {name for name, each in attributes.items() if isinstance(each.hierarchy, str)}
    assert with_file == set(ADULT)
    anonymize(tmp_path / "adult.parquet", tmp_path / "policy.yaml", tmp_path / "out")
    assert audit(tmp_path / "out").ok


def test_anjana_bands_of_adult(shared, tmp_path):
    source = shared / "data" / "hierarchies" / "adult_age_anjana.csv"
    shutil.copyfile(source, tmp_path / "adult_hierarchy_age.csv")
    table = pq.read_table(shared / "data" / "adult.parquet").slice(0, 3000)
    table = table.select(["age", "sex"])
    table = table.filter(pa.array([age != 89 for age in table["age"].to_pylist()]))
    pq.write_table(table, tmp_path / "adult.parquet")
    made = draft(tmp_path / "adult.parquet", tmp_path / "policy.yaml", from_arx=tmp_path)
    assert made.warnings == ()
    anonymize(tmp_path / "adult.parquet", tmp_path / "policy.yaml", tmp_path / "out")
    assert audit(tmp_path / "out").ok
    release = Release.load(tmp_path / "out")
    assert any(cell.startswith('"[') for cell in release.tables["records"]["age"].to_pylist())
