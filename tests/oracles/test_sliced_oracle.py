"""The oracle of the `sliced` layout, on the worked example."""

from __future__ import annotations

from dataclasses import replace

import pytest

from .release import read_release
from .samples import PATIENTS, sliced_clinic
from .sliced import manifest_problems, sliced_from, smallest_crowd
from .verdict import claim_holds, problems, verdict

NAMES = ("age", "sex", "zipcode", "disease", "ward")
ORIGINAL = [dict(zip(NAMES, patient, strict=True)) for patient in PATIENTS]


@pytest.fixture(params=["parquet", "csv"])
def folder(request, tmp_path):
    return sliced_clinic(tmp_path / "clinic", request.param)


def changed(number: int, **cells: object) -> list[dict[str, object]]:
    """Return the original with other cells in one row."""
    return [row | (cells if i == number else {}) for i, row in enumerate(ORIGINAL)]


def swapped(name: str, one: int, other: int) -> list[dict[str, object]]:
    """Return the original in which two rows have exchanged a value."""
    rows = [dict(row) for row in ORIGINAL]
    rows[one][name], rows[other][name] = rows[other][name], rows[one][name]
    return rows


def test_the_worked_example_is_sound(folder):
    assert problems(read_release(folder)) == []
    assert verdict(folder) == 0


def test_crowds_share_the_cells_of_a_block(folder):
    release = read_release(folder)
    assert smallest_crowd(release) == 2
    assert claim_holds(release, {"model": "k-anonymity", "k": 2})
    assert not claim_holds(release, {"model": "k-anonymity", "k": 3})


def test_it_comes_from_its_table(folder):
    release = read_release(folder)
    assert sliced_from(ORIGINAL, release)
    assert sliced_from(ORIGINAL[::-1], release)


def test_values_of_different_blocks_may_be_anybodys_in_the_group(folder):
    release = read_release(folder)
    for name in ("zipcode", "disease", "ward"):
        assert sliced_from(swapped(name, 0, 1), release)
        assert sliced_from(swapped(name, 4, 8), release)


def test_values_of_a_block_belong_together(folder):
    release = read_release(folder)
    assert not sliced_from(swapped("sex", 0, 1), release)
    # both are 52 and of the same sex, so that nothing has changed
    assert sliced_from(swapped("sex", 7, 8), release)


def test_values_do_not_leave_their_group(folder):
    """Each block has what it had, over all groups: but no dealing of the rows to groups fits."""
    release = read_release(folder)
    assert not sliced_from(swapped("disease", 1, 5), release)  # Asthma and Fever
    assert not sliced_from(swapped("disease", 3, 4), release)  # a missing one and Flu
    # Flu for Flu, and a zip code that `*` covers there and `4790*` here
    assert sliced_from(swapped("disease", 0, 4), release)
    assert sliced_from(swapped("zipcode", 1, 8), release)
    assert not sliced_from(swapped("zipcode", 1, 5), release)


def test_generalised_cells_cover_what_they_may(folder):
    release = read_release(folder)
    assert sliced_from(changed(0, age=26), release)
    assert not sliced_from(changed(0, age=30), release)
    assert not sliced_from(changed(1, age=26), release)  # whose cell is exact
    assert sliced_from(changed(6, zipcode="47308"), release)  # a fifth one, behind `*`
    assert not sliced_from(changed(0, disease="Fever"), release)
    assert not sliced_from(changed(0, ward="west"), release)


def test_all_rows_are_published(folder):
    release = read_release(folder)
    assert not sliced_from(ORIGINAL[:-1], release)
    assert not sliced_from([*ORIGINAL, ORIGINAL[0]], release)
    suppressed = replace(release, manifest={**release.manifest, "suppressed": 1})
    assert not sliced_from([*ORIGINAL, ORIGINAL[0]], suppressed)


@pytest.mark.parametrize(
    "blocks",
    [
        None,
        "age",
        ["age"],
        [["age", "sex"], ["zipcode"], ["disease"]],
        [["age", "sex"], ["zipcode"], ["disease", "ward"]],
        [["age", "sex", "ward"], ["zipcode"], ["disease"]],
        [["age", "sex"], ["zipcode"], ["disease"], ["ward"], []],
        [["age", "sex"], ["zipcode"], ["disease"], ["ward"], ["age"]],
        [["age", "sex"], ["zipcode"], ["disease"], ["ward"], [1]],
    ],
)
def test_blocks_that_make_no_sense(blocks, folder):
    manifest = read_release(folder).manifest
    assert manifest_problems(manifest) == []
    assert manifest_problems({**manifest, "parameters": {"columns": blocks}})
