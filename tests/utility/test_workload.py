"""Random queries: as many conditions and rows as asked for, with the truth counted by DuckDB."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from sfumato.answers.estimate import Average, Count, Sum
from sfumato.datasets import census, census_schema
from sfumato.errors import ParameterError
from sfumato.predicates import And, Between, OneOf
from sfumato.randomness import repeatable
from sfumato.schema import Kind, Schema
from sfumato.table import encode
from sfumato.utility.workload import can_be_asked, workload

ROWS = 4_000
NAMES = ["age", "sex", "education", "occupation", "hours_per_week"]


@pytest.fixture(scope="module")
def data() -> pa.Table:
    return census(ROWS, seed=2)


@pytest.fixture(scope="module")
def table(data):
    return encode(data, census_schema())


def asked(table, **changes):
    given = {"queries": 60, "dimension": 2, "selectivity": 0.2, "rng": repeatable(3)}
    return workload(table, NAMES, **(given | changes))


@pytest.mark.parametrize("dimension", [1, 2, 4])
@pytest.mark.parametrize("aggregate", [Count(), Sum("salary"), Average("salary")])
def test_truths_are_those_of_a_database(table, data, dimension, aggregate):
    people = data
    plain = [name for name in NAMES if table[name].kind is not Kind.ORDINAL]  # SQL knows no order
    assert len(plain) == 4
    for probe in workload(
        table,
        plain,
        queries=15,
        dimension=dimension,
        selectivity=0.2,
        aggregate=aggregate,
        rng=repeatable(3),
    ):
        asked_for = f"SELECT {aggregate} FROM people WHERE {probe.predicate}"
        ((found,),) = duckdb.sql(asked_for).fetchall()
        if found is None:
            assert probe.truth == 0 or np.isnan(probe.truth)
        else:
            assert probe.truth == pytest.approx(float(found))
        assert len(probe.predicate.attributes) == dimension
    assert people.num_rows == ROWS


@pytest.mark.parametrize("selectivity", [0.02, 0.1, 0.5])
def test_single_conditions_meet_the_share_asked_for(table, selectivity):
    """Ages lie close together, so their ranges can be cut where they must be."""
    probes = workload(
        table, ["age"], queries=200, dimension=1, selectivity=selectivity, rng=repeatable(1)
    )
    shares = np.array([probe.truth / ROWS for probe in probes])
    assert all(isinstance(probe.predicate, Between) for probe in probes)
    assert shares.mean() == pytest.approx(selectivity, rel=0.15)


def test_categories_are_sets_and_meet_the_share(table):
    probes = workload(
        table, ["occupation"], queries=200, dimension=1, selectivity=0.3, rng=repeatable(1)
    )
    assert all(isinstance(probe.predicate, OneOf) for probe in probes)
    assert np.mean([probe.truth / ROWS for probe in probes]) == pytest.approx(0.3, rel=0.15)


def test_more_conditions_meet_as_many_rows(table):
    """Each condition takes its part, so that dimensions can be compared."""
    means = [
        np.mean([p.truth / ROWS for p in asked(table, dimension=d, queries=300)]) for d in (1, 3)
    ]
    assert means == pytest.approx([0.2, 0.2], rel=0.5)


def test_the_same_generator_asks_the_same(table):
    assert asked(table) == asked(table)
    assert asked(table) != asked(table, rng=repeatable(4))


def test_without_a_selectivity_relations_are_random(table):
    probes = asked(table, selectivity=None, nonzero=True, dimension=4)
    assert all(isinstance(probe.predicate, And) and probe.truth > 0 for probe in probes)
    assert any(" != " in str(probe.predicate) for probe in probes)


def test_sets_are_not_endless():
    names = pa.table({"name": [f"n{i}" for i in range(2_000)] * 2})
    table = encode(names, Schema.of(name="sensitive"))
    (probe,) = workload(table, ["name"], queries=1, dimension=1, selectivity=0.9, rng=repeatable(1))
    assert len(probe.predicate.values) == 100


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dimension": 6}, "1 to 5 attributes"),
        ({"dimension": 0}, "1 to 5 attributes"),
        ({"selectivity": 0}, "share of the rows"),
        ({"selectivity": 1.1}, "share of the rows"),
        ({"queries": 0}, "at least one query"),
        ({"aggregate": Sum("sex")}, "does not hold numbers"),
    ],
)
def test_workloads_that_make_no_sense_are_refused(table, changes, message):
    with pytest.raises(ParameterError, match=message):
        asked(table, **changes)


def test_queries_that_are_all_0_are_not_looked_for_without_end():
    table = encode(pa.table({"x": [0, 0, 0]}), Schema.of(x="sensitive"))
    with pytest.raises(ParameterError, match="nearly all random queries are 0"):
        workload(
            table,
            ["x"],
            queries=1,
            dimension=1,
            selectivity=1,
            aggregate=Sum("x"),
            nonzero=True,
            rng=repeatable(1),
        )


def test_columns_that_no_literal_compares_with_are_not_asked():
    data = pa.table({"when": pa.array([1, 2], pa.duration("s")), "x": [1, 2], "no": pa.nulls(2)})
    table = encode(data, Schema.of(when="sensitive", x="sensitive", no="sensitive"))
    assert [can_be_asked(column) for column in table.columns] == [False, True, False]
    with pytest.raises(ParameterError, match="'when'"):
        workload(table, ["when"], queries=1, dimension=1, selectivity=1, rng=repeatable(1))
