"""GROUP BY: every group that a row may be in, each answered as if it were asked for alone."""

from __future__ import annotations

import math
import pickle
from datetime import date

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from answers.consistent import UNHEARD_OF, holds, originals
from answers.hand_made_sets import attribute
from answers.hand_made_sets import release as set_release
from answers.questions import any_predicates
from answers.test_bounds import tiny_releases
from arbitrary.predicates import COLUMNS, predicates, tables
from hypothesis import given, reject, settings

import sfumato as sf
from sfumato.answers import Answerer, Average, Count, Query, Sum
from sfumato.errors import ParameterError
from sfumato.predicates import And, Comparison, IsMissing, evaluate_frame
from sfumato.release import AttributeEntry, Manifest, TableEntry
from sfumato.schema import Kind, Role

AGGREGATES = st.sampled_from([Count(), Sum("pay"), Average("pay")])
COLUMNS_OF = st.lists(st.sampled_from(["age", "sex", "pay"]), min_size=1, max_size=2, unique=True)


def same(one, other) -> bool:
    """Return whether two estimates are equal, numbers that are none being equal, too."""
    pairs = zip(
        (one.value, one.low, one.high, one.se),
        (other.value, other.low, other.high, other.se),
        strict=True,
    )
    return all(a == b or (a is not None and math.isnan(a) and math.isnan(b)) for a, b in pairs)


@settings(max_examples=60)
@given(tiny_releases(), COLUMNS_OF, st.none() | any_predicates, AGGREGATES)
def test_groups_are_those_that_originals_have_and_answered_alone(release, names, where, aggregate):
    answerer = Answerer(release)
    try:
        result = answerer.query(Query(aggregate, tuple(names), where))
    except ParameterError as error:
        assert "the release names none of them" in str(error)
        assert "*" in release.tables["records"]["sex"].to_pylist()
        reject()
    found = {row.group: row.estimate for row in result.rows}
    assert len(found) == len(result.rows)
    read = sorted({*names, *(where.attributes if where else ())})
    may_be = {
        tuple(row[name] for name in names)
        for table in originals(release, read)
        for row in table
        if where is None or holds(where, row)
    }
    # a value that the release does not name is in no group
    assert {group for group in may_be if UNHEARD_OF not in group} <= found.keys()
    for group, estimate in found.items():
        parts = [_is(name, value) for name, value in zip(names, group, strict=True)]
        parts += [] if where is None else [where]
        alone = parts[0] if len(parts) == 1 else And((*parts[len(names) :], *parts[: len(names)]))
        assert same(answerer.answer(aggregate, alone), estimate)
        assert answerer.answer(Count(), alone).high > 0


def _is(name, value):
    return IsMissing(name) if value is None else Comparison(name, "=", value)


@settings(max_examples=40)
@given(tables(max_rows=8), st.none() | predicates, st.sampled_from(list(COLUMNS)))
def test_every_type_can_be_grouped_by_or_is_refused(table, where, name):
    schema = sf.Schema.of(dict.fromkeys(COLUMNS, "quasi-identifier"))
    release = sf.Mondrian(k=1).publish(table, schema)
    try:
        result = release.query(Query(Count(), (name,), where))
    except ParameterError as error:
        assert "cannot be listed" in str(error) or "too many to list" in str(error)
        reject()
    kept = table if where is None else table.filter(pa.array(evaluate_frame(where, table, schema)))
    # with k = 1 every cell is exact
    assert sum(row.estimate.value for row in result.rows) == kept.num_rows
    counts = sorted(row.estimate.value for row in result.rows)
    assert counts == sorted(
        kept.group_by(name).aggregate([([], "count_all")])["count_all"].to_pylist()
    )


@pytest.fixture(scope="module")
def release() -> sf.Release:
    ages = [21, 22, 23, 24, 31, 32, 33, None]
    jobs = ["Cook", "Nurse", "Cook", None, "Nurse", "Nurse", "Cook", "Cook"]
    data = pa.table({"age": ages, "job": jobs, "pay": [1.5, 2, 2, 3, 3, 4, 4, None]})
    roles = {"age": "quasi-identifier", "job": "sensitive", "pay": "quasi-identifier"}
    return sf.Mondrian(k=4).publish(data, sf.Schema.of(roles))


def test_whole_numbers_of_ranges_are_listed_in_order_and_missing_ones_last(release):
    assert release.tables["records"]["age"].to_pylist().count("[21, 24]") == 4
    result = release.query("SELECT age, COUNT(*) GROUP BY age")
    ages = [row.group[0] for row in result.rows]
    assert ages == [*range(21, 25), *range(31, 34), None]
    assert result.group_by == ("age",)
    narrowed = release.query("SELECT age, COUNT(*) WHERE age > 23 AND age < 32 GROUP BY age")
    assert [row.group for row in narrowed.rows] == [(24,), (31,)]
    assert narrowed.rows[0].estimate.high == 4


def test_without_groups_there_is_one_row_even_of_nothing(release):
    result = release.query("SELECT COUNT(*) WHERE job = 'Baker'")
    assert [(row.group, row.estimate.high) for row in result.rows] == [((), 0)]
    assert release.query("SELECT job, COUNT(*) WHERE job = 'Baker' GROUP BY job").rows == ()


def test_the_order_of_columns_is_that_of_select(release):
    result = release.query("SELECT job, AVG(age), age WHERE age < 23 GROUP BY age, job")
    assert result.group_by == ("job", "age")
    assert [row.group for row in result.rows][:2] == [("Cook", 21), ("Cook", 22)]


def test_fractions_of_a_range_are_refused(release):
    with pytest.raises(ParameterError, match="ranges of fractions; ask for intervals by BETWEEN"):
        release.query("SELECT pay, COUNT(*) GROUP BY pay")


def test_too_many_values_or_combinations_are_refused():
    numbers = [0, 20_000, 0, 20_000]
    narrow = [7, 157, 7, 157]
    data = pa.table({"a": narrow, "b": narrow, "wide": numbers, "s": ["x", "y", "x", "y"]})
    roles = dict.fromkeys(("a", "b", "wide"), "quasi-identifier") | {"s": "sensitive"}
    release = sf.Mondrian(k=4).publish(data, sf.Schema.of(roles))
    with pytest.raises(ParameterError, match="column 'wide' may have more than 10000 values"):
        release.query("SELECT wide, COUNT(*) GROUP BY wide")
    few = release.query("SELECT wide, COUNT(*) WHERE wide BETWEEN 5 AND 7 GROUP BY wide")
    assert [row.group for row in few.rows] == [(5,), (6,), (7,)]
    with pytest.raises(ParameterError, match=r"22801 combinations of values \('a' 151, 'b' 151\)"):
        release.query("SELECT a, b, COUNT(*) GROUP BY a, b")
    some = release.query("SELECT a, b, COUNT(*) WHERE a < 10 AND b = 7 GROUP BY a, b")
    assert len(some.rows) == 3


def test_columns_with_values_that_are_named_nowhere_are_told():
    jobs = ["Cook", "Nurse", "Baker", "Clerk"]
    data = pa.table({"job": jobs, "s": ["x", "y", "x", "y"]})
    paths = [("In", "*"), ("Out", "*"), ("In", "*"), ("Out", "*")]
    tree = sf.Hierarchy("job", tuple(jobs), tuple(paths))
    schema = sf.Schema(
        (
            sf.Attribute("job", Role.QUASI_IDENTIFIER, hierarchy=tree),
            sf.Attribute("s", Role.SENSITIVE),
        )
    )
    result = sf.Mondrian(k=2).publish(data, schema).query("SELECT job, COUNT(*) GROUP BY job")
    assert [row.group[0] for row in result.rows] == sorted(jobs)
    assert any("'job' may have values that the release names nowhere" in n for n in result.notes)


def test_ordinal_groups_stand_in_their_order():
    data = pa.table({"size": ["S", "L", "M", "S"], "s": ["x", "y", "x", "y"]})
    schema = sf.Schema(
        (
            sf.Attribute("size", Role.QUASI_IDENTIFIER, order=("S", "M", "L")),
            sf.Attribute("s", Role.SENSITIVE),
        )
    )
    result = sf.Mondrian(k=1).publish(data, schema).query("SELECT size, COUNT(*) GROUP BY size")
    assert [row.group[0] for row in result.rows] == ["S", "M", "L"]


def test_groups_of_random_sets_are_the_values_of_their_domain():
    """Also of attributes that were randomised as one, and a missing value where it is listed."""
    pairs = attribute("job & sex", "string", ["Cook & F", "Cook & M", "Nurse & F", "null & M"])
    ages = attribute("age", "int32", ["20", "30", "40"], Kind.ORDINAL)
    columns = {
        "job & sex": [
            ["Cook & F", "Nurse & F"],
            ["Cook & M", "Nurse & F"],
            ["Cook & F", "null & M"],
        ],
        "age": pa.array([[20, 30], [20, 30], [30, 40]], pa.list_(pa.int32())),
    }
    sets = {"job & sex": {"p": 1.0, "eta": 2}, "age": {"p": 1.0, "eta": 2}}
    made = set_release([pairs, ages], columns, sets)
    text = {"type": "string", "kind": "categorical"}
    stated = made.manifest.parameters | {
        "joint": {"job & sex": ["job", "sex"]},
        "types": {"job": text, "sex": text},
    }
    manifest = made.manifest.model_copy(update={"parameters": stated})
    release = sf.Release(manifest, made.tables)
    result = release.query("SELECT job, COUNT(*) GROUP BY job")
    found = {row.group[0]: (row.estimate.low, row.estimate.high) for row in result.rows}
    assert found == {"Cook": (0, 3), "Nurse": (0, 2), None: (0, 1)}
    result = release.query("SELECT age, sex, COUNT(*) WHERE age > 20 GROUP BY age, sex")
    assert [row.group for row in result.rows] == [(30, "F"), (30, "M"), (40, "F"), (40, "M")]
    average = release.average("age")
    assert 20 <= average.low <= (20 + 20 + 30) / 3
    assert (30 + 30 + 40) / 3 <= average.high <= 40


def test_refusals_of_group_columns_have_their_places():
    size = 151
    data = pa.table(
        {
            "a": list(range(size)),
            "b": list(range(size)),
            "x": [n / 7 for n in range(size)],
            "s": ["u", "v", "w"] * 50 + ["u"],
        }
    )
    schema = sf.Schema.of(a="sensitive", b="sensitive", x="quasi-identifier", s="sensitive")
    release = sf.Mondrian(k=5).publish(data, schema)
    with pytest.raises(ParameterError, match=r"query, character 32: there are 22801 combin"):
        release.query("SELECT b, a, COUNT(*) GROUP BY a, b")
    with pytest.raises(ParameterError, match=r"query, character 35: .*'x' cannot be listed"):
        release.query("SELECT x, s, COUNT(*) GROUP BY s, x")
    with pytest.raises(ParameterError, match=r"^the values of column 'x' cannot be listed"):
        release.query(Query(Count(), ("x",)))  # without a text there is no place


def test_what_cannot_be_summed_is_refused_without_any_group():
    data = pa.table({"age": [1, 2, 3, 4], "job": ["Cook", "Nurse"] * 2, "sex": ["F"] * 4})
    schema = sf.Schema.of(age="quasi-identifier", job="sensitive", sex="quasi-identifier")
    for method in (sf.Mondrian(k=2), sf.Anatomy(l=2)):
        release = method.publish(data, schema)
        for aggregate in ("SUM", "AVG"):
            ask = f"SELECT sex, {aggregate}(job) WHERE age > 99 GROUP BY sex"
            with pytest.raises(ParameterError, match=f"character 17: .*; {aggregate} needs numb"):
                release.query(ask)


# --- what is told beside the numbers --------------------------------------------------------------


def told(release: sf.Release, **changes) -> str:
    manifest = release.manifest.model_copy(update=changes)
    return " ".join(sf.Release(manifest, release.tables).query("SELECT COUNT(*)").notes)


def test_notes_say_what_the_release_is_of(release):
    assert told(release) == ""
    assert "nothing is known of 3 that were withheld" in told(release, suppressed=3)
    assert "sample (0.5 of the people)" in told(release, parameters={"sample": 0.5})
    assert "redrawn with probability 0.2" in told(release, parameters={"perturb": 0.2})
    noisy = ({"model": "differential-privacy", "epsilon": 1.0},)
    assert "counts are noisy" in told(release, guarantees=noisy)


def test_standard_errors_are_labelled():
    data = pa.table({"age": [20, 21, 22, 23] * 5, "job": ["Cook", "Nurse", "Baker", "Clerk"] * 5})
    schema = sf.Schema.of(age="quasi-identifier", job="sensitive")
    release = sf.Anatomy(l=2).publish(data, schema)
    result = release.query("SELECT COUNT(*) WHERE age = 20 AND job = 'Cook'")
    assert result.rows[0].estimate.se
    assert any("matched at random within groups" in note for note in result.notes)
    assert release.query("SELECT COUNT(*) WHERE age = 20").notes == ()


def test_fakes_are_told():
    data = pa.table({"age": list(range(20, 60)), "job": ["Cook", "Nurse", "Baker", "Clerk"] * 10})
    schema = sf.Schema.of(age="quasi-identifier", job="sensitive")
    release = sf.Merging(l=2, fakes=2).publish(data, schema)
    (note,) = [note for note in release.query("SELECT COUNT(*)").notes if "fake" in note]
    assert note.startswith(f"2 of the {release.manifest.rows} published records are fake")


# --- what a release promises ----------------------------------------------------------------------


def test_a_release_answers_by_itself(release):
    answerer = Answerer(release)
    where = "age > 30 and job = 'Nurse'"
    assert release.count(where) == answerer.answer(Count(), where)
    assert release.sum("age", where) == answerer.answer(Sum("age"), where)
    assert release.average("age", where) == answerer.answer(Average("age"), where)
    assert release.count().value == 8
    assert release.query(Query(Count())).rows[0].estimate == release.count()


def test_a_release_is_read_once_and_pickled_without_what_was_read(release):
    release.count("age > 30")
    assert release._answerer() is release._answerer()
    again = pickle.loads(pickle.dumps(release))
    assert again._kept is None
    assert again.count("age > 30") == release.count("age > 30")


def test_a_plausible_table_is_that_of_its_seed(release):
    one, same_one, other = (release.to_microdata(seed) for seed in (1, 1, 2))
    assert one.equals(same_one)
    assert not one.equals(other)
    assert one.column_names == ["age", "job", "pay"]
    assert one.num_rows == 8
    with pytest.raises(ParameterError, match="from 0 on"):
        release.to_microdata(-1)


def test_results_as_plain_data():
    entry = AttributeEntry(name="value", role=Role.SENSITIVE, kind=Kind.CATEGORICAL, type="string")
    manifest = Manifest(
        method="by hand",
        layout="generalized",
        software="by hand",
        created=date(2026, 1, 31),
        rows=2,
        attributes=(entry,),
        tables=(TableEntry(name="records", attributes=("value",), group="group"),),
    )
    table = pa.table({"group": pa.array([1, 1], pa.int32()), "value": ["x", None]})
    clash = sf.Release(manifest, {"records": table})
    result = clash.query("SELECT value, COUNT(*) GROUP BY value")
    assert [row.group for row in result.rows] == [("x",), (None,)]
    with pytest.raises(ParameterError, match="'value' has the name of a number"):
        result.to_dict()
    assert clash.query("SELECT COUNT(*)").to_dict() == {
        "rows": [{"value": 2.0, "low": 2.0, "high": 2.0, "se": 0.0}],
        "notes": [],
    }
