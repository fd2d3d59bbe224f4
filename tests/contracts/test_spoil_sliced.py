"""Every way to spoil a `sliced` release is one that the oracle notices, with the stated code."""

from __future__ import annotations

import shutil

import pytest
from oracles import samples
from oracles.verdict import verdict

from .spoil_sliced import GENERIC, SLICED_SPOILS


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """The worked example in both file formats."""
    home = tmp_path_factory.mktemp("good")
    return {
        file_format: samples.sliced_clinic(home / file_format, file_format)
        for file_format in ("parquet", "csv")
    }


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
@pytest.mark.parametrize("spoil", SLICED_SPOILS, ids=lambda spoil: spoil.name)
def test_the_oracle_notices(spoil, file_format, good, tmp_path):
    folder = tmp_path / "release"
    shutil.copytree(good[file_format], folder)
    assert verdict(folder) == 0
    spoil.apply(folder)
    assert verdict(folder) == spoil.code


def test_there_are_many_ways_and_each_has_its_own_name():
    names = [spoil.name for spoil in SLICED_SPOILS]
    assert len(set(names)) == len(names)
    assert len(names) - GENERIC >= 20
