"""The text of a query: what it asks, or the place of the word that does not belong."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from arbitrary.predicates import COLUMNS, predicates
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.answers import Average, Count, Query, Sum
from sfumato.answers.select import select
from sfumato.errors import ParameterError
from sfumato.predicates import parse

SECRET = "zqx"  # stands in for somebody's data: in no keyword and in no message


def refusal(text: str, columns=None) -> tuple[int, str]:
    """Return the place (from 0) and the words of a refusal."""
    with pytest.raises(ParameterError) as error:
        select(text, columns)
    found = re.fullmatch(r"query, character (\d+): (.*)", str(error.value))
    assert found
    return int(found[1]) - 1, found[2]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("SELECT COUNT(*)", Query(Count())),
        ("select\n count ( * ) from RELEASE ;", Query(Count())),
        ("SELECT SUM(age) WHERE age > 3", Query(Sum("age"), (), parse("age > 3"))),
        ("SELECT AVG(`a b`) FROM release", Query(Average("a b"))),
        ("SELECT sex, COUNT(*) GROUP BY sex", Query(Count(), ("sex",))),
        ("SELECT COUNT(*), b, a GROUP BY a, b", Query(Count(), ("b", "a"))),
        (
            "SELECT a, SUM(x), b WHERE (a = 1 OR b IS NULL) AND NOT c LIKE 'x%' GROUP BY b, a;",
            Query(Sum("x"), ("a", "b"), parse("(a = 1 or b is null) and not c like 'x%'")),
        ),
        # words that are clauses elsewhere can be names where a name must stand
        (
            "SELECT COUNT(*) WHERE limit > 3 AND (having = 2 OR select) AND NOT order",
            Query(Count(), (), parse("limit > 3 and (having = 2 or select) and not order")),
        ),
        ("SELECT sum, AVG(avg) GROUP BY sum", Query(Average("avg"), ("sum",))),
        ('SELECT "group", COUNT(*) GROUP BY "group"', Query(Count(), ("group",))),
        ("SELECT COUNT(*) WHERE by GROUP BY by", None),  # `by` is not selected
        ("SELECT COUNT(*) WHERE x = ' GROUP BY '", Query(Count(), (), parse("x = ' GROUP BY '"))),
        (
            "SELECT COUNT(*) WHERE born >= DATE '2020-01-01'",
            Query(Count(), (), parse("born >= DATE '2020-01-01'")),
        ),
    ],
)
def test_queries(text, query):
    if query is None:
        assert refusal(text)[0] == text.rindex("by")
    else:
        assert select(text) == query
        assert select(str(query)) == query


# `^` marks the place of the word that does not belong
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("^", "begins with SELECT"),
        ("^COUNT(*)", "begins with SELECT"),
        ("^age > 3", "begins with SELECT"),
        ("SELECT^", "a column or COUNT"),
        ("SELECT COUNT(*), ^WHERE a = 1", "something is missing before `WHERE`"),
        ("SELECT ^* WHERE a = 1", "write COUNT(*)"),
        ("SELECT ^MAX(age)", "write COUNT(*), SUM(column) or AVG(column)"),
        ('SELECT ^"COUNT"(*)', "write COUNT(*)"),
        ("SELECT ^DISTINCT sex, COUNT(*) GROUP BY sex", "GROUP BY lists"),
        ("SELECT COUNT(^DISTINCT age)", "GROUP BY lists"),
        ("SELECT COUNT(^age)", "IS NOT NULL"),
        ("SELECT COUNT(^)", "COUNT(*)"),
        ("SELECT SUM(^*)", "name of a column"),
        ("SELECT SUM(^3)", "name of a column"),
        ("SELECT SUM(^abs(a))", "name of a column"),
        ("SELECT SUM(a ^+ b)", "calculate with the answers"),
        ("SELECT SUM(a) ^/ COUNT(*)", "calculate with the answers"),
        ("SELECT AVG(t^.age)", "double quotes"),
        ("SELECT SUM(a), ^AVG(a)", "one aggregate a query"),
        ("SELECT ^sex GROUP BY sex", "no aggregate"),
        ("SELECT ^sex, COUNT(*)", "after GROUP BY"),
        ("SELECT COUNT(*) GROUP BY ^sex", "after SELECT"),
        ("SELECT sex, ^sex, COUNT(*) GROUP BY sex", "twice"),
        ("SELECT sex, COUNT(*) GROUP BY sex, ^sex", "twice"),
        ("SELECT COUNT(*) GROUP BY^", "name of a column"),
        ("SELECT COUNT(*) GROUP BY ^1", "name of a column"),
        ("SELECT COUNT(*) GROUP BY ^lower(x)", "no column"),
        ("SELECT COUNT(*) ^GROUP sex", "followed by BY"),
        ("SELECT a^-b, COUNT(*) GROUP BY a", "hyphen"),
        ("SELECT COUNT(*) ^AS n", "leave out AS"),
        ("SELECT COUNT(*) FROM ^adult", "FROM release"),
        ("SELECT COUNT(*) FROM ^(SELECT a)", "FROM release"),
        ("SELECT COUNT(*) FROM release^, other", "leave out joins"),
        ("SELECT COUNT(*) FROM release ^JOIN other ON a = b", "leave out joins"),
        ("SELECT COUNT(*) FROM release ^r", "WHERE and GROUP BY"),
        ("SELECT COUNT(*) ^age > 3", "WHERE and GROUP BY"),
        ("SELECT COUNT(*) WHERE^", "a condition belongs after WHERE"),
        ("SELECT COUNT(*) WHERE ^GROUP BY sex", "a condition belongs after WHERE"),
        ("SELECT COUNT(*) WHERE a = 1 ^HAVING COUNT(*) > 3", "leave out HAVING"),
        ("SELECT COUNT(*) WHERE a = 1 ^ORDER BY a", "leave out ORDER BY"),
        ("SELECT a, COUNT(*) GROUP BY a ^LIMIT 3", "narrow WHERE"),
        ("SELECT COUNT(*) WHERE a ^UNION SELECT COUNT(*)", "once for each"),
        ("SELECT COUNT(*) WHERE a = 1 ^WHERE b = 2", "WHERE stands once"),
        ("SELECT a, COUNT(*) GROUP BY a ^WHERE b = 2", "before GROUP BY"),
        ("SELECT COUNT(*) WHERE (a = 1 ^GROUP BY b)", "at the end"),
        ("SELECT COUNT(*) WHERE a IN (^SELECT b)", "no queries in queries"),
        ("SELECT COUNT(*) WHERE a = 1; ^SELECT COUNT(*)", "one SELECT a query"),
        ("SELECT COUNT(*) WHERE a ^+ 1 > 3", "not part of the language"),
        ("SELECT COUNT(*) WHERE ^lower(a) = 'x'", "functions"),
        ("SELECT COUNT(*) WHERE a LIKE ^'%x'", "beginnings only"),
        ("SELECT COUNT(*) WHERE ^(a = 1", "not closed"),
        ("SELECT COUNT(*) WHERE a = ^'x", "not closed"),
        ("SELECT COUNT(*) WHERE a = ^b", "no column"),
    ],
)
def test_refusals_name_the_place_and_what_to_do(text, message):
    place = text.index("^")
    found, words = refusal(text.replace("^", "", 1))
    assert found == place
    assert message in words


@pytest.mark.parametrize(
    "text",
    [
        "SELECT {0}",
        "SELECT '{0}'",
        "SELECT COUNT(*) {0}",
        "SELECT COUNT(*) FROM {0}",
        "SELECT COUNT(*) WHERE a = '{0}' b",
        "SELECT COUNT(*) WHERE a LIKE '%{0}'",
        "SELECT SUM('{0}')",
        "SELECT COUNT(*) GROUP BY '{0}'",
    ],
)
def test_no_refusal_repeats_what_may_be_data(text):
    assert SECRET not in refusal(text.format(SECRET))[1]


def test_columns_that_are_not_there_are_refused_with_the_nearest():
    columns = ("age", "marital-status")
    for text in ("SELECT AVG(^Age)", "SELECT COUNT(*) WHERE ^agee > 3", "SELECT ^agge, COUNT(*)"):
        place, words = refusal(text.replace("^", ""), columns)
        assert place == text.index("^")
        assert "did you mean 'age'?" in words
    place, words = refusal('SELECT COUNT(*) GROUP BY "marital status"', columns)
    assert "did you mean 'marital-status'?" in words
    assert select("SELECT age, COUNT(*) GROUP BY age", columns) == Query(Count(), ("age",))


_NAMES = st.sampled_from([*COLUMNS, "group", "select", 'a "b"', "größe", "where"])


@given(
    st.just(Count()) | st.builds(Sum, _NAMES) | st.builds(Average, _NAMES),
    st.lists(_NAMES, unique=True, max_size=3).map(tuple),
    st.none() | predicates,
)
def test_what_a_query_is_written_as_reads_back(aggregate, names, where):
    """With the aggregate between the columns, and these in another order behind GROUP BY, too."""
    query = Query(aggregate, names, where)
    assert select(str(query)) == select(str(select(str(query))))
    assert select(str(query)).group_by == names
    assert select(str(query)).aggregate == aggregate
    if where is not None:
        assert select(str(query)).where == parse(str(where))


_QUERY = "SELECT select COUNT(*) COUNT ( * ) SUM(a) AVG(`b c`) FROM release WHERE GROUP BY a b c ,"
_SQL = "DISTINCT other HAVING ORDER LIMIT JOIN AS ; 'x' 'x%' 1 2.5 = != < >= IN (1,2) BETWEEN AND"
_SIGNS = "OR NOT LIKE IS NULL TRUE . - + / -- /* {# ' \" ` \0 ² [ ] { } @ \ud800"
_WORDS = st.sampled_from(f"{_QUERY} {_SQL} {_SIGNS}".split(" "))


def _is_refused_or_reads_back(text):
    try:
        query = select(text)
    except ParameterError as error:
        assert str(error).startswith("query, character ")
        return
    assert select(str(query)) == query


@settings(max_examples=600)
@given(
    st.lists(_WORDS, max_size=14).map(" ".join)
    | st.lists(_WORDS, max_size=12).map(lambda words: " ".join(["SELECT COUNT(*)", *words]))
    | st.lists(_WORDS, max_size=9).map(
        lambda words: " ".join(["SELECT a, SUM(b) WHERE a = 1", *words, "GROUP BY a"])
    )
    | st.lists(_WORDS, max_size=9).map("".join)
)
def test_any_words_are_read_or_refused(text):
    _is_refused_or_reads_back(text)


@settings(max_examples=300)
@given(st.text(st.characters(), max_size=30).map(lambda text: f"SELECT {text}") | st.text())
def test_any_text_is_read_or_refused(text):
    _is_refused_or_reads_back(text)


def test_long_and_deep_texts_are_refused():
    assert "at most" in refusal("SELECT COUNT(*) WHERE a = '" + "x" * 50_000 + "'")[1]
    assert "nested" in refusal("SELECT COUNT(*) WHERE " + "(" * 3_000 + "a" + ")" * 3_000)[1]
    many = ", ".join(f"a{n}" for n in range(3_000))
    assert len(select(f"SELECT COUNT(*), {many} GROUP BY {many}").group_by) == 3_000


def test_the_parser_is_loaded_by_the_first_text_alone():
    code = "import sys, sfumato.answers; sys.exit('sqlglot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
