"""Generalised cells of several columns, and sets told apart by bits or by random keys."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from arbitrary.coded import samples
from hypothesis import given
from hypothesis import strategies as st

from sfumato.publish import generalize as publishing
from sfumato.publish.generalize import generalize
from sfumato.publish.side_by_side import side_by_side
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import Groups, encode


def cells_of(column) -> tuple:
    cells = [None if cell < 0 else column.texts[cell] for cell in column.cell_of_group.tolist()]
    return cells, column.named.tolist(), column.is_exact, column.labels


def grouped(rows: int, most: int) -> Groups:
    _, ids = np.unique(np.random.default_rng(rows).integers(0, most, rows), return_inverse=True)
    return Groups(ids.astype(np.int32), int(ids.max()) + 1)


@given(samples(quasi=("age", "size", "job", "place"), people=False), st.integers(1, 6))
def test_columns_side_by_side_have_the_cells_of_one_after_the_other(sample, most):
    columns, groups = sample.table.quasi_identifiers, grouped(sample.table.rows, most)
    rng, other = np.random.default_rng(1), np.random.default_rng(1)
    drawn = []
    together = side_by_side(
        columns,
        lambda column: generalize(column, groups, rng=rng),
        lambda: drawn.append(rng.integers(2**62)),
    )
    assert drawn == [other.integers(2**62)]
    for column in columns:
        alone = generalize(column, groups, rng=other)
        assert cells_of(together[column.name]) == cells_of(alone)
    assert rng.integers(2**62) == other.integers(2**62)  # as much was drawn


@given(samples(quasi=("job",), people=False), st.integers(1, 6))
def test_sets_by_bits_are_those_by_keys_and_by_definition(sample, most):
    (column,), groups = sample.table.quasi_identifiers, grouped(sample.table.rows, most)
    by_bits = generalize(column, groups, rng=np.random.default_rng(1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publishing, "_MOST_BITS", 0)
        by_keys = generalize(column, groups, rng=np.random.default_rng(1))
    assert cells_of(by_bits) == cells_of(by_keys)
    assert by_bits.named.tolist() == sorted(set(column.codes.tolist()) - {column.null_code})
    held = [set(column.codes[groups.ids == group].tolist()) for group in range(groups.count)]
    assert by_bits.is_exact == all(len(codes) == 1 for codes in held)
    cells = cells_of(by_bits)[0]
    for group, codes in enumerate(held):
        for other in range(group):
            assert (cells[group] == cells[other]) == (codes == held[other])


@pytest.mark.parametrize("values", [61, 62, 63, 64, 200])
def test_sets_of_many_values(values):
    names = [f"v{i:03}" for i in range(values)]
    schema = Schema((Attribute("job", Role.QUASI_IDENTIFIER),))
    table = encode(pa.table({"job": [*names, None, *names]}), schema)
    ids = np.arange(2 * values + 1) // (values + 1)  # all of them and a missing one, then all again
    (column,) = table.quasi_identifiers
    found = generalize(column, Groups(ids.astype(np.int32), 2), rng=np.random.default_rng(1))
    first, second = cells_of(found)[0]
    assert all(name in first and name in second for name in names)
    assert first != second and found.named.tolist() == list(range(values))
