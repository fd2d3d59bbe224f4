"""Our evaluation against a database's: the rows for which `(predicate) IS TRUE`."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest
from arbitrary.predicates import COLUMNS, predicates, tables
from hypothesis import given, settings

from sfumato.predicates import (
    Not,
    evaluate,
    evaluate_frame,
    negation_normal_form,
    parse,
)
from sfumato.schema import Schema
from sfumato.table import encode

SCHEMA = Schema.of(dict.fromkeys(COLUMNS, "quasi-identifier"))


@pytest.fixture(scope="module")
def database():
    with duckdb.connect() as connection:
        yield connection


def duckdb_says(database, text: str, table: pa.Table) -> list[bool]:
    numbered = table.append_column("row number", pa.array(range(table.num_rows)))
    database.register("t", numbered)
    found = database.execute(f'SELECT ({text}) IS TRUE FROM t ORDER BY "row number"').fetchall()
    return [row[0] for row in found]


@settings(max_examples=200)
@given(predicate=predicates, table=tables())
def test_evaluation_is_that_of_sql(database, predicate, table):
    expected = duckdb_says(database, str(predicate), table)
    assert evaluate(predicate, encode(table, SCHEMA)).tolist() == expected
    assert evaluate_frame(predicate, table, SCHEMA).tolist() == expected


@settings(max_examples=60)
@given(predicate=predicates, table=tables(max_rows=4))
def test_negation_normal_form_means_the_same_in_sql(database, predicate, table):
    for each in (predicate, Not(predicate)):
        normal = str(negation_normal_form(each))
        assert duckdb_says(database, normal, table) == duckdb_says(database, str(each), table)


@pytest.mark.parametrize(
    "text",
    [
        "1 < whole",
        "0.5 >= whole and -1 <> whole",
        "whole not between -1 and 1",
        "whole not in (1, 2) or whole is not null and not flag",
        "flag",
        "not flag",
        "flag or whole = 1",
        "(not (whole = 1 and flag)) and (float < .5 or decimal >= 1.)",
        "\"marital-status\" not like 'a%'",
        "\"marital-status\" like 'a!%%' escape '!'",
        "\"marital-status\" like 'a!%' escape '!'",
        "\"marital-status\" = '' or \"marital-status\" like ''",
        "born between date '2019-12-31' and timestamp '2020-01-01 00:00:01'",
        "seen >= '2020-01-01'",
        "float = 1e-1 or float = 2E0",
        "true = flag",
    ],
)
@settings(max_examples=15)
@given(table=tables(max_rows=12))
def test_texts_mean_what_they_mean_in_sql(database, text, table):
    predicate = parse(text, COLUMNS)
    assert evaluate_frame(predicate, table, SCHEMA).tolist() == duckdb_says(database, text, table)
