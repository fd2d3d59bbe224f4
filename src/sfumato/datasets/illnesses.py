"""Why invented people are in hospital: whom it strikes, when in the year, for how long."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from sfumato.datasets.occupations import OLDEST, Exposure
from sfumato.datasets.sampling import Floats

Season = Literal["even", "winter", "summer"]
SEASONS: tuple[Season, ...] = ("even", "winter", "summer")

_DESK, _PEOPLE, _MANUAL = Exposure.DESK, Exposure.PEOPLE, Exposure.MANUAL
_ROAD, _FIELD = Exposure.ROAD, Exposure.FIELD


@dataclass(frozen=True, slots=True)
class Illness:
    """An illness: how frequent, around which age, in whom, and how many days it keeps people.

    `women` is the weight for women against 1 - `women` for men: 1 and 0 mean that the other sex
    cannot have it. Outside of `ages` nobody has it. `work` multiplies the weight under an exposure.
    """

    name: str
    chapter: str
    weight: float
    peak: float
    width: float
    women: float = 0.5
    ages: tuple[int, int] = (0, OLDEST)
    stay: float = 4.0
    season: Season = "even"
    work: dict[Exposure, float] = field(default_factory=dict)


_BIRTH = (15, 50)

ILLNESSES = (
    Illness("Heart attack", "Circulation", 4, 70, 14, 0.36, (25, 95), 6, work={_ROAD: 1.6}),
    Illness("Heart failure", "Circulation", 5, 82, 11, 0.5, (35, 95), 8),
    Illness("Angina", "Circulation", 3, 68, 13, 0.4, (30, 95), 3, work={_ROAD: 1.4}),
    Illness("Stroke", "Circulation", 4, 77, 13, 0.48, (20, 95), 9),
    Illness("Atrial fibrillation", "Circulation", 3, 74, 11, 0.46, (25, 95), 4),
    Illness("Hypertension", "Circulation", 2.5, 66, 15, 0.52, (18, 95), 3, work={_DESK: 1.5}),
    Illness("Influenza", "Breathing", 2.6, 45, 40, season="winter", work={_PEOPLE: 2.2}),
    Illness("Pneumonia", "Breathing", 4.5, 78, 24, 0.46, stay=7, season="winter"),
    Illness("Bronchiolitis", "Breathing", 22, 0, 1.2, 0.44, (0, 2), 3, "winter"),
    Illness("Asthma", "Breathing", 1.8, 12, 16, 0.48, (2, 95), 3, "summer", {_MANUAL: 1.5}),
    Illness(
        "Chronic bronchitis", "Breathing", 3, 72, 11, 0.42, (35, 95), 6, "winter", {_MANUAL: 2}
    ),
    Illness("Silicosis", "Breathing", 0.15, 64, 12, 0.1, (35, 95), 7, work={_MANUAL: 6}),
    Illness("Appendicitis", "Digestion", 2.8, 18, 16, 0.45, (2, 95), 3),
    Illness("Gastritis", "Digestion", 2.2, 45, 22, 0.52, (5, 95), 2, work={_ROAD: 1.5}),
    Illness("Gallstones", "Digestion", 3, 55, 17, 0.68, (15, 95), 3),
    Illness("Hernia", "Digestion", 2.8, 60, 20, 0.16, (0, 95), 2, work={_MANUAL: 2.2}),
    Illness("Liver cirrhosis", "Digestion", 1.4, 58, 11, 0.32, (25, 95), 9),
    Illness("Gastroenteritis", "Digestion", 1.8, 4, 25, 0.5, (0, 95), 2, work={_PEOPLE: 1.6}),
    Illness("Lung cancer", "Cancer", 2.4, 69, 9, 0.42, (30, 95), 8, work={_MANUAL: 1.6}),
    Illness("Bowel cancer", "Cancer", 2.4, 71, 11, 0.45, (25, 95), 8),
    Illness("Breast cancer", "Cancer", 3.4, 62, 13, 1.0, (22, 95), 4),
    Illness("Ovarian cancer", "Cancer", 1.3, 63, 14, 1.0, (18, 95), 7),
    Illness("Prostate cancer", "Cancer", 4, 70, 8, 0.0, (42, 95), 5),
    Illness("Testicular cancer", "Cancer", 0.9, 32, 8, 0.0, (15, 65), 4),
    Illness("Leukaemia", "Cancer", 0.9, 60, 30, 0.43, stay=12),
    Illness("Skin cancer", "Cancer", 1.4, 68, 14, 0.46, (18, 95), 2, work={_FIELD: 3.5}),
    Illness("Broken hip", "Injury", 4, 85, 8, 0.72, (45, 95), 10, "winter"),
    Illness("Broken arm", "Injury", 2, 9, 9, 0.42, (1, 95), 2, "summer"),
    Illness("Concussion", "Injury", 1.8, 18, 20, 0.42, stay=2, work={_ROAD: 1.8, _MANUAL: 1.6}),
    Illness("Burn", "Injury", 0.8, 25, 24, 0.38, stay=6, work={_MANUAL: 3.0}),
    Illness("Road accident", "Injury", 1.8, 24, 16, 0.34, stay=6, work={_ROAD: 3.0}),
    Illness("Knee injury", "Injury", 1.6, 32, 16, 0.4, (8, 95), 2, work={_FIELD: 2.0}),
    Illness(
        "Slipped disc", "Bones and joints", 2.2, 47, 12, 0.46, (18, 95), 4, work={_MANUAL: 2.4}
    ),
    Illness("Arthritis", "Bones and joints", 4, 71, 10, 0.6, (30, 95), 6, work={_FIELD: 1.5}),
    Illness("Carpal tunnel", "Bones and joints", 1, 50, 12, 0.66, (20, 95), 1, work={_DESK: 2.8}),
    Illness("Diabetes", "Metabolism", 2.8, 58, 22, 0.46, (1, 95), 5, work={_ROAD: 1.7, _DESK: 1.3}),
    Illness("Obesity", "Metabolism", 1.2, 42, 11, 0.72, (12, 80), 3, work={_DESK: 1.4}),
    Illness("Thyroid disease", "Metabolism", 1, 50, 17, 0.8, (8, 95), 3),
    Illness("Kidney stones", "Kidney", 1.8, 48, 14, 0.34, (15, 95), 2, "summer"),
    Illness("Kidney failure", "Kidney", 1.8, 73, 15, 0.44, (5, 95), 8),
    Illness("Bladder infection", "Kidney", 2, 76, 25, 0.74, (0, 95), 4),
    Illness("Depression", "Mind", 2.6, 42, 17, 0.62, (12, 95), 18, "winter", {_PEOPLE: 1.5}),
    Illness("Schizophrenia", "Mind", 1.2, 34, 13, 0.42, (16, 80), 21),
    Illness("Alcohol dependence", "Mind", 2.6, 46, 12, 0.27, (16, 85), 8, work={_MANUAL: 1.3}),
    Illness("Anorexia", "Mind", 0.7, 17, 4, 0.92, (11, 40), 26),
    Illness("Dementia", "Nerves", 2.6, 85, 7, 0.6, (55, 95), 14),
    Illness("Epilepsy", "Nerves", 1.2, 20, 28, 0.47, stay=3),
    Illness("Migraine", "Nerves", 1, 36, 12, 0.76, (8, 75), 2, work={_DESK: 1.4}),
    Illness("Multiple sclerosis", "Nerves", 0.7, 38, 10, 0.72, (18, 80), 5),
    Illness("Tuberculosis", "Infection", 0.4, 40, 20, 0.36, stay=16, work={_PEOPLE: 2.0}),
    Illness("HIV infection", "Infection", 0.6, 39, 11, 0.27, (16, 85), 9),
    Illness("Hepatitis", "Infection", 0.7, 40, 15, 0.4, (5, 90), 6, work={_PEOPLE: 1.8}),
    Illness("Lyme disease", "Infection", 0.6, 45, 24, 0.47, (3, 90), 3, "summer", {_FIELD: 6.0}),
    Illness("Sepsis", "Infection", 2.2, 80, 22, 0.46, stay=12),
    Illness("Tonsillitis", "Infection", 2.6, 8, 8, 0.53, (1, 50), 2, "winter"),
    Illness("Childbirth", "Pregnancy", 14, 31, 5.5, 1.0, _BIRTH, 3),
    Illness("Miscarriage", "Pregnancy", 1.6, 33, 6.5, 1.0, _BIRTH, 1),
    Illness("Pre-eclampsia", "Pregnancy", 1, 31, 7, 1.0, _BIRTH, 6),
    Illness("Endometriosis", "Pelvis", 1.4, 34, 8, 1.0, (15, 55), 2),
    Illness("Enlarged prostate", "Pelvis", 2.2, 72, 9, 0.0, (45, 95), 4),
    Illness("Premature birth", "Pregnancy", 14, 0, 0.6, 0.47, (0, 0), 24),
    Illness("Jaundice of the newborn", "Pregnancy", 9, 0, 0.6, 0.46, (0, 0), 3),
)


def names() -> list[str]:
    """Return the names of all illnesses, in the order of their codes."""
    return [illness.name for illness in ILLNESSES]


def illness_weights() -> Floats:
    """Return the weight of every illness by age, sex (men first) and exposure at work."""
    ages = np.arange(OLDEST + 1)
    weights = np.zeros((len(ages), 2, len(Exposure), len(ILLNESSES)))
    for code, illness in enumerate(ILLNESSES):
        low, high = illness.ages
        # A bell around the peak on a low plateau: any age may be struck, most are near the peak.
        bell = np.exp(-0.5 * ((ages - illness.peak) / illness.width) ** 2) + 0.03
        by_age = illness.weight * bell * ((ages >= low) & (ages <= high))
        by_sex = np.array([1.0 - illness.women, illness.women])
        by_work = np.array([illness.work.get(exposure, 1.0) for exposure in Exposure])
        weights[..., code] = by_age[:, None, None] * by_sex[:, None] * by_work
    return weights


def illness_paths() -> list[tuple[str, ...]]:
    """Return the rows of the hierarchy illness, chapter, everything."""
    return [(illness.name, illness.chapter, "*") for illness in ILLNESSES]
