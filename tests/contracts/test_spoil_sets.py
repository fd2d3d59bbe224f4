"""Releases of random sets, spoilt in every way: both the oracle and the audit say no."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from oracles.verdict import verdict

from sfumato.audit import audit
from sfumato.errors import ReleaseDamaged
from sfumato.methods import Rating, SensitiveQID, SetProtection
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.schema import Attribute, Role, Schema

from .raw_release import NotApplicable
from .spoil_sets import GENERIC, SET_SPOILS

ROWS = 160
SEED = Randomness.secret(b"not that secret, but no test seed")
SECRET = Role.SENSITIVE_QUASI_IDENTIFIER
JOBS = ("Nurse", "Clerk", "Cook", "Judge", None)


def people() -> tuple[pa.Table, Schema]:
    """Return a table with missing values, numbers to be cut and columns that stay exact."""
    rng = repeatable(5)
    data = pa.table(
        {
            "town": [f"town {i}" for i in rng.integers(0, 6, ROWS)],
            "job": [JOBS[i] for i in rng.integers(0, 5, ROWS)],
            "age": rng.integers(0, 100, ROWS),
            "sex": [("F", "M")[i] for i in rng.integers(0, 2, ROWS)],
            "pay": rng.integers(0, 500, ROWS),
            "disease": [f"disease {i}" for i in rng.integers(0, 8, ROWS)],
            "ward": [("east", "west")[i] for i in rng.integers(0, 2, ROWS)],
        }
    )
    schema = Schema(
        (
            Attribute("town", Role.QUASI_IDENTIFIER),
            Attribute("job", SECRET),
            Attribute("age", SECRET, domain=(0, 99)),
            Attribute("sex", SECRET),
            Attribute("pay", Role.SENSITIVE, domain=(0, 499)),
            Attribute("disease", Role.SENSITIVE),
            Attribute("ward", Role.INSENSITIVE, keep=True),
        )
    )
    return data, schema


def by_sensitive_qid() -> Release:
    protection = {
        "job": SetProtection(l=2, t=0.3, k=2),
        "disease": SetProtection(t=0.2, prior="data", max_eta=1),
        "pay": SetProtection(t=0.3, distance="ordered"),
    }
    method = SensitiveQID(t=0.4, bins=10, joint=[["age", "sex"]], protection=protection)
    return method.publish(*people(), randomness=SEED)


def by_rating() -> Release:
    data, schema = people()
    method = Rating(l=2, bins=10, protection={"disease": SetProtection(l=3)})
    attributes = tuple(each for each in schema if each.name != "sex")
    return method.publish(data.drop_columns(["sex"]), Schema(attributes), randomness=SEED)


MAKERS: dict[str, Callable[[], Release]] = {"sensitive-qid": by_sensitive_qid, "rating": by_rating}
# What a release lacks cannot be spoilt: cells are exact or sets, and rating claims sizes alone.
CELLS = {
    "delete_a_hierarchy",
    "name_a_node_that_is_not_there",
    "swap_the_ends_of_a_range",
    "widen_a_range_beyond_the_domain",
    "leave_a_bracket_open",
}
LACKING = {
    "sensitive-qid": CELLS,
    "rating": {
        *CELLS,
        "raise_p_above_what_closeness_allows",
        "give_everybody_the_same_set",
        "narrow_the_masses_to_less_than_any_table_has",
        "narrow_the_masses_to_nothing",
        "widen_the_masses",
        "forget_the_masses",
        "claim_closeness_for_every_prior",
        "join_other_attributes",
        "join_what_is_not_published",
        "list_a_combination_that_cannot_be",
    },
}


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> dict[tuple[str, str], Path]:
    """Sound releases by maker and file format."""
    home = tmp_path_factory.mktemp("good")
    folders = {}
    for maker, publish in MAKERS.items():
        release = publish()
        for file_format in ("parquet", "csv"):
            folders[maker, file_format] = home / f"{maker}-{file_format}"
            release.save(folders[maker, file_format], format=file_format)
            assert exit_code(folders[maker, file_format]) == 0
            assert verdict(folders[maker, file_format]) == 0
    return folders


def exit_code(folder: Path) -> int:
    try:
        return audit(folder).exit_code
    except ReleaseDamaged as error:
        assert str(error) and "\n" not in str(error)
        return 2


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("spoil", SET_SPOILS, ids=lambda spoil: spoil.name)
def test_a_spoilt_release_is_refused(spoil, maker, file_format, good, tmp_path):
    folder = tmp_path / "release"
    shutil.copytree(good[maker, file_format], folder)
    if spoil.name in LACKING[maker]:
        with pytest.raises(NotApplicable):
            spoil.apply(folder)
        assert exit_code(folder) == 0
        return
    spoil.apply(folder)
    assert exit_code(folder) == spoil.code
    assert verdict(folder) == spoil.code


def test_there_are_many_ways_and_each_has_its_own_name():
    names = [spoil.name for spoil in SET_SPOILS]
    assert len(set(names)) == len(names)
    assert len(names) - GENERIC >= 30
