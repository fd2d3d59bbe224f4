"""No seed, key or cell is in what Spark writes down about a run."""

from __future__ import annotations

import gzip

from sfumato.engines.spark.anonymize import anonymize
from sfumato.randomness import Randomness
from sfumato.rows.keyed_hash import KEY_BYTES

from .conftest import people

SEED = b"0123456789abcdef-secret-seed"


def test_the_event_log_has_neither_data_nor_secrets(spark, small_tasks, written, tmp_path, capfd):
    session, log = spark
    data, policy = written("anatomy", rows=1500)
    randomness = Randomness.secret(SEED)
    anonymize(data, policy, tmp_path / "release", shard_rows=500, randomness=randomness)
    key = randomness.generator("shards").bytes(KEY_BYTES)
    written_down = b""
    for file in filter(lambda path: path.is_file(), log.rglob("*")):
        content = file.read_bytes()
        written_down += gzip.decompress(content) if file.suffix == ".gz" else content
    assert b"SparkListenerJobStart" in written_down, "there is no log to search"
    settings = repr(session.sparkContext.getConf().getAll()).encode()
    said = "".join(capfd.readouterr()).encode()
    for place in (written_down, settings, said):
        for secret in (SEED, SEED.hex().encode(), key, key.hex().encode(), randomness.part(0).key):
            assert secret not in place
        assert b"canary-" not in place
        for name in ("illness", "job"):
            for value in set(people(1500)[name].to_pylist()):
                assert value.encode() + b'"' not in place
