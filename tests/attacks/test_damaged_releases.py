"""Attacks say that a release is damaged where its tables do not hold the records it states."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import ReleaseDamaged
from sfumato.release import Release


def people() -> pa.Table:
    """Return a table in which some share all that is known of them."""
    rng = np.random.default_rng(3)
    columns = {"age": rng.integers(20, 24, 60), "sex": rng.choice(["F", "M"], 60)}
    return pa.table({**columns, "illness": rng.choice(["Flu", "Fever", "Gout", "HIV"], 60)})


def with_table(release: Release, name: str, table: pa.Table) -> Release:
    return Release(release.manifest, {**release.tables, name: table}, release.hierarchies)


@pytest.mark.parametrize("stated", [0, -1, 2, 2**31 - 1])
def test_counts_that_do_not_add_up_to_the_records_are_damage(stated):
    schema = sf.Schema.of(age="quasi-identifier", sex="quasi-identifier", illness="sensitive")
    release = sf.Anatomy(l=2).publish(people(), schema, randomness=sf.Randomness.test(1))
    table = release.tables["qi_1"]
    counts = table["count"].to_numpy().copy()
    counts[0] = stated if counts[0] != stated else stated + 1
    place = table.column_names.index("count")
    damaged = with_table(
        release, "qi_1", table.set_column(place, "count", pa.array(counts, table["count"].type))
    )
    with pytest.raises(ReleaseDamaged, match="'qi_1' does not count all records"):
        sf.attack(damaged, people())


def test_random_sets_that_lack_a_record_are_damaged():
    role = "sensitive-quasi-identifier"
    schema = sf.Schema.of(age=role, sex="quasi-identifier", illness=role)
    release = sf.SensitiveQID(l=2).publish(people(), schema, randomness=sf.Randomness.test(1))
    damaged = with_table(release, "records", release.tables["records"].slice(1))
    with pytest.raises(ReleaseDamaged, match="as many records as its manifest says"):
        sf.attack(damaged, people())
