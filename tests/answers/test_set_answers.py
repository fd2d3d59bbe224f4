"""Answers from random sets: against trying every value, by their expectation, and on tables."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import prod, sqrt

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from answers.every_set import Question, drawn_sets
from answers.hand_made_sets import attribute, coded_release, release
from answers.questions import any_predicates
from hypothesis import given, settings

import sfumato as sf
from sfumato.answers import Answerer, Count, Estimate, Sum, answer
from sfumato.answers.answer import ENGINES
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.predicates import And, Between, Comparison, Or, evaluate_frame, parse
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.schema import Kind, Schema

DOMAINS = {"age": (20, 21, 22, None), "sex": ("F", "M", "X"), "pay": (-2, 0, 1, 3, None)}
TYPES = {"age": "int32", "sex": "string", "pay": "int64"}
ABOUT = 1


def published(records, made, domains=None) -> Release:
    """Return a release of records, each a set an attribute."""
    domains = domains or DOMAINS
    entries, columns, sets = [], {}, {}
    for place, (name, values) in enumerate(domains.items()):
        texts = [None if value is None else str(value) for value in values]
        kind = Kind.CATEGORICAL if name == "sex" else Kind.ORDINAL
        entries.append(attribute(name, TYPES[name], texts, kind))
        codes = [[values.index(v) for v in record[place]] for record in records]
        eta = made[name][1]
        flat = pa.array([c for line in codes for c in line], pa.int8())
        listed = [value for value in values if value is not None]
        indices = pa.array(
            [None if values[c] is None else c for line in codes for c in line], pa.int8()
        )
        members = pa.DictionaryArray.from_arrays(
            indices, pa.array(listed, pa.string() if name == "sex" else TYPES[name])
        )
        offsets = pa.array(range(0, len(flat) + 1, eta), pa.int32())
        columns[name] = pa.ListArray.from_arrays(offsets, members)
        sets[name] = {"p": float(made[name][0]), "eta": eta}
    return release(entries, columns, sets)


MADE = st.fixed_dictionaries(
    {
        name: st.tuples(
            st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 4)]),
            st.integers(1, len(values) - 1),
        )
        for name, values in DOMAINS.items()
    }
)
SUMMED = st.sampled_from([None, "age", "pay"])


@st.composite
def records(draw, made):
    """Return the sets of up to three records."""
    count = draw(st.integers(1, 3))
    return [
        tuple(
            tuple(
                sorted(
                    draw(st.permutations(values))[: made[name][1]],
                    key=values.index,
                )
            )
            for name, values in DOMAINS.items()
        )
        for _ in range(count)
    ]


@settings(max_examples=80)
@given(MADE, any_predicates, SUMMED, st.data())
def test_answers_equal_those_of_trying_everything(made, predicate, summed, data):
    whole = data.draw(records(made))
    made_release = published(whole, made)
    read = predicate.attributes | ({summed} if summed else set())
    domains = {name: values for name, values in DOMAINS.items() if name in read}
    rows = [[own for n, own in zip(DOMAINS, sets, strict=True) if n in read] for sets in whole]
    question = Question(domains, made, predicate, summed)
    found = Answerer(made_release).answer(Sum(summed) if summed else Count(), predicate)
    low, high = question.bounds(rows)
    assert (found.low, found.high) == (low, high)
    total = float(sum(question.estimate(sets) for sets in rows))
    assert found.value == pytest.approx(min(max(total, low), high), abs=1e-9)
    variance = 0.0 if low == high else max(float(question.variance(rows)), 0.0)
    assert found.se**2 == pytest.approx(variance, abs=1e-8)
    if summed is not None:
        told = Question(domains, made, And((predicate, parse(f"{summed} IS NOT NULL"))), summed)
        deviation = ENGINES["sets"](made_release).deviation(summed, ABOUT, predicate)
        expected = max(float(told.variance(rows, ABOUT)), 0.0)
        assert deviation**2 == pytest.approx(expected, abs=1e-8)


@settings(max_examples=25)
@given(MADE, any_predicates, SUMMED, st.data())
def test_such_estimates_are_right_in_expectation(made, predicate, summed, data):
    """What was compared with above: over all sets that a record's values may become."""
    names = sorted(predicate.attributes | ({summed} if summed else set()))
    domains = {name: DOMAINS[name] for name in names}
    own = [data.draw(st.sampled_from(values)) for values in domains.values()]
    question = Question(domains, made, predicate, summed)
    drawn = [
        list(drawn_sets(values, value, *made[name]))
        for (name, values), value in zip(domains.items(), own, strict=True)
    ]
    mean = squares = Fraction(0)
    for several in product(*drawn):
        chance = prod((each for _, each in several), start=Fraction(1))
        sets = [chosen for chosen, _ in several]
        mean += chance * question.estimate(sets)
        squares += chance * question.estimate(sets, power=2)
    assert (mean, squares) == (question.adds(own), question.adds(own) ** 2)


# --- ranges, and attributes that were randomised as one -------------------------------------------

RANGES = ("[20, 29]", "[30, 39]", "[40, 44]", None)


def ranges(p: float = 1.0, **parameters) -> Release:
    """Return three records with two ranges each, or a missing number."""
    chosen = [[0, 1], [1, 2], [2, 3]]
    members = pa.array([None if c == 3 else c for line in chosen for c in line], pa.int8())
    cells = pa.DictionaryArray.from_arrays(members, pa.array(RANGES[:3]))
    columns = {"age": pa.ListArray.from_arrays(pa.array([0, 2, 4, 6], pa.int32()), cells)}
    made = release(
        [attribute("age", "string", RANGES, Kind.ORDINAL)], columns, {"age": {"p": p, "eta": 2}}
    )
    numbers = {"age": {"type": "int64", "kind": "numeric"}}
    parameters = {
        **made.manifest.parameters,
        "bins": {"age": [20, 30, 40, 44]},
        "types": numbers,
        **parameters,
    }
    manifest = made.manifest.model_copy(update={"parameters": parameters})
    return Release(manifest, made.tables)


def test_a_range_that_a_question_cuts_counts_by_its_share():
    answerer = Answerer(ranges())
    # x = 1, y = 1/3: a record adds (sum over its set - y times that over the domain)/(2/3)
    found = answerer.answer(Count(), "age > 34")
    sums, domain = [0.5, 1.5, 1.0], 1.5
    each = [(s - domain / 3) * 1.5 for s in sums]
    assert found.value == pytest.approx(sum(each))
    assert found.se is None  # nobody drew where in the range an age lies
    whole = answerer.answer(Count(), "age >= 30")
    adds = [(s - 2 / 3) * 1.5 for s in (1, 2, 1)]
    assert whole.se**2 == pytest.approx(sum(e * e - e for e in adds))
    assert (found.low, found.high) == (0, 3)
    assert answerer.answer(Count(), "age >= 30").low == 1
    assert answerer.answer(Count(), "age < 20") == Estimate(0, 0, 0, 0.0)
    assert answerer.answer(Count(), "age is null").high == 1
    assert answerer.answer(Count(), "age between 20 and 44").low == 2
    assert (answerer.answer(Sum("age")).low, answerer.answer(Sum("age")).high) == (50, 39 + 88)
    some = answerer.answer(Sum("age"), "age > 34")
    assert (some.low, some.high) == (0, 39 + 44 + 44)
    # the numbers of a range that satisfy the question: half of it, 37 on average
    means, whole = [18.5, 18.5 + 42, 42], 18.5 + 42
    assert some.value == pytest.approx(sum((m - whole / 3) * 1.5 for m in means))


def test_with_p_below_one_sets_exclude_nothing():
    answerer = Answerer(ranges(p=0.5))
    for question in ("age > 34", "age >= 30", "age is null", "age between 20 and 44"):
        found = answerer.answer(Count(), question)
        assert (found.low, found.high) == (0, 3)
    assert answerer.answer(Count(), "age is null or age is not null").low == 3
    assert answerer.answer(Count(), "age > 44") == Estimate(0, 0, 0, 0.0)
    total = answerer.answer(Sum("age"))
    assert (total.low, total.high) == (0, 3 * 44)


def people(rows: int, rng: np.random.Generator) -> pa.Table:
    """Return people whose attributes go together, some of them missing."""
    age = rng.integers(18, 90, rows)
    grade = np.array(["low", "middle", "high"])[np.minimum(age // 30, 2)]
    pay = (age + rng.integers(0, 30, rows)).astype(float)
    return pa.table(
        {
            "age": pa.array(age, pa.int16()),
            "grade": grade,
            "zip": pa.array([f"{i:03d}" for i in rng.integers(0, 9, rows)]),
            "pay": pa.array(np.where(rng.random(rows) < 0.05, np.nan, pay), from_pandas=True),
            "sex": rng.choice(["F", "M"], rows),
        }
    )


SCHEMA = Schema(
    (
        sf.Attribute("age", sf.Role.SENSITIVE_QUASI_IDENTIFIER),
        sf.Attribute("grade", sf.Role.SENSITIVE_QUASI_IDENTIFIER, order=("low", "middle", "high")),
        sf.Attribute("zip", sf.Role.SENSITIVE_QUASI_IDENTIFIER),
        sf.Attribute("pay", sf.Role.SENSITIVE),
        sf.Attribute("sex", sf.Role.QUASI_IDENTIFIER),
    )
)
QUESTIONS = [
    "age > 33",
    "age between 25 and 61 and sex = 'F'",
    "grade < 'high' and zip in ('001', '003')",
    "zip like '00%' and pay > 60.5",
    "(age < 40 and zip = '004') or (age >= 40 and grade = 'high')",
    "pay is null or age = 50",
]
JOINT = (("age", "grade"), ("zip", "pay"))


@pytest.mark.parametrize("joint", [(), JOINT], ids=["apart", "joint"])
@pytest.mark.parametrize("asked", [{"l": 2}, {"t": 0.6}])
@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_near_the_truth_and_bounds_hold_it(question, asked, joint):
    data = people(20_000, repeatable(5))
    method = sf.SensitiveQID(**asked, bins=8, joint=joint)
    made = method.publish(data, SCHEMA, randomness=Randomness.test(4))
    assert ("age & grade" in made.tables["records"].column_names) == bool(joint)
    answerer = Answerer(made)
    rows = evaluate_frame(parse(question), data, SCHEMA)
    count, total = answerer.answer(Count(), question), answerer.answer(Sum("age"), question)
    ages = data["age"].to_numpy()
    for found, truth, slip in (
        (count, rows.sum(), 0.1 * len(rows)),
        (total, ages[rows].sum(), 0.1 * ages.sum()),
    ):
        assert found.low <= truth <= found.high
        # numbers are taken as spread evenly over ranges, which they are not quite
        assert abs(found.value - truth) <= (slip / 5 if found.se is None else 5 * found.se) + slip
        assert found.se is None or found.se > 0
    assert total.se is None  # nobody drew where in a range an age lies


def test_a_joint_attribute_is_asked_by_its_parts_or_as_it_is():
    domain = [f"{age} & {sex}" for age in ("9", "10", "null") for sex in ("F", "M")]
    entries = [attribute("age & sex", "string", domain)]
    columns = {"age & sex": pa.array([["9 & F", "10 & M"], ["9 & M", "null & F"]])}
    made = release(entries, columns, {"age & sex": {"p": 1.0, "eta": 2}})
    parameters = {
        **made.manifest.parameters,
        "joint": {"age & sex": ["age", "sex"]},
        "types": {
            "age": {"type": "int64", "kind": "numeric"},
            "sex": {"type": "string", "kind": "categorical"},
        },
    }
    answerer = Answerer(
        Release(made.manifest.model_copy(update={"parameters": parameters}), made.tables)
    )

    def ends(question, aggregate=None):
        found = answerer.answer(aggregate or Count(), question)
        return found.low, found.high

    # as numbers 9 comes before 10, as texts after it
    assert ends("age <= 10") == (1, 2)
    assert ends("age > 9") == (0, 1)
    with pytest.raises(ParameterError, match="age"):
        ends("age like '1%'")
    assert ends("age is null") == (0, 1)
    # women of 9, or men of 10: the two are told by one set
    assert ends("(age = 9 and sex = 'F') or (age = 10 and sex = 'M')") == (1, 1)
    assert ends("age = 9 and sex = 'M'") == (0, 1)
    assert ends(Comparison("age & sex", "=", "9 & M")) == (0, 1)
    assert ends("sex = 'F'", Sum("age")) == (0, 9)
    assert ends(None, Sum("age")) == (9, 19)
    with pytest.raises(ParameterError, match="there is no column 'job'"):
        answerer.answer(Count(), "job = 'Cook'")
    with pytest.raises(ParameterError, match="column 'sex' holds string; SUM needs numbers"):
        answerer.answer(Sum("sex"))


# --- sets that were drawn at random, and others ---------------------------------------------------

ROWS, ASKED = 1_500, 400
LEAST_ROWS = 300  # of fewer, an average is a quotient with a denominator near 0
LEAST_COVERAGE, MOST_COVERAGE = 0.90, 0.99


def test_two_standard_errors_cover_the_truth():
    rng = Randomness.test(13).generator("tables")
    spans = {"age": 12, "height": 8, "pay": 10}
    schema = Schema.of(age="sensitive-quasi-identifier", height="quasi-identifier", pay="sensitive")
    inside, asked = {"count": 0, "sum": 0, "average": 0}, 0
    for seed in range(ASKED // 20):
        age = rng.binomial(spans["age"], 0.5, ROWS)
        columns = {
            "age": age,
            "height": rng.binomial(8, age / 12),
            "pay": rng.binomial(10, 0.4, ROWS),
        }
        method = sf.SensitiveQID(**([{"l": 3}, {"t": 0.5}][seed % 2]))
        made = method.publish(pa.table(columns), schema, randomness=Randomness.test(seed))
        answerer, engine = Answerer(made), ENGINES["sets"](made)
        for _ in range(20):
            names = rng.choice(list(spans), int(rng.integers(1, 4)), replace=False).tolist()
            names = list(dict.fromkeys([*names, "age"]))
            ends = {name: int(spans[name] * rng.uniform(0.3, 0.7)) for name in names}
            leaves = [Comparison(name, "<=", end) for name, end in ends.items()]
            join, combine = [(And, np.logical_and), (Or, np.logical_or)][int(rng.integers(2))]
            predicate = join(tuple(leaves)) if len(leaves) > 1 else leaves[0]
            rows = combine.reduce([columns[name] <= end for name, end in ends.items()])
            count = answerer.answer(Count(), predicate)
            if count.value < LEAST_ROWS:
                continue
            asked += 1
            total = answerer.answer(Sum("pay"), predicate)
            mean = total.value / count.value
            error = engine.deviation("pay", mean, predicate) / count.value
            inside["count"] += abs(count.value - rows.sum()) <= 2 * count.se
            inside["sum"] += abs(total.value - columns["pay"][rows].sum()) <= 2 * total.se
            inside["average"] += abs(mean - columns["pay"][rows].mean()) <= 2 * error
    assert asked > ASKED // 2
    for number in inside.values():
        assert LEAST_COVERAGE <= number / asked <= MOST_COVERAGE


def test_sets_that_were_not_drawn_answer_by_their_share():
    data = people(600, repeatable(2))
    schema = Schema.of(age="sensitive-quasi-identifier", sex="quasi-identifier")
    made = sf.Rating(l=3, bins=50).publish(
        data.select(["age", "sex"]), schema, randomness=Randomness.test(1)
    )
    answerer = Answerer(made)
    sets = made.tables["records"]["age"].to_pylist()
    found = answerer.answer(Count(), Between("age", 10, 99))
    assert (found.low, found.value, found.high) == (600, 600, 600)
    found = answerer.answer(Count(), "age > 50 and sex = 'F'")
    rows = evaluate_frame(parse("age > 50 and sex = 'F'"), data, SCHEMA)
    assert found.se is None
    assert found.low <= rows.sum() <= found.high
    sexes = made.tables["records"]["sex"].to_pylist()
    women = [own for own, sex in zip(sets, sexes, strict=True) if sex == "F"]
    assert found.low == sum(all(_lies_above(cell, 50) for cell in own) for own in women)
    assert abs(found.value - rows.sum()) < 60


def _lies_above(cell, number: int) -> bool:
    low = cell if isinstance(cell, int) else int(cell.strip("[").split(",")[0])
    return low > number


def test_what_cannot_be_answered_is_refused():
    blind = coded_release([np.array([[0, 1], [0, 1]])], [2], [(0.5, 2)])
    with pytest.raises(ParameterError, match="the sets of 'a' do not depend on the value"):
        answer(blind, Count(), "a = 1")
    assert answer(blind, Count(), "a < 5") == Estimate(2, 2, 2, 0.0)
    with pytest.raises(ParameterError, match="there is no column 'b'"):
        answer(blind, Count(), "b = 1")
    for types in ({}, 3, {"age": {"type": "int64"}}, {"age": {"type": "x", "kind": "numeric"}}):
        with pytest.raises(ReleaseDamaged, match="`types` does not say what 'age' holds"):
            answer(ranges(types=types), Count(), "age > 3")
    with pytest.raises(ReleaseDamaged, match="parameter `bins` does not list attributes"):
        answer(ranges(bins=3), Count(), "age > 3")
    many = coded_release([np.arange(40).reshape(-1, 1)], [40], [(1.0, 1)])
    crossed = Or(tuple(Comparison("a", "=", i) for i in range(3)))
    assert answer(many, Count(), crossed).value == 3


def test_many_classes_are_told_apart(monkeypatch):
    """Where there are more cells than a table should have, those that occur are numbered."""
    rng = repeatable(3)
    members = [np.sort(rng.permuted(np.tile(np.arange(9), (200, 1)), axis=1)[:, :3]) for _ in "ab"]
    made = coded_release(members, [9, 9], [(1.0, 3), (0.5, 3)])
    entries = [
        entry.model_copy(update={"kind": Kind.ORDINAL}) for entry in made.manifest.attributes
    ]
    made = Release(made.manifest.model_copy(update={"attributes": tuple(entries)}), made.tables)
    question = "(a < 3 and b > 4) or (a < 6 and b = 2) or (a = 8 and b < 4)"
    plain = answer(made, Count(), question), answer(made, Sum("a"), question)
    monkeypatch.setattr("sfumato.answers.set_levels._MOST_CELLS", 3)
    for found, expected in zip(
        (answer(made, Count(), question), answer(made, Sum("a"), question)), plain, strict=True
    ):
        assert found.value == pytest.approx(expected.value)
        assert found.se == pytest.approx(expected.se)
        assert (found.low, found.high) == (expected.low, expected.high)
    assert plain[0].se > sqrt(10)


def test_parts_of_joint_attributes_keep_their_types_and_orders():
    """The texts of a part do not tell which numbers come first, nor how wide they are."""
    rows = 120
    people = pa.table(
        {
            "grade": pa.array([1 + i % 6 for i in range(rows)]),
            "weight": pa.array([0.1 * (i % 5) for i in range(rows)], pa.float32()),
            "price": pa.array([Decimal(i % 4) for i in range(rows)], pa.decimal128(8, 2)),
            "zip": [f"{13020 + i % 3}" for i in range(rows)],
        }
    )
    secret = sf.Role.SENSITIVE_QUASI_IDENTIFIER
    schema = sf.Schema(
        (
            sf.Attribute("grade", secret, order=(6, 5, 4, 3, 2, 1)),
            *(sf.Attribute(name, secret) for name in ("weight", "price", "zip")),
        )
    )
    joint = (("grade", "weight"), ("price", "zip"))
    release = sf.SensitiveQID(l=2, joint=joint).publish(people, schema)
    truths = {
        "grade < 3": 80,  # those after 3 in the stated order come first
        "weight = 0.10000000149011612": 24,
        "price >= 2": 60,
        "zip = '13021'": 40,
    }
    for question, wanted in truths.items():
        found = release.count(question)
        assert found.low <= wanted <= found.high, question
    assert sf.audit(release).ok
    with pytest.raises(ParameterError):
        release.sum("zip")
