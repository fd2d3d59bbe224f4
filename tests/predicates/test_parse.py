from __future__ import annotations

import datetime as dt
import subprocess
import sys
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.predicates import And, Between, Comparison, IsMissing, Not, OneOf, Or, Prefix, parse

SECRET = "zqx"  # stands in for somebody's data: in no keyword and in no message


def refusal(text: str, columns=None) -> str:
    with pytest.raises(ParameterError) as error:
        parse(text, columns)
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("age >= 30", Comparison("age", ">=", 30)),
        ("30 <= age", Comparison("age", ">=", 30)),
        ("-1.5 > age", Comparison("age", "<", Decimal("-1.5"))),
        ("age <> 1", Comparison("age", "!=", 1)),
        ("(((age))) = ((1))", Comparison("age", "=", 1)),
        ("age = - 1", Comparison("age", "=", -1)),
        ("age < .5", Comparison("age", "<", Decimal("0.5"))),
        ("age < 12345678901234567890123", Comparison("age", "<", 12345678901234567890123)),
        ("18 <= age < 65", And((Comparison("age", ">=", 18), Comparison("age", "<", 65)))),
        ("65 > age >= 18", And((Comparison("age", "<", 65), Comparison("age", ">=", 18)))),
        ("a IN (1, 'x', TRUE, -2)", OneOf("a", (1, "x", True, -2))),
        ("a not in (1)", Not(OneOf("a", (1,)))),
        ("a between 'a' and 'b'", Between("a", "a", "b")),
        ("not a not between 1 and 2", Not(Not(Between("a", 1, 2)))),
        ("a like 'x%'", Prefix("a", "x")),
        ("a like '%'", Prefix("a", "")),
        ("a like 'x'", Comparison("a", "=", "x")),
        ("a not like 'x'", Not(Comparison("a", "=", "x"))),
        ("a like '50!%!_!!%' escape '!'", Prefix("a", "50%_!")),
        ("a not like '\\%%' escape '\\'", Not(Prefix("a", "%"))),
        ("a like '^]%' escape ']'", Comparison("a", "=", "^%")),
        ("a like ']%%' escape ']'", Prefix("a", "%")),
        ("a is null", IsMissing("a")),
        ("a is not null", Not(IsMissing("a"))),
        ("flag", Comparison("flag", "=", True)),
        ("not flag", Not(Comparison("flag", "=", True))),
        ("FALSE != flag", Comparison("flag", "!=", False)),
        ("a = 'it''s \"x\" `y` -- /* {# '", Comparison("a", "=", 'it\'s "x" `y` -- /* {# ')),
        ("`a``b` = 1", Comparison("a`b", "=", 1)),
        ('"x.y z-""q""" = 1', Comparison('x.y z-"q"', "=", 1)),
        ("größe = 1", Comparison("größe", "=", 1)),
        ("born > DATE '2020-02-29'", Comparison("born", ">", dt.date(2020, 2, 29))),
        (
            "seen > timestamp '2020-02-29T12:30'",
            Comparison("seen", ">", dt.datetime(2020, 2, 29, 12, 30)),
        ),
        (
            "seen > timestamp '2020-02-29 12:30:01.25+02'",
            Comparison("seen", ">", dt.datetime(2020, 2, 29, 10, 30, 1, 250_000, tzinfo=dt.UTC)),
        ),
        (
            "a = 1 or b = 2 and not c = 3 or d",
            Or(
                (
                    Comparison("a", "=", 1),
                    And((Comparison("b", "=", 2), Not(Comparison("c", "=", 3)))),
                    Comparison("d", "=", True),
                )
            ),
        ),
        # Words of SQL that the language has no other use for.
        ("date = '2020-01-01'", Comparison("date", "=", "2020-01-01")),
        ("case = 1", Comparison("case", "=", 1)),
        ("select in (1)", OneOf("select", (1,))),
        ("2 > current_date", Comparison("current_date", "<", 2)),
    ],
)
def test_reads(text, predicate):
    found = parse(text)
    assert found == predicate
    assert repr(found) == repr(predicate)  # True is no 1, and 1.0 is no 1


@pytest.mark.parametrize(
    ("text", "character", "word"),
    [
        # the wrong words
        ("age + 1 > 30", 5, "`+`"),
        ("age-group = 'zqx'", 4, "double quotes"),
        ("lower(name) = 'zqx'", 1, "`lower`"),
        ("a = 1 and coalesce (b, 'zqx') = 1", 11, "`coalesce`"),
        ("a ilike 'zqx%'", 3, "`ilike`"),
        ("a similar to 'zqx'", 3, "`similar"),
        ("a is distinct from 'zqx'", 6, "`distinct`"),
        ("a is not true", 10, "NULL"),
        ("a is 'zqx'", 6, "NULL"),
        ("case when a then b end = 1", 1, "`case`"),
        ("a in (select zqx from t)", 7, "`select`"),
        ("a = interval '1' day", 5, "`interval`"),
        ("a = 1; drop table t", 6, "`;`"),
        ("a = 1 -- zqx", 7, "`-`"),
        ("a = 1 /* zqx */", 7, "`/`"),
        ("a {# zqx #} = 1", 1, "comments"),
        ("a::int = 1", 2, "`:`"),
        ("t.a = 1", 2, "double quotes"),
        ("a || 'zqx' = 'zqx'", 3, "`|`"),
        ("a = :zqx", 5, "`:`"),
        ("a = ?", 5, "`?`"),
        ("a[1] = 2", 2, "`[`"),
        ("! a", 1, "`!`"),
        ("a = *", 5, "`*`"),
        ("a = N'zqx'", 5, "not part"),
        ("a = x'00zqx'", 6, "a literal"),
        ("$1 = 2", 1, "double quotes"),
        # names and literals in the wrong places
        ("occupation = Zqx", 14, "single quotes"),
        ('occupation = "Zqx"', 14, "single quotes"),
        ("a = b", 5, "single quotes"),
        ("a in (1, b)", 10, "single quotes"),
        ("a = 'zqx' 'zqx'", 11, "a literal"),
        ("a = 1 zqx", 7, "this word"),
        ("a zqx", 3, "this word"),
        ('a "zqx"', 3, "a name in quotes"),
        ("1 = 1", 1, "column"),
        ("'zqx'", 1, "columns"),
        ("a = 1 and true", 11, "columns"),
        ("5 between a and b", 1, "column"),
        ("a = null", 5, "IS NULL"),
        ("a in (1, null)", 10, "IS NULL"),
        ("(a, b) = (1, 2)", 3, "`,`"),
        ("(a = 1) = true", 1, "column"),
        ("a = 1 = 2", 1, "chained"),
        ("1 < a > 2", 1, "chained"),
        ("a < 1 < 2", 5, "column"),
        ("a in 'zqx'", 6, "IN"),
        ("a like 'zq%x'", 8, "ESCAPE"),
        ("a like 'zq_'", 8, "ESCAPE"),
        ("a like 'zqx%%'", 8, "ESCAPE"),
        ("a like 'zqx!' escape '!'", 8, "ESCAPE"),
        ("a like 'zqx' escape 'zqx'", 21, "ESCAPE"),
        ("a like 3", 8, "text"),
        ("born = date 'zqx'", 13, "ISO"),
        ("born = date '2021-02-29'", 13, "ISO"),
        ("born = date '2021-02-28 12:00'", 13, "ISO"),
        ("seen = timestamp '2021-02-28 24:00'", 18, "ISO"),
        ("seen = timestamp '2021-02-28 12:00:00.0000001'", 18, "ISO"),
        ("a = 1e999", 5, "digits"),
        ("a = -1e-401", 5, "digits"),
        ("a = 1e9999999999999999999", 5, "exponent"),
        ("a = 0e-999999999", 5, "exponent"),
        ("a = 1" + "0" * 401, 5, "digits"),
        ("a = 1e", 5, "digits"),
        ("a = 1_000", 6, "this word"),
        ("a = --1", 5, "`-`"),
        ("a between symmetric 1 and 2", 11, "`symmetric`"),
        # in parentheses, and after words that leave something open
        ("b = 1 and (a = 5 zqx)", 18, "this word"),
        ("b = 1 and (a = 'zqx' 'zqx')", 22, "a literal"),
        ("b = 1 and (a = 1, c = 2)", 17, "`,`"),
        ("b = 1 and a in (1, (2, 3))", 22, "`,`"),
        ("b = 1 and (a = (-1e999))", 17, "digits"),
        ("b = 1 and ((1) = 2)", 13, "column"),
        ("b = 1 and (a is null) is null", 11, "column"),
        ("b = 1 and (a and c) in (1)", 11, "column"),
        ("b = 1 and a = (not 5)", 15, "literal"),
        ("b = 1 and a = not 5", 15, "`not`"),
        ("b = 1 and a in (not c)", 17, "`not`"),
        ("b = 1 and (a is (null))", 17, "NULL"),
        ("b = 1 and (a is not distinct from 'zqx')", 21, "`distinct`"),
        ("b = 1 and (a is null is null)", 22, "`is`"),
        ("b = 1 and (a like 'zqx%' like 'zqx')", 26, "`like`"),
        ("b = 1 and (a between 1 and 2 between 3 and 4)", 30, "`between`"),
        ("b = 1 and (a in (1) = 2)", 21, "`=`"),
        # what is missing or too much
        ("", 1, "nothing"),
        (" \n", 1, "nothing"),
        ("a = 1 and", 10, "the end"),
        ("a = 1 and or b = 2", 11, "`or`"),
        ("a == 1", 4, "`=`"),
        ("= 1", 1, "`=`"),
        ("a in ()", 7, "`)`"),
        ("a in (1,)", 9, "`)`"),
        ("a in (1,,2)", 9, "`,`"),
        ("a between 1 or 2", 13, "`or`"),
        ("(a = 1 or (b = 2)", 1, "not closed"),
        ("a = 1)", 6, "never opened"),
        ("a = 'zqx", 5, "not closed"),
        ("a = 'zqx''", 5, "not closed"),
        ("'zq''x' = a and \"zqx = 1", 17, "not closed"),
        ("a = 1\n\nand b + 1", 14, "`+`"),
        ('"" = 1', 1, "name"),
        ("a = '\ud800'", 6, "half"),
    ],
)
def test_refuses_with_the_place_and_without_the_literal(text, character, word):
    message = refusal(text)
    assert message.startswith(f"predicate, character {character}: ")
    assert word in message
    assert SECRET not in message.lower()


def test_an_unknown_column_is_refused_with_its_place_and_the_nearest_name():
    columns = ("age", "marital-status")
    assert parse('"marital-status" = 1 and age = 2', columns).attributes == set(columns)
    assert refusal("age = 1 or AGE = 2", columns) == (
        "predicate, character 12: there is no column 'AGE'; did you mean 'age'?"
    )
    assert "'marital-status'" in refusal("`marital.status` is null", columns)
    assert "schema" in refusal("zzz is null", columns)


def test_depth_and_length_are_limited():
    def nested(depth):
        return "(" * depth + "a = 1" + ")" * depth

    assert parse(nested(32)) == Comparison("a", "=", 1)
    assert "nested" in refusal(nested(33))
    assert "nested" in refusal(nested(20_000))
    assert parse("not " * 32 + "a").attributes == {"a"}
    assert "nested" in refusal("not " * 33 + "a")
    assert "nested" in refusal("not (" * 500 + "a" + ")" * 500)
    assert "nested" in refusal("a in (" * 100)
    assert "at most" in refusal("a = '" + "x" * 50_000 + "'")
    many = parse(" or ".join(f"a = {number}" for number in range(3_000)))
    assert len(many.parts) == 3_000
    assert len(parse(f"a in ({', '.join('1' * 10_000)})").values) == 10_000


def test_a_deep_stack_is_no_reason_for_another_error():
    def descend(levels):
        return descend(levels - 1) if levels else parse("(" * 32 + "a = 1" + ")" * 32)

    for levels in range(0, sys.getrecursionlimit(), 37):
        try:
            descend(levels)
        except ParameterError as error:
            assert "nested" in str(error)
        except RecursionError:
            assert levels > sys.getrecursionlimit() // 2  # not even tokens can be looked at
            break


_SIGNS = "( ) , ' \" ` = != <> < <= > >= - + . ; : % _ ! \\ {# #} /* -- [ ] { } @ $"
_LANGUAGE = "and or not in between like escape is null true false date timestamp"
_OTHERS = "a b case select from exists cast any all 'x' 'x%' 1 2.5 1e3 N'x' \0 ² DATE'2020-01-01'"
_WORDS = st.sampled_from([*f"{_SIGNS} {_LANGUAGE} {_OTHERS}".split(" "), "a = 1", "\xa0", "\n"])


def _is_refused_or_reads_back(text):
    try:
        predicate = parse(text)
    except ParameterError as error:
        assert str(error).startswith("predicate, character ")
        return
    assert parse(str(predicate)) == predicate


@settings(max_examples=600)
@given(st.lists(_WORDS, max_size=14).map(" ".join) | st.lists(_WORDS, max_size=9).map("".join))
def test_any_words_are_read_or_refused(text):
    _is_refused_or_reads_back(text)


@settings(max_examples=300)
@given(st.text(st.characters(), max_size=30))
def test_any_text_is_read_or_refused(text):
    _is_refused_or_reads_back(text)


def test_the_parser_is_loaded_by_the_first_predicate_alone():
    code = "import sys, sfumato.predicates; sys.exit('sqlglot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
