"""Releases on disk: what is saved is what is loaded, and damage is noticed."""

from __future__ import annotations

import datetime
import errno
import hashlib
import json
import os
import shutil
import subprocess
import threading
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import ClaimBroken, InputError, ParameterError, ReleaseDamaged
from sfumato.release import csv_cells, files
from sfumato.release.cells import quote
from sfumato.release.contents import checksum
from sfumato.release.manifest import AttributeEntry, Manifest, TableEntry
from sfumato.release.release import Release
from sfumato.release.tables import TEXT
from sfumato.schema.attribute import Kind, Role
from sfumato.schema.hierarchy import Hierarchy

FORMATS = ["parquet", "csv"]


def same(one: Release, other: Release) -> bool:
    """Return whether two releases hold the same, wherever they were saved."""
    return (
        one.tables.keys() == other.tables.keys()
        and all(one.tables[name].equals(other.tables[name]) for name in one.tables)
        and {n: h.rows() for n, h in one.hierarchies.items()}
        == {n: h.rows() for n, h in other.hierarchies.items()}
        and one.manifest.attributes == other.manifest.attributes
        and one.manifest.guarantees == other.manifest.guarantees
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def manifest_of(folder: Path) -> dict:
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def single_column(values: pa.Array, type_name: str) -> Release:
    """Return a release of one column and nothing else."""
    entry = AttributeEntry(
        name="x", role=Role.SENSITIVE, kind=Kind.CATEGORICAL, type=type_name, domain=None
    )
    manifest = Manifest(
        method="test",
        layout="generalized",
        software="sfumato",
        created=datetime.date(2026, 1, 31),
        rows=len(values),
        attributes=(entry,),
        tables=(TableEntry(name="records", attributes=("x",)),),
    )
    return Release(manifest, {"records": pa.table({"x": values})})


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("guard", [True, False])
@pytest.mark.parametrize("kind", ["generalized", "anatomized"])
def test_a_release_reads_back(request, tmp_path, kind, format, guard):
    release = request.getfixturevalue(kind)
    release.save(tmp_path / "out", format=format, formula_guard=guard)
    again = Release.load(tmp_path / "out")
    assert same(again, release)
    again.save(tmp_path / "again", format=format, formula_guard=guard)
    assert contents(tmp_path / "again") == contents(tmp_path / "out")


def test_what_could_not_be_read_again_is_not_written(generalized, tmp_path):
    huge = {**generalized.manifest.parameters, "width": 10**50}
    manifest = generalized.manifest.model_copy(update={"parameters": huge})
    release = Release(manifest, generalized.tables, generalized.hierarchies)
    with pytest.raises(ParameterError, match="could not be read again") as told:
        release.save(tmp_path / "release")
    assert "0000" not in str(told.value)
    assert not list(tmp_path.iterdir())


def test_the_folder_holds_what_the_format_says(generalized, tmp_path):
    generalized.save(tmp_path / "out")
    assert set(contents(tmp_path / "out")) == {
        "manifest.json",
        "records.parquet",
        "hierarchies/zip%20code.csv",
    }
    [table] = manifest_of(tmp_path / "out")["tables"]
    data = (tmp_path / "out" / "records.parquet").read_bytes()
    assert table == {
        "name": "records",
        "file": "records.parquet",
        "sha256": hashlib.sha256(data).hexdigest(),
        "attributes": ["age", "zip code", "joined", "disease", "paid"],
        "group": "group",
    }


def test_csv_as_the_format_says(generalized, tmp_path):
    generalized.save(tmp_path / "out", format="csv")
    assert (tmp_path / "out" / "records.csv").read_text(encoding="utf-8") == (
        "group,age,zip code,joined,disease,paid\n"
        '1,"[25, 28]",123**,2020-02-29,Flu,1.50\n'
        '1,"[25, 28]",123**,2020-02-29,"""Colic, mild""",\n'
        '2,"{null, 31}",*,,"",-2.00\n'
        '2,"{null, 31}",*,,,0.00\n'
    )


def test_the_guard_is_recorded_only_when_off(generalized, tmp_path):
    generalized.save(tmp_path / "on", format="csv")
    generalized.save(tmp_path / "off", format="csv", formula_guard=False)
    assert "formula_guard" not in manifest_of(tmp_path / "on")["parameters"]
    assert manifest_of(tmp_path / "off")["parameters"]["formula_guard"] is False
    guarded, plain = (tmp_path / n / "hierarchies" / "zip%20code.csv" for n in ("on", "off"))
    assert guarded.read_text().splitlines()[-1] == """"'=9;9";9**;*"""
    assert plain.read_text().splitlines()[-1] == '"=9;9";9**;*'
    Release.load(tmp_path / "off").save(tmp_path / "on again", format="csv")
    assert contents(tmp_path / "on again") == contents(tmp_path / "on")


def test_parquet_holds_the_cells_and_nothing_else(generalized, tmp_path):
    whole = pa.array(["Zzz", "Flu", "Plague", "Acne", "Flu", "Gout"]).dictionary_encode()
    kept = whole.filter(pa.array([False, True, False, True, True, True]))
    records = generalized.tables["records"].replace_schema_metadata({"pandas": "{}"})
    records = records.set_column(4, "disease", kept)
    Release(generalized.manifest, {"records": records}).save(tmp_path / "out")
    path = tmp_path / "out" / "records.parquet"
    data = path.read_bytes()
    assert b"Plague" not in data
    assert b"pandas" not in data
    with pq.ParquetFile(path) as file:
        assert set(file.metadata.metadata) == {b"ARROW:schema"}
        chunk = file.metadata.row_group(0).column(1)
        assert chunk.compression == "ZSTD"
        table = file.read()
    assert table.schema.field("disease").type == TEXT
    assert table["disease"].chunk(0).dictionary.to_pylist() == ["Acne", "Flu", "Gout"]


@pytest.mark.parametrize("format", FORMATS)
def test_equal_tables_give_equal_bytes_however_they_were_built(generalized, tmp_path, format):
    records = generalized.tables["records"]
    chunks = pa.concat_tables([records.slice(0, 1), records.slice(1, 2), records.slice(3)])
    rebuilt = chunks.set_column(4, "disease", chunks["disease"].cast(pa.large_string()))
    generalized.save(tmp_path / "one", format=format)
    Release(generalized.manifest, {"records": rebuilt}, generalized.hierarchies).save(
        tmp_path / "two", format=format
    )
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


NOON = datetime.datetime(2020, 7, 1, 12, 30, 15)
TYPED = [
    pa.array([True, None], pa.bool_()),
    pa.array([-128, None, 127], pa.int8()),
    pa.array([0, 2**64 - 1], pa.uint64()),
    pa.array([0.5, None], pa.float16()),
    pa.array([0.1, 1e20, -0.0], pa.float32()),
    pa.array([0.1, 1e300, None, 5e-324], pa.float64()),
    pa.array([datetime.date(1, 1, 1), datetime.date(9999, 12, 31)], pa.date32()),
    pa.array([datetime.date(2020, 2, 29), None], pa.date64()),
    pa.array([NOON, None], pa.timestamp("s")),
    pa.array([NOON, None], pa.timestamp("ns")),
    pa.array([NOON, None], pa.timestamp("us", "UTC")),
    pa.array([NOON, None], pa.timestamp("ms", "Europe/Berlin")),
    pa.array([datetime.time(1, 2, 3), None], pa.time32("s")),
    pa.array([datetime.time(1, 2, 3, 4), None], pa.time64("us")),
    pa.array([datetime.timedelta(days=3), None], pa.duration("s")),
    pa.array([datetime.timedelta(microseconds=-3), None], pa.duration("us")),
    pa.array([Decimal("-1.50"), None], pa.decimal128(10, 2)),
    pa.array([Decimal("1.500")], pa.decimal256(50, 3)),
    pa.array([Decimal("1e-9"), Decimal(-1)], pa.decimal128(20, 10)),
    pa.array(["=1", "'x", "-a", None, "\ufeff"], pa.string()),
    pa.array([None, None], pa.null()),
    pa.array([], pa.int32()),
    pa.array([], pa.string()),
    pa.array([None, None], pa.string()),
]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("values", TYPED, ids=lambda values: str(values.type))
def test_exact_columns_keep_their_type(tmp_path, values, format):
    release = single_column(values, str(values.type))
    release.save(tmp_path / "out", format=format)
    again = Release.load(tmp_path / "out")
    assert same(again, release)
    assert again.tables["records"]["x"].to_pylist() == values.to_pylist()


@settings(deadline=None, max_examples=40)
@given(st.lists(st.none() | st.text(max_size=6), max_size=6), st.sampled_from(FORMATS))
def test_any_texts_read_back(tmp_path_factory, texts, format):
    cells = pa.array([None if text is None else quote(text) for text in texts], pa.string())
    release = single_column(cells, "string")
    folder = tmp_path_factory.getbasetemp() / f"texts-{format}"
    release.save(folder, format=format, force=True)
    assert same(Release.load(folder), release)


@pytest.mark.parametrize("format", FORMATS)
def test_sets_read_back(tmp_path, format):
    release = single_column(pa.array(["x"]), "string")
    manifest = release.manifest.model_copy(
        update={"layout": "sets", "rows": 3, "parameters": {"sets": {"x": {"p": 0.5, "eta": 2}}}}
    )
    lists = pa.array([["a", "b | c"], None, ["", "null"]], pa.list_(pa.large_string()))
    sets = Release(manifest, {"records": pa.table({"x": lists})})
    sets.save(tmp_path / "out", format=format)
    again = Release.load(tmp_path / "out")
    assert same(again, sets)
    assert again.tables["records"]["x"].type == pa.list_(pa.dictionary(pa.uint8(), pa.string()))


@pytest.mark.parametrize(
    "name", ["größe", "../x", ".", "..", "a/b\\c", "CON:", "a\nb", "100%", "'x"]
)
def test_hierarchies_of_odd_names_stay_in_their_folder(tmp_path, name):
    release = single_column(pa.array(["Peru", "*"]), "string")
    entry = release.manifest.attributes[0].model_copy(update={"name": name})
    table = release.manifest.tables[0].model_copy(update={"attributes": (name,)})
    manifest = release.manifest.model_copy(update={"attributes": (entry,), "tables": (table,)})
    hierarchy = Hierarchy.from_rows(
        [("Peru", "America", "*"), ('"Côte";\n', "'Africa", "*"), ("", "-x", "*")], name
    )
    odd = Release(manifest, {"records": pa.table({name: ["Peru", "*"]})}, {name: hierarchy})
    odd.save(tmp_path / "out", format="csv")
    [file] = (tmp_path / "out" / "hierarchies").iterdir()
    assert file.name.isascii()
    assert not file.name.startswith(".")
    assert same(Release.load(tmp_path / "out"), odd)
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_table_may_be_a_folder_of_parts(anatomized, tmp_path):
    anatomized.save(tmp_path / "out")
    folder = tmp_path / "out" / "qi_1.parquet"
    table = pq.ParquetFile(folder).read()
    folder.unlink()
    folder.mkdir()
    pq.write_table(table.slice(1), folder / "part-1.parquet")
    pq.write_table(table.slice(0, 1), folder / "part-0.parquet")
    set_checksum(tmp_path / "out", "qi_1", checksum(folder))
    assert same(Release.load(tmp_path / "out"), anatomized)
    if shutil.which("sha256sum"):
        listed = subprocess.run(
            "sha256sum * | sha256sum",
            shell=True,
            cwd=folder,
            capture_output=True,
            check=True,
            env=os.environ | {"LC_ALL": "C"},
        )
        assert listed.stdout.decode().split()[0] == checksum(folder)
    (folder / "_SUCCESS").touch()
    with pytest.raises(ReleaseDamaged, match="does not hold Parquet parts only"):
        Release.load(tmp_path / "out")


def test_folders_named_like_partitions_add_no_column(anatomized, tmp_path):
    (tmp_path / "year=2026").mkdir()
    anatomized.save(tmp_path / "year=2026" / "out")
    assert same(Release.load(tmp_path / "year=2026" / "out"), anatomized)


# Writing that fails


def test_an_existing_release_needs_force(generalized, anatomized, tmp_path):
    generalized.save(tmp_path / "out")
    with pytest.raises(InputError, match="exists; use --force to replace it"):
        anatomized.save(tmp_path / "out")
    assert same(Release.load(tmp_path / "out"), generalized)
    anatomized.save(tmp_path / "out", force=True, format="csv")
    assert same(Release.load(tmp_path / "out"), anatomized)
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    "name", [None, "manifest.json", "notes.txt"], ids=["other", "their manifest", "notes inside"]
)
def test_force_does_not_replace_what_is_not_a_release(generalized, tmp_path, name):
    if name == "notes.txt":
        generalized.save(tmp_path / "out")
    else:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "home.txt").write_text("dear")
    if name:
        (tmp_path / "out" / name).write_text('{"format": "web-extension/3", "tables": []}')
    before = contents(tmp_path / "out")
    with pytest.raises(InputError, match="is not a release"):
        generalized.save(tmp_path / "out", force=True)
    assert contents(tmp_path / "out") == before


def test_force_replaces_a_damaged_release(generalized, tmp_path):
    generalized.save(tmp_path / "out")
    (tmp_path / "out" / "records.parquet").write_bytes(b"torn")
    generalized.save(tmp_path / "out", force=True)
    assert same(Release.load(tmp_path / "out"), generalized)


def test_an_unknown_format_is_refused(generalized, tmp_path):
    with pytest.raises(ParameterError, match="parquet or csv"):
        generalized.save(tmp_path / "out", format="xlsx")
    assert not list(tmp_path.iterdir())


def test_a_manifest_too_large_to_load_is_not_written(generalized, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 100)
    with pytest.raises(ParameterError, match="fewer distinct values"):
        generalized.save(tmp_path / "out")
    assert not list(tmp_path.iterdir())


STAGES = {
    "parquet": ["files.write_parquet", "pq.write_table"],
    "csv": ["files._write_csv", "csv_cells.write_csv"],
}
OWNERS = {"files": files, "csv_cells": csv_cells, "pq": pq, "Path": Path, "os": os}
COMMON_STAGES = ["files.checksum", "files.write_hierarchies", "Path.write_bytes", "os.fsync"]


@pytest.mark.parametrize(
    ("format", "stage"),
    [(format, stage) for format in FORMATS for stage in STAGES[format] + COMMON_STAGES],
)
@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
@pytest.mark.parametrize("old", [False, True])
def test_a_failure_at_any_stage_leaves_the_old_release_or_none(
    generalized, anatomized, tmp_path, monkeypatch, stage, old, failure, format
):
    if old:
        anatomized.save(tmp_path / "out")
    owner, name = stage.split(".")

    def failing(*_arguments, **_options):
        raise failure

    expected = InputError if isinstance(failure, OSError) else KeyboardInterrupt
    with monkeypatch.context() as patch:
        patch.setattr(OWNERS[owner], name, failing)
        with pytest.raises(expected) as refusal:
            generalized.save(tmp_path / "out", force=True, format=format)
    if expected is InputError:
        assert "cannot write the release" in str(refusal.value)
        assert "No space left" in str(refusal.value)
    assert [entry.name for entry in tmp_path.iterdir()] == (["out"] if old else [])
    if old:
        assert same(Release.load(tmp_path / "out"), anatomized)


@pytest.mark.parametrize(
    ("mask", "closed", "mode"),
    [(0o022, 0o700, 0o755), (0o002, 0o770, 0o775), (0o077, 0o700, 0o700)],
)
@pytest.mark.parametrize("format", FORMATS)
def test_tables_that_are_not_judged_yet_are_closed_to_others(
    anatomized, tmp_path, format, mask, closed, mode
):
    """A run that is killed leaves them, and nobody has said that they keep what they claim."""
    before = os.umask(mask)
    try:
        with anatomized.saving(tmp_path / "out", format=format):
            (folder,) = tmp_path.iterdir()
            assert folder.stat().st_mode & 0o777 == closed
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o777 == mode
    assert same(Release.load(tmp_path / "out"), anatomized)


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize(
    "refusal", [ClaimBroken("no"), KeyboardInterrupt(), MemoryError(), PermissionError(13, "no")]
)
def test_a_block_that_fails_leaves_the_old_release_or_none(
    generalized, anatomized, tmp_path, monkeypatch, old, refusal
):
    """Also while a table is being written, and the next one waits for its turn."""
    if old:
        generalized.save(tmp_path / "out")
    begun, refused = threading.Event(), threading.Event()
    write = files._write_table

    def slow(*arguments):
        begun.set()
        refused.wait(10)
        return write(*arguments)

    monkeypatch.setattr(files, "_write_table", slow)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    with (
        pytest.raises(type(refusal)) as raised,
        anatomized.saving(tmp_path / "out", force=True),
    ):
        assert begun.wait(10)
        refused.set()
        raise refusal
    assert raised.value is refusal
    assert [entry.name for entry in tmp_path.iterdir()] == (["out"] if old else [])
    if old:
        assert same(Release.load(tmp_path / "out"), generalized)


# Damage


def set_checksum(folder: Path, table: str, value: str | None = None) -> None:
    """Put the checksum of a changed table right, as somebody who tampers would."""
    fields = manifest_of(folder)
    for entry in fields["tables"]:
        if entry["name"] == table:
            entry["sha256"] = value or checksum(folder / entry["file"])
    (folder / "manifest.json").write_text(json.dumps(fields), encoding="utf-8")


def change_manifest(folder: Path, **fields) -> None:
    changed = manifest_of(folder) | fields
    (folder / "manifest.json").write_text(json.dumps(changed), encoding="utf-8")


def rewrite(folder: Path, change) -> None:
    """Change the records and put the checksum right."""
    path = folder / "records.parquet"
    with pq.ParquetFile(path) as file:
        table = file.read()
    pq.write_table(change(table), path)
    set_checksum(folder, "records")


def overwrite(folder: Path, data: bytes) -> None:
    (folder / "records.parquet").write_bytes(data)
    set_checksum(folder, "records")


def link_out(folder: Path) -> None:
    outside = folder.with_name("outside.parquet")
    (folder / "records.parquet").rename(outside)
    (folder / "records.parquet").symlink_to(outside)


def as_csv(folder: Path, text: str) -> None:
    (folder / "records.parquet").unlink()
    (folder / "records.csv").write_bytes(text.encode())
    fields = manifest_of(folder)
    fields["tables"][0]["file"] = "records.csv"
    change_manifest(folder, **fields)
    set_checksum(folder, "records")


def escape(folder: Path) -> None:
    (folder / "records.parquet").rename(folder.with_name("records.parquet"))
    fields = manifest_of(folder)
    fields["tables"][0]["file"] = "../records.parquet"
    change_manifest(folder, **fields)


def forget_checksum(folder: Path) -> None:
    fields = manifest_of(folder)
    del fields["tables"][0]["sha256"]
    change_manifest(folder, **fields)


HIERARCHY = "hierarchies/zip%20code.csv"
HEADER = "group,age,zip code,joined,disease,paid\n"
DAMAGE = {
    "folder missing": (shutil.rmtree, "is not the folder of a release"),
    "manifest missing": (lambda f: (f / "manifest.json").unlink(), r"has no manifest\.json"),
    "manifest cut": (lambda f: os.truncate(f / "manifest.json", 100), "is not valid JSON"),
    "manifest invalid": (lambda f: change_manifest(f, rows=-1), "rows: "),
    "unknown format": (lambda f: change_manifest(f, format="sfumato-release/9"), "format is"),
    "table missing": (lambda f: (f / "records.parquet").unlink(), "'records' is missing"),
    "table altered": (
        lambda f: (f / "records.parquet").write_bytes(b"PAR1"),
        "table 'records' was altered: its checksum differs",
    ),
    "checksum gone": (forget_checksum, "table 'records' has no file or no checksum"),
    "table cut, checksum put right": (lambda f: overwrite(f, b"PAR1"), "does not read as a table"),
    "table no Parquet": (lambda f: overwrite(f, b"x" * 100), "does not read as a table"),
    "table a link": (link_out, "holds a link 'records.parquet'"),
    "table outside": (escape, "must be named after the table"),
    "column dropped": (
        lambda f: rewrite(f, lambda t: t.drop_columns(["age"])),
        "does not have the columns",
    ),
    "column added": (
        lambda f: rewrite(f, lambda t: t.append_column("name", t["age"])),
        "does not have the columns",
    ),
    "column of another type": (
        lambda f: rewrite(f, lambda t: t.set_column(1, "age", pa.array([1.5] * 4))),
        "column 'age' does not hold values of its type",
    ),
    "text not UTF-8": (
        lambda f: rewrite(
            f,
            lambda t: t.set_column(
                4, "disease", pa.array([b"\xff"] * 4).view(pa.string()).cast(pa.string())
            ),
        ),
        "does not read as a table",
    ),
    "group without number": (
        lambda f: rewrite(f, lambda t: t.set_column(0, "group", pa.nulls(4, pa.int32()))),
        "column 'group'",
    ),
    "unexpected file": (lambda f: (f / "seed\n.txt").touch(), r"unexpected file 'seed\\n\.txt'"),
    "hidden file": (lambda f: (f / ".record.json").touch(), r"unexpected file '\.record\.json'"),
    "hierarchy of nobody": (
        lambda f: (f / "hierarchies" / "name.csv").touch(),
        "belongs to no attribute",
    ),
    "hierarchy missing": (lambda f: (f / HIERARCHY).unlink(), "not those that the manifest lists"),
    "hierarchies missing": (
        lambda f: shutil.rmtree(f / "hierarchies"),
        "not those that the manifest lists",
    ),
    "hierarchy altered": (
        lambda f: (f / HIERARCHY).write_text("1;2;*\n"),
        "not those that the manifest lists",
    ),
    "hierarchy malformed": (
        lambda f: (change_manifest(f, parameters={}), (f / HIERARCHY).write_text("1;*\n1;2;*\n")),
        "the hierarchy of 'zip code' does not read as one",
    ),
    "hierarchies a file": (
        lambda f: (shutil.rmtree(f / "hierarchies"), (f / "hierarchies").touch()),
        "cannot be read",
    ),
    "CSV ragged": (lambda f: as_csv(f, HEADER + "1,2\n"), "does not read as a table"),
    "CSV empty": (lambda f: as_csv(f, ""), "does not read as a table"),
    "CSV with another header": (lambda f: as_csv(f, "group,age\n1,2\n"), "have the columns"),
    "CSV with a name for a group": (
        lambda f: as_csv(f, HEADER + "Smith,2,3,,5,6\n"),
        "column 'group'",
    ),
}


@pytest.mark.parametrize(("damage", "message"), DAMAGE.values(), ids=DAMAGE)
def test_damage_is_refused_in_one_line_without_a_cell(generalized, tmp_path, damage, message):
    folder = tmp_path / "out"
    generalized.save(folder)
    damage(folder)
    with pytest.raises(ReleaseDamaged, match=message) as refusal:
        Release.load(folder)
    assert "\n" not in str(refusal.value)
    assert "Smith" not in str(refusal.value)


def test_a_release_without_checksums_of_hierarchies_is_read(generalized, tmp_path):
    generalized.save(tmp_path / "out")
    change_manifest(tmp_path / "out", parameters={})
    assert same(Release.load(tmp_path / "out"), generalized)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_refused(generalized, tmp_path):
    generalized.save(tmp_path / "out")
    (tmp_path / "out" / "records.parquet").chmod(0)
    with pytest.raises(ReleaseDamaged, match="cannot be read: Permission denied"):
        Release.load(tmp_path / "out")
