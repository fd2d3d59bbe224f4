"""The whole assessment: adversaries, k-map, weights, households, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import risk as oracle
from risk.people import people, table_of

from sfumato.errors import ParameterError
from sfumato.jobs.risk import risk_of
from sfumato.risk import assess, records_of
from sfumato.risk.households import unique_compositions
from sfumato.risk.individual import chance_below, mean_inverse
from sfumato.schema import Schema
from sfumato.table import Table


@given(people(), st.booleans())
def test_prosecutor_and_classes(rows, with_units):
    who = [person if with_units else place for place, (person, _) in enumerate(rows)]
    sizes = oracle.class_sizes(oracle.distinct_records(who, [row for _, row in rows]))
    found = assess(table_of(rows, with_units=with_units), max_size=2)
    assert found.prosecutor.highest == 1 / min(sizes)
    assert found.prosecutor.mean == pytest.approx(sum(1 / s for s in sizes) / len(sizes))
    assert found.marketer == found.prosecutor.mean
    for k, share in found.prosecutor.above.items():
        assert share == pytest.approx(sum(s < k for s in sizes) / len(sizes))
    for each in found.below:
        assert each.records == sum(s < each.k for s in sizes)
    assert sum(bar.records for bar in found.histogram) == len(sizes)
    assert found.journalist == {}
    assert found.k_map == ()
    assert found.estimates == ()
    assert "nothing is known of a population" in found.notes[0]
    json.dumps(found.to_dict(), allow_nan=False)


@given(people(columns=2, most=10), people(columns=2, most=20), st.booleans())
def test_a_population_is_counted(sample, others, with_units):
    """Rows of the sample belong to the population, as do others."""
    others = [(person + 100, row) for person, row in others]
    whole = table_of([*sample, *others], with_units=with_units)
    table = _first(whole, len(sample))
    found = assess(table, population=whole, max_size=1)
    places = range(len(sample) + len(others))
    rows = [*sample, *others]
    who = [rows[i][0] if with_units else i for i in places]
    population = oracle.distinct_records(who, [row for _, row in rows])
    mine = oracle.distinct_records(who[: len(sample)], [row for _, row in sample])
    sizes = [len({p for p, other in population if other == row}) for _, row in mine]
    assert found.journalist["counted"].mean == pytest.approx(np.mean([1 / s for s in sizes]))
    assert found.marketer == found.journalist["counted"].mean
    (k_map,) = found.k_map
    assert k_map.smallest == min(sizes)
    assert k_map.contradicted == 0
    for k, share in k_map.below.items():
        assert share == pytest.approx(np.mean([s < k for s in sizes]))
    everyone = oracle.class_sizes(population)
    assert found.population_uniques == everyone.count(1)
    assert found.uniques_in_sample == sizes.count(1)
    assert found.sampling.population == len(population)


def _first(table: Table, rows: int) -> Table:
    from dataclasses import replace

    columns = tuple(replace(c, codes=c.codes[:rows].copy()) for c in table.columns)
    units = None if table.units is None else table.units[:rows].copy()
    return Table(table.schema, columns, rows, units)


def test_a_population_without_the_data_is_noted():
    whole = table_of([(0, (1, 1)), (1, (1, 1)), (2, (2, 2)), (3, (3, 3)), (4, (3, 3))])
    table, other = _first(whole, 2), _first(whole, 5)
    other = Table(
        other.schema,
        tuple(type(c)(c.attribute, c.codes[2:].copy(), c.values, c.dtype) for c in other.columns),
        3,
    )
    found = assess(table, population=other)
    assert found.k_map[0].contradicted == 1
    assert found.k_map[0].smallest == 2
    assert "1 classes have more people in the data" in found.notes[0]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 29, 30, 31, 100])
@pytest.mark.parametrize("p", [0.002, 0.01, 0.3, 0.4999, 0.5, 0.7, 0.999, 1.0])
def test_individual_risk_is_the_mean_of_its_posterior(size, p):
    exact, chances = oracle.negative_binomial(size, p)
    assert mean_inverse(np.array([size]), np.array([p]))[0] == pytest.approx(exact, rel=1e-10)
    for k in (1, 2, 3, 5, 10, 35):
        below = sum(chances[: max(0, k - size)])
        assert chance_below(np.array([size]), np.array([p]), k)[0] == pytest.approx(below)


def test_risks_by_weights_and_by_an_equal_fraction_agree():
    rows = [(i, (i % 3, i % 5)) for i in range(40)] + [(50 + i, (9, i)) for i in range(4)]
    table = table_of(rows)
    equal = assess(table, weights=np.full(44, 20.0))
    stated = assess(table, fraction=0.05)
    one, other = (each.journalist["negative-binomial"] for each in (equal, stated))
    assert one.mean == pytest.approx(other.mean)
    assert one.weighted_mean == pytest.approx(one.mean)
    assert other.weighted_mean is None
    assert equal.sampling.fraction == pytest.approx(0.05)
    assert equal.estimates == stated.estimates
    assert next(iter(equal.journalist)) == "negative-binomial"
    assert next(iter(stated.journalist)) == "pitman"
    assert stated.marketer == stated.journalist["pitman"].mean


def test_weights_tell_of_their_own_class():
    table = table_of([(0, (0, 0)), (1, (1, 0)), (2, (1, 0))])
    weights = np.array([4.0, 30.0, 70.0])
    found = assess(table, weights=weights)
    risks = [oracle.negative_binomial(1, 1 / 4)[0], *[oracle.negative_binomial(2, 2 / 100)[0]] * 2]
    level = found.journalist["negative-binomial"]
    assert level.highest == pytest.approx(max(risks))
    assert level.weighted_mean == pytest.approx(np.average(risks, weights=weights))
    assert found.sample_uniques.weighted_share == pytest.approx(4 / 104)
    scaled = assess(table, weights=weights / 104, population_size=104)
    assert scaled.journalist["negative-binomial"].mean == pytest.approx(level.mean)
    assert scaled.notes[0].startswith("weights were scaled")
    with pytest.raises(ParameterError, match="add up to less than the 3 records"):
        assess(table, weights=weights / 104)


def test_data_that_are_the_population():
    table = table_of([(0, (0, 0)), (1, (1, 0)), (2, (1, 0))])
    found = assess(table, fraction=1.0)
    assert (found.population_uniques, found.uniques_in_sample, found.estimates) == (1, 1, ())
    assert found.journalist["negative-binomial"].mean == pytest.approx(found.prosecutor.mean)


@given(people(columns=2, most=16), st.lists(st.integers(0, 5), min_size=16, max_size=16))
def test_households(rows, homes):
    homes = homes[: len(rows)]
    table = table_of(rows, with_units=False)
    found = assess(table, households=np.array(homes), max_size=1).households
    values = [row for _, row in rows]
    risks: dict[int, list[float]] = {}
    sizes = oracle.class_sizes(list(enumerate(values)))
    for home, size in zip(homes, sizes, strict=True):
        risks.setdefault(home, []).append(1 / size)
    expected = oracle.household_risks(risks)
    assert found.count == len(expected)
    assert found.members == "prosecutor"
    assert found.risk.highest == pytest.approx(max(expected.values()))
    assert found.risk.mean == pytest.approx(np.mean(list(expected.values())))
    assert found.unique == oracle.unique_households(homes, values)
    classes = records_of(table).ids
    _, codes = np.unique(homes, return_inverse=True)
    assert unique_compositions(codes.astype(np.int32), classes) == found.unique


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fraction": 0.0}, "above 0 and is 1 at most"),
        ({"fraction": 1.5}, "above 0 and is 1 at most"),
        ({"fraction": float("nan")}, "above 0 and is 1 at most"),
        ({"population_size": 2}, "said to have 2 people, and the data have 3"),
        ({"population_size": 5, "fraction": 0.5}, "stated twice"),
        ({"max_size": 0}, "at least 1"),
    ],
)
def test_refusals(options, message):
    table = table_of([(0, (0, 0)), (1, (1, 0)), (2, (1, 0))])
    with pytest.raises(ParameterError, match=message):
        assess(table, **options)


def test_an_empty_table_is_refused():
    with pytest.raises(ParameterError, match="no rows"):
        assess(_first(table_of([(0, (0, 0))]), 0))


def test_a_model_at_its_bound_is_noted():
    """Classes of equal size speak against a long tail, so alpha is 0."""
    rows = [(i, (i // 2, 0)) for i in range(40)]
    found = assess(table_of(rows), fraction=0.1, max_size=1)
    assert found.estimates[0].parameters["alpha"] == 0
    assert any("met its bound alpha = 0" in note for note in found.notes)


def test_a_sample_without_any_two_alike_is_not_called_safe():
    people = pa.table({"age": list(range(50)), "ill": ["Flu", "Gout"] * 25})
    schema = Schema.of(age="quasi-identifier", ill="sensitive")
    found = risk_of(people, schema, fraction=0.01)
    assert next(iter(found.journalist)) == "upper bound"
    assert found.marketer == 1.0
    assert any("cannot be fitted" in note for note in found.notes)
