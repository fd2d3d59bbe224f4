"""A data set of many files gives the release that one file gives, read one column at a time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato.jobs.anonymize as job
from sfumato.datasets import hospital
from sfumato.io.read import open_table
from sfumato.jobs.anonymize import anonymize
from sfumato.jobs.check import check
from sfumato.jobs.demo_policies import METHODS, policy_name, write_policies
from sfumato.predicates.evaluate import evaluate_frame
from sfumato.predicates.parse import parse
from sfumato.randomness import Randomness
from sfumato.recoding import recode
from sfumato.schema import LazyTable, Schema
from sfumato.table import encode

ROWS = 1500
CUTS = (0, 1, 400, 1100, ROWS)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """Return a folder with the same stays as one file and in parts, and the policies."""
    folder = tmp_path_factory.mktemp("stays")
    stays = hospital(ROWS, seed=5)
    plain = pa.table(
        [c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) else c for c in stays.columns],
        names=stays.column_names,
    )
    pq.write_table(plain, folder / "one.parquet", row_group_size=700)
    (folder / "parts").mkdir()
    for number, (first, end) in enumerate(pairwise(CUTS)):
        pq.write_table(plain.slice(first, end - first), folder / "parts" / f"{number}.parquet")
    write_policies(folder)
    return folder


def files_of(release: Path) -> dict[str, bytes]:
    return {
        path.relative_to(release).as_posix(): path.read_bytes()
        for path in release.rglob("*")
        if path.is_file()
    }


def published(place: Path, data: object, policy: str, out: Path) -> dict[str, bytes]:
    anonymize(data, place / policy, out, randomness=Randomness.test(3))
    return files_of(out)


@pytest.mark.parametrize("method", METHODS)
def test_parts_and_one_file_give_the_same_release(place, tmp_path, method):
    policy = policy_name(method)
    one = published(place, place / "one.parquet", policy, tmp_path / "one")
    assert published(place, place / "parts", policy, tmp_path / "parts") == one
    pattern = f"{place}/parts/*.parquet"
    assert published(place, pattern, policy, tmp_path / "pattern") == one


def test_one_column_at_a_time_is_read(place, tmp_path, monkeypatch):
    asked: list[list[str]] = []

    def spying(path):
        table = open_table(path)

        def read(names):
            asked.append(list(names))
            return table.read(names)

        return LazyTable(table.schema, table.num_rows, read)

    monkeypatch.setattr(job, "open_table", spying)
    published(place, place / "parts", "lgb.yaml", tmp_path / "out")
    assert {len(names) for names in asked} == {1}
    assert ["name"] in asked  # whether it tells people apart
    assert ["stay_days"] not in asked  # never published


def test_partitions_are_published_like_any_column(place, tmp_path):
    table = pq.read_table(place / "one.parquet")
    for sex in ("Female", "Male"):
        folder = tmp_path / "data" / f"sex={sex}"
        folder.mkdir(parents=True)
        own = table.filter(pa.compute.equal(table["sex"], sex))
        pq.write_table(own.drop_columns(["sex"]), folder / "0.parquet")
    sorted_table = pa.concat_tables(
        [table.filter(pa.compute.equal(table["sex"], sex)) for sex in ("Female", "Male")]
    )
    names = [name for name in table.column_names if name != "sex"] + ["sex"]
    pq.write_table(sorted_table.select(names), tmp_path / "one.parquet")
    one = published(place, tmp_path / "one.parquet", "mondrian.yaml", tmp_path / "a")
    assert published(place, tmp_path / "data", "mondrian.yaml", tmp_path / "b") == one


POLICY = """
attributes:
  name: {role: identifier}
  age: {role: quasi-identifier, recode: [{top: 90}, {bins: [0, 18, 40, 65, 91]}]}
  zipcode: {role: quasi-identifier, recode: [{mask: 2}]}
  disease: {role: sensitive, l: 3}
  admitted: {role: quasi-identifier, recode: [{shift: {days: 30}}, {truncate: month}]}
method: {name: anatomy}
on_infeasible: suppress
"""


def test_recoding_and_withheld_rows(place, tmp_path):
    names = ["name", "age", "zipcode", "disease", "admitted"]
    table = pq.read_table(place / "one.parquet", columns=names)
    common = pa.array(["Influenza"] * 700 + table["disease"].to_pylist()[700:])
    table = table.set_column(names.index("disease"), "disease", common)
    pq.write_table(table, tmp_path / "one.parquet")
    pq.write_table(table.slice(0, 600), tmp_path / "part-0.parquet")
    pq.write_table(table.slice(600), tmp_path / "part-1.parquet")
    (tmp_path / "policy.yaml").write_text(POLICY)
    one = published(tmp_path, tmp_path / "one.parquet", "policy.yaml", tmp_path / "a")
    parts = published(tmp_path, tmp_path / "part-?.parquet", "policy.yaml", tmp_path / "b")
    assert parts == one
    assert b'"suppressed": 0' not in one["manifest.json"]
    assert check(tmp_path / "part-?.parquet", tmp_path / "policy.yaml").fits


def test_a_lazy_table_is_recoded_coded_and_searched_like_an_arrow_table(place):
    lazy, table = open_table(place / "parts"), pq.read_table(place / "one.parquet")
    steps = {"age": [{"round": 5}], "zipcode": [{"mask": 3}]}
    changed = recode(lazy, steps)
    assert isinstance(changed, LazyTable)
    assert changed.to_table().equals(recode(table, steps))
    assert changed.schema.field("zipcode").type == changed["zipcode"].type
    roles = dict.fromkeys(table.column_names, "insensitive")
    schema = Schema.of({**roles, "age": "quasi-identifier", "zipcode": "quasi-identifier"})
    coded, expected = encode(lazy, schema), encode(table, schema)
    for name in ("age", "zipcode"):
        assert coded[name].codes.tolist() == expected[name].codes.tolist()
        assert coded[name].values.equals(expected[name].values)
    rule = parse("age > 40 and zipcode like '1%'")
    found = evaluate_frame(rule, lazy, schema)
    assert found.tolist() == evaluate_frame(rule, table, schema).tolist()
