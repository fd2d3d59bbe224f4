"""Answers from a local release, worked by hand; and what is refused."""

from __future__ import annotations

from datetime import date
from math import sqrt

import pyarrow as pa
import pytest

from sfumato.answers import Answerer, Count, Estimate, Sum, answer, paper_interval
from sfumato.answers.answer import ENGINES
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.predicates import Comparison
from sfumato.release import AttributeEntry, Bounds, Manifest, Release, TableEntry
from sfumato.schema import Hierarchy

CELLS = {
    "group": [1, 1, 2, 2, 2],
    "age": ["[20, 23]", "[20, 23]", "[24, 29]", "[24, 29]", "[24, 29]"],
    "sex": ["F", "M", "{F, M}", "{F, M}", "{F, M}"],
    "sex.bucket": [1, 1, None, None, None],
    "pay": [10, 20, 30, 40, 50],
    "pay.bucket": [1, 1, 2, 1, 2],
}
AGE = AttributeEntry(
    name="age",
    role="quasi-identifier",
    kind="numeric",
    type="int32",
    domain=Bounds(min=20, max=30),
)
SEX = AttributeEntry(
    name="sex", role="semi-sensitive", kind="categorical", type="string", domain=("F", "M")
)
PAY = AttributeEntry(
    name="pay", role="sensitive", kind="numeric", type="int64", domain=Bounds(min=10, max=50)
)


def local(cells=None, hierarchies=None, **changed) -> Release:
    """Return a local release of these cells; `changed` replaces entries of attributes."""
    entries = {"age": AGE, "sex": SEX, "pay": PAY} | changed
    cells = CELLS | (cells or {})
    manifest = Manifest(
        method="lgb",
        layout="local",
        software="test",
        created=date(2026, 1, 31),
        rows=len(cells["group"]),
        attributes=tuple(entries.values()),
        tables=(TableEntry(name="records", attributes=tuple(entries), group="group"),),
    )
    return Release(manifest, {"records": pa.table(cells)}, hierarchies or {})


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # one of the two in the bucket, and 0 to 3 of the others, each with even chances
        ("sex = 'F'", Estimate(2.5, 1, 4)),
        # two of four ages in the first group, all in the second
        ("age >= 22", Estimate(4, 3, 5)),
        ("age >= 22 and sex = 'F'", Estimate(2, 0, 4)),
        # the woman in the bucket satisfies it in any case, and so does the second group
        ("age >= 22 or sex = 'F'", Estimate(4.5, 4, 5)),
        ("pay > 15", Estimate(4, 4, 4, 0.0)),
        ("pay between 20 and 30", Estimate(2, 2, 2, 0.0)),
        # of the bucket {10, 20, 40} two values and the two younger rows: at least one together, and
        # with a chance of one third both
        ("age < 24 and pay < 30", Estimate(4 / 3, 1, 2, sqrt(2) / 3)),
        ("age is null", Estimate(0, 0, 0, 0.0)),
        ("sex is not null", Estimate(5, 5, 5, 0.0)),
    ],
)
def test_counts(question, expected):
    found = answer(local(), Count(), question)
    assert found.value == pytest.approx(expected.value)
    assert (found.low, found.high) == (expected.low, expected.high)
    assert found.se == (None if expected.se is None else pytest.approx(expected.se))


@pytest.mark.parametrize(
    ("attribute", "question", "expected"),
    [
        # 1.5 of bucket {10, 20, 40} and 1 of {30, 50} are expected, none is sure
        ("pay", "sex = 'F'", Estimate(1.5 * 70 / 3 + 40, 0, 150)),
        # the rows of the second group for sure: one of {10, 20, 40}, both of {30, 50}
        ("pay", "age >= 24", Estimate(70 / 3 + 80, 90, 120)),
        ("pay", "pay > 15", Estimate(140, 140, 140)),
        # of 40 and 20 (10 does not satisfy) two fall to the younger rows at most, one at least
        ("pay", "age < 24 and pay > 15", Estimate(2 * 60 / 3, 20, 60)),
        ("age", None, Estimate(2 * 21.5 + 3 * 26.5, 112, 133)),
        ("age", "age > 22", Estimate(2 * 23 / 4 + 3 * 26.5, 72, 133)),
    ],
)
def test_sums(attribute, question, expected):
    found = answer(local(), Sum(attribute), question)
    assert found.value == pytest.approx(expected.value)
    assert (found.low, found.high) == (expected.low, expected.high)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # 1.5 rows are expected in bucket {10, 20, 40}, 1 in {30, 50}
        ("sex = 'F'", (10 + 30, 20 + 40 + 50)),
        # a quarter, a quarter and a half make exactly one row, in spite of rounding
        ("age >= 22 and sex = 'F'", (10 + 30, 40 + 50)),
        # two thirds of a row in bucket {10, 20, 40}, one third in {30, 50}
        ("age >= 22 and age <= 25 and sex = 'F'", (0, 40 + 50)),
        (None, (150, 150)),
    ],
)
def test_the_interval_of_the_paper(question, expected):
    assert paper_interval(local(), "pay", question) == expected


def test_the_interval_of_a_count_takes_the_table_as_one_bucket():
    assert paper_interval(local(), None, "sex = 'F'") == (2, 3)
    assert paper_interval(local(), None, "age >= 22") == (4, 4)


def test_negative_and_missing_numbers_are_chosen_for_the_bounds():
    pay = AttributeEntry(
        name="pay", role="sensitive", kind="numeric", type="int64", domain=Bounds(min=-30, max=50)
    )
    release = local({"pay": [-10, None, 30, 40, -50 + 20]}, pay=pay)
    found = answer(release, Sum("pay"), "sex = 'F'")
    assert (found.low, found.high) == (-10 - 30, 40 + 30)
    found = answer(release, Sum("pay"), "age < 24")  # two of {-10, nothing, 40}
    assert (found.low, found.high) == (-10, 40)
    assert answer(release, Count(), "pay is null").value == 1


def test_a_withheld_cell_may_hold_anything():
    release = local({"age": ["*", "*", *CELLS["age"][2:]]})
    answerer = Answerer(release)
    assert answerer.answer(Count(), "age < 19").high == 2
    assert answerer.answer(Count(), "age >= 10").low == 3
    assert answerer.answer(Count(), "age is null") == Estimate(0, 0, 2)
    assert answerer.answer(Count(), "age is null or age is not null").low == 5
    # of the 11 numbers of the domain nine are below 29
    assert answerer.answer(Count(), "age < 29").value == pytest.approx(2 * 9 / 11 + 3 * 5 / 6)
    total = answerer.answer(Sum("age"), None)
    assert total.low < 0 and total.high > 2 * 2**31  # nothing but the type limits it
    words = Answerer(local({"sex": ["F", "M", "*", "*", "*"]}))
    assert words.answer(Count(), "sex = 'X'") == Estimate(0, 0, 3)
    assert words.answer(Count(), "sex in ('F', 'M')") == Estimate(5, 2, 5)


def test_gaps_in_the_list_of_an_ordinal_attribute_may_be_filled():
    age = AttributeEntry(
        name="age",
        role="quasi-identifier",
        kind="ordinal",
        type="string",
        domain=("low", "middle", "high"),
    )
    release = local({"age": ["[low, middle]"] * 2 + ["[middle, high]"] * 3}, age=age)
    answerer = Answerer(release)
    assert answerer.answer(Count(), "age <= 'middle'") == Estimate(3.5, 2, 5)
    assert answerer.answer(Count(), "age < 'middle'") == Estimate(1, 0, 2)
    assert answerer.answer(Count(), "age >= 'low'") == Estimate(5, 5, 5, 0.0)
    assert answerer.answer(Count(), "age between 'low' and 'middle'") == Estimate(3.5, 2, 5)
    # `lower middle`, which no cell names, may lie between the two that are named
    assert answerer.answer(Count(), "age = 'lower middle'") == Estimate(0, 0, 5)
    assert answerer.answer(Count(), "age in ('low', 'middle')") == Estimate(3.5, 0, 5)
    with pytest.raises(ParameterError, match="no place in its order"):
        answerer.answer(Count(), "age < 'lower middle'")


def test_a_published_hierarchy_may_lack_values_that_only_generalised_cells_have():
    age = AttributeEntry(
        name="age", role="quasi-identifier", kind="categorical", type="string", domain=("13021",)
    )
    rows = [("13021", "130**", "*"), ("14***", "14***", "*")]
    hierarchy = Hierarchy.from_rows(rows, "age")
    release = local({"age": ["130**"] * 2 + ["13021"] + ["14***"] * 2}, {"age": hierarchy}, age=age)
    answerer = Answerer(release)
    assert answerer.answer(Count(), "age = '13021'") == Estimate(3, 1, 3)
    assert answerer.answer(Count(), "age = '13022'").high == 4
    assert answerer.answer(Count(), "age is not null").low == 5
    assert answerer.answer(Count(), "age like '13%'").low == 1


def test_labels_of_numbers_are_intervals_where_they_hold_what_is_below_them():
    rows = [("20", "[20, 24]", "*"), ("21", "[20, 24]", "*"), ("26", ">=25", "*")]
    hierarchy = Hierarchy.from_rows(rows, "age")
    cells = {"age": ["[20, 24]"] * 2 + [">=25"] * 2 + ["21"]}
    answerer = Answerer(local(cells, {"age": hierarchy}))
    assert answerer.answer(Count(), "age < 25") == Estimate(3, 3, 5)  # >=25 is open
    assert answerer.answer(Count(), "age <= 22").value == pytest.approx(2 * 3 / 5 + 1)
    # labels that contradict their values say nothing: the values listed, or any other
    wrong = [("20", "15-19", "*"), ("16", "15-19", "*"), ("26", "25-29", "*")]
    answerer = Answerer(
        local({"age": ["15-19"] * 4 + ["26"]}, {"age": Hierarchy.from_rows(wrong, "age")})
    )
    assert answerer.answer(Count(), "age < 20") == Estimate(2, 0, 4)
    assert answerer.answer(Count(), "age > 25") == Estimate(1, 1, 5)


def test_what_cannot_be_answered_is_refused():
    answerer = Answerer(local())
    with pytest.raises(ParameterError, match="there is no column 'Pay'; did you mean 'pay'"):
        answerer.answer(Sum("Pay"), "age > 20")
    with pytest.raises(ParameterError, match="there is no column 'job'"):
        answerer.answer(Count(), "job = 'Cook'")
    with pytest.raises(ParameterError, match="column 'sex' holds string; SUM needs numbers"):
        answerer.answer(Sum("sex"))
    with pytest.raises(ParameterError, match=r"^column 'age' .* write a number without quotes"):
        answerer.answer(Count(), Comparison("age", "<", "thirty"))
    with pytest.raises(
        ParameterError, match=r"^predicate, character 7: column 'age' holds"
    ) as told:
        answerer.answer(Count(), "age < 'thirty'")
    assert "thirty" not in str(told.value)
    with pytest.raises(ParameterError, match=r"^query, character 40: column 'age' holds"):
        answerer.query("SELECT SUM(pay) WHERE NOT (age BETWEEN 'a' AND 3)")
    with pytest.raises(ParameterError, match="has cells outside buckets"):
        answerer.paper_interval("age", "sex = 'F'")


def test_a_layout_without_answers_is_refused(monkeypatch):
    monkeypatch.delitem(ENGINES, "local")
    with pytest.raises(ParameterError, match="no answers from the layout local yet"):
        Answerer(local())


def test_the_interval_of_the_paper_is_for_local_releases():
    manifest = local().manifest.model_copy(update={"layout": "generalized"})
    cells = pa.table({name: CELLS[name] for name in ("group", "age", "sex", "pay")})
    answerer = Answerer(Release(manifest, {"records": cells}))
    # without buckets every cell of `pay` is exact, and that of `sex` too where it is one word
    assert answerer.answer(Count(), "sex = 'F' and pay < 35") == Estimate(1.5, 1, 2)
    assert answerer.answer(Sum("pay"), "sex = 'F'") == Estimate(10 + 60, 10, 130)
    with pytest.raises(ParameterError, match="defined for the layout local"):
        answerer.paper_interval(None, "sex = 'F'")


def test_a_damaged_cell_is_named_by_its_column_alone():
    with pytest.raises(ReleaseDamaged, match=r"^attribute 'age' has cells that do not read"):
        answer(local({"age": ["[x, y]"] * 5}), Count(), "age > 20")
    with pytest.raises(ReleaseDamaged, match=r"^attribute 'sex' has cells in buckets"):
        answer(local({"sex": ["{F, M}"] * 5}), Count(), "sex = 'F'")
