"""How invented people live: whom with, where they come from, how many hours they work."""

from __future__ import annotations

import numpy as np

from sfumato.datasets.occupations import OLDEST
from sfumato.datasets.places import REGIONS
from sfumato.datasets.sampling import Floats

MARITAL_STATUS = ("Never married", "Married", "Separated", "Divorced", "Widowed")
RELATIONSHIP = ("Householder", "Spouse", "Partner", "Child", "Other relative", "Lodger")
LARGEST_HOUSEHOLD = 8
LONGEST_WEEK = 80
# Where people from abroad were born, most frequent first.
ABROAD = {
    "Poland": "Europe",
    "India": "Asia",
    "Turkey": "Asia",
    "Romania": "Europe",
    "Italy": "Europe",
    "Morocco": "Africa",
    "China": "Asia",
    "Brazil": "America",
    "Nigeria": "Africa",
    "Portugal": "Europe",
    "Syria": "Asia",
    "Ukraine": "Europe",
    "Vietnam": "Asia",
    "Mexico": "America",
    "Ghana": "Africa",
    "Philippines": "Asia",
    "Greece": "Europe",
    "Canada": "America",
    "Kenya": "Africa",
    "Peru": "America",
}
BIRTHPLACES = (*REGIONS, *ABROAD)

_AGES = np.arange(OLDEST + 1)
_YOUNGEST_MARRIED = 18


def marital_weights() -> Floats:
    """Return the share of every marital status by age and sex (men first)."""
    weights = np.zeros((OLDEST + 1, 2, len(MARITAL_STATUS)))
    for sex, (delay, widows) in enumerate(((2, 0.35), (0, 1.0))):
        ever = np.interp(
            _AGES - delay, [17, 22, 28, 35, 50, OLDEST], [0, 0.08, 0.4, 0.7, 0.85, 0.94]
        )
        widowed = widows * np.interp(_AGES, [30, 50, 65, 80, OLDEST], [0, 0.03, 0.16, 0.5, 0.85])
        divorced = np.interp(_AGES, [20, 30, 50, 65, OLDEST], [0.0, 0.1, 0.22, 0.17, 0.07])
        separated = np.interp(_AGES, [19, 35, 55, OLDEST], [0.01, 0.05, 0.04, 0.01])
        lasting = (1 - widowed) * (1 - divorced - separated)
        parts = (lasting, (1 - widowed) * separated, (1 - widowed) * divorced, widowed)
        ever = ever * (_AGES >= _YOUNGEST_MARRIED)
        weights[:, sex] = np.stack([1 - ever, *(ever * part for part in parts)], axis=-1)
    return weights


def relationship_weights() -> Floats:
    """Return the weight of every place in the household by age, sex and marital status."""
    with_parents = np.interp(_AGES, [17, 20, 25, 32, 50], [40, 8, 1.5, 0.35, 0.06])
    weights = np.zeros((OLDEST + 1, 2, len(MARITAL_STATUS), len(RELATIONSHIP)))
    with_partner = np.interp(_AGES, [20, 30, 45, 60, 80], [0.15, 0.35, 0.25, 0.12, 0.03])
    old = np.interp(_AGES, [60, OLDEST], [0.04, 0.25])
    for sex, heads in enumerate((0.62, 0.4)):
        for status, name in enumerate(MARITAL_STATUS):
            married = name == "Married"
            weights[:, sex, status, 0] = heads if married else 0.75
            weights[:, sex, status, 1] = 1 - heads if married else 0.0
            weights[:, sex, status, 2] = 0.0 if married else with_partner
            weights[:, sex, status, 3] = with_parents * (0.02 if married else 1.0)
            weights[:, sex, status, 4] = old + 0.01
            weights[:, sex, status, 5] = 0.002 if married else 0.07
    return weights


def household_weights() -> Floats:
    """Return the weight of every household size from 1 by place, marital status and age."""
    sizes = np.arange(1, LARGEST_HOUSEHOLD + 1)
    usual = {"Householder": 0.1, "Spouse": 2.5, "Partner": 2.4, "Child": 3.6}
    weights = np.zeros((len(RELATIONSHIP), len(MARITAL_STATUS), OLDEST + 1, len(sizes)))
    # Children at home make households of people around forty the largest.
    children = np.interp(_AGES, [20, 30, 40, 50, 62], [0.0, 0.6, 1.3, 0.6, 0.0])
    for place, name in enumerate(RELATIONSHIP):
        for status, married in enumerate(own == "Married" for own in MARITAL_STATUS):
            centre = usual["Spouse" if married else name] if name in usual else 3.0
            around = centre + children * (name in ("Spouse", "Householder"))
            weights[place, status] = np.exp(-0.5 * (sizes - around[:, None]) ** 2) + 0.002
            if married or name != "Householder":
                weights[place, status, :, 0] = 0.0  # nobody else can live alone
    return weights


def birthplace_weights() -> Floats:
    """Return the weight of every birthplace by region of residence and by living in a city."""
    abroad = 1.0 / (2.0 + np.arange(len(ABROAD)))
    weights = np.zeros((len(REGIONS), 2, len(BIRTHPLACES)))
    for city, (stayed, foreign) in enumerate(((0.8, 0.06), (0.58, 0.22))):
        weights[:, city, : len(REGIONS)] = (1 - stayed - foreign) / (len(REGIONS) - 1)
        weights[:, city, len(REGIONS) :] = foreign * abroad / abroad.sum()
        for region in range(len(REGIONS)):
            weights[region, city, region] = stayed
    return weights


def hours_weights() -> Floats:
    """Return the weight of every weekly number of hours from 0 by sex and self-employment."""
    hours = np.arange(LONGEST_WEEK + 1)
    part_time = np.exp(-0.5 * ((hours - 21) / 6.0) ** 2)
    full_time = np.exp(-0.5 * ((hours - 40) / 3.0) ** 2)
    long_week = np.exp(-0.5 * ((hours - 52) / 8.0) ** 2)
    # People round what they report.
    rounded = 1.0 + 5.0 * (hours % 5 == 0) + 3.0 * (hours % 10 == 0)
    weights = np.zeros((2, 2, len(hours)))
    for sex, part in enumerate((0.08, 0.36)):
        for own, over in enumerate((0.1, 0.5)):
            shares = (part * part_time, (1 - part - over / 2) * full_time, over * long_week)
            weights[sex, own] = rounded * sum(shares) * (hours >= 1)
    return weights


def birthplace_paths() -> list[tuple[str, ...]]:
    """Return the rows of the hierarchy birthplace, home or continent, everywhere."""
    return [
        *((region, "Home", "*") for region in REGIONS),
        *((*pair, "*") for pair in ABROAD.items()),
    ]


def marital_paths() -> list[tuple[str, ...]]:
    """Return the rows of the hierarchy marital status, with or without a spouse, everything."""
    return [
        (name, "With spouse" if name == "Married" else "Without spouse", "*")
        for name in MARITAL_STATUS
    ]
