"""Tables and queries as data: types, one statement, and failures in our words."""

from __future__ import annotations

import datetime
import sqlite3
import sys
from decimal import Decimal

import pyarrow as pa
import pytest

from sfumato.errors import EngineUnavailable, InputError
from sfumato.io.read import read_table

DAY = datetime.date(2020, 2, 29)


@pytest.fixture
def clinic(postgres, database) -> str:
    postgres.run(
        "CREATE SCHEMA clinic",
        'CREATE TABLE clinic."The People" (name text, "Age" integer)',
        "INSERT INTO clinic.\"The People\" VALUES ('Ann', 33), ('Bob', NULL)",
    )
    return database


def test_every_usual_type_of_postgresql_is_read(postgres, database):
    postgres.run(
        "CREATE TYPE mood AS ENUM ('good', 'bad')",
        """CREATE TABLE all_types AS SELECT 1::smallint AS small, 2::integer AS plain,
           3::bigint AS large, 1.5::real AS single, 2.5::double precision AS twice,
           1.50::numeric(10, 2) AS price, 1.125::numeric AS free, true AS truth,
           date '2020-02-29' AS day, time '10:11:12.5' AS hour,
           timestamp '2020-02-29 10:00' AS moment, timestamptz '2020-02-29 10:00+01' AS zoned,
           'x'::text AS words, 'y'::varchar(9) AS few, 'z'::char(5) AS padded,
           'good'::mood AS mood, 'a1eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid AS id,
           '{"a": 1}'::jsonb AS tree, inet '10.0.0.1' AS host, interval '1 day' AS span,
           ARRAY[1, 2] AS several, 12.5::money AS money""",
        "INSERT INTO all_types (small) VALUES (NULL)",
    )
    found = read_table(f"{database}#all_types")
    assert found.schema.metadata is None
    types = {field.name: str(field.type) for field in found.schema}
    texts = dict.fromkeys(("words", "few", "padded", "mood", "id", "tree", "host"), "string")
    assert types == texts | dict.fromkeys(("span", "several", "money"), "string") | {
        "small": "int16",
        "plain": "int32",
        "large": "int64",
        "single": "float",
        "twice": "double",
        "price": "decimal128(10, 2)",
        "free": "decimal128(38, 3)",
        "truth": "bool",
        "day": "date32[day]",
        "hour": "time64[us]",
        "moment": "timestamp[us]",
        "zoned": "timestamp[us, tz=UTC]",
    }
    row = next(each for each in found.to_pylist() if each["small"] == 1)
    assert row["price"] == Decimal("1.50") and row["free"] == Decimal("1.125")
    assert row["day"] == DAY and row["padded"] == "z" and row["mood"] == "good"
    assert row["zoned"] == datetime.datetime(2020, 2, 29, 9, tzinfo=datetime.UTC)
    assert all(found[name].null_count == 1 for name in found.column_names)


@pytest.mark.parametrize(
    ("numbers", "dtype"),
    [
        ("1, 22.5", "decimal128(38, 1)"),
        ("1e50", "decimal256(76, 0)"),
        ("'NaN', 1.5", "double"),
        ("'Infinity', 1", "double"),
        ("1e-30, 1e20", "decimal256(76, 30)"),
        ("1e90", "double"),
    ],
)
def test_numbers_without_a_limit_get_the_digits_they_need(database, numbers, dtype):
    values = ", ".join(f"({each}::numeric)" for each in numbers.split(", "))
    found = read_table(f"{database}#SELECT * FROM (VALUES {values}) AS v (x)")
    assert str(found["x"].type) == dtype


def test_tables_and_queries(clinic):
    whole = read_table(f'{clinic}#clinic."The People"')
    assert whole.to_pydict() == {"name": ["Ann", "Bob"], "Age": [33, None]}
    assert read_table(f"{clinic}/clinic#The People").equals(whole)
    query = 'SELECT name AS "select" FROM clinic."The People" WHERE "Age" > 30 -- all; of them\n;'
    assert read_table(f"{clinic}#{query}").to_pydict() == {"select": ["Ann"]}
    assert read_table(f"{clinic}#WITH a AS (SELECT 1 AS x) TABLE a").to_pydict() == {"x": [1]}
    assert read_table(f"{clinic}#clinic.The People", columns=["Age"]).column_names == ["Age"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("nowhere", "no such table"),
        ("clinic.nothing", "no such table"),
        ("SELECT 1 AS a; SELECT 2 AS a", "not one statement"),
        ('SELECT 1 AS a; DROP TABLE clinic."The People"', "not one statement"),
        ("SELECT 1) AS a; DROP SCHEMA clinic CASCADE; SELECT * FROM (SELECT 1 AS a", "statement"),
        ("SELECT 1 AS a) AS source, (SELECT 2 AS b", "not one statement"),
        ("SELECT name FROM clinic.\"The People\" WHERE 1 = 'SECRET'", "does not fit"),
        ('SELECT name::integer FROM clinic."The People"', "does not fit"),
        ("SELECT 1 / 0 AS a", "does not fit"),
        ('SELECT SECRET FROM clinic."The People"', "column that does not exist"),
        ("SELECT nothing('SECRET') AS a", "not valid"),
        ('WITH a AS (DELETE FROM clinic."The People" RETURNING *) SELECT * FROM a', "SELECT"),
        ("SELECT nextval('clinic.numbers') AS a", "not valid|no such"),
        ("SELECT 1, 2", "no name"),
        ("SELECT 1 AS a, 2 AS a", "name of another"),
        ('SELECT * FROM clinic."The People" WHERE false', "no rows"),
        ("SELECT pg_sleep(9) AS a", "cancelled"),
    ],
)
def test_what_cannot_be_read_is_told_without_values(postgres, clinic, asked, words, monkeypatch):
    monkeypatch.setenv("PGOPTIONS", "-c statement_timeout=1000")
    with pytest.raises(InputError, match=words) as caught:
        read_table(f"{clinic}#{asked}")
    told = str(caught.value)
    assert "SECRET" not in told and "Ann" not in told and "\n" not in told
    assert postgres.run('SELECT count(*) FROM clinic."The People"') == [(2,)]


@pytest.mark.parametrize(
    "statement",
    [
        "COMMIT",
        "DROP SCHEMA clinic CASCADE",
        "SET TRANSACTION READ WRITE",
        "CALL x()",
        "SELECT",
        "",
    ],
)
def test_what_is_no_select_does_nothing(postgres, clinic, statement):
    from sfumato.databases.session import read_source
    from sfumato.databases.source import Source

    with pytest.raises(InputError):
        read_source(Source.of(clinic, query=statement))
    assert postgres.run('SELECT count(*) FROM clinic."The People"') == [(2,)]


def test_who_is_not_let_in_is_told_where_passwords_go(postgres, database, monkeypatch, tmp_path):
    monkeypatch.setenv("PGPASSWORD", "hunter2")
    with pytest.raises(InputError, match="PGPASSWORD") as caught:
        read_table(f"{database}#t")
    assert "hunter2" not in str(caught.value)
    monkeypatch.delenv("PGPASSWORD")
    with pytest.raises(InputError, match=r"\.pgpass"):
        read_table(f"{database}#t")
    file = tmp_path / "pgpass"
    file.write_text(f"127.0.0.1:{postgres.port}:*:owner:{postgres.password}\n")
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))
    assert read_table(f"{database}#SELECT 1 AS a").num_rows == 1
    # the user from the environment, too
    monkeypatch.setenv("PGUSER", "owner")
    assert read_table(f"{database.replace('owner@', '')}#SELECT 1 AS a").num_rows == 1


def test_places_without_a_server_or_database(postgres, database):
    with pytest.raises(InputError, match="no server"):
        read_table("postgresql://127.0.0.1:1/x#t")
    with pytest.raises(InputError, match="no server"):
        read_table("postgresql://no.such.host.invalid/x#t")
    with pytest.raises(InputError, match="no such database"):
        read_table(f"{postgres.url('nowhere')}#t")
    with pytest.raises(InputError, match="does not let this user in"):
        read_table(f"{postgres.url(user='nobody')}#t")
    with pytest.raises(InputError, match="option"):
        read_table(f"{database}?nonsense=1#t")


def test_who_may_not_read_is_told(postgres, clinic):
    postgres.run(f"CREATE ROLE a_guest LOGIN PASSWORD '{postgres.password}'")
    guest = postgres.url(user="a_guest")
    with pytest.raises(InputError, match="may not do this"):
        read_table(f"{guest}#clinic.The People")


# Files


def test_tables_and_queries_of_duckdb(tmp_path):
    import duckdb

    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE SCHEMA clinic")
        made.execute("CREATE TABLE clinic.people (name text, age smallint, day date, paid numeric)")
        made.execute("INSERT INTO clinic.people VALUES ('Ann', 33, '2020-02-29', 1.5)")
    found = read_table(f"{path}#clinic.people")
    assert found.to_pylist() == [
        {"name": "Ann", "age": 33, "day": DAY, "paid": Decimal("1.500")},
    ]
    assert found["age"].type == pa.int16()
    assert read_table(f"duckdb:{path}#SELECT age FROM clinic.people").num_rows == 1
    (tmp_path / "secret.csv").write_text("a\n1\n")
    for asked, words in {
        "people": "no such table",
        "SELECT 1 AS a; SELECT 2 AS a": "not one SELECT",
        f"SELECT 1 AS a; COPY clinic.people TO '{tmp_path}/out.csv'": "not one SELECT",
        f"SELECT * FROM read_csv('{tmp_path}/secret.csv')": "alone|no such table",
        f"SELECT * FROM '{tmp_path}/secret.csv'": "alone|no such table",
        "SELECT * FROM found": "no such table",
        "SELECT nothing FROM clinic.people": "column that does not exist",
        "SELECT CAST(name AS integer) AS a FROM clinic.people": "does not fit",
        "SELECT x y z": "valid SQL|does not exist",
        "SELECT 1 AS a, 2 AS a": "name of another",
        "SELECT * FROM clinic.people WHERE false": "no rows",
    }.items():
        with pytest.raises(InputError, match=words) as caught:
            read_table(f"{path}#{asked}")
        assert "Ann" not in str(caught.value)
    assert not (tmp_path / "out.csv").exists()


def test_tables_and_queries_of_sqlite(tmp_path):
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as made:
        made.execute(
            "CREATE TABLE people (name, age INTEGER, day DATE, seen DATETIME, zip TEXT, x)"
        )
        rows = [("Ann", 33, "2020-02-29", "2020-02-29 10:00:00", "12345", n) for n in range(9)]
        made.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", rows)
        made.execute("CREATE TABLE mixed AS SELECT 1 AS x UNION ALL SELECT 'Ann'")
    made.close()
    found = read_table(f"{path}#people")
    assert found.slice(0, 1).to_pylist() == [
        {
            "name": "Ann",
            "age": 33,
            "day": DAY,
            "seen": datetime.datetime(2020, 2, 29, 10),
            "zip": "12345",
            "x": 0,
        }
    ]
    assert read_table(f"sqlite:{path}#SELECT age FROM people LIMIT 2").num_rows == 2
    for asked, words in {
        "nobody": "no such table",
        "SELECT 1 AS a; SELECT 2 AS a": "not one statement",
        "SELECT 1 AS a; DELETE FROM people": "not one statement",
        "SELECT nothing FROM people": "not valid",
        "SELECT 1 AS a, 2 AS a": "name of another",
        "WITH a AS (SELECT 1) DELETE FROM people": "not|cannot",
    }.items():
        with pytest.raises(InputError, match=words) as caught:
            read_table(f"{path}#{asked}")
        assert "Ann" not in str(caught.value)
    assert read_table(f"{path}#people").num_rows == 9


def test_files_that_are_no_database(tmp_path):
    for name in ("a.duckdb", "a.sqlite"):
        with pytest.raises(InputError, match="no such file"):
            read_table(f"{tmp_path / name}#t")
        (tmp_path / name).write_bytes(b"nonsense" * 999)
        with pytest.raises(InputError, match="not a"):
            read_table(f"{tmp_path / name}#t")


def test_a_missing_driver_is_named(monkeypatch, tmp_path):
    for module, extra, place in (
        ("adbc_driver_postgresql.dbapi", "postgres", "postgresql://h/d#t"),
        ("adbc_driver_sqlite.dbapi", "sqlite", f"{tmp_path}/a.db#t"),
        ("duckdb", "duckdb", f"{tmp_path}/a.duckdb#t"),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(EngineUnavailable, match=rf"sfumato\[{extra}\]"):
            read_table(place)
