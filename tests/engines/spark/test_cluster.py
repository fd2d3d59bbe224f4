"""On a real cluster, with an executor killed in mid-run: the same release, and every row once."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from sfumato.engines.spark.anonymize import anonymize
from sfumato.randomness import Randomness
from sfumato.release import Release

from .cluster import cluster, executors, kill

_PATIENCE = 400.0
ROWS, SHARD_ROWS = 60_000, 4_000


def test_an_executor_that_is_killed_changes_nothing(spark, written, tmp_path):
    data, policy = written("mondrian", rows=ROWS, row_group=5_000)
    seed = tmp_path / "seed"
    seed.write_bytes(b"sixteen bytes or more of secret")
    seed.chmod(0o600)
    with cluster(2, tmp_path) as (address, workers):
        command = [sys.executable, "-c", "from sfumato.cli import main; main()"]
        command += ["anonymize", str(data), "--policy", str(policy)]
        command += ["--out", str(tmp_path / "killed"), "--seed-file", str(seed)]
        command += ["--engine", "spark", "--spark-master", address]
        command += ["--shard-rows", str(SHARD_ROWS)]
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        end = time.monotonic() + _PATIENCE
        # in the middle of the shards: some are there, others not yet
        while not list(tmp_path.glob(".killed.tmp-*/shards/*.parquet")):
            assert run.poll() is None, run.communicate()
            assert time.monotonic() < end
            time.sleep(0.02)
        victims = executors(workers)
        started_with = Path("/proc", str(victims[0]), "environ").read_bytes().split(b"\0")
        kill(victims[0])
        assert len(victims) == 2
        # or limits of memory, which Spark puts on addresses, would have to be far too high
        assert b"ARROW_DEFAULT_MEMORY_POOL=system" in started_with
        out, err = run.communicate(timeout=_PATIENCE)
        assert run.returncode == 0, err.decode()
    assert f"mondrian: {ROWS} rows" in out.decode()
    randomness = Randomness.secret(seed.read_bytes())
    anonymize(data, policy, tmp_path / "calm", shard_rows=SHARD_ROWS, randomness=randomness)
    calm, killed = (Release.load(tmp_path / name) for name in ("calm", "killed"))
    assert killed.manifest == calm.manifest
    assert killed.tables["records"].num_rows == ROWS
    assert killed.tables["records"].equals(calm.tables["records"])
    assert not list(tmp_path.glob(".killed*")), "something is left of the run"
