"""What bytes are fed to: every reader of something that others wrote.

A target takes bytes and returns; SfumatoError is an answer, whatever else comes out is a fault.
Seeds are small files of the right kind, for mutations to start from.
"""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.answers.select import select
from sfumato.audit import audit
from sfumato.datasets import hospital, hospital_schema
from sfumato.errors import InputError, SfumatoError
from sfumato.io.read import read_table
from sfumato.jobs.policy import Policy
from sfumato.methods import Mondrian
from sfumato.models import LDiversity
from sfumato.predicates import parse
from sfumato.randomness import Randomness
from sfumato.release.manifest import Manifest
from sfumato.schema import Attribute, Hierarchy, Schema
from sfumato.table import encode

from . import workbench

POLICY = b"""attributes:
  name: {role: identifier}
  age: {role: quasi-identifier, domain: [0, 120], recode: [{top: 90}, {round: 5}]}
  sex: {role: quasi-identifier, order: [F, M]}
  disease: {role: sensitive, l: 2, missing: value}
method: {name: mondrian, k: 3}
output: {format: csv}
"""
CSV = b'name,age,sex\n"A, b",33,F\nB,,M\n"C ""c""",1e400,\n=1+1,-0,\xd7\x90\n'
TREE = b"20;[20, 30[;*\n30;[30, 40[;*\nnull;other;*\n"
SQL = b"SELECT sex, COUNT(*) FROM release WHERE age BETWEEN 2 AND 3 OR x IN ('a', 1) GROUP BY sex"


@dataclass(frozen=True)
class Target:
    """A reader, what it usually reads, and its share of all cases: slow ones get less."""

    name: str
    feed: Callable[[bytes], None]
    seeds: Callable[[], list[bytes]]
    share: float

    def try_(self, content: bytes) -> bool:
        """Return whether the content was taken; any other error than ours goes on."""
        try:
            self.feed(content)
        except SfumatoError as error:
            assert str(error) and len(str(error)) < 10_000
            return False
        return True


@cache
def scratch() -> Path:
    """Return a folder for files that are read."""
    return Path(tempfile.mkdtemp(prefix="sfumato-fuzz-"))


def _as_file(suffix: str, content: bytes) -> Path:
    path = scratch() / f"input{suffix}"
    path.write_bytes(content)
    return path


def _coded(table: pa.Table) -> None:
    """Code a small table as a run would, whatever its columns are."""
    if table.num_columns and table.num_rows:
        roles = dict.fromkeys(table.column_names[:20], "quasi-identifier")
        encode(table.select(list(roles)), Schema.of(roles))


def _csv(content: bytes) -> None:
    _coded(read_table(_as_file(".csv", content)))


def _parquet(content: bytes) -> None:
    _coded(read_table(_as_file(".parquet", content)))


def _policy(content: bytes) -> None:
    rules = Policy.load(_as_file(".yaml", content))
    rules.schema()
    rules.method()


def _hierarchy(content: bytes) -> None:
    tree = Hierarchy.read_csv(_as_file(".csv", content))
    schema = Schema((Attribute("x", "quasi-identifier", hierarchy=tree),))
    encode(pa.table({"x": list(tree.leaves[:9])}), schema)


def _manifest(content: bytes) -> None:
    Manifest.from_json(content)


def _sql(content: bytes) -> None:
    text = content.decode("utf-8", "replace")
    with suppress(SfumatoError):
        parse(text)
    select(text)


@cache
def _release() -> Path:
    folder = scratch() / "release"
    schema = hospital_schema(("age", "sex", "occupation"))
    method = Mondrian(k=3, models=(LDiversity("disease", 2),))
    randomness = Randomness.secret(b"not that secret, but no test seed")
    method.publish(hospital(30, seed=2), schema, randomness=randomness).save(folder, format="csv")
    return folder


def _audit(content: bytes) -> None:
    """Audit a release whose manifest is the content."""
    folder = scratch() / "changed"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(_release(), folder)
    (folder / "manifest.json").write_bytes(content)
    audit(folder)


def _manifests() -> list[bytes]:
    return [(_release() / "manifest.json").read_bytes()]


def _parquets() -> list[bytes]:
    sink = io.BytesIO()
    pq.write_table(hospital(12, seed=1).select(["age", "sex", "admitted"]), sink)
    other = io.BytesIO()
    table = pa.table({"x": pa.array([[1], None], pa.list_(pa.int8())), "y": [b"\0", None]})
    pq.write_table(table, other, compression="none")
    return [sink.getvalue(), other.getvalue()]


def _http(content: bytes) -> None:
    if (status := workbench.send(content, scratch())) >= 400:
        raise InputError(f"refused with {status}")


TARGETS = {
    target.name: target
    for target in (
        Target("csv", _csv, lambda: [CSV, b"a;b\n1;2\n", b"\xef\xbb\xbfa\tb\n1\t2\n"], 0.11),
        Target("parquet", _parquet, _parquets, 0.06),
        Target("policy", _policy, lambda: [POLICY, json.dumps({"attributes": {}}).encode()], 0.15),
        Target("hierarchy", _hierarchy, lambda: [TREE, b"a,b\nc,b\n"], 0.16),
        Target("manifest", _manifest, _manifests, 0.235),
        Target("audit", _audit, _manifests, 0.015),
        Target("sql", _sql, lambda: [SQL, b"age > 3 AND NOT (sex = 'F' OR x LIKE 'a%')"], 0.25),
        Target("http", _http, lambda: workbench.requests(scratch()), 0.02),
    )
}
