"""The commands on databases: data from them, releases in them, and secrets kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from cli.cli_files import SECRET

PASSWORD = "hunter2-canary"


@pytest.fixture(params=["postgresql", "duckdb"])
def base(request, place) -> str:
    """The address of a database with the table `clinic.people`, that of `data.csv`."""
    import csv

    rows = list(csv.reader((place / "data.csv").read_text().splitlines()))[1:]
    values = ", ".join(f"('{name}', {age}, '{sex}', '{what}')" for name, age, sex, what in rows)
    statements = [
        "CREATE SCHEMA clinic",
        "CREATE TABLE clinic.people (name text, age integer, sex text, disease text)",
        f"INSERT INTO clinic.people VALUES {values}",
    ]
    if request.param == "duckdb":
        import duckdb

        with duckdb.connect("base.duckdb") as connection:
            for statement in statements:
                connection.execute(statement)
        return "base.duckdb"
    address = request.getfixturevalue("database")
    request.getfixturevalue("postgres").run(*statements)
    return address


def test_from_a_table_to_a_release_in_the_same_database(base, place, sfumato):
    """Every command that reads data or a release, on addresses alone."""
    table = ("--table", "clinic.people")
    data = f"{base}#clinic.people"
    code, out, _ = sfumato("init", base, *table, "-o", "draft.yaml")
    assert code == 0 and "--table clinic.people" in out
    assert "people" in (place / "draft.yaml").read_text()
    assert sfumato("check", base, *table, "--policy", "policy.yaml")[0] == 0
    assert sfumato("risk", base, *table, "--policy", "policy.yaml", "--json")[0] == 0
    to = ("--policy", "policy.yaml", "--out", f"{base}/may")
    code, out, errors = sfumato("anonymize", base, *table, *to, "--record", "record.json")
    assert code == 0, errors
    assert f"{base}/may" in out and "sfumato audit" in out
    record = json.loads((place / "record.json").read_text())
    assert record["data"].endswith("#clinic.people") and record["release"].endswith("/may")
    assert sfumato("audit", f"{base}/may")[0] == 0
    assert json.loads(sfumato("audit", f"{base}/may", "--json")[1])["ok"]
    code, out, _ = sfumato("query", f"{base}/may", "SELECT COUNT(*)", "--json")
    assert code == 0 and json.loads(out)["rows"][0]["value"] == 24
    asked = ("--original", data, "--json")
    assert sfumato("utility", f"{base}/may", *asked, "--queries", "5")[0] == 0
    assert sfumato("attack", f"{base}/may", *asked, "--attack", "record-linkage")[0] == 0
    assert sfumato("attack", f"{base}/may", *asked, "--attack", "leaks")[0] == 0
    assert sfumato("report", f"{base}/may", "--audience", "public", "--out", "page.html")[0] == 0
    assert sfumato("reconstruct", f"{base}/may", "--attributes", "sex,disease")[0] == 0
    code, _, errors = sfumato(
        *("apply", f"{base}/may", base, *table, "--policy", "policy.yaml"),
        *("--out", f"{base}/june"),
    )
    assert code == 0, errors
    assert sfumato("compose", f"{base}/may", f"{base}/june")[0] == 0
    assert sfumato("audit", f"{base}/may", "release")[0] == 2


def test_a_query_and_a_folder(base, place, sfumato):
    to = ("--policy", "policy.yaml", "--out", "release")
    query = "SELECT * FROM clinic.people WHERE age >= 22"
    code, _, errors = sfumato("anonymize", base, "--query", query, *to)
    assert code == 0, errors
    assert json.loads((place / "release" / "manifest.json").read_text())["rows"] == 22
    assert sfumato("audit", "release")[0] == 0


def test_ledgers_and_earlier_releases(base, place, sfumato):
    data = ("anonymize", f"{base}#clinic.people", "--policy", "policy.yaml")
    first = (*data, "--out", f"{base}/may", "--ledger", "ledger")
    assert sfumato(*first)[0] == 0
    line = json.loads((place / "ledger").read_text())
    assert line["release"].endswith("/may")
    code, _, errors = sfumato(*first, "--force")
    assert code == 2 and "handed out" in errors[0]
    again = (*data, "--out", f"{base}/june", "--against")
    assert sfumato(*again, "ledger")[0] == 0
    code, _, errors = sfumato(*again, f"{base}/july", "--force")
    assert code == 2 and "manifest" in errors[0]


def test_what_exists_is_only_replaced_by_force(base, sfumato):
    run = ("anonymize", f"{base}#clinic.people", "--policy", "policy.yaml", "--out")
    assert sfumato(*run, f"{base}/may")[0] == 0
    code, _, errors = sfumato(*run, f"{base}/may")
    assert code == 2 and "--force" in errors[0]
    assert sfumato(*run, f"{base}/may", "--force")[0] == 0
    code, _, errors = sfumato(*run, f"{base}/clinic", "--force")
    assert code == 2 and "not replaced" in errors[0]
    code, _, errors = sfumato(*run, f"{base}/may", "--format", "csv", "--force")
    assert code == 2 and "--format" in errors[0]
    code, _, errors = sfumato(*run, base)
    assert code == 2 and "schema" in errors[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--table", "nothing"), "no such table"),
        (("--query", "SELECT 1 AS a; SELECT 2 AS a"), "one"),
        (("--query", f"SELECT CAST('{SECRET}' AS integer) AS a"), "does not fit|failed"),
        (("--query", "DROP TABLE clinic.people"), "SELECT|statement"),
        (("--query", "SELECT * FROM clinic.people", "--table", "clinic.people"), "one of them"),
        ((), "--table"),
    ],
)
def test_bad_requests_are_one_line(base, sfumato, arguments, words):
    import re

    code, out, errors = sfumato("check", base, *arguments, "--policy", "policy.yaml")
    assert code == 2 and out == "" and len(errors) == 1
    assert re.search(words, errors[0]) and SECRET not in errors[0]
    assert sfumato("check", f"{base}#clinic.people", "--policy", "policy.yaml")[0] == 0


def test_tables_are_for_databases(place, sfumato):
    code, _, errors = sfumato("check", "data.csv", "--table", "x", "--policy", "policy.yaml")
    assert code == 2 and "not the address" in errors[0]


def test_a_password_in_an_address_is_refused_everywhere(place, sfumato):
    address = f"postgresql://ann:{PASSWORD}@127.0.0.1:1/clinic"
    policy = ("--policy", "policy.yaml")
    for command in (
        ("init", address, "--table", "t"),
        ("check", f"{address}#t", *policy),
        ("anonymize", address, "--query", "SELECT 1 AS a", *policy, "--out", "release"),
        ("anonymize", "data.csv", *policy, "--out", f"{address}/may", "--record", "record.json"),
        ("anonymize", "data.csv", *policy, "--out", "release", "--against", f"{address}/may"),
        ("link", f"a={address}#t", *policy, "--out", "linked"),
        ("audit", f"{address}/may"),
        ("audit", f"{address}/may", "--json"),
        ("query", f"{address}/may", "SELECT COUNT(*)"),
        ("report", f"{address}/may"),
    ):
        code, out, errors = sfumato(*command)
        assert code == 2, command
        assert PASSWORD not in out and PASSWORD not in " ".join(errors)
    assert not (place / "record.json").exists()


def test_the_password_is_nowhere(postgres, database, place):
    """In a process of its own, as users run it: outputs, files, its command line and the server."""
    postgres.run(
        f"CREATE ROLE ann LOGIN SUPERUSER PASSWORD '{PASSWORD}'",
    )
    address = postgres.url(user="ann")
    environment = {**os.environ, "PGPASSWORD": PASSWORD}
    start = [sys.executable, "-c", "from sfumato.cli import main; main()"]
    policy = ["--policy", "policy.yaml"]
    piped = {"capture_output": True, "text": True}
    told = ""
    for arguments, wanted in (
        (["anonymize", "data.csv", *policy, "--out", f"{address}/may", "--record", "r.json"], 0),
        (["check", f"{address}#nothing", *policy], 2),
        (["check", f"{address.replace('postgres', 'nowhere')}#nothing", *policy], 2),
    ):
        run = subprocess.run([*start, *arguments], env=environment, check=False, **piped)
        assert run.returncode == wanted, run.stderr
        told += run.stdout + run.stderr
    told += (place / "r.json").read_text()
    told += str(postgres.run('SELECT json FROM "may"."manifest"'))
    told += str(postgres.run("SELECT query, application_name FROM pg_stat_activity"))
    assert "may" in told and PASSWORD not in told


def test_a_wrong_password_and_no_server(postgres, database, place, sfumato, monkeypatch):
    run = ("anonymize", "data.csv", "--policy", "policy.yaml", "--out")
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    code, out, errors = sfumato(*run, f"{database}/may")
    assert code == 2 and len(errors) == 1 and "PGPASSWORD" in errors[0]
    assert PASSWORD not in out + errors[0]
    code, _, errors = sfumato(*run, "postgresql://127.0.0.1:1/x/may")
    assert code == 2 and "no server" in errors[0]
    code, _, errors = sfumato("audit", f"{database}/may")
    assert code == 2 and "PGPASSWORD" in errors[0]


def test_linked_tables_go_to_a_folder(place, sfumato):
    (place / "key").write_bytes(bytes(range(32)))
    code, _, errors = sfumato(
        *("link", "a=data.csv", "--policy", "policy.yaml", "--key-file", "key"),
        *("--out", "base.duckdb/may"),
    )
    assert code == 2 and "folder" in errors[0]
