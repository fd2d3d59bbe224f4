"""Answers from anatomised and sliced releases, worked by hand; and what is refused."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pyarrow as pa
import pytest
from answers.test_every_deal import anatomized, manifest, sliced

from sfumato.answers import Answerer, Count, Estimate, Sum, answer, recq
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.predicates import And, Comparison, OneOf, Or
from sfumato.publish.anatomize import anatomized_tables
from sfumato.publish.assemble import assemble
from sfumato.randomness import Randomness
from sfumato.release import Release, TableEntry
from sfumato.schema import Schema
from sfumato.table import Groups, Table, encode

# Table 1 of the SLPPA paper; its Table 3 publishes the first four people as a group, and the rest.
TRANSACTIONS = {
    "gender": ["F", "M", "F", "M", "M", "M", "F", "M"],
    "job": ["Teacher", "Engineer", "Engineer", "Teacher", "Doctor", "Police", "Doctor", "Doctor"],
    "age": [30, 33, 45, 42, 32, 44, 30, 33],
    "zipcode": [11100, 12200, 12200, 11100, 25300, 23200, 11100, 12200],
    "salary": [4500, 6000, 4700, 4500, 6700, 4000, 6400, 6000],
}
QUESTION = "age > 30 and job = 'Doctor' and salary = 6700"


def transaction_table() -> Table:
    roles = dict.fromkeys(("gender", "job", "age", "zipcode"), "quasi-identifier")
    return encode(pa.table(TRANSACTIONS), Schema.of(roles | {"salary": "sensitive"}))


def transactions(ids: list[int]) -> Release:
    table = transaction_table()
    together = [("age", "zipcode"), ("gender", "job")]
    published = anatomized_tables(
        table,
        Groups(np.array(ids), max(ids) + 1),
        [[table[name] for name in names] for names in together],
        rng=Randomness.test(1).generator("tables"),
    )
    return assemble(
        published, method="slppa", rows=table.rows, models=[], parameters={}, is_test=True
    )


def test_the_example_of_the_slppa_paper():
    grouped = Answerer(transactions([0, 0, 0, 0, 1, 1, 1, 1]))
    found = grouped.answer(Count(), QUESTION)
    assert found.value == pytest.approx(Fraction(9, 16))
    assert (found.low, found.high) == (0, 1)
    assert answer(transactions([0] * 8), Count(), QUESTION).value == pytest.approx(Fraction(9, 32))
    # of four people three are older than 30, and three are doctors: two of them at least are both
    both = grouped.answer(Count(), "age > 30 and job = 'Doctor'")
    assert (both.low, both.value, both.high) == (2, pytest.approx(9 / 4), 3)


def test_the_relative_error_of_the_example():
    release, original = transactions([0, 0, 0, 0, 1, 1, 1, 1]), transaction_table()
    assert recq(release, original, QUESTION) == pytest.approx(Fraction(7, 16))
    assert recq(Answerer(release), original, "salary = 6000") == 0
    with pytest.raises(ParameterError, match="no row"):
        recq(release, original, "age > 99")


def test_sums_of_the_example():
    answerer = Answerer(transactions([0, 0, 0, 0, 1, 1, 1, 1]))
    # the salaries of the second group are 4000, 6000, 6400 and 6700; three of them are doctors'
    found = answerer.answer(Sum("salary"), "job = 'Doctor'")
    assert (found.low, found.high) == (4000 + 6000 + 6400, 6000 + 6400 + 6700)
    assert found.value == pytest.approx(23_100 * 3 / 4)
    # at least one doctor is among the two who earn more than 6000, at most both are
    found = answerer.answer(Sum("salary"), "job = 'Doctor' and salary > 6000")
    assert (found.low, found.high) == (6400, 6400 + 6700)
    # ages of that group: 30, 32, 33, 44
    found = answerer.answer(Sum("age"), "job = 'Police' or salary = 4000")
    assert (found.low, found.high) == (30, 33 + 44)
    assert found.value == pytest.approx(139 * (1 - (3 / 4) ** 2))


def test_disjunctions_across_tables():
    # one group of three: ages 20, 21, 22; two women and a man; pay 1, 2, 3
    rows = [
        {"age": 20, "sex": "F", "pay": 1},
        {"age": 21, "sex": "F", "pay": 2},
        {"age": 22, "sex": "M", "pay": 3},
    ]
    answerer = Answerer(anatomized([rows], (("age",), ("sex",), ("pay",))))
    assert answerer.answer(Count(), "age = 20 or sex = 'F'") == Estimate(
        pytest.approx(3 * (1 - 2 / 9)), 2, 3, pytest.approx(sqrt(2) / 3)
    )
    crossed = "(age = 20 and sex = 'F') or (age = 22 and sex = 'M')"
    # the man is the one of 20, 21 or 22: none, one or two then satisfy it
    assert answerer.answer(Count(), crossed) == Estimate(
        pytest.approx(2 / 3 + 1 / 3), 0, 2, pytest.approx(sqrt(2 / 3))
    )
    assert answerer.answer(Count()) == Estimate(3, 3, 3, 0.0)
    assert answerer.answer(Sum("pay")) == Estimate(6, 6, 6, 0.0)


def test_a_predicate_that_ties_too_much_together_is_refused(monkeypatch):
    rows = [{"age": i, "sex": "F" if i % 3 else "M", "pay": i % 50} for i in range(256)]
    answerer = Answerer(anatomized([rows], (("age",), ("sex",), ("pay",))))
    bits = [tuple(i for i in range(256) if i >> bit & 1) for bit in range(8)]
    pairs = tuple(
        And((OneOf("age", bits[i]), Comparison("pay", "=", i), Comparison("sex", "=", "F")))
        for i in range(8)
    )
    with pytest.raises(ParameterError, match=r"too many parts .* ask in several simpler questions"):
        answerer.answer(Count(), Or(pairs))
    few = answerer.answer(Count(), Or(pairs[:5]))
    assert 0 <= few.low <= few.value <= few.high <= 256
    monkeypatch.setattr("sfumato.answers.diagram._MOST_NODES", 8)
    with pytest.raises(ParameterError, match="too many ways; ask in several simpler questions"):
        answerer.answer(Count(), Or(pairs[:5]))


ROWS = [
    {"age": 20, "sex": "F", "pay": 1},
    {"age": 21, "sex": "M", "pay": None},
    {"age": None, "sex": None, "pay": 3},
]
BLOCKS = (("age", "sex"), ("pay",))


def test_what_cannot_be_answered_is_refused():
    answerer = Answerer(sliced([ROWS], BLOCKS, ["[20, 21]"]))
    with pytest.raises(ParameterError, match="column 'age' has generalised cells"):
        answerer.answer(Sum("age"))
    with pytest.raises(ParameterError, match="there is no column 'Pay'; did you mean 'pay'"):
        answerer.answer(Sum("Pay"), "age > 20")
    with pytest.raises(ParameterError, match="there is no column 'job'"):
        answerer.answer(Count(), "job = 'Cook'")
    with pytest.raises(ParameterError, match="column 'sex' holds string; SUM needs numbers"):
        answerer.answer(Sum("sex"))
    with pytest.raises(ParameterError, match="defined for the layout local"):
        answerer.paper_interval("pay")


def test_tables_that_do_not_fit_each_other_are_damaged():
    release = anatomized([ROWS, ROWS], BLOCKS)
    fewer = {**release.tables, "qi_2": release.tables["qi_2"].slice(0, 5)}
    with pytest.raises(ReleaseDamaged, match="same number of records in each group"):
        Answerer(Release(release.manifest, fewer))
    torn = release.tables["qi_2"].set_column(0, "group", pa.array([1, 1, 1, 3, 3, 3]))
    with pytest.raises(ReleaseDamaged, match="groups of table 'qi_2' are not numbered"):
        Answerer(Release(release.manifest, {**release.tables, "qi_2": torn}))
    none = release.tables["qi_2"].set_column(2, "count", pa.array([1, 1, 1, 1, 1, 0]))
    with pytest.raises(ReleaseDamaged, match="stands for no record"):
        Answerer(Release(release.manifest, {**release.tables, "qi_2": none}))


@pytest.mark.parametrize("columns", [None, "age", [["age", "sex"]], [["age", "sex"], "pay"]])
def test_a_sliced_release_must_name_its_blocks(columns):
    records = sliced([ROWS], BLOCKS).tables["records"]
    entry = TableEntry(name="records", attributes=("age", "sex", "pay"), group="group")
    parameters = {} if columns is None else {"columns": columns}
    with pytest.raises(ReleaseDamaged, match="do not name all of its attributes"):
        Answerer(Release(manifest("sliced", 3, [entry], **parameters), {"records": records}))


@pytest.mark.parametrize("fakes", ["1", -1, 4, 0.5])
def test_an_impossible_number_of_fakes_is_damage(fakes):
    with pytest.raises(ReleaseDamaged, match="fake records"):
        Answerer(sliced([ROWS], BLOCKS, fakes=fakes))
