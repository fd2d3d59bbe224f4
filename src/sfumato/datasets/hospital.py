"""Synthetic hospital stays: who was in, why, when, for how long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.datasets import illnesses, occupations
from sfumato.datasets.names import full_names
from sfumato.datasets.occupations import OLDEST, Activity, Exposure
from sfumato.datasets.places import places
from sfumato.datasets.sampling import Batch, Codes, Distribution, Floats, batches, categories
from sfumato.datasets.wishes import private_cells

FIRST_DAY, LAST_DAY = date(2023, 1, 1), date(2025, 12, 31)
FLAGGED = ("age", "sex", "zipcode", "occupation", "disease")

# Besides the occupations: what a form says of people who do not work.
NOT_WORKING = ("Pupil", "Student", "Unemployed", "Homemaker", "Retired")
_PUPIL, _STUDENT, _UNEMPLOYED, _HOMEMAKER, _RETIRED = range(
    len(occupations.OCCUPATIONS), len(occupations.OCCUPATIONS) + len(NOT_WORKING)
)
_SCHOOL_BEGINS, _SCHOOL_ENDS = 6, 18
# Income without work, as a share of what the typical worker earns.
_BENEFIT, _PENSION = 0.32, 0.62


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    age: Distribution
    women: Floats
    occupation: Distribution
    illness: Distribution
    day: Distribution
    exposure: NDArray[np.int8]
    season: NDArray[np.int8]
    stay: NDArray[np.float32]
    occupations: pa.Array
    illnesses: pa.Array


@cache
def _model() -> _Model:
    ages = np.arange(OLDEST + 1)
    newborn = 3.0 * (ages == 0)
    by_age = np.interp(
        ages,
        [0, 3, 10, 18, 30, 40, 55, 72, 82, OLDEST],
        [1.6, 0.8, 0.6, 0.9, 1.5, 1.3, 1.5, 2.0, 1.6, 0.2],
    )
    women = np.interp(
        ages,
        [0, 15, 24, 31, 38, 50, 70, 82, OLDEST],
        [0.46, 0.5, 0.6, 0.66, 0.6, 0.5, 0.46, 0.56, 0.7],
    )
    working = [int(occupation.exposure) for occupation in occupations.OCCUPATIONS]
    return _Model(
        age=Distribution(newborn + by_age),
        women=women,
        occupation=Distribution(_position_weights()),
        illness=Distribution(illnesses.illness_weights()),
        day=Distribution(_day_weights()),
        exposure=np.array(working + [int(Exposure.NONE)] * len(NOT_WORKING), dtype=np.int8),
        season=np.array(
            [illnesses.SEASONS.index(illness.season) for illness in illnesses.ILLNESSES],
            dtype=np.int8,
        ),
        stay=np.array([illness.stay for illness in illnesses.ILLNESSES], dtype=np.float32),
        occupations=pa.array([*occupations.names(), *NOT_WORKING]),
        illnesses=pa.array(illnesses.names()),
    )


def _position_weights() -> Floats:
    """Return the weight of every occupation or other position by age and sex."""
    activity = occupations.activity_weights()
    jobs = occupations.occupation_weights()
    jobs *= activity[..., Activity.WORKING, None] / jobs.sum(axis=-1, keepdims=True)
    learning = activity[..., Activity.LEARNING]
    at_school = (np.arange(OLDEST + 1) <= _SCHOOL_ENDS)[:, None]
    others = {
        _PUPIL: learning * at_school,
        _STUDENT: learning * ~at_school,
        _UNEMPLOYED: activity[..., Activity.UNEMPLOYED],
        _HOMEMAKER: activity[..., Activity.HOME],
        _RETIRED: activity[..., Activity.RETIRED],
    }
    return np.concatenate([jobs, np.stack([others[code] for code in sorted(others)], -1)], axis=-1)


def _day_weights() -> Floats:
    """Return the weight of every day of admission by season: few at weekends."""
    day = np.arange((LAST_DAY - FIRST_DAY).days + 1)
    weekday = (day + FIRST_DAY.weekday()) % 7
    week = np.array([1.25, 1.15, 1.1, 1.1, 1.0, 0.7, 0.7])[weekday]
    winter = np.cos(2.0 * np.pi * (day - 20) / 365.25)
    even = np.ones(len(day))
    weights: Floats = week * np.stack([even, 1.0 + 0.75 * winter, 1.0 - 0.6 * winter])
    return weights


def _make(batch: Batch) -> pa.RecordBatch:
    model, country = _model(), places()
    age = model.age.draw(batch.uniform("age"))
    woman = batch.chance("sex", model.women[age])
    sex = woman.view(np.int8)
    home = country.distribution.draw(batch.uniform("zipcode"))
    position = model.occupation.draw(batch.uniform("occupation"), age, sex)
    illness = model.illness.draw(batch.uniform("disease"), age, sex, model.exposure[position])
    day = model.day.draw(batch.uniform("admitted"), model.season[illness])
    stay = np.exp(0.55 * batch.normal("stay"), dtype=np.float64)
    stay *= model.stay[illness] * (0.8 + 0.004 * age)
    days = np.minimum(np.rint(stay), 365).astype(np.int16)
    flags = private_cells(batch, age, FLAGGED)
    columns = {
        "name": full_names(batch, woman),
        "age": pa.array(age),
        "sex": categories(sex, pa.array(["Male", "Female"])),
        # Some are homeless, or from abroad.
        "zipcode": categories(home, country.zipcodes, missing=batch.chance("no zipcode", 0.008)),
        "occupation": categories(
            position,
            model.occupations,
            missing=(age < _SCHOOL_BEGINS) | batch.chance("no occupation", 0.02),
        ),
        "salary": _salary(batch, position, age, sex, country.wealth[home]),
        # Some diagnoses are still open.
        "disease": categories(illness, model.illnesses, missing=batch.chance("no disease", 0.006)),
        "admitted": pa.array(np.datetime64(FIRST_DAY) + day.astype("timedelta64[D]")),
        # People who were still in on the last day have no length of stay yet.
        "stay_days": pa.array(days, mask=day + days > (LAST_DAY - FIRST_DAY).days),
    }
    columns |= {name: pa.array(flag) for name, flag in flags.items()}
    return pa.RecordBatch.from_pydict(columns)


def _salary(
    batch: Batch, position: Codes, age: Codes, sex: Codes, wealth: NDArray[np.float32]
) -> pa.Array:
    """Return wages, benefits and pensions; null for pupils, students, homemakers, some others."""
    clerk = occupations.names().index("Office clerk")
    without_work = np.zeros(_RETIRED + 1, dtype=np.float32)
    without_work[_UNEMPLOYED] = np.log(_BENEFIT)
    without_work[_RETIRED] = np.log(_PENSION)
    job = np.where(position < len(occupations.OCCUPATIONS), position, clerk)
    salary = occupations.salaries(
        job, age, sex.astype(bool), wealth + without_work[position], batch.normal("salary")
    )
    has_none = (position == _PUPIL) | (position == _STUDENT) | (position == _HOMEMAKER)
    return pa.array(salary, mask=has_none | batch.chance("no salary", 0.03))


def hospital_batches(rows: int, seed: int = 0) -> Iterator[pa.RecordBatch]:
    """Return the record batches of `hospital(rows, seed)`, made one by one as they are asked for.

    For files larger than memory:

    >>> import io, pyarrow.parquet as pq
    >>> stays = hospital_batches(1000)
    >>> first = next(stays)
    >>> with pq.ParquetWriter(io.BytesIO(), first.schema) as file:
    ...     file.write_batch(first)
    ...     for batch in stays:
    ...         file.write_batch(batch)
    """
    return batches(_make, "hospital", rows, seed)


def hospital(rows: int, seed: int = 0) -> pa.Table:
    """Return a synthetic table of hospital stays, one a person; the same seed gives the same table.

    A shorter table is the beginning of a longer one. Refuses fewer than 1 row.

    >>> hospital(3).column_names[:7]
    ['name', 'age', 'sex', 'zipcode', 'occupation', 'salary', 'disease']
    >>> hospital(3, seed=7) == hospital(1000, seed=7).slice(0, 3)
    True
    """
    return pa.Table.from_batches(hospital_batches(rows, seed))
