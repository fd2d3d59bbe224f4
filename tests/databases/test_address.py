"""Addresses of databases: what is one, and that no password gets through."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.databases.address import Address
from sfumato.databases.names import parts_of, quoted
from sfumato.databases.source import Source
from sfumato.errors import InputError
from sfumato.release import Release


@pytest.mark.parametrize(
    ("text", "place", "schema"),
    [
        ("postgresql://h/d", "postgresql://h/d", None),
        ("postgres://h/d/s", "postgresql://h/d", "s"),
        ("POSTGRESQL://u@h:5433/d/s", "postgresql://u@h:5433/d", "s"),
        ("postgresql://", "postgresql://", None),
        ("postgresql:///d/s?host=/run/pg", "postgresql:///d?host=/run/pg", "s"),
        ("postgresql://a,b:5433/d?target_session_attrs=any", None, None),
        ("postgresql://[::1]:5432/d/s", "postgresql://[::1]:5432/d", "s"),
        ("postgresql://h/d/gr%C3%B6%C3%9Fe%2F1", "postgresql://h/d", "größe/1"),
        ("postgresql://h/d/", "postgresql://h/d", None),
    ],
)
def test_servers(text, place, schema):
    found = Address.of(text)
    assert found == Address("postgresql", place or text, schema)
    assert Address.of(str(found)) == found
    assert Address.of(found) is found


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://ann:{0}@h/d",
        "postgresql://ann:{0}@h/d/s?sslmode=require",
        "postgresql://:{0}@h/d",
        "postgresql://ann:{0}#x@h/d",
        "postgresql://ann:{0}/x@h/d",
        "postgresql://ann:{0}?x@h/d",
        "postgresql://ann:1{0}@h/d",
        "postgresql://h/d?password={0}",
        "postgresql://h/d?sslmode=require&PASSWORD={0}",
        "postgresql://h/d?sslpassword={0}",
        "postgresql://h/d?x=1;password={0}",
        "postgresql://h/d?pass%77ord={0}",
        "host=h dbname=d password={0}",
    ],
)
@pytest.mark.parametrize("read", [Address.of, Source.of])
def test_a_password_is_refused_and_not_repeated(text, read):
    secret = "hunter2"
    with pytest.raises(InputError, match=r"PGPASSWORD.*pgpass|not an address") as caught:
        read(text.format(secret))
    assert secret not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        *("postgresql+driver://ann:{0}@h/d", " postgresql://ann:{0}@h/d", "mysql://ann:{0}@h/d/s"),
        *("jdbc:postgresql://h/d?user=ann&password={0}", "postgresql//ann:{0}@h/d"),
    ],
)
def test_addresses_of_other_programs_are_no_files(text):
    for read in (Address.of, Source.of, Release.load):
        with pytest.raises(InputError, match="unknown kind of database") as caught:
            read(text.format("hunter2"))
        assert "hunter2" not in str(caught.value)


def test_a_password_of_digits_is_not_taken_for_a_port():
    for text in ("ann:4711#x@h/d", "ann:4711?x@h/d", "ann:4711/x@h/d"):
        with pytest.raises(InputError, match="PGPASSWORD") as caught:
            Source.of(f"postgresql://{text}#t")
        assert "4711" not in str(caught.value)


@given(st.text(alphabet="abc:/@?#=&%", max_size=12), st.text(alphabet=":/@?#=&", max_size=6))
def test_whatever_is_typed_a_refusal_repeats_none_of_it(before, after):
    text = f"postgresql:{before}hunter2{after}"
    try:
        Source.of(text)
    except InputError as error:
        assert "hunter2" not in str(error)


def test_what_is_not_an_address_at_all():
    for text in ("postgresql:/h/d", "postgresql:h", "postgresql://h/d/s/t"):
        with pytest.raises(InputError, match="not an address"):
            Address.of(text)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("a.duckdb", Address("duckdb", "a.duckdb")),
        ("a/b.DUCKDB/may", Address("duckdb", "a/b.DUCKDB", "may")),
        ("duckdb:a.duckdb/may", Address("duckdb", "a.duckdb", "may")),
        ("duckdb:/x/data", Address("duckdb", "/x/data")),
        ("a.sqlite", Address("sqlite", "a.sqlite")),
        ("a.db", Address("sqlite", "a.db")),
        ("duckdb:a.db", Address("duckdb", "a.db")),
        ("sqlite:a.bin", Address("sqlite", "a.bin")),
        ("a.csv", None),
        ("a.duckdb/b/c.csv", None),
        ("release", None),
    ],
)
def test_files(tmp_path, monkeypatch, text, address):
    monkeypatch.chdir(tmp_path)
    assert Address.of(text) == address
    if address is not None:
        assert Address.of(str(address)) == address


def test_files_are_known_by_their_first_bytes_and_folders_are_none(tmp_path, monkeypatch):
    import duckdb

    monkeypatch.chdir(tmp_path)
    duckdb.connect("one.db").close()
    with sqlite3.connect("two.duckdb") as made:
        made.execute("CREATE TABLE t (a)")
    made.close()
    assert Address.of("one.db/may") == Address("duckdb", "one.db", "may")
    assert Address.of("two.duckdb") == Address("sqlite", "two.duckdb")
    Path("three.duckdb").mkdir()
    assert Address.of("three.duckdb") is None
    assert Address.of("three.duckdb/may") is None
    assert Address.of("three.duckdb/a.duckdb/may") == Address(
        "duckdb", "three.duckdb/a.duckdb", "may"
    )


def test_tables_and_queries():
    base = "postgresql://h/d"
    assert Source.of(f"{base}#t").table == (None, "t")
    assert Source.of(f"{base}/s#t").table == ("s", "t")
    assert Source.of(f"{base}/s#r.t").table == ("r", "t")
    assert Source.of(base, table='"a.b"').table == (None, "a.b")
    assert Source.of(f"{base}#SELECT 1 AS a").query == "SELECT 1 AS a"
    assert Source.of(base, query="x").query == "x"
    assert Source.of("a.csv") is None
    assert "secret" not in str(Source.of(base, query="SELECT 'secret'"))
    assert os.fspath(Source.of(base, query="SELECT 1")) == f"{base}#SELECT 1"
    assert os.fspath(Source.of(base, table='"a b".c')) == f'{base}#"a b".c'
    for wrong in ({}, {"table": "t", "query": "q"}):
        with pytest.raises(InputError, match="--table"):
            Source.of(base, **wrong)
    with pytest.raises(InputError, match="--table"):
        Source.of(f"{base}#t", table="t")
    with pytest.raises(InputError, match="not the address"):
        Source.of("a.csv", table="t")


@pytest.mark.parametrize("wrong", ["", "a.", ".a", "a.b.c", 'a"b', '"a"b', "a\0b"])
def test_names_of_no_form_are_refused(wrong):
    with pytest.raises(InputError, match=r"schema\.table"):
        parts_of(wrong)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1))
def test_a_quoted_name_is_the_name(name):
    assert parts_of(quoted(name)) == (None, name)
    assert parts_of(quoted(name, name)) == (name, name)
