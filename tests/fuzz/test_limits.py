"""Input that is too much: bombs, depths, widths, and signs that mean something elsewhere."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.audit import audit
from sfumato.cli.app import run
from sfumato.errors import InputError, ReleaseDamaged, SchemaError, SfumatoError
from sfumato.io.read import read_table
from sfumato.jobs.yaml_file import MAX_BYTES, read_yaml
from sfumato.methods import Mondrian
from sfumato.predicates import parse
from sfumato.release import Release
from sfumato.release.manifest import Manifest
from sfumato.schema import Schema, unfolding

# From right to left, an override of the direction, a decomposed accent, invisible, a null byte.
SIGNS = ["שלום", "\u202egnp.exe", "Zu\u0308rich", "a\u200bb", "a\0b", "\ufeffx", "=1+1", "\x7f"]


@pytest.fixture
def tight(monkeypatch):
    """A machine with a megabyte of memory."""
    monkeypatch.setattr(unfolding, "_memory", lambda: 2**20)


def test_a_small_parquet_file_of_many_rows_is_refused_unread(tight, tmp_path):
    path = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"x": pa.repeat(7, 2_000_000)}), path)
    assert path.stat().st_size < 20_000
    with pytest.raises(InputError, match="more than the memory of this machine"):
        read_table(path)


def _published(rows: int = 12) -> Release:
    table = pa.table({"age": [20 + n % 4 for n in range(rows)], "ill": ["a", "b"] * (rows // 2)})
    schema = Schema.of({"age": "quasi-identifier", "ill": "sensitive"})
    return Mondrian(k=2).publish(table, schema)


def test_a_table_with_more_rows_than_records_is_refused_unread(tmp_path):
    _published().save(tmp_path / "release")
    file = tmp_path / "release" / "records.parquet"
    table = pq.ParquetFile(file).read()
    pq.write_table(pa.concat_tables([table] * 1000), file)
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text())
    from oracles.altered import digest_of

    manifest["tables"][0]["sha256"] = digest_of(file)
    (tmp_path / "release" / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ReleaseDamaged, match="more rows than there are records"):
        audit(tmp_path / "release")


def test_laughs_depth_and_size_of_yaml(tmp_path):
    path = tmp_path / "policy.yaml"
    laughs = ["a: &a [x, x]"] + [
        f"{b}: &{b} [*{a}, *{a}]" for a, b in zip("abcdefg", "bcdefgh", strict=True)
    ]
    for content in (
        "\n".join(laughs),
        "[" * 100_000,
        "x: " * 50_000,
        "- " * 50_000,
        "a" * (MAX_BYTES + 1),
    ):
        path.write_text(content)
        with pytest.raises(SchemaError):
            read_yaml(path)


@pytest.mark.parametrize("number", ["9" * 5000, "-" + "9" * 5000, "1e999999", "-.5e-99999"])
def test_huge_numbers(tmp_path, number):
    path = tmp_path / "policy.yaml"
    path.write_text(
        f"attributes: {{a: {{role: sensitive, l: {number}}}}}\nmethod: {{name: anatomy}}"
    )
    from sfumato.jobs.policy import Policy

    try:
        Policy.load(path).method()
    except SfumatoError as error:
        assert len(str(error)) < 1000
    for text in (f"age > {number}", f"age IN ({number})", f"age BETWEEN 1 AND {number}"):
        try:
            parse(text)
        except SfumatoError as error:
            assert len(str(error)) < 1000


def test_deep_predicates_and_manifests():
    for text in (
        "(" * 20_000 + "a = 1" + ")" * 20_000,
        "NOT " * 20_000 + "a = 1",
        "a=1 OR " * 9_000,
    ):
        with pytest.raises(SfumatoError):
            parse(text)
    for text in (
        "[" * 100_000,
        '{"a":' * 50_000,
        '{"rows": ' + "9" * 10_000 + "}",
        '{"rows": NaN}',
    ):
        with pytest.raises(ReleaseDamaged):
            Manifest.from_json(text.encode())


def test_ten_thousand_columns(tmp_path):
    path = tmp_path / "wide.csv"
    names = ",".join(f"c{n}" for n in range(10_000))
    path.write_text(f"{names}\n" + ",".join("1" for _ in range(10_000)) + "\n")
    assert read_table(path).num_columns == 10_000


def test_a_megabyte_in_a_cell(tmp_path, capsys):
    path = tmp_path / "long.csv"
    path.write_text("a,b\n" + "x" * 2**20 + ",1\n" + "y,2\n" * 9)
    table = read_table(path)
    assert len(table["a"][0].as_py()) == 2**20
    schema = Schema.of({"a": "quasi-identifier", "b": "sensitive"})
    Mondrian(k=2).publish(table, schema).save(tmp_path / "release")
    assert audit(tmp_path / "release").exit_code == 0
    path.write_text("x" * (3 << 20) + ",b\n1,2\n")
    assert run(["check", str(path), "--policy", str(tmp_path / "none.yaml")]) == 2
    assert len(capsys.readouterr().err) < 2000


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_strange_signs_are_published_as_they_are(tmp_path, format):
    rows = [(n % 3, sign) for n, sign in enumerate(SIGNS * 4)]
    table = pa.table({"age": [age for age, _ in rows], "ill": [sign for _, sign in rows]})
    schema = Schema.of({"age": "quasi-identifier", "ill": "sensitive"})
    Mondrian(k=2).publish(table, schema).save(tmp_path / "release", format=format)
    assert audit(tmp_path / "release").exit_code == 0
    again = Release.load(tmp_path / "release").tables["records"]["ill"].to_pylist()
    from sfumato.release.cells import quote

    assert sorted(again) == sorted(quote(sign) for sign in SIGNS * 4)


@pytest.mark.parametrize("number", ["NaN", "inf", "-inf", "1e400"])
def test_numbers_that_are_none(tmp_path, number):
    path = tmp_path / "data.csv"
    path.write_text(f"a,b\n{number},1\n" + "".join(f"{n}.5,{n}\n" for n in range(9)))
    schema = Schema.of({"a": "quasi-identifier", "b": "sensitive"})
    try:
        Mondrian(k=2).publish(read_table(path), schema).save(tmp_path / "release")
    except SfumatoError:
        return
    assert audit(tmp_path / "release").exit_code == 0


def test_ten_thousand_columns_of_parquet_and_of_a_policy(tmp_path):
    wide = pa.table({f"c{n}": [1, 2] for n in range(10_000)})
    pq.write_table(wide, tmp_path / "wide.parquet")
    assert read_table(tmp_path / "wide.parquet").num_columns == 10_000
    names = "".join(f"  c{n}: {{role: insensitive}}\n" for n in range(10_000))
    (tmp_path / "policy.yaml").write_text(
        f"attributes:\n{names}  a: {{role: sensitive}}\nmethod: {{name: anatomy, l: 2}}\n"
    )
    from sfumato.jobs.policy import Policy

    assert len(Policy.load(tmp_path / "policy.yaml").schema().attributes) == 10_001


@pytest.mark.parametrize("text", ["a\0b: 1", 'attributes: {"a\\0b": {role: sensitive}}'])
def test_null_bytes_in_a_policy(tmp_path, text):
    (tmp_path / "policy.yaml").write_text(text)
    from sfumato.jobs.policy import Policy

    with pytest.raises(SfumatoError):
        Policy.load(tmp_path / "policy.yaml").method()


@pytest.mark.parametrize("name", ["a\\0b.csv", "\\ud800.csv", "x" * 5000, "../" * 2000, "/dev"])
def test_names_of_hierarchy_files_that_are_none(tmp_path, name):
    from sfumato.jobs.policy import Policy

    (tmp_path / "policy.yaml").write_text(
        f'attributes: {{a: {{role: quasi-identifier, hierarchy: "{name}"}}}}\n'
        "method: {name: mondrian, k: 2}\n"
    )
    with pytest.raises(SfumatoError):
        Policy.load(tmp_path / "policy.yaml").schema()
    with pytest.raises(SfumatoError):
        Policy.of(
            {
                "attributes": {"a": {"role": "quasi-identifier", "hierarchy": "a\0b"}},
                "method": {"name": "mondrian", "k": 2},
            }
        ).schema()


def test_null_bytes_in_a_question():
    for text in ("a = 'x\0y'", "\0", "a\0 = 1"):
        try:
            parse(text)
        except SfumatoError as error:
            assert "\0" not in str(error)


FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", '=cmd|"/c calc"!A1']


def test_no_name_or_value_starts_a_formula_in_a_published_csv(tmp_path):
    names = {"=HYPERLINK(1)": "quasi-identifier", "@ill": "sensitive"}
    table = pa.table({"=HYPERLINK(1)": FORMULAS * 2, "@ill": FORMULAS[::-1] * 2})
    Mondrian(k=2).publish(table, Schema.of(names)).save(tmp_path / "release", format="csv")
    assert audit(tmp_path / "release").exit_code == 0
    import csv

    with (tmp_path / "release" / "records.csv").open(newline="", encoding="utf-8") as file:
        fields = [field for row in csv.reader(file) for field in row]
    assert len(fields) == 3 * 17
    assert [field for field in fields if field[:1] in "=+-@\t\r＝" and field] == []
