"""One list of questions, put to both engines: what is promised does not depend on who does it."""

from __future__ import annotations

import json
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.audit import audit
from sfumato.engines.spark.anonymize import anonymize as by_spark
from sfumato.errors import InputError, SfumatoError
from sfumato.jobs.anonymize import anonymize as by_local
from sfumato.jobs.record import RecordPlace
from sfumato.randomness import Randomness
from sfumato.release import Release

from .conftest import QUASI, SETS, people

ENGINES = {"local": by_local, "spark": by_spark}


@pytest.fixture(params=ENGINES)
def publish(request, small_tasks):
    """Return the engine as a function of data, policy and place."""
    if request.param == "local":
        return by_local
    request.getfixturevalue("spark")

    def run(*where, **how):
        return by_spark(*where, shard_rows=400, **how)

    return run


def counted(table: pa.Table, name: str) -> Counter:
    """Return how many rows have each value, in a table of records or of counts."""
    many = table["count"].to_pylist() if "count" in table.column_names else [1] * table.num_rows
    found: Counter = Counter()
    for value, count in zip(table[name].to_pylist(), many, strict=True):
        found[value] += count
    return found


@pytest.mark.parametrize(
    ("policy", "table"),
    [("mondrian-models", "records"), ("anatomy", "sensitive_1"), ("arp", "sensitive_1")],
)
def test_claims_hold_and_every_row_is_published_once(publish, written, tmp_path, policy, table):
    data, rules = written(policy, rows=1000)
    record, ledger = tmp_path / "record.json", tmp_path / "ledger.jsonl"
    seed = Randomness.secret(b"sixteen bytes of secret")
    made = publish(data, rules, tmp_path / "release", randomness=seed, record=record, ledger=ledger)
    release = Release.load(tmp_path / "release")
    report = audit(release)
    assert report.ok and report.guarantees
    assert made.manifest.guarantees == release.manifest.guarantees
    assert made.manifest.rows == release.manifest.rows == 1000
    assert counted(release.tables[table], "illness") == Counter(people(1000)["illness"].to_pylist())
    assert "name" not in {entry.name for entry in release.manifest.attributes}
    content = b"".join(p.read_bytes() for p in (tmp_path / "release").rglob("*") if p.is_file())
    assert b"canary-" not in content
    assert json.loads(record.read_text())["seed"] == seed.key.hex()
    assert len(ledger.read_text().splitlines()) == 1
    with pytest.raises(InputError, match="--force"):
        publish(data, rules, tmp_path / "release")


def test_no_release_appears_without_its_record(publish, written, tmp_path, monkeypatch):
    data, rules = written("mondrian", rows=1000)

    def full(place, record):
        assert record.to_json()
        raise InputError("cannot write the record: no space left")

    monkeypatch.setattr(RecordPlace, "draft", full)
    with pytest.raises(InputError, match="no space left"):
        publish(data, rules, tmp_path / "release", record=tmp_path / "record.json")
    assert not (tmp_path / "release").exists()
    assert not (tmp_path / "record.json").exists()
    assert not [path.name for path in tmp_path.iterdir() if "release" in path.name]


def test_recoding_is_done_and_recorded(publish, written, tmp_path):
    data, rules = written(SETS % "{name: sensitive-qid}", rows=600)
    publish(data, rules, tmp_path / "release", randomness=Randomness.test(1))
    release = Release.load(tmp_path / "release")
    assert release.manifest.parameters["recoding"] == {"pay": [{"round": 100}, {"top": 4000}]}
    assert release.manifest.test
    pays = [pay for pay in release.tables["records"]["pay"].to_pylist() if pay is not None]
    assert all(pay % 100 == 0 and pay <= 4000 for pay in pays) and max(pays) == 4000


def broken(table: pa.Table, what: str) -> pa.Table:
    """Return the table with something in it that must be refused."""
    names = table["name"].to_pylist()
    match what:
        case "repeated":
            return table.set_column(0, "name", pa.array([names[1], *names[1:]]))
        case "missing":
            return table.set_column(0, "name", pa.array([None, *names[1:]]))
        case "no column":
            return table.drop_columns(["age"])
        case "no role":
            return table.append_column("more", table["age"])
        case "not in the hierarchy":
            towns = table["town"].to_pylist()
            return table.set_column(2, "town", pa.array(["Rome", *towns[1:]]))
    return table


@pytest.mark.parametrize(
    ("what", "asked", "method"),
    [
        ("repeated", "", "{name: mondrian, k: 4}"),
        ("missing", "", "{name: mondrian, k: 4}"),
        ("no column", "", "{name: mondrian, k: 4}"),
        ("no role", "", "{name: mondrian, k: 4}"),
        ("not in the hierarchy", "", "{name: mondrian, k: 4}"),
        ("k too large", "", "{name: mondrian, k: 400}"),
        ("l too large", ", l: 9", "{name: anatomy}"),
        ("no such method", "", "{name: mondrain, k: 4}"),
    ],
)
def test_what_must_be_refused_is_refused_in_the_same_words(
    spark, small_tasks, written, tmp_path, what, asked, method
):
    data, rules = written(QUASI % (asked, method), rows=300)
    pq.write_table(broken(people(300), what), data, row_group_size=100)
    said = []
    for name, engine in ENGINES.items():
        with pytest.raises(SfumatoError) as refused:
            engine(data, rules, tmp_path / name)
        said.append((type(refused.value), str(refused.value)))
        assert not (tmp_path / name).exists()
    assert said[0] == said[1]
