"""The ledger holds what was published, and finds it again."""

from __future__ import annotations

import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.jobs.anonymize import anonymize
from sfumato.jobs.ledger import earlier_releases

POLICY = """
attributes:
  name: {role: identifier}
  age: {role: quasi-identifier}
  disease: {role: sensitive, l: 2}
method: {name: mondrian, k: 2}
"""


@pytest.fixture
def home(tmp_path):
    people = pa.table(
        {
            "name": [f"person {i}" for i in range(8)],
            "age": [20, 21, 30, 31, 40, 41, 50, 51],
            "disease": ["canary-a", "canary-b"] * 4,
        }
    )
    pq.write_table(people, tmp_path / "people.parquet")
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


def publish(home, name, **options):
    return anonymize(
        home / "people.parquet",
        home / "policy.yaml",
        home / name,
        ledger=home / "ledger.jsonl",
        **options,
    )


def lines(home):
    return [json.loads(line) for line in (home / "ledger.jsonl").read_text().splitlines()]


def test_a_line_says_what_was_published_and_nothing_of_the_data(home):
    publish(home, "first")
    publish(home, "second")
    first, second = lines(home)
    assert [first["release"], second["release"]] == ["first", "second"]
    assert first["method"] == "mondrian" and first["rows"] == 8 and first["layout"] == "generalized"
    assert first["attributes"] == [
        {"name": "age", "role": "quasi-identifier"},
        {"name": "disease", "role": "sensitive"},
    ]
    assert {claim["model"] for claim in first["guarantees"]} == {"k-anonymity", "l-diversity"}
    text = (home / "ledger.jsonl").read_text()
    assert "canary" not in text and "person" not in text and str(home) not in text


def test_the_releases_of_a_ledger_are_found_wherever_both_are_moved(home, tmp_path_factory):
    publish(home, "first")
    publish(home, "second")
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "moved"
    home.rename(elsewhere)
    found = earlier_releases([elsewhere / "ledger.jsonl", elsewhere / "first"])
    assert [release.manifest.rows for release in found.values()] == [8, 8]  # the first but once


def test_a_release_that_is_gone_or_replaced_is_refused(home):
    publish(home, "first")
    (home / "first").rename(home / "gone")
    with pytest.raises(InputError, match=r"lists the release 'first', which is not there"):
        earlier_releases([home / "ledger.jsonl"])
    anonymize(home / "people.parquet", home / "policy.yaml", home / "first")  # another one
    with pytest.raises(InputError, match="is not the one that the ledger"):
        earlier_releases([home / "ledger.jsonl"])


def test_a_line_that_a_crash_cut_off_is_refused_since_a_release_would_be_missing(home):
    publish(home, "first")
    for whole in (True, False):  # also if it is the first line
        kept = (home / "ledger.jsonl").read_text() if whole else ""
        (home / "ledger.jsonl").write_text(kept + '{"format": "sfumato-ledger/1", "release": "sec')
        with pytest.raises(InputError, match=f"line {1 + whole} .* was cut off"):
            earlier_releases([home / "ledger.jsonl"])
        with pytest.raises(InputError, match="was cut off"):
            publish(home, "third")
    assert not (home / "third").exists()


def test_what_was_handed_out_is_not_replaced(home):
    publish(home, "first")
    with pytest.raises(InputError, match="as handed out"):
        publish(home, "first", force=True)
    assert len(earlier_releases([home / "ledger.jsonl"])) == 1


def test_one_command_serves_the_first_run_and_the_later_ones(home):
    ledger = home / "ledger.jsonl"
    first = publish(home, "first", against=[ledger])
    assert first.warnings == ("no earlier release was given: the ledger lists none",)
    publish(home, "second", against=[ledger])
    assert len(lines(home)) == 2


def test_a_ledger_may_be_a_link_and_no_private_record(home, tmp_path_factory):
    publish(home, "first")
    link = tmp_path_factory.mktemp("elsewhere") / "link.jsonl"
    link.symlink_to(home / "ledger.jsonl")
    assert len(earlier_releases([link])) == 1
    with pytest.raises(InputError, match="cannot be one file"):
        publish(home, "second", record=home / "ledger.jsonl")


def test_files_that_are_no_ledger_are_refused_before_anything_is_written(home):
    for content in ("{}\n", "name,age\n", '["sfumato-ledger/1"]\n', "\x00\n"):
        (home / "ledger.jsonl").write_text(content)
        with pytest.raises(InputError, match="is not a ledger"):
            publish(home, "first")
        with pytest.raises(InputError, match="is not a ledger"):
            earlier_releases([home / "ledger.jsonl"])
    assert not (home / "first").exists()
    (home / "ledger.jsonl").unlink()
    with pytest.raises(InputError, match="inside the release"):
        anonymize(
            home / "people.parquet",
            home / "policy.yaml",
            home / "first",
            ledger=home / "first" / "ledger.jsonl",
        )
    with pytest.raises(InputError, match="not a folder"):
        anonymize(
            home / "people.parquet",
            home / "policy.yaml",
            home / "first",
            ledger=home / "nowhere" / "ledger.jsonl",
        )
    assert not (home / "first").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_ledger_that_cannot_be_written_is_refused(home):
    (home / "ledger.jsonl").write_text("")
    (home / "ledger.jsonl").chmod(0o400)
    with pytest.raises(InputError, match="cannot be written"):
        publish(home, "first")
    assert not (home / "first").exists()


def test_a_refused_run_leaves_no_line(home):
    (home / "policy.yaml").write_text(POLICY.replace("k: 2", "k: 20"))
    with pytest.raises(sf.Infeasible):
        publish(home, "first")
    assert not (home / "ledger.jsonl").exists()
