"""A synthetic census of adults: who they are, how they live, what they earn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.datasets import households, occupations
from sfumato.datasets.names import full_names
from sfumato.datasets.occupations import EDUCATION, OLDEST, Activity
from sfumato.datasets.places import places
from sfumato.datasets.sampling import Batch, Codes, Distribution, Floats, batches, categories
from sfumato.datasets.wishes import private_cells

YOUNGEST = 16
FLAGGED = ("age", "sex", "zipcode", "occupation", "salary")
EMPLOYMENT = ("Employee", "Unemployed", "Student", "Homemaker", "Retired", "Self-employed")
_SELF_EMPLOYED = EMPLOYMENT.index("Self-employed")
# What a person lives on, as a share of what the occupation pays for a full week.
_INCOME = np.array([1.0, 0.38, 0.22, 0.18, 0.6, 1.05])
# Students and homemakers who never had an occupation.
_NEVER_WORKED = np.array([0.0, 0.06, 0.55, 0.3, 0.02, 0.0])


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    age: Distribution
    women: Floats
    activity: Distribution
    education: Distribution
    occupation: Distribution
    marital: Distribution
    relationship: Distribution
    household: Distribution
    birthplace: Distribution
    hours: Distribution
    own_business: Floats
    dictionaries: dict[str, pa.Array]


@cache
def _model() -> _Model:
    ages = np.arange(OLDEST + 1)
    by_age = np.interp(
        ages, [YOUNGEST, 30, 45, 58, 70, 85, OLDEST], [1.05, 1.2, 1.25, 1.4, 1.0, 0.45, 0.06]
    )
    by_age[:YOUNGEST] = 0.0
    jobs = occupations.occupation_weights()[:, :, None, :] * occupations.schooling_weights()
    return _Model(
        age=Distribution(by_age),
        women=np.interp(ages, [YOUNGEST, 55, 75, OLDEST], [0.49, 0.5, 0.55, 0.72]),
        activity=Distribution(occupations.activity_weights()),
        education=Distribution(occupations.education_weights()),
        occupation=Distribution(jobs),
        marital=Distribution(households.marital_weights()),
        relationship=Distribution(households.relationship_weights()),
        household=Distribution(households.household_weights()),
        birthplace=Distribution(households.birthplace_weights()),
        hours=Distribution(households.hours_weights()),
        own_business=np.array([job.own_business for job in occupations.OCCUPATIONS]),
        dictionaries={
            "sex": pa.array(["Male", "Female"]),
            "zipcode": places().zipcodes,
            "birthplace": pa.array(households.BIRTHPLACES),
            "marital_status": pa.array(households.MARITAL_STATUS),
            "relationship": pa.array(households.RELATIONSHIP),
            "education": pa.array(EDUCATION),
            "employment": pa.array(EMPLOYMENT),
            "occupation": pa.array(occupations.names()),
        },
    )


def _make(batch: Batch) -> pa.RecordBatch:
    model, country = _model(), places()
    age = model.age.draw(batch.uniform("age"))
    woman = batch.chance("sex", model.women[age])
    sex = woman.view(np.int8)
    home = country.distribution.draw(batch.uniform("zipcode"))
    birthplace = model.birthplace.draw(
        batch.uniform("birthplace"), country.region[home], country.in_city[home]
    )
    marital = model.marital.draw(batch.uniform("marital status"), age, sex)
    relationship = model.relationship.draw(batch.uniform("relationship"), age, sex, marital)
    household = model.household.draw(batch.uniform("household"), relationship, marital, age)
    education = model.education.draw(batch.uniform("education"), age)
    occupation = model.occupation.draw(batch.uniform("occupation"), age, sex, education)
    activity = model.activity.draw(batch.uniform("activity"), age, sex)
    works = activity == Activity.WORKING
    own = batch.chance("own business", model.own_business[occupation]) & works
    employment = np.where(own, _SELF_EMPLOYED, activity)
    hours = model.hours.draw(batch.uniform("hours"), sex, own.view(np.int8))
    never = batch.chance("never worked", _NEVER_WORKED[employment])
    codes: dict[str, Codes] = {
        "sex": sex,
        "zipcode": home,
        "birthplace": birthplace,
        "marital_status": marital,
        "relationship": relationship,
        "education": education,
        "employment": employment,
        "occupation": occupation,
    }
    # Questions that some leave out; who never worked has no occupation to state.
    missing = {
        "birthplace": batch.chance("no birthplace", 0.015),
        "education": batch.chance("no education", 0.01),
        "occupation": never | batch.chance("no occupation", 0.01),
    }
    coded = {
        column: categories(
            code,
            model.dictionaries[column],
            missing=missing.get(column),
            ordered=column == "education",
        )
        for column, code in codes.items()
    }
    extra = country.wealth[home] + _income(employment, works, hours, education)
    salary = occupations.salaries(occupation, age, woman, extra, batch.normal("salary"))
    columns = {
        "name": full_names(batch, woman),
        "age": pa.array(age),
        **coded,
        "household_size": pa.array((household + 1).astype(np.int8)),
        "hours_per_week": pa.array(hours.astype(np.int8), mask=~works),
        "salary": pa.array(salary, mask=batch.chance("no salary", 0.02)),
    }
    flags = private_cells(batch, age, FLAGGED)
    columns |= {column: pa.array(flag) for column, flag in flags.items()}
    return pa.RecordBatch.from_pydict(columns)


def _income(
    employment: Codes, works: NDArray[np.bool_], hours: Codes, education: Codes
) -> NDArray[np.float32]:
    """Return what employment, hours and education add to the logarithm of the salary."""
    by_hours = np.log(np.maximum(np.arange(households.LONGEST_WEEK + 1), 6) / 40.0)
    by_education = np.log(np.linspace(0.88, 1.22, len(EDUCATION)))
    extra: NDArray[np.float32] = np.log(_INCOME).astype(np.float32)[employment]
    extra += by_education.astype(np.float32)[education]
    extra += np.where(works, by_hours.astype(np.float32)[hours], np.float32(0.0))
    return extra


def census_batches(rows: int, seed: int = 0) -> Iterator[pa.RecordBatch]:
    """Return the record batches of `census(rows, seed)`, made one by one as they are asked for.

    >>> [batch.num_rows for batch in census_batches(300_000)]
    [262144, 37856]
    """
    return batches(_make, "census", rows, seed)


def census(rows: int, seed: int = 0) -> pa.Table:
    """Return a synthetic census of adults, one row a person; the same seed gives the same table.

    A shorter table is the beginning of a longer one. Refuses fewer than 1 row.

    >>> census(3).column_names[:5]
    ['name', 'age', 'sex', 'zipcode', 'birthplace']
    >>> census(3, seed=7) == census(1000, seed=7).slice(0, 3)
    True
    """
    return pa.Table.from_batches(census_batches(rows, seed))
