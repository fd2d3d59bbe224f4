"""Every way to spoil a release is one that the oracle notices, with the stated exit code."""

from __future__ import annotations

import shutil

import pytest
from oracles import samples
from oracles.verdict import verdict

from .raw_release import NotApplicable
from .spoil import SPOILS

SAMPLES = {"generalized": samples.hospital, "anatomized": samples.transactions}


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Good releases by layout and file format."""
    home = tmp_path_factory.mktemp("good")
    return {
        (layout, file_format): write(home / f"{layout}-{file_format}", file_format)
        for layout, write in SAMPLES.items()
        for file_format in ("parquet", "csv")
    }


CASES = [(spoil, layout) for spoil in SPOILS for layout in SAMPLES if layout in spoil.layouts]
# What the samples do not have: anatomized cells are exact, and only one sample claims closeness.
LACKING = {
    ("anatomized", name)
    for name in (
        "delete_a_hierarchy",
        "swap_the_ends_of_a_range",
        "widen_a_range_beyond_the_domain",
        "leave_a_bracket_open",
        "name_a_node_that_is_not_there",
        "claim_a_smaller_t",
    )
}


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("spoil", "layout"), CASES, ids=[f"{spoil.name}-{layout}" for spoil, layout in CASES]
)
def test_the_oracle_notices(spoil, layout, file_format, good, tmp_path):
    folder = tmp_path / "release"
    shutil.copytree(good[layout, file_format], folder)
    assert verdict(folder) == 0
    if (layout, spoil.name) in LACKING:
        with pytest.raises(NotApplicable):
            spoil.apply(folder)
        assert verdict(folder) == 0
        return
    spoil.apply(folder)
    assert verdict(folder) == spoil.code


def test_there_are_many_ways_and_each_has_its_own_name():
    names = [spoil.name for spoil in SPOILS]
    assert len(set(names)) == len(names) >= 16
