"""Releases of every grouped layout from synthetic data, spoilt in every way: the audit says no.

`tests/audit` has worked examples and one small table; here the synthetic hospital is published
with hierarchies, missing values and several models at once.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from sfumato.audit import audit
from sfumato.columns.k_medoids import column_blocks
from sfumato.datasets import hospital, hospital_schema
from sfumato.errors import ReleaseDamaged
from sfumato.methods import Anatomy, Mondrian, TopDown
from sfumato.models import (
    AlphaKAnonymity,
    BetaLikeness,
    KAnonymity,
    LDiversity,
    TCloseness,
)
from sfumato.publish.assemble import assemble
from sfumato.publish.slice import block_names, sliced_records
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.rows.anatomy import anatomy
from sfumato.table import encode

from .raw_release import NotApplicable
from .spoil import SPOILS
from .spoil_sliced import GENERIC, SLICED_SPOILS

ROWS = 160
SEED = Randomness.secret(b"not that secret, but no test seed")
MISSING = {"age": 0.05, "occupation": 0.1, "zipcode": 0.05, "disease": 0.05}
TYPES = dict.fromkeys(MISSING, pa.string()) | {"age": pa.int16()}


def stays() -> pa.Table:
    """Return synthetic hospital stays, some cells of which are missing."""
    table = hospital(ROWS, seed=3)
    rng = repeatable(3)
    for name, share in MISSING.items():
        column = table[name].combine_chunks()
        holes = pa.array(rng.random(ROWS) < share)
        filled = pc.if_else(holes, pa.scalar(None, pa.string()), column.cast(pa.string()))
        table = table.set_column(table.column_names.index(name), name, filled.cast(TYPES[name]))
    return table


def by_mondrian() -> Release:
    models = (
        KAnonymity(3),
        LDiversity("disease", 2),
        LDiversity("disease", 3, "distinct"),
        LDiversity("disease", 2.5, "entropy"),
        LDiversity("disease", 2, "recursive", c=3.0),
        TCloseness("disease", 0.8, "hierarchical"),
        AlphaKAnonymity("disease", 0.6, 4),
        BetaLikeness("disease", 40.0),
    )
    return Mondrian(k=4, models=models).publish(stays(), hospital_schema(), randomness=SEED)


def by_relaxed_mondrian() -> Release:
    schema = hospital_schema(("age", "sex", "occupation"), ("salary", "disease"))
    models = (LDiversity("disease", 2), TCloseness("salary", 0.5, "ordered"))
    return Mondrian(k=5, models=models, strict=False).publish(stays(), schema, randomness=SEED)


def by_top_down() -> Release:
    return TopDown(k=6).publish(stays(), hospital_schema(), randomness=SEED)


def by_anatomy() -> Release:
    # few enough quasi-identifiers that people of a group share them
    schema = hospital_schema(("sex", "occupation"))
    return Anatomy(l=4).publish(stays(), schema, randomness=SEED)


def by_slicing() -> Release:
    schema = hospital_schema(("age", "sex", "occupation"))
    table = encode(stays(), schema)
    groups = anatomy(table, "disease", 4, rng=SEED.generator("groups"))
    blocks = column_blocks(table.quasi_identifiers, 2)
    return assemble(
        sliced_records(table, groups, blocks, rng=SEED.generator("tables")),
        method="arp",
        rows=table.rows,
        models=[LDiversity("disease", 4)],
        parameters={"columns": block_names(table, blocks)},
        is_test=False,
    )


MAKERS: dict[str, Callable[[], Release]] = {
    "mondrian": by_mondrian,
    "relaxed mondrian": by_relaxed_mondrian,
    "top-down": by_top_down,
    "anatomy": by_anatomy,
    "slicing": by_slicing,
}
LAYOUTS = dict.fromkeys(MAKERS, "generalized") | {"anatomy": "anatomized", "slicing": "sliced"}
# What a release lacks cannot be spoilt: anatomised cells are exact, and not all claims are made.
CELLS = (
    "delete_a_hierarchy",
    "name_a_node_that_is_not_there",
    "swap_the_ends_of_a_range",
    "widen_a_range_beyond_the_domain",
    "leave_a_bracket_open",
)
DIVERSE = ("claim_a_larger_l", "make_a_group_all_alike")
LACKING = {
    "anatomy": {*CELLS, "claim_a_smaller_t"},
    "top-down": {*DIVERSE, "claim_a_smaller_t"},
    "slicing": {
        *CELLS,
        "claim_a_smaller_t",
        "part_a_row_from_its_group",
        "part_a_row_from_its_crowd",
        "generalise_a_kept_cell",
        "join_a_kept_column_with_quasi_identifiers",
        "join_a_kept_column_with_a_sensitive_attribute",
    },
}
CASES = [
    pytest.param(spoil, maker, file_format, id=f"{spoil.name}-{maker}-{file_format}")
    for spoil in [*SPOILS, *SLICED_SPOILS[GENERIC:]]
    for maker in MAKERS
    if LAYOUTS[maker] in spoil.layouts
    for file_format in ("parquet", "csv")
]


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> dict[tuple[str, str], Path]:
    """Sound releases by maker and file format; the table has what there is to spoil."""
    home = tmp_path_factory.mktemp("good")
    folders = {}
    for maker, publish in MAKERS.items():
        release = publish()
        assert release.manifest.rows == ROWS and len(release.manifest.guarantees) > 0
        for file_format in ("parquet", "csv"):
            folders[maker, file_format] = home / f"{maker}-{file_format}"
            release.save(folders[maker, file_format], format=file_format)
    return folders


def exit_code(folder: Path) -> int:
    """Return the exit code of an audit; a refusal is one line, without a path into the machine."""
    try:
        return audit(folder).exit_code
    except ReleaseDamaged as error:
        assert str(error) and "\n" not in str(error)
        return 2


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
@pytest.mark.parametrize("maker", MAKERS)
def test_the_release_is_sound_at_first(maker, file_format, good):
    folder = good[maker, file_format]
    assert exit_code(folder) == 0
    release = Release.load(folder)
    cells = [column.null_count for table in release.tables.values() for column in table.columns]
    assert np.sum(cells) > 0, "a table with missing values was to be published"
    assert all(each.holds for each in audit(release).guarantees)


@pytest.mark.parametrize(("spoil", "maker", "file_format"), CASES)
def test_a_spoilt_release_is_refused(spoil, maker, file_format, good, tmp_path):
    folder = tmp_path / "release"
    shutil.copytree(good[maker, file_format], folder)
    if spoil.name in LACKING.get(maker, ()):
        with pytest.raises(NotApplicable):
            spoil.apply(folder)
        return
    spoil.apply(folder)
    assert exit_code(folder) == spoil.code
