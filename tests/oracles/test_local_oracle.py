"""The oracle of the `local` layout, on a release written by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from . import samples
from .cells import Exact
from .local import buckets, claim_holds, local_from, problems
from .release import read_release

# Those behind the sample, in its own order: age, sex, zipcode, pay, smoker, disease.
PEOPLE = [
    (33, "F", "47901", 1500, "no", "Flu"),
    (20, "F", "47901", 3000, "no", "Fever"),
    (40, "F", "47308", 2000, "yes", "Gastritis"),
    (60, "M", "47905", 2200, "yes", "Asthma"),
    (25, "M", "47902", 1200, "yes", "Flu"),
    (44, "F", "47308", 2600, "yes", "Ulcer"),
    (52, "F", "47308", 2100, "no", "Gastritis"),
    (31, "M", "47905", 1000, "no", "Fever"),
    (41, "F", "47308", 3300, "no", "Gastritis"),
    (28, "F", "47902", 3400, "yes", "Flu"),
    (50, "M", "47901", 2900, "no", "Ulcer"),
    (47, "F", "47308", 2500, "no", "Asthma"),
]
NAMES = ("age", "sex", "zipcode", "pay", "smoker", "disease")
HIDDEN_PAY = [True, True, False, False, True, False, False, True, False, True, False, False]
HIDDEN_SMOKER = [True, False, True, True, False, True, True, False, True, False, True, True]
FLAGS = {"pay": HIDDEN_PAY, "smoker": HIDDEN_SMOKER}


@pytest.fixture(params=["parquet", "csv"])
def clinic(request, tmp_path):
    return read_release(samples.clinic(tmp_path / "clinic", request.param))


def original(**changes: dict[int, object]) -> list[dict[str, object]]:
    """Return the people, with other values of some columns by row."""
    rows = [dict(zip(NAMES, person, strict=True)) for person in PEOPLE]
    for name, by_row in changes.items():
        for row, value in by_row.items():
            rows[row][name] = value
    return rows


def test_buckets_and_claims(clinic):
    assert problems(clinic) == []
    pays = {b: sorted(cell.point for cell in cells) for b, cells in buckets(clinic, "pay").items()}
    assert pays == {1: [1000, 1200], 2: [3000, 3400]}
    assert {len(cells) for cells in buckets(clinic, "disease").values()} == {3}
    of_pay = {"model": "l-unique-buckets", "attribute": "pay"}
    assert claim_holds(clinic, of_pay | {"l": 2})
    assert not claim_holds(clinic, of_pay | {"l": 3})
    # 3 of 8 smoke: 1/3 and 1/2 in the buckets
    of_smokers = {"model": "t-close-buckets", "attribute": "smoker", "distance": "equal"}
    assert claim_holds(clinic, of_smokers | {"t": 0.125})
    assert not claim_holds(clinic, of_smokers | {"t": 0.12})


def test_a_close_bucket_holds_two_values(clinic):
    claim = {"model": "t-close-buckets", "attribute": "smoker", "distance": "equal", "t": 1.0}
    assert claim_holds(clinic, claim)
    for row in clinic.tables["records"]:
        if row["smoker.bucket"] == 1:
            row["smoker"] = Exact("no")
    assert not claim_holds(clinic, claim)


def test_the_release_comes_from_its_people(clinic):
    assert local_from(original(), clinic)
    assert local_from(original(), clinic, FLAGS)
    assert local_from(original()[::-1], clinic)
    assert not local_from(original()[1:], clinic)


def test_within_a_bucket_and_a_group_values_are_anybodys(clinic):
    # rows 4 and 7 share group 1 and a bucket of pays
    assert local_from(original(pay={4: 1000, 7: 1200}), clinic, FLAGS)
    # pays of the other bucket go with other diseases
    assert not local_from(original(pay={4: 3000, 1: 1200}), clinic, FLAGS)
    assert not local_from(original(pay={4: 1201}), clinic, FLAGS)
    assert not local_from(original(disease={0: "Gastritis"}), clinic, FLAGS)


def test_all_buckets_need_one_and_the_same_matching(clinic):
    """Two of a group may change places as a whole, but not in one attribute alone."""
    pays, diseases = {1: 1200, 4: 3000}, {1: "Flu", 4: "Fever"}
    assert not local_from(original(pay=pays), clinic)
    assert not local_from(original(disease=diseases), clinic)
    assert local_from(original(pay=pays, disease=diseases), clinic)


def test_what_is_withheld_may_be_anything(clinic):
    assert local_from(original(pay={0: -7, 3: None}, zipcode={0: None}), clinic, FLAGS)


def test_flags_must_agree_with_buckets(clinic):
    flipped = [not flag for flag in HIDDEN_PAY]
    assert not local_from(original(), clinic, {"pay": flipped})
    # in group 3 pays are withheld, whoever hides them
    other = [flag or row in (3, 8) for row, flag in enumerate(HIDDEN_PAY)]
    assert local_from(original(), clinic, {"pay": other})
    assert clinic.tables["records"][1]["pay"] == Exact(Fraction(3400))
