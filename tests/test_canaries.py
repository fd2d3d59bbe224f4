"""What may not be told is searched for in all that comes out: on five schemes, in every place.

Planted are names of people (identifiers), cells of a dropped column, and values that only rows
which are withheld have; the seed is searched for in every spelling. Only the run record may hold
the seed, and it holds no cell.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from contracts.questions import files_of, spellings_of_a_seed
from contracts.test_methods import plain_parquet

from sfumato.cli.app import run

NAME, DROPPED, WITHHELD = "Canary Identifier", "canary-of-a-dropped-cell", "canary-of-a-town"
SEED = b"\x07canary of the seed, 256 bits!!\x99"
COMMON = 26  # rows of the value that is too common; each lives in a town of its own
SUPPRESS = "on_infeasible: suppress\n"
SCHEMES = {
    "lgb": ("lgb, k: 2, t: 0.9", 'role: semi-sensitive, when: "age > 23"', ""),
    "arp": ("arp, l: 2", "role: quasi-identifier", SUPPRESS),
    "merging": ("merging, l: 2, fakes: 2", "role: quasi-identifier", SUPPRESS),
    "slppa": ("slppa, alpha: 0.9, beta: 0.5, delta: 0.9", "role: quasi-identifier", SUPPRESS),
    "sensitive-qid": ("sensitive-qid, l: 2", "role: quasi-identifier", ""),
}
WITHHOLDING = ("arp", "merging")


@dataclass
class Place:
    """A folder with data, a policy and a seed; what is printed is collected."""

    folder: Path
    capture: pytest.CaptureFixture[str]
    shown: str = ""

    def do(self, *arguments: str, code: int = 0) -> None:
        found = run(list(arguments))
        out, told = self.capture.readouterr()
        self.shown += out + told
        assert found == code, told

    def anonymize(self, out: str, *more: str, code: int = 0) -> None:
        with plain_parquet():
            self.do(
                *("anonymize", "data.csv", "--policy", "policy.yaml", "--out", out),
                *("--seed-file", "seed", "--record", "record.json", *more),
                code=code,
            )


@pytest.fixture
def place(tmp_path, monkeypatch, capsys):
    lines = ["name,age,town,ill,note"]
    for n in range(48):
        ill, town = ("a", f"{WITHHELD}-{n:02}") if n < COMMON else ("bcd"[n % 3], "xyz"[n % 3])
        lines.append(f"{NAME} {n},{20 + n % 6},{town},{ill},{DROPPED} {n}")
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "seed").write_bytes(SEED)
    monkeypatch.chdir(tmp_path)
    return Place(tmp_path, capsys)


def policy_of(scheme: str) -> str:
    method, town, rest = SCHEMES[scheme]
    return (
        "attributes:\n  name: {role: identifier}\n  note: {role: insensitive}\n"
        f"  age: {{role: quasi-identifier}}\n  town: {{{town}}}\n  ill: {{role: sensitive}}\n"
        f"method: {{name: {method}}}\n{rest}"
    )


def planted(record: Path) -> list[bytes]:
    """Return all that may be found nowhere: towns of the rows that the record calls withheld."""
    rows = json.loads(record.read_text())["suppressed_rows"]
    towns = [f"{WITHHELD}-{row - 1:02}".encode() for row in rows if row <= COMMON]
    return [NAME.encode(), DROPPED.encode(), *towns, *spellings_of_a_seed(SEED)]


def found_in(outputs: dict[str, bytes], needles: list[bytes]) -> list[str]:
    """Return where something is told that must not be."""
    return [
        name
        for name, content in outputs.items()
        if any(needle in content or needle in name.encode() for needle in needles)
    ]


def test_the_search_finds_what_is_there(tmp_path):
    (tmp_path / "told.txt").write_bytes(b"... " + SEED.hex().encode() + b" ...")
    (tmp_path / "fine.txt").write_bytes(b"nothing")
    assert found_in(files_of(tmp_path), spellings_of_a_seed(SEED)) == ["told.txt"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_output_of_a_scheme_tells(place, scheme):
    (place.folder / "policy.yaml").write_text(policy_of(scheme))
    place.anonymize("release", "--ledger", "ledger.jsonl", "--json", "--profile")
    needles = planted(place.folder / "record.json")
    assert SEED.hex().encode() in (place.folder / "record.json").read_bytes()  # its one place
    assert found_in({"record": (place.folder / "record.json").read_bytes()}, needles[:2]) == []
    if scheme in WITHHOLDING:
        assert any(needle.startswith(WITHHELD.encode()) for needle in needles)
    place.do("audit", "release")
    place.do("query", "release", "SELECT COUNT(*) FROM release WHERE age > 22")
    place.do("report", "release", "--audience", "public", "--out", "public.html")
    place.do("report", "release", "--original", "data.csv", "--out", "steward.html")
    place.do("utility", "release", "--original", "data.csv", "--json")
    place.anonymize("release", code=2)  # it is there already: an error is shown
    outputs = files_of(place.folder / "release") | {
        "shown": place.shown.encode(),
        **{name: (place.folder / name).read_bytes() for name in ("ledger.jsonl", "public.html")},
    }
    assert found_in(outputs, needles) == []
    # who keeps the original is shown how its values compare, never who they are of
    steward = {"steward": (place.folder / "steward.html").read_bytes()}
    never = [needle for needle in needles if not needle.startswith(WITHHELD.encode())]
    assert found_in(steward, never) == []


def test_a_run_that_fails_inside_tells_nothing(place, monkeypatch):
    (place.folder / "policy.yaml").write_text(policy_of("arp"))

    def fail(*_, **__):
        raise RuntimeError(f"{SEED!r} {SEED.hex()} {NAME} 7")

    # in a thread of its own, beside the audit
    monkeypatch.setattr("sfumato.release.files._write_table", fail)
    place.anonymize("release", code=70)
    assert "internal error: RuntimeError at sfumato." in place.shown
    left = {
        name: content
        for name, content in files_of(place.folder).items()
        if name not in ("data.csv", "seed", "policy.yaml")
    }
    needles = [NAME.encode(), DROPPED.encode(), *spellings_of_a_seed(SEED)]
    assert found_in(left | {"shown": place.shown.encode()}, needles) == []


def test_a_release_in_a_database_tells_nothing(place):
    duckdb = pytest.importorskip("duckdb")
    (place.folder / "policy.yaml").write_text(policy_of("arp"))
    with duckdb.connect("base.duckdb"):
        pass
    place.anonymize("base.duckdb/may", "--ledger", "ledger.jsonl")
    needles = planted(place.folder / "record.json")
    assert any(needle.startswith(WITHHELD.encode()) for needle in needles)
    outputs = {"shown": place.shown.encode(), "file": (place.folder / "base.duckdb").read_bytes()}
    outputs["ledger"] = (place.folder / "ledger.jsonl").read_bytes()
    with duckdb.connect("base.duckdb", read_only=True) as base:
        tables = base.execute(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal"
        ).fetchall()
        assert len(tables) > 1
        for schema, table in tables:
            rows = base.execute(f'SELECT * FROM "{schema}"."{table}"').fetchall()
            outputs[f"{schema}.{table}"] = repr(rows).encode()
        notes = base.execute("SELECT * FROM duckdb_columns() WHERE NOT internal").fetchall()
        outputs["catalogue"] = repr(notes).encode()
    assert found_in(outputs, needles) == []
