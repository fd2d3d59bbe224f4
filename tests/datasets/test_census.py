"""The synthetic census: repeatable, believable, and nothing impossible in it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from oracles.dataset_facts import codes, median, phi_squared, rows_where, share

from sfumato.datasets import census, census_batches
from sfumato.datasets.occupations import EDUCATION, OCCUPATIONS
from sfumato.datasets.places import REGIONS
from sfumato.datasets.sampling import BATCH_ROWS
from sfumato.errors import ParameterError

ROWS = 100_000


@pytest.fixture(scope="module")
def people() -> pa.Table:
    return census(ROWS, seed=3)


@pytest.fixture(scope="module")
def workers(people) -> pa.Table:
    kept = people.filter(pc.and_(people["occupation"].is_valid(), people["salary"].is_valid()))
    return kept.filter(kept["hours_per_week"].is_valid())


@pytest.mark.parametrize("rows", [1, 7, ROWS])
def test_same_seed_same_table_and_shorter_is_a_prefix(people, rows):
    again = census(rows, seed=3)
    assert again.num_rows == rows
    assert again == people.slice(0, rows)


def test_another_seed_is_another_table(people):
    other = census(ROWS, seed=4)
    for name in ("age", "zipcode", "occupation", "salary"):
        assert share(pc.equal(other[name], people[name])) < 0.1


def test_batches_are_the_table():
    rows = BATCH_ROWS + 3
    pieces = list(census_batches(rows, seed=3))
    assert [piece.num_rows for piece in pieces] == [BATCH_ROWS, 3]
    table = pa.Table.from_batches(pieces)
    assert table.slice(BATCH_ROWS) == census(rows, seed=3).slice(BATCH_ROWS)
    assert pc.count_distinct(table["name"]).as_py() == rows


def test_no_rows_are_refused():
    with pytest.raises(ParameterError, match="at least 1 row"):
        census(0)


def test_names_are_unique(people):
    assert pc.count_distinct(people["name"]).as_py() == ROWS


def test_marginals(people):
    ages = people["age"].to_numpy()
    assert ages.min() == 16
    assert ages.max() == 95
    assert 45 < ages.mean() < 54
    assert 0.49 < share(pc.equal(people["sex"], "Female")) < 0.54
    assert 0.4 < share(pc.equal(people["marital_status"], "Married")) < 0.55
    assert 0.5 < share(pc.equal(people["employment"], "Employee")) < 0.65
    known = people.filter(people["occupation"].is_valid())
    counts = np.bincount(codes(known["occupation"]))
    assert len(counts) == len(OCCUPATIONS)
    assert counts.max() * 10 < len(known)
    assert people["education"].combine_chunks().type.ordered


def test_salary_is_a_number_with_many_values(people):
    salary = people["salary"].drop_null().to_numpy()
    assert people.schema.field("salary").type == pa.int32()
    assert 0.01 < people["salary"].null_count / ROWS < 0.03
    assert salary.min() > 0
    assert (salary % 100 == 0).all()
    # Even 20-diversity of the salary stays far from infeasible.
    assert np.bincount(salary // 100).max() * 100 < ROWS
    assert salary.mean() > 1.15 * np.median(salary)  # skewed to the right


def test_nulls_are_where_real_data_has_them(people):
    assert 0.01 < people["birthplace"].null_count / ROWS < 0.02
    assert 0.04 < people["occupation"].null_count / ROWS < 0.12
    working = pc.is_in(people["employment"], pa.array(["Employee", "Self-employed"]))
    assert pc.equal(working, people["hours_per_week"].is_valid()).to_pylist().count(False) == 0
    for name in ("age", "sex", "zipcode", "marital_status", "employment", "household_size"):
        assert people[name].null_count == 0


def test_impossible_combinations_never_occur(people):
    needs = {job.name: job.needs for job in OCCUPATIONS}
    youngest = {job.name: job.youngest for job in OCCUPATIONS}
    for name in needs:
        who = rows_where(people, occupation=name)
        levels = set(who["education"].drop_null().cast(pa.string()).unique().to_pylist())
        assert not levels & set(EDUCATION[: needs[name]]), name
        assert pc.min(who["age"]).as_py() >= youngest[name], name
    assert pc.min(rows_where(people, employment="Retired")["age"]).as_py() > 50
    assert pc.max(rows_where(people, employment="Student")["age"]).as_py() < 40
    assert pc.min(rows_where(people, education="Doctorate")["age"]).as_py() >= 25
    assert pc.min(rows_where(people, marital_status="Widowed")["age"]).as_py() > 30
    assert pc.min(rows_where(people, marital_status="Married")["age"]).as_py() >= 18
    spouses = rows_where(people, relationship="Spouse")
    assert len(rows_where(spouses, marital_status="Married")) == len(spouses)
    alone = people.filter(pc.equal(people["household_size"], 1))
    assert len(rows_where(alone, relationship="Householder")) == len(alone)
    assert len(rows_where(alone, marital_status="Married")) == 0
    assert len(alone) > 0.08 * ROWS


def test_salary_goes_with_occupation_education_age_hours_and_sex(workers):
    salary = codes(workers["salary"], bins=10)
    assert phi_squared(codes(workers["occupation"]), salary) > 0.05
    assert phi_squared(codes(workers["education"].fill_null("?")), salary) > 0.02
    young = workers.filter(pc.less(workers["age"], 25))
    grown = workers.filter(pc.and_(pc.greater(workers["age"], 44), pc.less(workers["age"], 55)))
    assert 1.4 < median(grown["salary"]) / median(young["salary"]) < 2.2
    full = workers.filter(pc.equal(workers["hours_per_week"], 40))
    for name in ("Nurse", "Office clerk", "Shop assistant"):
        here = rows_where(full, occupation=name)
        pay = {sex: median(rows_where(here, sex=sex)["salary"]) for sex in ("Female", "Male")}
        assert 0.75 < pay["Female"] / pay["Male"] < 0.98
    logarithm = np.log(workers["salary"].to_numpy(zero_copy_only=False))
    hours = workers["hours_per_week"].to_numpy(zero_copy_only=False)
    assert np.corrcoef(hours, logarithm)[0, 1] > 0.4


def test_occupation_goes_with_sex_and_education(workers):
    occupation = codes(workers["occupation"])
    assert phi_squared(occupation, codes(workers["sex"])) > 0.2
    assert phi_squared(occupation, codes(workers["education"].fill_null("?"))) > 0.08
    assert share(pc.equal(rows_where(workers, occupation="Nurse")["sex"], "Female")) > 0.8
    assert share(pc.equal(rows_where(workers, occupation="Mechanic")["sex"], "Female")) < 0.12
    farmers = rows_where(workers, occupation="Farmer")
    assert share(pc.equal(farmers["employment"], "Self-employed")) > 0.6


def test_age_goes_with_marital_status_education_and_employment(people):
    age = codes(people["age"], bins=8)
    for name in ("marital_status", "employment", "relationship", "household_size"):
        dealt = np.random.default_rng(0).permutation(codes(people[name]))
        by_chance = phi_squared(age, dealt)
        assert phi_squared(age, codes(people[name])) > 50 * by_chance, name
    young = people.filter(pc.less(people["age"], 25))
    assert share(pc.equal(young["relationship"], "Child")) > 0.5
    parents = people.filter(pc.and_(pc.greater(people["age"], 34), pc.less(people["age"], 45)))
    old = people.filter(pc.greater_equal(people["age"], 75))
    assert pc.mean(parents["household_size"]).as_py() > pc.mean(old["household_size"]).as_py() + 0.4
    assert share(pc.equal(old["household_size"], 1)) > 2 * share(
        pc.equal(parents["household_size"], 1)
    )


def test_birthplace_goes_with_the_region(people):
    known = people.filter(people["birthplace"].is_valid())
    digit = pc.utf8_slice_codeunits(known["zipcode"].cast(pa.string()), 0, 1)
    region = pa.array(list(REGIONS)).take(pc.subtract(digit.cast(pa.int8()), 1).combine_chunks())
    at_home = share(pc.equal(region, known["birthplace"].combine_chunks().cast(pa.string())))
    assert 0.6 < at_home < 0.8


def test_a_fifth_of_the_cells_is_private(people):
    flags = [name for name in people.column_names if name.endswith("_private")]
    assert flags == [
        f"{name}_private" for name in ("age", "sex", "zipcode", "occupation", "salary")
    ]
    for name in flags:
        assert 0.17 < share(people[name]) < 0.23
