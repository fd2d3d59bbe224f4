"""Answers from releases of Merging: bounds hold the truth in spite of fakes and general cells."""

from __future__ import annotations

import hypothesis.strategies as st
import pyarrow as pa
from answers.consistent import aggregate
from answers.questions import any_predicates
from hypothesis import given, settings

from sfumato.answers import Answerer, Count, Sum
from sfumato.errors import Infeasible, ParameterError
from sfumato.methods.merging import Merging
from sfumato.predicates import Comparison
from sfumato.randomness import Randomness, repeatable
from sfumato.schema import Schema

SCHEMA = Schema.of(
    age="quasi-identifier", sex="quasi-identifier", pay="sensitive", place="sensitive"
)
TYPES = {"age": pa.int64(), "sex": pa.string(), "pay": pa.int64(), "place": pa.string()}
RULES = ("sex = 'M' AND pay IN (-2, 0, 3)", "age >= 22 AND pay < 1", "age = 20 AND pay = 2")


@st.composite
def people(draw):
    some = draw(st.booleans())
    row = {
        "age": st.integers(20, 23) | (st.none() if some else st.nothing()),
        "sex": st.sampled_from(["F", "M"]) | (st.none() if some else st.nothing()),
        "pay": st.integers(-2, 3) | (st.none() if some else st.nothing()),
        "place": st.sampled_from("abcd"),
    }
    return draw(st.lists(st.fixed_dictionaries(row), min_size=4, max_size=24))


METHODS = st.builds(
    Merging,
    l=st.just(2) | st.just(1),
    k=st.integers(1, 3),
    columns=st.sampled_from([1, 2]),
    fakes=st.sampled_from([0, 1, 2, "20%"]),
    incompatible=st.lists(st.sampled_from(RULES), unique=True),
    expected=st.sampled_from([None, 0.5, 1.0]),
    min_class=st.integers(3, 6),
    collapse=st.none(),
)


@settings(max_examples=300)
@given(
    people(),
    METHODS,
    st.lists(any_predicates, min_size=3, max_size=6),
    st.integers(0, 99),
)
def test_bounds_hold_the_truth(rows, method, predicates, seed):
    data = pa.table({n: pa.array([row[n] for row in rows], TYPES[n]) for n in TYPES})
    try:
        release = method.publish(data, SCHEMA, randomness=Randomness.test(seed))
    except (Infeasible, ParameterError):
        return
    answerer = Answerer(release)
    for predicate in predicates:
        for summed in (None, "pay"):
            truth = aggregate(rows, predicate, summed)
            found = answerer.answer(Sum(summed) if summed else Count(), predicate)
            assert found.low <= truth <= found.high
            assert found.low <= found.value <= found.high
    everybody = answerer.answer(Count())
    assert everybody.low == everybody.value == everybody.high == len(rows)


def test_estimates_take_the_fakes_off():
    """Half as many fakes again: a count that forgets them is half too high."""
    rows = 2_000
    rng = repeatable(3)
    data = pa.table(
        {
            "age": rng.integers(20, 60, rows),
            "sex": ["F" if i else "M" for i in rng.integers(0, 2, rows)],
            "pay": rng.integers(0, 50, rows),
            "place": ["abcd"[i] for i in rng.integers(0, 4, rows)],
        }
    )
    method = Merging(l=2, fakes="50%", incompatible=("sex = 'M' AND pay < 5",))
    answerer = Answerer(method.publish(data, SCHEMA, randomness=Randomness.test(1)))
    for predicate in (Comparison("age", "<", 40), Comparison("pay", ">=", 25)):
        truth = aggregate(data.to_pylist(), predicate, None)
        found = answerer.answer(Count(), predicate)
        assert abs(found.value - truth) < 0.1 * truth
        assert found.low <= truth <= found.high
    truth = sum(data["pay"].to_pylist())
    found = answerer.answer(Sum("pay"))
    assert abs(found.value - truth) < 0.1 * truth
    assert found.low <= truth <= found.high
