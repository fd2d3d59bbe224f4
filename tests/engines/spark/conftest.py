"""One Spark session for all tests of the engine, and a table of people with policies for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.engines.spark import anonymize as engine
from sfumato.engines.spark import pieces
from sfumato.engines.spark.session import refuse_missing, spark_session
from sfumato.errors import EngineUnavailable
from sfumato.randomness import repeatable


@pytest.fixture(scope="session")
def java() -> None:
    """Skip where the engine cannot run at all."""
    try:
        refuse_missing()
    except EngineUnavailable as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def spark(java, tmp_path_factory):
    """A session on two cores, whose event log is kept to be searched."""
    log = tmp_path_factory.mktemp("events")
    settings = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": log.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.default.parallelism": "2",
    }
    with spark_session("local[2]", settings) as session:
        yield session, log


@pytest.fixture
def small_tasks(monkeypatch):
    """Have small tables read by several tasks, and published in several shards."""
    monkeypatch.setattr(pieces, "_TASK_ROWS", 700)
    monkeypatch.setattr(engine, "_LEAST_SHARD_ROWS", 1)


def people(rows: int = 2000, seed: int = 3) -> pa.Table:
    """Return a table of every kind of column: identifiers, numbers, texts, flags, missing ones."""
    rng = repeatable(seed)
    illness = np.minimum(rng.geometric(0.2, rows) - 1, 8)
    town = np.array(["Ulm", "Ulf", "Bonn", "Bern", "Basel", "Kiel"])[rng.integers(0, 6, rows)]
    job = np.array(["cook", "nurse", "clerk", "smith", "judge"])[rng.integers(0, 5, rows)]
    pay = rng.gamma(2.0, 900.0, rows).round(-1)
    return pa.table(
        {
            "name": pa.array([f"canary-{n:05}" for n in range(rows)]),
            "age": pa.array(rng.normal(45, 15, rows).clip(18, 90).astype(int)),
            "town": pa.array(town, mask=rng.random(rows) < 0.02),
            "pay": pa.array(pay, mask=rng.random(rows) < 0.02),
            "job": pa.array(job),
            "hide": pa.array(rng.random(rows) < 0.3),
            "illness": pa.array([f"illness-{n}" for n in illness]),
        }
    )


TOWNS = "Ulm,U*\nUlf,U*\nBonn,B*\nBern,B*\nBasel,B*\nKiel,K*\n"
QUASI = """attributes:
  name: {role: identifier}
  age: {role: quasi-identifier}
  town: {role: quasi-identifier, hierarchy: town.csv}
  pay: {role: quasi-identifier}
  job: {role: quasi-identifier}
  hide: {role: insensitive}
  illness: {role: sensitive%s}
method: %s
"""
FLAGGED = """attributes:
  name: {role: identifier}
  age: {role: semi-sensitive, flag: hide}
  town: {role: quasi-identifier, hierarchy: town.csv}
  pay: {role: quasi-identifier}
  job: {role: semi-sensitive, when: "town = 'Ulm'"}
  illness: {role: sensitive}
method: %s
"""
SETS = """attributes:
  name: {role: identifier}
  age: {role: quasi-identifier}
  town: {role: sensitive-quasi-identifier, l: 2}
  pay: {role: quasi-identifier, recode: [{round: 100}, {top: 4000}]}
  job: {role: sensitive-quasi-identifier, t: 0.5}
  hide: {role: insensitive}
  illness: {role: sensitive, l: 3}
method: %s
"""
# A policy for every scheme that the engine knows, and one more where it may take another way.
POLICIES = {
    "mondrian": QUASI % ("", "{name: mondrian, k: 4}"),
    "mondrian-models": QUASI % (", l: 3, t: 0.3", "{name: mondrian, k: 4}"),
    "anatomy": QUASI % (", l: 3", "{name: anatomy}"),
    "arp": QUASI % (", l: 3", "{name: arp}"),
    "slppa": QUASI % ("", "{name: slppa, beta: 0.5, tables: 2}"),
    "merging": QUASI % (", l: 3", "{name: merging, fakes: 20, collapse: 0.2}"),
    "lgb": FLAGGED % "{name: lgb, k: 4, l: 2}",
    "lgb-t": FLAGGED % "{name: lgb, k: 4, t: 0.5}",
    "sensitive-qid": SETS % "{name: sensitive-qid}",
}


@pytest.fixture
def written(tmp_path):
    """Return a maker of a data file and a policy file."""

    def write(policy: str, rows: int = 2000, row_group: int = 300) -> tuple[Path, Path]:
        data, path = tmp_path / "people.parquet", tmp_path / "policy.yaml"
        pq.write_table(people(rows), data, row_group_size=row_group)
        (tmp_path / "town.csv").write_text(TOWNS)
        path.write_text(POLICIES.get(policy, policy))
        return data, path

    return write
