"""Samples of tables: whose rows they have, and that they know nothing of the others."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from arbitrary.frames import frames
from hypothesis import given

from sfumato.randomness import repeatable
from sfumato.schema import Schema
from sfumato.table import decode, encode
from sfumato.table.sample import rows_of, sampled


@given(frame=frames(), data=st.data())
def test_some_rows_are_those_rows_and_their_values_alone(frame, data):
    table = encode(frame.data, frame.schema)
    rows = data.draw(st.sets(st.integers(0, table.rows - 1), min_size=1))
    part = rows_of(table, np.array(sorted(rows)))
    whole = decode(table).to_pylist()
    assert str(decode(part).to_pylist()) == str([whole[row] for row in sorted(rows)])
    for column in part.columns:
        assert sorted(set(column.codes.tolist()) - {column.null_code}) == list(
            range(column.cardinality)
        )
        if column.tree is not None:
            assert column.tree.order.tolist() == sorted(column.tree.order.tolist())
            texts = [str(label) for label in column.tree.labels[: column.cardinality]]
            original = table[column.name]
            assert set(texts) <= set(original.tree.labels[: original.cardinality])
            above = {
                (leaf, label) for leaf, *path in column.attribute.hierarchy.rows() for label in path
            }
            for node in range(column.cardinality, len(column.tree.parent)):
                for code in range(column.tree.first[node], column.tree.last[node] + 1):
                    assert (column.tree.labels[code], column.tree.labels[node]) in above
    if table.units is not None:
        assert set(part.units.tolist()) == set(range(part.unit_count))


@pytest.mark.parametrize(("share", "people"), [(0.9, 90), (0.005, 1), (0.255, 26), (1.0, 100)])
def test_a_share_of_the_people_is_drawn(share, people):
    data = pa.table({"age": np.arange(100), "illness": ["Flu"] * 100})
    table = encode(data, Schema.of(age="quasi-identifier", illness="sensitive"))
    part = sampled(table, share, rng=repeatable(1))
    assert part.rows == people
    ages = part["age"].values.to_pylist()
    assert len(set(ages)) == people and ages == sorted(ages)


def test_all_rows_of_a_person_are_drawn_or_none():
    names = [f"person {i // 3}" for i in range(30)]
    data = pa.table({"name": names, "age": [i // 3 for i in range(30)], "illness": ["Flu"] * 30})
    roles = Schema.of(name="identifier", age="quasi-identifier", illness="sensitive")
    table = encode(data, Schema(roles.attributes, unit="name"))
    part = sampled(table, 0.4, rng=repeatable(2))
    assert part.unit_count == 4
    assert np.bincount(part["age"].codes).tolist() == [3] * 4


def test_everybody_is_drawn_as_often():
    """Each of 20 people is in 300 of 600 samples, give or take five standard deviations."""
    data = pa.table({"age": np.arange(20), "illness": ["Flu"] * 20})
    table = encode(data, Schema.of(age="quasi-identifier", illness="sensitive"))
    drawn = np.zeros(20, np.int64)
    for seed in range(600):
        drawn[sampled(table, 0.5, rng=repeatable(seed))["age"].values.to_numpy()] += 1
    assert np.abs(drawn - 300).max() < 5 * np.sqrt(600 / 4)
