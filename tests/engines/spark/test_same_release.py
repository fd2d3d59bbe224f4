"""Spark's release is that of the same shards on one machine, however the work is shared out."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from sfumato.audit import audit
from sfumato.engines.in_shards import release_in_shards
from sfumato.engines.spark import anonymize as engine
from sfumato.engines.spark import pieces
from sfumato.engines.spark.anonymize import anonymize
from sfumato.engines.spark.parts import finish_parts
from sfumato.errors import ClaimBroken
from sfumato.io.read import read_table
from sfumato.jobs.policy import Policy
from sfumato.jobs.publication import with_declared
from sfumato.jobs.recode import recoded, with_recoding
from sfumato.predicates.flags import flagged
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.table import encode
from sfumato.utility import ncp
from sfumato.utility.ncp import has_ncp

from .conftest import POLICIES

SEED = Randomness.secret(b"sixteen bytes of secret")


def in_memory(data, policy, shard_rows) -> tuple[Release, object]:
    """Return what the local path makes of the same files in the same shards, and its loss."""
    rules = Policy.load(policy)
    rows, schema, steps = recoded(read_table(data), rules, rules.schema(), SEED)
    table = flagged(encode(rows, schema), rows)
    made = release_in_shards(rules.method(), table, SEED, shard_rows=shard_rows).release
    release = with_declared(with_recoding(made, steps, schema), rules, 0)
    return release, ncp(release, table) if has_ncp(release) else None


def same(one: Release, other: Release) -> None:
    left, right = one.manifest.model_dump(), other.manifest.model_dump()
    for fields in (left, right):
        fields["tables"] = [{**t, "file": None, "sha256": None} for t in fields["tables"]]
        fields["parameters"] = {
            key: value for key, value in fields["parameters"].items() if key != "hierarchies"
        }
    assert left == right
    assert one.tables.keys() == other.tables.keys()
    for name, table in one.tables.items():
        assert table.equals(other.tables[name]), name
    leaves = [{n: (h.leaves, h.paths) for n, h in r.hierarchies.items()} for r in (one, other)]
    assert leaves[0] == leaves[1]


@pytest.mark.parametrize("policy", POLICIES)
def test_spark_makes_the_release_of_the_same_shards(spark, small_tasks, written, tmp_path, policy):
    data, rules = written(policy)
    made = anonymize(data, rules, tmp_path / "release", shard_rows=600, randomness=SEED)
    release = Release.load(tmp_path / "release")
    expected, loss = in_memory(data, rules, 600)
    same(release, expected)
    parts = list((tmp_path / "release" / f"{release.manifest.tables[0].name}.parquet").iterdir())
    assert len(parts) > 1, "a table in one shard shows nothing"
    assert audit(release).ok
    assert made.manifest == release.manifest
    assert (made.ncp is None) == (loss is None)
    if loss is not None:
        assert made.ncp.mean == pytest.approx(loss.mean, rel=1e-12)
        assert made.ncp.by_attribute == pytest.approx(loss.by_attribute, rel=1e-12)


@pytest.mark.parametrize("policy", ["mondrian", "anatomy"])
def test_a_table_that_fits_into_one_shard_is_published_as_by_the_local_engine(
    spark, small_tasks, written, tmp_path, policy
):
    data, rules = written(policy, rows=800)
    anonymize(data, rules, tmp_path / "release", shard_rows=1_000, randomness=SEED)
    expected, _ = in_memory(data, rules, 1_000)
    same(Release.load(tmp_path / "release"), expected)


def test_fewer_shards_are_tried_where_a_claim_would_break(
    spark, small_tasks, written, tmp_path, monkeypatch
):
    data, rules = written("anatomy")
    tried = []

    def finish(session, union, shards, *others):
        tried.append(len(shards))
        if len(shards) > 2:
            raise ClaimBroken("not these")
        return finish_parts(session, union, shards, *others)

    monkeypatch.setattr(engine, "finish_parts", finish)
    anonymize(data, rules, tmp_path / "release", shard_rows=500, randomness=SEED)
    assert tried == [4, 3, 2]
    assert audit(tmp_path / "release").ok


@pytest.mark.parametrize("policy", ["mondrian", "anatomy"])
def test_how_the_input_is_cut_into_files_does_not_matter(
    spark, small_tasks, written, tmp_path, monkeypatch, policy
):
    data, rules = written(policy)
    anonymize(data, rules, tmp_path / "one", shard_rows=600, randomness=SEED)
    folder = tmp_path / "parts"
    folder.mkdir()
    table = pq.read_table(data)
    backwards = table.take(list(range(table.num_rows))[::-1])
    for number, start in enumerate(range(0, table.num_rows, 470)):
        part = backwards.slice(start, 470)
        pq.write_table(part, folder / f"{number}.parquet", row_group_size=41)
    monkeypatch.setattr(pieces, "_TASK_ROWS", 200)
    anonymize(folder, rules, tmp_path / "other", shard_rows=600, randomness=SEED)
    files = sorted(p.relative_to(tmp_path / "one") for p in (tmp_path / "one").rglob("*.*"))
    others = sorted(p.relative_to(tmp_path / "other") for p in (tmp_path / "other").rglob("*.*"))
    assert files == others
    for file in files:
        if (tmp_path / "one" / file).is_file():
            assert (tmp_path / "one" / file).read_bytes() == (
                tmp_path / "other" / file
            ).read_bytes()
