"""Releases in databases: what is saved is what is loaded, and damage is noticed."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

from sfumato.audit import audit
from sfumato.datasets import hospital
from sfumato.errors import EngineUnavailable, InputError, ReleaseDamaged
from sfumato.io.read import read_table
from sfumato.jobs.policy import Policy
from sfumato.release import in_database
from sfumato.release.content_digest import content_digest
from sfumato.release.manifest import AttributeEntry, Manifest, TableEntry
from sfumato.release.release import Release
from sfumato.schema.attribute import Kind, Role

ROOT = Path(__file__).resolve().parent.parent.parent
DAY = datetime.date(2020, 2, 29)
MOMENT = datetime.datetime(1965, 3, 1, 12, 30, 15)
# A value of every type that a manifest can state, and awkward ones.
TYPES = {
    "bool": pa.array([True, False, None]),
    **{f"int{n}": pa.array([-(2 ** (n - 1)), None, 2 ** (n - 1) - 1]) for n in (8, 16, 32, 64)},
    **{f"uint{n}": pa.array([0, None, 2**n - 1], f"uint{n}") for n in (8, 16, 32, 64)},
    "halffloat": pa.array([1.5, None, -0.25], pa.float16()),
    "float": pa.array([0.1, None, 3e38], pa.float32()),
    "double": pa.array([0.1, None, 1e-300]),
    "string": pa.array(["", None, "a'b\"c\\d\te\nf, =1+1 {x} ♥ \U0001f600"]),
    "date32[day]": pa.array([DAY, None, datetime.date(1, 1, 1)]),
    "date64[ms]": pa.array([DAY, None], pa.date64()),
    "time32[s]": pa.array([1, None, 86399], pa.time32("s")),
    "time32[ms]": pa.array([1, None], pa.time32("ms")),
    "time64[us]": pa.array([1, None], pa.time64("us")),
    "time64[ns]": pa.array([1, None], pa.time64("ns")),
    **{f"timestamp[{u}]": pa.array([MOMENT, None], pa.timestamp(u)) for u in ("s", "ms", "us")},
    "timestamp[ns]": pa.array([1, None, -1], pa.timestamp("ns")),
    "timestamp[ns, tz=UTC]": pa.array([MOMENT, None], pa.timestamp("ns", "UTC")),
    "timestamp[us, tz=Europe/Paris]": pa.array([MOMENT], pa.timestamp("us", "Europe/Paris")),
    "duration[ms]": pa.array([1, None, -5], pa.duration("ms")),
    "decimal128(10, 2)": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
    "decimal128(38, 10)": pa.array([Decimal("-1e-10"), Decimal("1e27")], pa.decimal128(38, 10)),
    "decimal256(30, 3)": pa.array([Decimal("1.5"), None], pa.decimal256(30, 3)),
    "null": pa.nulls(2),
}
TYPES = {
    name: values.cast(name.split("[")[0]) if name.startswith("int") else values
    for name, values in TYPES.items()
}


@pytest.fixture(params=["postgresql", "duckdb"])
def place(request, tmp_path) -> str:
    """The address of a database that is new."""
    if request.param == "duckdb":
        return str(tmp_path / "base.duckdb")
    return request.getfixturevalue("database")


def one_column(values: pa.Array, type_name: str, layout="generalized", name="x") -> Release:
    entry = AttributeEntry(
        name=name, role=Role.SENSITIVE, kind=Kind.CATEGORICAL, type=type_name, domain=None
    )
    manifest = Manifest(
        method="test",
        layout=layout,
        software="sfumato",
        created=DAY,
        rows=len(values),
        attributes=(entry,),
        tables=(TableEntry(name="records", attributes=(name,)),),
    )
    return Release(manifest, {"records": pa.table({name: values})})


def same(one: Release, other: Release) -> bool:
    """Return whether releases hold the same, but for checksums and the like."""
    return (
        one.tables.keys() == other.tables.keys()
        and all(one.tables[name].equals(other.tables[name]) for name in one.tables)
        and all(one.tables[name].schema == other.tables[name].schema for name in one.tables)
        and {n: h.rows() for n, h in one.hierarchies.items()}
        == {n: h.rows() for n, h in other.hierarchies.items()}
        and one.manifest.attributes == other.manifest.attributes
        and one.manifest.guarantees == other.manifest.guarantees
        and {k: v for k, v in one.manifest.parameters.items() if k != "hierarchies"}
        == {k: v for k, v in other.manifest.parameters.items() if k != "hierarchies"}
    )


class Shell:
    """Another program that uses the database, as its owner would."""

    def __init__(self, place: str) -> None:
        self.place = place

    def run(self, *statements: str) -> list:
        if self.place.startswith("postgresql:"):
            import adbc_driver_postgresql.dbapi as driver

            opened = driver.connect(self.place)
        else:
            import duckdb as driver

            opened = driver.connect(self.place)
        with opened as connection:
            cursor = connection.cursor()
            for statement in statements:
                cursor.execute(statement)
            asked = statements[-1].lstrip().upper().startswith("SELECT")
            rows = cursor.fetchall() if asked else []
            cursor.close()
            if self.place.startswith("postgresql:"):
                connection.commit()
        return rows


# Round trips


@pytest.mark.parametrize("kind", ["generalized", "anatomized"])
def test_a_release_reads_back(request, place, kind):
    release = request.getfixturevalue(kind)
    release.save(f"{place}/may")
    assert same(Release.load(f"{place}/may"), release)


def of_types(columns: dict[str, pa.Array], layout: str) -> Release:
    """Return a release with a column for each type, called by the name of the type."""
    attributes = tuple(
        AttributeEntry(name=name, role=Role.SENSITIVE, kind=Kind.CATEGORICAL, type=name)
        for name in columns
    )
    manifest = Manifest(
        method="test",
        layout=layout,
        software="sfumato",
        created=DAY,
        rows=3,
        attributes=attributes,
        tables=(TableEntry(name="records", attributes=tuple(columns)),),
    )
    return Release(manifest, {"records": pa.table(columns)})


def test_every_type_reads_back(place):
    columns = {
        name: pa.concat_arrays([values, pa.nulls(3 - len(values), values.type)])
        for name, values in TYPES.items()
    }
    release = of_types(columns, "generalized")
    release.save(f"{place}/may")
    again = Release.load(f"{place}/may")
    for name in TYPES:
        assert again.tables["records"][name].equals(release.tables["records"][name]), name
    assert same(again, release)


def test_sets_of_every_type_read_back(place):
    """Sets of one value and of several, with a missing one among them, and no set at all."""
    columns = {
        name: pa.ListArray.from_arrays(
            pa.array([0, 1, len(values), len(values)], pa.int32()),
            values,
            mask=pa.array([False, False, True]),
        )
        for name, values in TYPES.items()
        if name not in ("null", "halffloat")
    }
    release = of_types(columns, "sets")
    release.save(f"{place}/may")
    again = Release.load(f"{place}/may")
    for name in columns:
        assert again.tables["records"][name].equals(release.tables["records"][name]), name


def examples() -> dict[str, dict]:
    """Return the policies of the page about policies, by method."""
    import re

    text = (ROOT / "docs" / "policy.md").read_text("utf-8")
    blocks = re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    contents = [yaml.safe_load(block) for block in blocks]
    whole = [c for c in contents if isinstance(c, dict) and {"attributes", "method"} <= set(c)]
    return {content["method"]["name"]: content for content in whole}


# The five schemes, and the methods that publish in the other layouts.
SCHEMES = ["mondrian", "slppa", "arp", "lgb", "merging", "sensitive-qid", "rating"]


@pytest.mark.parametrize("name", SCHEMES)
def test_releases_of_every_layout_read_back_and_are_audited(place, name):
    policy = Policy.of(examples()[name])
    schema = policy.schema()
    flags = [attribute.flag for attribute in schema if attribute.flag is not None]
    release = policy.method().publish(hospital(1_000).select([*schema.names, *flags]), schema)
    release.save(f"{place}/may")
    assert same(Release.load(f"{place}/may"), release)
    assert audit(f"{place}/may").to_json() == audit(release).to_json()


def test_many_rows_of_sets_go_in_pieces(place, monkeypatch):
    monkeypatch.setattr(in_database, "_ROWS", 7)
    values = pa.array([[n % 5, 5 + n % 3] for n in range(100)], pa.list_(pa.int32()))
    release = one_column(values, "int32", "sets")
    release.save(f"{place}/may")
    assert same(Release.load(f"{place}/may"), release)


def test_a_release_goes_from_a_folder_to_a_database_and_back(place, generalized, tmp_path):
    generalized.save(tmp_path / "one", format="csv", formula_guard=False)
    Release.load(tmp_path / "one").save(f"{place}/may")
    Release.load(f"{place}/may").save(tmp_path / "two", format="csv", formula_guard=False)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")


def files_of(folder: Path) -> dict[str, bytes]:
    found = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_the_checksum_is_of_sorted_lines(generalized, tmp_path):
    """As the page says: the header, and the lines of the CSV file in the order of their bytes."""
    generalized.save(tmp_path / "out", format="csv", formula_guard=False)
    header, *lines = (tmp_path / "out" / "records.csv").read_bytes().splitlines(keepends=True)
    wanted = hashlib.sha256(header + b"".join(sorted(lines))).hexdigest()
    assert content_digest(generalized.tables["records"]) == wanted


def test_the_manifest_says_what_is_there(place, generalized):
    generalized.save(f"{place}/may")
    ((text,),) = Shell(place).run('SELECT * FROM "may"."manifest"')
    manifest = json.loads(text)
    (entry,) = manifest["tables"]
    assert "file" not in entry
    assert entry["sha256"] == content_digest(generalized.tables["records"])
    assert set(manifest["parameters"]["hierarchies"]) == {"zip code"}
    assert "formula_guard" not in manifest["parameters"]
    types = Shell(place).run(
        "SELECT column_name, lower(data_type) FROM information_schema.columns "
        "WHERE table_schema = 'may' AND table_name = 'records'"
    )
    assert dict(types)["joined"] == "date"
    assert dict(types)["paid"].startswith(("numeric", "decimal"))


def test_the_order_of_rows_does_not_matter(place, anatomized):
    anatomized.save(f"{place}/may")
    Shell(place).run(
        'CREATE TABLE other AS SELECT * FROM "may"."qi_1" ORDER BY "group" DESC, age DESC',
        'DELETE FROM "may"."qi_1"',
        'INSERT INTO "may"."qi_1" SELECT * FROM other',
    )
    again = Release.load(f"{place}/may")
    assert content_digest(again.tables["qi_1"]) == content_digest(anatomized.tables["qi_1"])


# Damage


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE \"may\".\"records\" SET disease = 'Fever' WHERE disease = 'Flu'", "altered"),
        ('DELETE FROM "may"."records" WHERE disease IS NULL', "altered"),
        ('INSERT INTO "may"."records" SELECT * FROM "may"."records"', "altered"),
        ('ALTER TABLE "may"."records" DROP COLUMN paid', "columns"),
        ('ALTER TABLE "may"."records" ADD COLUMN more integer', "columns"),
        ('DROP TABLE "may"."records"', "missing"),
        ('DELETE FROM "may"."manifest"', "manifest"),
        ('INSERT INTO "may"."manifest" SELECT * FROM "may"."manifest"', "manifest"),
        ('UPDATE "may"."manifest" SET json = \'{}\'', "not the manifest of a release"),
        ('DROP TABLE "may"."manifest"', "manifest"),
        ('DROP TABLE "may"."hierarchies"', "hierarchies"),
        ("UPDATE \"may\".\"hierarchies\" SET label = 'x' WHERE label = '12345'", "hierarchies"),
        ('DELETE FROM "may"."hierarchies" WHERE level = 1', "hierarchies"),
        ('CREATE TABLE "may"."people" (name text)', "more than the release"),
        ('CREATE VIEW "may"."seen" AS SELECT 1 AS one', "more than the release"),
    ],
)
def test_damage_is_noticed(place, generalized, statement, words):
    generalized.save(f"{place}/may")
    Shell(place).run(statement)
    with pytest.raises(ReleaseDamaged, match=words) as caught:
        Release.load(f"{place}/may")
    assert "Fever" not in str(caught.value)


def test_places_without_a_release(place, generalized):
    generalized.save(f"{place}/may")
    with pytest.raises(ReleaseDamaged, match="manifest"):
        Release.load(f"{place}/june")
    with pytest.raises(InputError, match="name the schema"):
        Release.load(place)


# What is there is not lost


def test_a_schema_is_only_replaced_by_force(place, generalized, anatomized):
    generalized.save(f"{place}/may")
    with pytest.raises(InputError, match="--force"):
        anatomized.save(f"{place}/may")
    assert same(Release.load(f"{place}/may"), generalized)
    anatomized.save(f"{place}/may", force=True)
    assert same(Release.load(f"{place}/may"), anatomized)
    generalized.save(f"{place}/may", force=True)
    assert same(Release.load(f"{place}/may"), generalized)


def test_an_empty_schema_is_filled_by_force(place, generalized):
    Shell(place).run('CREATE SCHEMA "may"')
    with pytest.raises(InputError, match="--force"):
        generalized.save(f"{place}/may")
    generalized.save(f"{place}/may", force=True)
    assert same(Release.load(f"{place}/may"), generalized)


@pytest.mark.parametrize(
    "statement",
    [
        'CREATE TABLE "may"."people" (name text)',
        'CREATE VIEW "may"."seen" AS SELECT 1 AS one',
        'CREATE SEQUENCE "may"."numbers"',
        'UPDATE "may"."manifest" SET json = \'something else\'',
        'DROP TABLE "may"."manifest"',
    ],
)
def test_what_is_not_a_release_is_never_replaced(place, generalized, anatomized, statement):
    generalized.save(f"{place}/may")
    Shell(place).run(statement)
    with pytest.raises(InputError, match="not replaced"):
        anatomized.save(f"{place}/may", force=True)
    assert Shell(place).run('SELECT count(*) FROM "may"."records"') == [(4,)]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE FUNCTION \"may\".one() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
        "CREATE TYPE \"may\".mood AS ENUM ('good')",
        "CREATE FOREIGN DATA WRAPPER far; CREATE SERVER s FOREIGN DATA WRAPPER far; "
        'CREATE FOREIGN TABLE "may".far (a integer) SERVER s',
        'CREATE MATERIALIZED VIEW "may".seen AS SELECT 1 AS one',
        'CREATE TABLE "may".parts (a integer) PARTITION BY LIST (a)',
    ],
)
def test_nothing_foreign_is_overlooked_in_postgresql(database, generalized, statement):
    generalized.save(f"{database}/may")
    Shell(database).run(*statement.split("; "))
    with pytest.raises(InputError, match="not replaced"):
        generalized.save(f"{database}/may", force=True)


def test_a_foreign_table_is_kept_even_if_it_is_called_hierarchies(place, anatomized):
    assert not anatomized.hierarchies
    anatomized.save(f"{place}/may")
    Shell(place).run('CREATE TABLE "may"."hierarchies" (mine integer)')
    with pytest.raises(InputError, match="not replaced"):
        anatomized.save(f"{place}/may", force=True)
    assert Shell(place).run('SELECT count(*) FROM "may"."hierarchies"') == [(0,)]


def test_a_view_elsewhere_on_the_old_release_stops_the_new_one(database, generalized, anatomized):
    generalized.save(f"{database}/may")
    Shell(database).run('CREATE VIEW public.seen AS SELECT age FROM "may"."records"')
    with pytest.raises(InputError, match="views, rest on the old release"):
        anatomized.save(f"{database}/may", force=True)
    assert same(Release.load(f"{database}/may"), generalized)


def test_grants_on_the_schema_outlive_a_new_release(postgres, database, generalized, anatomized):
    generalized.save(f"{database}/may")
    name = "a_reader"
    Shell(database).run(
        f"CREATE ROLE {name} LOGIN PASSWORD '{postgres.password}'",
        f'GRANT USAGE ON SCHEMA "may" TO {name}',
        f'ALTER DEFAULT PRIVILEGES IN SCHEMA "may" GRANT SELECT ON TABLES TO {name}',
    )
    anatomized.save(f"{database}/may", force=True)
    reader = postgres.url(database.rpartition("/")[2], name)
    assert same(Release.load(f"{reader}/may"), anatomized)
    with pytest.raises(InputError, match="may not do this"):
        generalized.save(f"{reader}/june")


# Names and values that a database has its own mind about

HOSTILE = ["a\"b'c", "größe ♥", "select", "Table", "; DROP TABLE x; --", "%s $1 ?", "a.b", " "]


def test_hostile_names_are_names(place):
    attributes = tuple(
        AttributeEntry(name=name, role=Role.SENSITIVE, kind=Kind.CATEGORICAL, type="string")
        for name in HOSTILE
    )
    manifest = Manifest(
        method="test",
        layout="generalized",
        software="sfumato",
        created=DAY,
        rows=1,
        attributes=attributes,
        tables=(TableEntry(name="User", attributes=tuple(HOSTILE)),),
    )
    release = Release(manifest, {"User": pa.table({name: ["x"] for name in HOSTILE})})
    for schema in ('my "May"', "größe", "select", "%20"):
        from urllib.parse import quote

        where = f"{place}/{quote(schema) if place.startswith('postgresql') else schema}"
        release.save(where)
        assert same(Release.load(where), release)
        names = Shell(place).run("SELECT schema_name FROM information_schema.schemata")
        assert (schema,) in names


@pytest.mark.parametrize("name", ["n" * 64, "ü" * 32, "xmin"])
def test_names_that_postgresql_would_change_are_refused(database, name):
    with pytest.raises(InputError, match=f"'{name}'.* PostgreSQL"):
        one_column(pa.array(["x"]), "string", name=name).save(f"{database}/may")
    one_column(pa.array(["x"]), "string", name="ü" * 31).save(f"{database}/may")


def test_a_long_schema_is_refused(database):
    with pytest.raises(InputError, match="63"):
        one_column(pa.array(["x"]), "string").save(f"{database}/{'s' * 64}")


def test_names_that_duckdb_takes_for_one_are_refused(tmp_path):
    release = one_column(pa.array(["x"]), "string", name="age")
    (entry,) = release.manifest.attributes
    two = release.manifest.model_copy(
        update={
            "attributes": (entry, entry.model_copy(update={"name": "Age"})),
            "tables": (TableEntry(name="records", attributes=("age", "Age")),),
        }
    )
    with pytest.raises(InputError, match="upper and lower case"):
        Release(two, {"records": pa.table({"age": ["x"], "Age": ["y"]})}).save(
            f"{tmp_path}/a.duckdb/may"
        )


@pytest.mark.parametrize("name", ["clinic", "temp", "system"])
def test_a_schema_may_be_called_as_a_duckdb_database_is(tmp_path, generalized, anatomized, name):
    place = f"{tmp_path}/clinic.duckdb/{name}"
    generalized.save(place)
    assert same(Release.load(place), generalized)
    anatomized.save(place, force=True)
    assert same(Release.load(place), anatomized)
    rows = read_table(f"{tmp_path}/clinic.duckdb#{name}.sensitive_1")
    assert rows.num_rows == anatomized.tables["sensitive_1"].num_rows


def test_upper_and_lower_case_are_the_same_schema_in_duckdb(tmp_path, generalized):
    generalized.save(f"{tmp_path}/clinic.duckdb/may")
    with pytest.raises(InputError, match="exists; use --force"):
        generalized.save(f"{tmp_path}/clinic.duckdb/May")


def test_zero_bytes_are_refused_without_the_text(database):
    with pytest.raises(InputError, match="zero byte") as caught:
        one_column(pa.array(["secret\0"]), "string").save(f"{database}/may")
    assert "secret" not in str(caught.value)


def test_sqlite_files_take_no_release(tmp_path, generalized):
    with pytest.raises(InputError, match="SQLite"):
        generalized.save(tmp_path / "a.sqlite" / "may")


def test_a_missing_driver_is_named(monkeypatch, generalized):
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql.dbapi", None)
    with pytest.raises(EngineUnavailable, match=r"sfumato\[postgres\]"):
        Release.load("postgresql://localhost/a/may")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(EngineUnavailable, match=r"sfumato\[duckdb\]"):
        generalized.save("a.duckdb/may")


# Others at the same time, and sudden deaths


def test_readers_see_the_old_release_or_the_new_one(database, anatomized):
    """All of one, whatever they read and however often it is replaced in the meantime."""
    other = Release(
        anatomized.manifest,
        {name: pa.concat_tables([table] * 50) for name, table in anatomized.tables.items()},
    )
    other.save(f"{database}/may")
    done, odd, seen = threading.Event(), [], []

    def read() -> None:
        while not done.is_set():
            try:
                found = Release.load(f"{database}/may")
            except Exception as error:  # told below
                odd.append(error)
                return
            seen.append(0 if same(found, anatomized) else 1 if same(found, other) else 2)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for each in readers:
        each.start()
    for number in range(8):
        (anatomized if number % 2 == 0 else other).save(f"{database}/may", force=True)
    done.set()
    for each in readers:
        each.join()
    assert not odd
    assert set(seen) == {0, 1}


def test_a_reader_keeps_the_release_that_it_began_with(database, anatomized, generalized):
    from sfumato.databases.address import Address
    from sfumato.databases.session import session

    anatomized.save(f"{database}/may")
    address = Address.of(f"{database}/may")
    writer = threading.Thread(
        target=generalized.save, args=(f"{database}/may",), kwargs={"force": True}
    )
    with session(address) as here:
        assert '"anatomy"' in in_database._manifest_text(here, address)
        writer.start()
        writer.join(2)
        assert writer.is_alive(), "it waits for the reader"
        found = pa.concat_tables(here.rows("may", "qi_1"))
        assert found.num_rows == anatomized.tables["qi_1"].num_rows
    writer.join()
    assert same(Release.load(f"{database}/may"), generalized)


def test_a_reader_who_had_to_wait_sees_the_new_release(
    database, anatomized, generalized, monkeypatch
):
    """PostgreSQL would show the new tables empty to a snapshot from before the wait."""
    from sfumato.databases.postgresql import PostgresSession

    anatomized.save(f"{database}/may")
    locked, replace = threading.Event(), PostgresSession.replace

    def slowly(self, schema, old, new):
        self._run('LOCK TABLE "may"."manifest" IN ACCESS EXCLUSIVE MODE')
        locked.set()
        time.sleep(2)
        replace(self, schema, old, new)

    monkeypatch.setattr(PostgresSession, "replace", slowly)
    writer = threading.Thread(
        target=generalized.save, args=(f"{database}/may",), kwargs={"force": True}
    )
    writer.start()
    assert locked.wait(60)
    found = Release.load(f"{database}/may")
    writer.join()
    assert same(found, generalized)


def test_two_runs_do_not_write_at_the_same_time(database, generalized):
    from sfumato.databases.address import Address
    from sfumato.databases.session import session

    address = Address.of(f"{database}/may")
    with session(address, writing=True) as first:
        first.hold("may")
        with pytest.raises(InputError, match="another run"):
            generalized.save(f"{database}/may")
    generalized.save(f"{database}/may")


# Saves a release and dies at a given call of the session, or within the rows of the first table.
_DIES = """
import os, signal, sys
from sfumato.databases import duckdb_file, postgresql
from sfumato.release import in_database
from sfumato.release.release import Release

place, folder, point = sys.argv[1], sys.argv[2], int(sys.argv[3])
calls = 0

def counted(function):
    def run(*arguments, **named):
        global calls
        calls += 1
        if calls == point:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **named)
    return run

postgresql.PostgresSession._run = counted(postgresql.PostgresSession._run)
postgresql.PostgresSession._ask = counted(postgresql.PostgresSession._ask)
duckdb_file.DuckdbSession._run = counted(duckdb_file.DuckdbSession._run)
duckdb_file.DuckdbSession._ask = counted(duckdb_file.DuckdbSession._ask)
in_database._ROWS = 5
in_database.as_stored = counted(in_database.as_stored)
Release.load(folder).save(place, force=True)
calls = 10**6
print("saved", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("engine", ["postgresql", "duckdb"])
def test_a_killed_run_leaves_the_old_release_or_the_new_one(request, tmp_path, engine, anatomized):
    rows = 10 * anatomized.manifest.rows
    new = Release(
        anatomized.manifest.model_copy(update={"rows": rows}),
        {name: pa.concat_tables([table] * 10) for name, table in anatomized.tables.items()},
    )
    new.save(tmp_path / "new")
    points = [*range(4, 40, 5), 10**6]
    if engine == "postgresql":
        base = request.getfixturevalue("database")
        places = {point: f"{base}/may_{point}" for point in points}
    else:
        places = {point: f"{tmp_path}/base_{point}.duckdb/may" for point in points}
    for place in places.values():
        anatomized.save(place)
    runs = {
        point: subprocess.Popen(
            [sys.executable, "-c", _DIES, place, str(tmp_path / "new"), str(point)],
            stdout=subprocess.PIPE,
            env=os.environ,
        )
        for point, place in places.items()
    }
    ends = {point: run.communicate()[0].strip() for point, run in runs.items()}
    assert all(run.returncode == -9 for run in runs.values())
    assert ends[10**6] == b"saved"
    assert sum(end == b"" for end in ends.values()) == 8, "all others die on the way"
    for point, place in places.items():
        # at once: what a dead client left is undone, also where nobody cleans up
        found = Release.load(place)
        assert same(found, new if ends[point] else anatomized)
        new.save(place, force=True)
        assert same(Release.load(place), new)
    if engine == "postgresql":
        rows = Shell(base).run(
            "SELECT DISTINCT nspname::text FROM pg_namespace WHERE nspname !~ '^pg_' "
            "AND nspname NOT IN ('public', 'information_schema')"
        )
        assert {name for (name,) in rows} == {f"may_{point}" for point in points}
        litter = Shell(base).run("SELECT relname::text FROM pg_class WHERE relname ~ 'sfumato'")
        assert litter == []
