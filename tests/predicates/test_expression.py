from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from arbitrary.predicates import predicates
from hypothesis import given

from sfumato.errors import ParameterError
from sfumato.predicates import (
    And,
    Between,
    Comparison,
    IsMissing,
    Not,
    OneOf,
    Or,
    Prefix,
    negation_normal_form,
    parse,
)

AGE = Comparison("age", ">=", 30)
SEX = OneOf("sex", ("F", "M"))
JOB = Prefix("job", "N")


@given(predicates)
def test_a_predicate_reads_back_from_its_text(predicate):
    again = parse(str(predicate))
    assert again == predicate
    assert str(again) == str(predicate)


@given(predicates)
def test_negation_normal_form_keeps_not_before_leaves_without_an_opposite(predicate):
    def check(node):
        match node:
            case And(parts) | Or(parts):
                assert not any(isinstance(part, type(node)) for part in parts)
                for part in parts:
                    check(part)
            case Not(part):
                assert isinstance(part, OneOf | Prefix | IsMissing)

    normal = negation_normal_form(predicate)
    check(normal)
    assert normal.attributes == predicate.attributes
    assert negation_normal_form(normal) == normal


def test_attributes_are_all_names_read():
    assert Or((Not(And((AGE, SEX))), JOB, AGE)).attributes == {"age", "sex", "job"}


def test_nested_conjunctions_are_one():
    assert And((And((AGE, SEX)), JOB)) == And((AGE, SEX, JOB))
    assert parse("age >= 30 and (sex in ('F', 'M') and job like 'N%')") == And((AGE, SEX, JOB))


def test_text_of_every_shape():
    assert str(Not(Or((AGE, And((SEX, JOB)))))) == (
        "NOT (age >= 30 OR (sex IN ('F', 'M') AND job LIKE 'N%'))"
    )
    assert str(Not(IsMissing("group by"))) == '"group by" IS NOT NULL'
    assert str(Comparison('a "b"', "=", "it's")) == '"a ""b""" = \'it\'\'s\''
    assert str(Comparison("not", "=", True)) == '"not" = TRUE'
    assert str(Between("x", -0.5, Decimal("1E+3"))) == "x BETWEEN -0.5 AND 1000"
    born = Comparison("born", "<", dt.date(2000, 1, 31))
    assert str(born) == "born < DATE '2000-01-31'"
    seen = Comparison("seen", "<", dt.datetime(2000, 1, 31, 12, tzinfo=dt.UTC))
    assert str(seen) == "seen < TIMESTAMP '2000-01-31 12:00:00+00:00'"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Comparison("age", "~", 3),
        lambda: Comparison("age", "=", None),
        lambda: Comparison("age", "=", float("nan")),
        lambda: Comparison("age", "=", Decimal("Infinity")),
        lambda: Comparison("age", "=", Decimal("1e999999999")),
        lambda: Comparison("age", "=", Decimal("0e-999999999")),
        lambda: Comparison("age", "=", 10**401),
        lambda: Between("age", 1, [2]),
        lambda: OneOf("age", ()),
        lambda: And((AGE,)),
        lambda: Or(()),
    ],
)
def test_what_exists_is_valid(make):
    with pytest.raises(ParameterError):
        make()


def test_places_are_no_part_of_what_a_predicate_says():
    one, other = parse("age > 3 and job like 'a%'"), parse("   age > 3 and   job like 'a%'")
    assert one == other
    assert hash(one) == hash(other)
    assert [leaf.places for leaf in one.parts] == [(6,), (21,)]
    assert [leaf.places for leaf in other.parts] == [(9,), (26,)]
    assert "places" not in repr(one)
    normal = negation_normal_form(Not(parse("age between 1 and 20")))
    assert [leaf.places for leaf in normal.parts] == [(12,), (18,)]
