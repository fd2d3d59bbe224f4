"""What cuts gain, told by counts of pairs, against the losses of both sides, cell by cell."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from arbitrary.coded import samples
from hypothesis import given, settings

from sfumato.randomness import repeatable
from sfumato.rows.coarse_losses import narrowed, own_cuts
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import encode
from sfumato.table.whole import counted

from .test_cut_loss import row_loss

QUASI = ("age", "size", "job", "place")


@settings(max_examples=60)
@given(samples(quasi=QUASI, people=False))
def test_a_cut_gains_what_it_takes_off_the_losses_of_all_columns(sample):
    columns = sample.table.quasi_identifiers
    work = np.stack([column.codes for column in columns], axis=1).astype(np.int64)
    ones = np.ones(len(work), np.int64)
    cuts = [own_cuts(c, counted((work[:, a],), ones)) for a, c in enumerate(columns)]
    whole = len(work) * row_loss(columns, work, slice(None))
    for a, own in enumerate(cuts):
        if own is None:
            assert len(set(work[:, a].tolist())) == 1
            continue
        others = [
            (other, counted((work[:, a], work[:, b]), ones))
            for b, other in enumerate(cuts)
            if b != a and other is not None
        ]
        gain = narrowed(own, others)
        place = own.block_of[work[:, a]]
        assert len(gain) == place.max() >= 1
        for cut in range(len(gain)):
            sides = place <= cut, place > cut
            after = sum(side.sum() * row_loss(columns, work, side) for side in sides)
            assert own.left[cut] == sides[0].sum()
            assert gain[cut] == pytest.approx(whole - after)


def test_blocks_of_many_values_are_those_of_the_column_whatever_is_beside_it():
    """More values than a column has blocks, each with another number of lines in the pair."""
    rng = repeatable(5)
    raw = pa.table({"pay": rng.integers(0, 900, 5000), "age": rng.geometric(0.1, 5000)})
    schema = Schema(tuple(Attribute(name, Role.QUASI_IDENTIFIER) for name in ("pay", "age")))
    columns = encode(raw, schema).quasi_identifiers
    work = np.stack([column.codes for column in columns], axis=1).astype(np.int64)
    ones = np.ones(len(work), np.int64)
    pay, age = (own_cuts(c, counted((work[:, a],), ones)) for a, c in enumerate(columns))
    gain = narrowed(pay, [(age, counted((work[:, 0], work[:, 1]), ones))])
    place = pay.block_of[work[:, 0]]
    assert len(gain) == place.max() < len(columns[0].values) - 1
    for cut in (0, 100, len(gain) - 1):
        sides = place <= cut, place > cut
        after = sum(side.sum() * row_loss(columns, work, side) for side in sides)
        assert gain[cut] == pytest.approx(len(work) * row_loss(columns, work, ones > 0) - after)
