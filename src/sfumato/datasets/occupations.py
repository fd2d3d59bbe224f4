"""What invented people do for a living: who does it, what it pays, what it does to their health."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cache

import numpy as np
from numpy.typing import NDArray

from sfumato.datasets.sampling import Codes, Flags, Floats

OLDEST = 95
EDUCATION = (
    "Primary",
    "Lower secondary",
    "Upper secondary",
    "Vocational",
    "Bachelor",
    "Master",
    "Doctorate",
)
# Nobody holds a degree younger than this.
_YOUNGEST_WITH = (0, 12, 17, 18, 20, 22, 25)


class Exposure(IntEnum):
    """What kind of work does to a body; illnesses are more or less frequent under each."""

    NONE = 0
    DESK = 1
    PEOPLE = 2
    MANUAL = 3
    ROAD = 4
    FIELD = 5


class Activity(IntEnum):
    """What a person mainly does."""

    WORKING = 0
    UNEMPLOYED = 1
    LEARNING = 2
    HOME = 3
    RETIRED = 4


@dataclass(frozen=True, slots=True)
class Occupation:
    """An occupation: its share of workers, how many are women, the education it asks for, pay."""

    name: str
    sector: str
    share: float
    women: float
    needs: int
    """The lowest level of education with which anybody does it (an index into EDUCATION)."""
    usual: int
    pay: float
    """Median yearly pay in thousands."""
    exposure: Exposure
    own_business: float = 0.03
    youngest: int = 16


_DESK, _PEOPLE, _MANUAL = Exposure.DESK, Exposure.PEOPLE, Exposure.MANUAL
_ROAD, _FIELD = Exposure.ROAD, Exposure.FIELD

OCCUPATIONS = (
    Occupation("Physician", "Health", 1.6, 0.48, 5, 6, 96, _PEOPLE, 0.3, 25),
    Occupation("Nurse", "Health", 5.0, 0.87, 3, 3, 42, _PEOPLE, 0.01, 19),
    Occupation("Carer", "Health", 5.0, 0.84, 0, 2, 27, _PEOPLE, 0.02, 17),
    Occupation("Pharmacist", "Health", 0.8, 0.66, 4, 5, 58, _PEOPLE, 0.25, 23),
    Occupation("Teacher", "Education", 5.5, 0.72, 4, 5, 47, _PEOPLE, 0.01, 22),
    Occupation("Childminder", "Education", 2.0, 0.93, 1, 3, 28, _PEOPLE, 0.12, 18),
    Occupation("Researcher", "Education", 1.2, 0.44, 5, 6, 56, _DESK, 0.01, 24),
    Occupation("Office clerk", "Business", 8.5, 0.69, 1, 3, 34, _DESK, 0.01, 17),
    Occupation("Accountant", "Business", 3.2, 0.55, 3, 4, 52, _DESK, 0.12, 21),
    Occupation("Manager", "Business", 5.0, 0.34, 2, 4, 82, _DESK, 0.12, 26),
    Occupation("Lawyer", "Business", 1.1, 0.46, 5, 5, 88, _DESK, 0.4, 25),
    Occupation("Bank clerk", "Business", 2.4, 0.56, 2, 3, 48, _DESK, 0.01, 18),
    Occupation("Sales agent", "Business", 3.8, 0.42, 1, 3, 44, _ROAD, 0.15, 18),
    Occupation("Programmer", "Technology", 4.4, 0.21, 2, 4, 66, _DESK, 0.12, 19),
    Occupation("Engineer", "Technology", 4.0, 0.18, 4, 5, 68, _DESK, 0.08, 22),
    Occupation("Technician", "Technology", 4.2, 0.22, 2, 3, 44, _MANUAL, 0.04, 18),
    Occupation("Architect", "Technology", 0.7, 0.41, 4, 5, 60, _DESK, 0.45, 24),
    Occupation("Factory worker", "Industry", 6.2, 0.31, 0, 1, 33, _MANUAL, 0.0, 16),
    Occupation("Mechanic", "Industry", 3.2, 0.05, 1, 3, 37, _MANUAL, 0.14, 17),
    Occupation("Electrician", "Industry", 2.2, 0.04, 2, 3, 40, _MANUAL, 0.22, 18),
    Occupation("Builder", "Industry", 4.4, 0.04, 0, 2, 36, _MANUAL, 0.25, 16),
    Occupation("Miner", "Industry", 0.4, 0.02, 0, 1, 48, _MANUAL, 0.0, 18),
    Occupation("Driver", "Transport", 4.6, 0.1, 0, 2, 34, _ROAD, 0.12, 18),
    Occupation("Warehouse worker", "Transport", 4.0, 0.27, 0, 1, 29, _MANUAL, 0.0, 16),
    Occupation("Shop assistant", "Services", 6.8, 0.71, 0, 2, 25, _PEOPLE, 0.02, 16),
    Occupation("Cook", "Services", 2.6, 0.45, 0, 2, 27, _MANUAL, 0.1, 16),
    Occupation("Waiter", "Services", 2.6, 0.62, 0, 1, 22, _PEOPLE, 0.02, 16),
    Occupation("Cleaner", "Services", 4.6, 0.82, 0, 0, 22, _MANUAL, 0.08, 16),
    Occupation("Hairdresser", "Services", 1.3, 0.86, 1, 3, 24, _PEOPLE, 0.4, 17),
    Occupation("Police officer", "Public service", 1.6, 0.29, 2, 3, 49, _ROAD, 0.0, 20),
    Occupation("Soldier", "Public service", 0.8, 0.13, 1, 3, 43, _FIELD, 0.0, 18),
    Occupation("Civil servant", "Public service", 3.0, 0.57, 2, 4, 50, _DESK, 0.0, 19),
    Occupation("Farmer", "Land", 2.0, 0.3, 0, 2, 34, _FIELD, 0.75, 17),
    Occupation("Gardener", "Land", 1.2, 0.24, 0, 2, 28, _FIELD, 0.3, 16),
    Occupation("Artist", "Arts", 0.8, 0.5, 0, 4, 31, _DESK, 0.6, 18),
    Occupation("Journalist", "Arts", 0.7, 0.5, 3, 5, 48, _DESK, 0.3, 22),
)

_AGES = np.arange(OLDEST + 1)


def names() -> list[str]:
    """Return the names of all occupations, in the order of their codes."""
    return [occupation.name for occupation in OCCUPATIONS]


def activity_weights() -> Floats:
    """Return the share of every activity by age and sex (men first)."""
    learning = np.interp(_AGES, [15, 18, 20, 23, 27, 32, 40], [1, 0.8, 0.5, 0.28, 0.07, 0.02, 0])
    retired = np.interp(_AGES, [52, 58, 62, 65, 67, 72, 78], [0, 0.08, 0.25, 0.55, 0.82, 0.95, 1])
    weights = np.zeros((OLDEST + 1, 2, len(Activity)))
    others = (1.0 - learning) * (1.0 - retired)
    for sex, home in enumerate((0.015, 0.11)):
        weights[:, sex, Activity.LEARNING] = learning
        weights[:, sex, Activity.RETIRED] = (1.0 - learning) * retired
        weights[:, sex, Activity.HOME] = others * home
        weights[:, sex, Activity.UNEMPLOYED] = others * 0.06
        weights[:, sex, Activity.WORKING] = others * (0.94 - home)
    return weights


def education_weights() -> Floats:
    """Return the share of every level of education by age: later cohorts stayed longer."""
    by_age = (
        ((16, 0.05), (40, 0.04), (60, 0.1), (OLDEST, 0.4)),
        ((16, 0.8), (22, 0.13), (40, 0.13), (60, 0.22), (OLDEST, 0.25)),
        ((16, 0.1), (20, 0.5), (30, 0.22), (60, 0.2), (OLDEST, 0.12)),
        ((16, 0.05), (20, 0.2), (30, 0.22), (60, 0.28), (OLDEST, 0.16)),
        ((18, 0.02), (23, 0.25), (30, 0.25), (60, 0.13), (OLDEST, 0.05)),
        ((21, 0.02), (26, 0.12), (35, 0.13), (60, 0.06), (OLDEST, 0.015)),
        ((24, 0.003), (32, 0.018), (60, 0.012), (OLDEST, 0.004)),
    )
    weights = np.stack([np.interp(_AGES, *np.array(level).T) for level in by_age], axis=-1)
    weights[_AGES[:, None] < np.array(_YOUNGEST_WITH)] = 0.0
    return weights


def occupation_weights() -> Floats:
    """Return the weight of every occupation by age and sex (men first)."""
    women = np.array([occupation.women for occupation in OCCUPATIONS])
    share = np.array([occupation.share for occupation in OCCUPATIONS])
    youngest = np.array([occupation.youngest for occupation in OCCUPATIONS])
    # Well paid work comes later in life; people who retired keep the last one they had.
    pay = np.array([occupation.pay for occupation in OCCUPATIONS])
    career = np.interp(_AGES, [16, 25, 45, OLDEST], [-1.2, -0.3, 0.25, 0.1])
    by_age = (pay / 40.0) ** career[:, None] * (_AGES[:, None] >= youngest)
    by_age[: youngest.min()] = 1.0  # no such rows are drawn; a stratum must not be empty
    weights: Floats = share * by_age[:, None, :] * np.stack([1.0 - women, women])
    return weights


def schooling_weights() -> Floats:
    """Return how well every level of education fits every occupation; 0 where it is too low."""
    levels = np.arange(len(EDUCATION))[:, None]
    usual = np.array([occupation.usual for occupation in OCCUPATIONS])
    needs = np.array([occupation.needs for occupation in OCCUPATIONS])
    fit: Floats = np.exp(-0.5 * ((levels - usual) / 1.1) ** 2) * (levels >= needs)
    return fit


@cache
def _logarithms() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    pay = np.log([1000.0 * occupation.pay for occupation in OCCUPATIONS])
    experience = np.interp(_AGES, [16, 22, 30, 45, 60, OLDEST], [-0.5, -0.3, -0.06, 0.1, 0.14, 0.1])
    return pay.astype(np.float32), experience.astype(np.float32)


def salaries(
    occupation: Codes,
    age: Codes,
    woman: Flags,
    extra: NDArray[np.float32],
    noise: NDArray[np.float32],
) -> NDArray[np.int32]:
    """Return yearly salaries in whole hundreds; `extra` adds to the logarithm, `noise` is normal.

    A salary follows the occupation, grows with experience, and is a tenth lower for women.
    """
    pay, experience = _logarithms()
    logarithm = pay[occupation] + experience[age]
    logarithm += extra
    logarithm += np.float32(0.24) * noise
    logarithm -= np.where(woman, np.float32(0.105), np.float32(0.0))
    # In double precision, so that processors which differ in a last bit still round alike.
    hundreds: NDArray[np.int32] = np.rint(np.exp(logarithm, dtype=np.float64) / 100).astype(
        np.int32
    )
    return hundreds * np.int32(100)


def occupation_paths() -> list[tuple[str, ...]]:
    """Return the rows of the hierarchy occupation, sector, everything."""
    return [(occupation.name, occupation.sector, "*") for occupation in OCCUPATIONS]
