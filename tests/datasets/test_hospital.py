"""The synthetic hospital: repeatable, believable, and nothing impossible in it."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from oracles.dataset_facts import codes, median, phi_squared, rows_where, share

from sfumato.datasets import hospital, hospital_batches
from sfumato.datasets.illnesses import ILLNESSES
from sfumato.datasets.sampling import BATCH_ROWS
from sfumato.errors import ParameterError

ROWS = 100_000


@pytest.fixture(scope="module")
def stays() -> pa.Table:
    return hospital(ROWS, seed=3)


@pytest.mark.parametrize("rows", [1, 7, ROWS])
def test_same_seed_same_table_and_shorter_is_a_prefix(stays, rows):
    again = hospital(rows, seed=3)
    assert again.num_rows == rows
    assert again == stays.slice(0, rows)


def test_another_seed_is_another_table(stays):
    other = hospital(ROWS, seed=4)
    for name in ("age", "zipcode", "disease", "admitted"):
        assert share(pc.equal(other[name], stays[name])) < 0.1


def test_batches_are_the_table_and_differ_from_each_other():
    rows = BATCH_ROWS + 1000
    pieces = list(hospital_batches(rows, seed=3))
    assert [piece.num_rows for piece in pieces] == [BATCH_ROWS, 1000]
    table = pa.Table.from_batches(pieces)
    assert table == hospital(rows, seed=3)
    assert pc.count_distinct(table["name"]).as_py() == rows
    assert share(pc.equal(table["age"].slice(0, 1000), table["age"].slice(BATCH_ROWS))) < 0.1


@pytest.mark.parametrize("rows", [0, -1])
def test_no_rows_are_refused(rows):
    with pytest.raises(ParameterError, match="at least 1 row"):
        hospital(rows)
    with pytest.raises(ParameterError, match="at least 1 row"):
        hospital_batches(rows)


def test_columns_are_small(stays):
    assert stays.nbytes / ROWS < 60
    for name in ("sex", "zipcode", "occupation", "disease"):
        assert pa.types.is_dictionary(stays.schema.field(name).type)
    assert stays.schema.field("admitted").type == pa.date32()
    assert stays.schema.field("salary").type == pa.int32()


def test_names_are_unique(stays):
    assert pc.count_distinct(stays["name"]).as_py() == ROWS
    assert stays["name"].null_count == 0


def test_marginals(stays):
    ages = stays["age"].to_numpy()
    assert ages.min() == 0
    assert ages.max() == 95
    assert 44 < ages.mean() < 54
    assert 0.48 < share(pc.equal(stays["sex"], "Female")) < 0.58
    counts = np.bincount(codes(stays.filter(pc.is_valid(stays["disease"]))["disease"]))
    assert len(counts) == len(ILLNESSES)
    # No disease is so frequent that 10-diversity would be infeasible.
    assert counts.max() * 10 < ROWS
    assert counts.min() > ROWS / 5000


def test_nulls_are_where_real_data_has_them(stays):
    nulls = {name: stays[name].null_count / ROWS for name in stays.column_names}
    assert 0.004 < nulls["zipcode"] < 0.015
    assert 0.003 < nulls["disease"] < 0.01
    assert 0.05 < nulls["occupation"] < 0.15
    assert 0.1 < nulls["salary"] < 0.3
    assert 0 < nulls["stay_days"] < 0.02
    assert nulls["age"] == nulls["sex"] == nulls["admitted"] == 0
    children = stays.filter(pc.less(stays["age"], 6))
    assert children["occupation"].null_count == children["salary"].null_count == len(children)


def test_no_disease_of_the_other_sex():
    stays = hospital(400_000, seed=11)
    for sex, impossible in {"Male": 1.0, "Female": 0.0}.items():
        names = [illness.name for illness in ILLNESSES if illness.women == impossible]
        assert len(names) >= 3
        people = rows_where(stays, sex=sex)
        assert not pc.any(pc.is_in(people["disease"], pa.array(names))).as_py()
        # They do occur, so a data-driven search for incompatible pairs must find them.
        assert share(pc.is_in(stays["disease"], pa.array(names))) > 0.03


def test_no_disease_at_an_impossible_age(stays):
    for illness in ILLNESSES:
        ages = rows_where(stays, disease=illness.name)["age"].to_numpy()
        low, high = illness.ages
        assert low <= ages.min(), illness.name
        assert ages.max() <= high, illness.name
    assert rows_where(stays, disease="Dementia")["age"].to_numpy().mean() > 75
    assert 25 < rows_where(stays, disease="Childbirth")["age"].to_numpy().mean() < 36


def test_age_decides_occupation(stays):
    occupied = stays.filter(pc.is_valid(stays["occupation"]))
    retired = rows_where(occupied, occupation="Retired")["age"].to_numpy()
    assert retired.min() > 50
    pupils = rows_where(occupied, occupation="Pupil")["age"].to_numpy()
    assert pupils.max() <= 18
    assert rows_where(occupied, occupation="Physician")["age"].to_numpy().min() >= 25
    assert phi_squared(codes(occupied["age"], bins=10), codes(occupied["occupation"])) > 0.05


def test_occupation_goes_with_sex_salary_and_disease(stays):
    working = stays.filter(pc.is_valid(stays["salary"]))
    working = working.filter(
        pc.invert(pc.is_in(working["occupation"], pa.array(["Retired", "Unemployed", None])))
    )
    occupation = codes(working["occupation"])
    assert phi_squared(occupation, codes(working["salary"], bins=10)) > 0.05
    assert phi_squared(occupation, codes(working["sex"])) > 0.15
    # Against the same table with diseases dealt at random.
    disease = codes(working["disease"].fill_null("none"))
    dealt = np.random.default_rng(0).permutation(disease)
    assert phi_squared(occupation, disease) > 1.5 * phi_squared(occupation, dealt)
    assert median(rows_where(working, occupation="Physician")["salary"]) > 2 * median(
        rows_where(working, occupation="Cleaner")["salary"]
    )


def test_work_makes_ill(stays):
    def risk(disease: str, **who: str) -> float:
        return share(pc.equal(rows_where(stays, **who)["disease"], disease))

    assert risk("Lyme disease", occupation="Farmer") > 2 * risk("Lyme disease", occupation="Nurse")
    assert risk("Influenza", occupation="Teacher") > 1.3 * risk("Influenza", occupation="Manager")


def test_disease_goes_with_age_sex_season_and_stay(stays):
    known = stays.filter(pc.is_valid(stays["disease"]))
    disease = codes(known["disease"])
    assert phi_squared(disease, codes(known["age"], bins=10)) > 0.05
    assert phi_squared(disease, codes(known["sex"])) > 0.1
    months = pc.month(rows_where(known, disease="Influenza")["admitted"]).to_numpy()
    assert np.isin(months, [12, 1, 2]).mean() > 2 * np.isin(months, [6, 7, 8]).mean()
    longest = median(rows_where(known, disease="Schizophrenia")["stay_days"])
    assert longest > 5 * median(rows_where(known, disease="Gastritis")["stay_days"])


def test_admissions_lie_in_the_period_and_are_rarer_at_weekends(stays):
    days = stays["admitted"]
    assert pc.min(days).as_py() == date(2023, 1, 1)
    assert pc.max(days).as_py() == date(2025, 12, 31)
    weekend = share(pc.greater_equal(pc.day_of_week(days), 5))
    assert 0.15 < weekend < 0.25
    still_in = stays.filter(pc.is_null(stays["stay_days"]))
    assert pc.min(still_in["admitted"]).as_py() > date(2025, 6, 1)


def test_zipcodes_cluster_in_towns(stays):
    zipcodes = stays["zipcode"].cast(pa.string()).drop_null()
    assert pc.all(pc.match_substring_regex(zipcodes, "^[1-6][0-9]{4}$")).as_py()
    towns = pc.utf8_slice_codeunits(zipcodes, 0, 3)
    sizes = np.sort(np.bincount(codes(towns)))[::-1]
    assert 40 < len(sizes) < 80
    assert 300 < pc.count_distinct(zipcodes).as_py() < 1000
    # Few towns hold most people: the top tenth more than a third of them.
    assert sizes[: len(sizes) // 10].sum() > zipcodes.length() / 3
    assert sizes[0] > 20 * sizes[-1]


def test_salary_goes_with_the_neighbourhood(stays):
    clerks = rows_where(stays, occupation="Office clerk")
    clerks = clerks.filter(pc.and_(clerks["salary"].is_valid(), clerks["zipcode"].is_valid()))
    salary = np.log(clerks["salary"].to_numpy(zero_copy_only=False))
    place = codes(clerks["zipcode"])
    means = np.bincount(place, salary) / np.maximum(np.bincount(place), 1)
    explained = means[place].var() / salary.var()
    chance = (place.max() + 1) / len(place)
    assert explained > chance + 0.1


def test_a_fifth_of_the_cells_is_private_and_more_so_for_the_young(stays):
    flags = [name for name in stays.column_names if name.endswith("_private")]
    assert flags == [
        f"{name}_private" for name in ("age", "sex", "zipcode", "occupation", "disease")
    ]
    young = stays.filter(pc.and_(pc.greater_equal(stays["age"], 18), pc.less(stays["age"], 35)))
    old = stays.filter(pc.greater_equal(stays["age"], 70))
    for name in flags:
        assert stays.schema.field(name).type == pa.bool_()
        assert stays[name].null_count == 0
        assert 0.18 < share(stays[name]) < 0.22
        assert share(young[name]) > 1.5 * share(old[name])
    # The flags of one person go together: who hides the age hides the sex half as often again.
    hides_age = stays.filter(stays["age_private"])
    shows_age = stays.filter(pc.invert(stays["age_private"]))
    assert share(hides_age["sex_private"]) > 1.4 * share(shows_age["sex_private"])
