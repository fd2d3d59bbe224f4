"""The cell grammar: every cell has one spelling, and every spelling one meaning."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.release.cells import (
    Exact,
    Node,
    Null,
    Range,
    Star,
    ValueSet,
    node_cell,
    parse,
    quote,
    range_cell,
    set_cell,
)

# Texts full of the grammar's own marks, beside arbitrary ones.
texts = (
    st.text() | st.text(alphabet='{}[],|"\\ *nul\t\n\x85\u2028a1') | st.sampled_from(["null", "*"])
)


@settings(deadline=None)
@given(texts)
@example("")
@example("[0, 17]")
@example("{null, Female}")
def test_an_exact_value_reads_back(text):
    assert parse(quote(text)) == Exact(text)


@settings(deadline=None)
@given(texts, texts, st.booleans())
def test_a_range_reads_back(low, high, with_null):
    cell = parse(range_cell(low, high, with_null))
    if low != high:
        assert cell == Range(low, high, with_null)
    elif with_null:
        assert cell == ValueSet((low,), with_null=True)
    else:
        assert cell == Exact(low)


@settings(deadline=None)
@given(st.lists(texts, min_size=1), st.booleans())
@example(["a", " b", "", 'c", "d'], False)
def test_a_set_reads_back_whatever_the_order_of_its_values(values, with_null):
    cell = set_cell(values, with_null)
    assert cell == set_cell(list(reversed(values)) + values, with_null)
    distinct = tuple(sorted(set(values)))
    if len(distinct) == 1 and not with_null:
        assert parse(cell) == Exact(distinct[0])
    else:
        assert parse(cell) == ValueSet(distinct, with_null)


@settings(deadline=None)
@given(texts.filter(lambda text: text != "*"))
def test_a_node_reads_back(label):
    assert parse(node_cell(label), labels={label}) == Node(label)


@settings(deadline=None)
@given(texts)
def test_any_text_is_either_refused_or_the_spelling_of_its_meaning(text):
    try:
        cell = parse(text)
    except ReleaseDamaged:
        return
    match cell:
        case Exact(value):
            assert quote(value) == text
        case Range(low, high, with_null):
            assert range_cell(low, high, with_null) == text
        case ValueSet(values, with_null):
            assert set_cell(values, with_null) == text
        case Star():
            assert text == "*"
        case Null():
            assert text == "null"
        case _:
            pytest.fail("a node without labels")


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("Bachelors", "Bachelors"),
        ("Doc-torate (2nd)", "Doc-torate (2nd)"),
        ("O'Brien", "O'Brien"),
        ("", ""),
        ("a b", "a b"),
        ("größer", "größer"),
        ("null", '"null"'),
        ("NULL", "NULL"),
        ("*", '"*"'),
        ("1302*", "1302*"),
        (" a", '" a"'),
        ("a\u00a0", '"a\u00a0"'),
        ("a\nb", '"a\\nb"'),
        ("a\x7fb", '"a\x7fb"'),
        ('5" nail', '"5\\" nail"'),
        ("x|y", '"x|y"'),
        ("[15, 20[", '"[15, 20["'),
    ],
)
def test_quotes_only_where_a_text_could_be_misread(text, cell):
    assert quote(text) == cell


def test_spellings_of_the_format():
    assert range_cell("25", "28") == "[25, 28]"
    assert range_cell("25", "28", with_null=True) == "{null, [25, 28]}"
    assert range_cell("25", "25", with_null=True) == "{null, 25}"
    assert range_cell("2020-01-31", "2020-02-01") == "[2020-01-31, 2020-02-01]"
    assert range_cell("low, or less", "") == '["low, or less", ""]'
    assert set_cell(["Male", "Female", "Male"]) == "{Female, Male}"
    assert set_cell(["", "null", "a"]) == '{"", a, "null"}'
    assert set_cell([""]) == ""
    assert set_cell([""], with_null=True) == '{null, ""}'
    assert set_cell([], with_null=True) == "null"


def test_an_empty_set_is_refused():
    with pytest.raises(ParameterError):
        set_cell([])


def test_labels_in_range_form_stand_bare_and_the_same_value_in_quotes():
    labels = {"[0, 17]", "North, South", "Europe", "null"}
    assert node_cell("[0, 17]") == "[0, 17]"
    assert parse("[0, 17]", labels) == Node("[0, 17]")
    assert parse('"[0, 17]"', labels) == Exact("[0, 17]")
    assert parse("[0, 18]", labels) == Range("0", "18")
    assert parse('"North, South"', labels) == Node("North, South")
    assert parse('"null"', labels) == Node("null")
    assert parse("Asia", labels) == Exact("Asia")
    assert parse("*", labels) == Star()


@pytest.mark.parametrize(
    "cell",
    [
        "[25,28]",
        "[25, 28",
        "[25, 25]",
        "[25]",
        "[1, 2, 3]",
        "[25, 28] ",
        "[null, 28]",
        "[*, 28]",
        "{Male, Female}",
        "{Female, Female}",
        "{Female}",
        "{}",
        "{null}",
        "{Female, null}",
        "{null, null}",
        "{null, *}",
        "{null, [25, 28], 31}",
        "{[25, 28], 31}",
        "{a,  b}",
        "{33 | 41}",
        "a, b",
        "a|b",
        '"needless"',
        '""',
        '"a',
        '"a, b"c',
        '"a\\u002c b"',
        '"\\q,"',
        '"\\ud800,"',
        "{" * 5000,
        ' "',
        " a",
        "a\tb",
    ],
)
def test_other_spellings_are_refused_without_showing_the_cell(cell):
    with pytest.raises(ReleaseDamaged) as refusal:
        parse(cell)
    assert str(refusal.value) == ("a cell does not follow the cell grammar; the file was altered")
