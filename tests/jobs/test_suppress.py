"""Withholding the fewest rows: against brute force, and at random."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import Infeasible
from sfumato.jobs.suppress import most_kept, rows_to_withhold
from sfumato.schema import Schema
from sfumato.table import encode

SCHEMA = Schema.of(age="quasi-identifier", disease="sensitive")


def eligible(counts, l) -> bool:  # noqa: E741
    return max(counts) * l <= sum(counts)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(1, 5))
def test_no_choice_keeps_more_rows(counts, l):  # noqa: E741
    kept = [k for k in product(*(range(c + 1) for c in counts)) if eligible(k, l)]
    best = max(sum(choice) for choice in kept)
    most = most_kept(np.array(counts), Fraction(1, l))
    assert int(np.minimum(counts, most).sum()) == best


def rng(seed=1):
    return np.random.default_rng(seed)


def table(diseases):
    return encode(pa.table({"age": list(range(len(diseases))), "disease": diseases}), SCHEMA)


def test_only_rows_of_too_common_values_are_withheld():
    diseases = ["Flu"] * 7 + ["HIV"] * 2 + ["Fever"] + [None] * 4
    rows = rows_to_withhold(
        table(diseases), "disease", Fraction(1, 2), rng=np.random.default_rng(1)
    )
    assert len(rows) == 4
    assert set(rows.tolist()) <= set(range(7))
    assert len(set(rows.tolist())) == 4


def test_which_rows_is_left_to_chance():
    diseases = ["Flu"] * 60 + ["HIV"] * 10 + ["Fever"] * 10
    found = {
        tuple(
            rows_to_withhold(
                table(diseases), "disease", Fraction(1, 3), rng=np.random.default_rng(seed)
            )
        )
        for seed in range(5)
    }
    assert len(found) == 5


def test_nothing_is_withheld_without_need():
    rows = rows_to_withhold(
        table(["Flu", "HIV"]), "disease", Fraction(1, 2), rng=np.random.default_rng(1)
    )
    assert len(rows) == 0


def test_fewer_values_than_l_cannot_be_helped():
    with pytest.raises(Infeasible, match="2 different values"):
        rows_to_withhold(
            table(["Flu", "HIV"]), "disease", Fraction(1, 3), rng=np.random.default_rng(1)
        )
