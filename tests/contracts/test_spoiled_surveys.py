"""Releases of means, of withheld cells, with weights and with households, spoilt in every way."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sfumato.audit import audit
from sfumato.datasets import hospital
from sfumato.errors import ReleaseDamaged
from sfumato.methods import Mondrian
from sfumato.methods.local_suppression import LocalSuppression
from sfumato.methods.mdav import MDAV
from sfumato.models import LDiversity
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import Attribute, Role, Schema

from .raw_release import NotApplicable
from .spoil import SPOILS
from .spoil_surveys import SURVEY_SPOILS

ROWS = 160
SEED = Randomness.secret(b"not that secret, but no test seed")
ROLES = {"age": "quasi-identifier", "sex": "quasi-identifier", "disease": "sensitive"}


def stays(*names: str) -> pa.Table:
    """Return columns of synthetic hospital stays, a weight and a household of two for each."""
    weights = np.random.default_rng(5).integers(100, 1000, ROWS) / 100
    table = hospital(ROWS, seed=3).append_column("weight", pa.array(weights))
    homes = pa.array([f"h{place // 2}" for place in range(ROWS)])
    return table.append_column("home", homes).select(names)


def by_mdav() -> Release:
    schema = Schema(
        (
            Attribute("age", Role.QUASI_IDENTIFIER, domain=(0, 120)),
            Attribute("stay_days", Role.QUASI_IDENTIFIER),
            Attribute("disease", Role.SENSITIVE),
        )
    )
    return MDAV(k=4).publish(stays("age", "stay_days", "disease"), schema, randomness=SEED)


def by_local_suppression() -> Release:
    schema = Schema.of(ROLES | {"occupation": "quasi-identifier"})
    return LocalSuppression(k=3).publish(stays(*ROLES, "occupation"), schema, randomness=SEED)


def with_weights() -> Release:
    schema = replace(Schema.of(ROLES), weight="weight")
    method = Mondrian(k=4, models=(LDiversity("disease", 2),))
    return method.publish(stays(*ROLES, "weight"), schema, randomness=SEED)


def with_households() -> Release:
    """Of every household there are two rows that are alike."""
    schema = replace(Schema.of(ROLES), household="home")
    method = Mondrian(k=3, models=(LDiversity("disease", 2),))
    twice = np.repeat(np.arange(ROWS // 2) * 2, 2)
    return method.publish(stays(*ROLES, "home").take(twice), schema, randomness=SEED)


MAKERS: dict[str, Callable[[], Release]] = {
    "mdav": by_mdav,
    "local-suppression": by_local_suppression,
    "weights": with_weights,
    "households": with_households,
}
# What a release lacks cannot be spoilt.
HIERARCHIES = {"delete_a_hierarchy", "name_a_node_that_is_not_there", "claim_a_smaller_t"}
RANGES = {
    "swap_the_ends_of_a_range",
    "widen_a_range_beyond_the_domain",
    "leave_a_bracket_open",
    "claim_a_larger_l",
    "make_a_group_all_alike",
}
LACKING = {
    "mdav": HIERARCHIES | RANGES,
    "local-suppression": HIERARCHIES | RANGES,
    "weights": HIERARCHIES,
    "households": HIERARCHIES,
}
# Records that no longer are those that households were counted in.
CONTRADICTED = {
    ("households", "part_a_row_from_its_group"),
    ("households", "make_a_group_all_alike"),
}
CASES = [
    pytest.param(spoil, maker, file_format, id=f"{spoil.name}-{maker}-{file_format}")
    for spoil in [*SPOILS, *SURVEY_SPOILS]
    for maker in MAKERS
    if maker in spoil.layouts or "generalized" in spoil.layouts
    for file_format in ("parquet", "csv")
]


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
    return folders


def exit_code(folder: Path) -> int:
    """Return the exit code of an audit; a refusal is one line."""
    try:
        return audit(folder).exit_code
    except ReleaseDamaged as error:
        assert str(error) and "\n" not in str(error)
        return 2


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
@pytest.mark.parametrize("maker", MAKERS)
def test_the_release_is_sound_at_first(maker, file_format, good):
    assert exit_code(good[maker, file_format]) == 0


@pytest.mark.parametrize(("spoil", "maker", "file_format"), CASES)
def test_a_spoilt_release_is_refused(spoil, maker, file_format, good, tmp_path):
    folder = tmp_path / "release"
    shutil.copytree(good[maker, file_format], folder)
    if spoil.name in LACKING[maker]:
        with pytest.raises(NotApplicable):
            spoil.apply(folder)
        return
    spoil.apply(folder)
    expected = 2 if (maker, spoil.name) in CONTRADICTED else spoil.code
    assert exit_code(folder) == expected


def test_every_way_has_its_own_name():
    names = [spoil.name for spoil in (*SPOILS, *SURVEY_SPOILS)]
    assert len(set(names)) == len(names)
