"""Linkability: what an independent release of like data shares, against formula and simulation."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from arbitrary.parted import ATTRIBUTE, Parted, parted_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import models as oracle

from sfumato.errors import ParameterError
from sfumato.models import Linkable, from_claim
from sfumato.randomness import repeatable
from sfumato.table import Groups

DRAWS = 20_000
# Four standard deviations of a share of so many draws, at most.
NEAR = 4 * 0.5 / DRAWS**0.5


def reached(parted: Parted, d: int) -> list[float]:
    return Linkable(ATTRIBUTE, d, 0.5).bind(parted.totals).levels(parted.statistics()).tolist()


def simulated(values: list, table: list, d: int, seed: int) -> float:
    """Return how often d further values are shared, for the person for whom it is rarest."""
    names = sorted(set(table))
    shares = [Counter(table)[name] / len(table) for name in names]
    drawn = repeatable(seed).multinomial(len(values) - 1, shares, DRAWS) > 0
    least = 1.0
    for own in set(values):
        further = [i for i, name in enumerate(names) if name in values and name != own]
        least = min(least, float((drawn[:, further].sum(axis=1) >= d).mean()))
    return least


def test_by_hand():
    # ten people; the group has three values of shares 1/2, 3/10 and 1/5, and so three others
    parted = Parted([*"aabc", *"aaabbc"], [0] * 4 + [1] * 6, None)
    one, two = 1 - 0.7**3, 1 - 0.8**3
    assert reached(parted, 1)[0] == pytest.approx(1 - (1 - one) * (1 - two))
    assert reached(parted, 2)[0] == pytest.approx(one * two)
    assert reached(parted, 3)[0] == 0


def test_a_missing_value_is_none_that_is_shared_but_is_what_others_may_have():
    parted = Parted(["a", "b", None, None], [0, 0, 0, 0], None)
    assert reached(parted, 1)[0] == pytest.approx(1 - 0.75**3)
    nothing = Parted([None, None, "a", "b"], [0, 0, 1, 1], None)
    assert Linkable(ATTRIBUTE, 1, 0.9).bind(nothing.totals).holds(nothing.statistics())[0]


@settings(max_examples=200)
@given(parted_tables(), st.integers(1, 4))
def test_the_chance_is_the_literal_one(parted, d):
    everywhere = parted.rows
    for group, level in enumerate(reached(parted, d)):
        rows = parted.rows_of(group)
        literal = oracle.likely_shared(
            [row[ATTRIBUTE] for row in rows],
            [row[ATTRIBUTE] for row in everywhere],
            d,
            units=[row["person"] for row in rows],
            table_units=[row["person"] for row in everywhere],
        )
        assert level == pytest.approx(float(literal), abs=1e-9)


def arbitrary_group(seed: int, rows: int, values: int) -> tuple[list[str], list[str]]:
    """Return the values of a group and of its table, some of them rare."""
    rng = repeatable(seed)
    chances = rng.dirichlet(np.ones(values))
    table = [f"v{i}" for i in rng.choice(values, 200, p=chances)]
    return table[:rows], table


@pytest.mark.parametrize("seed", range(12))
def test_one_further_value_is_shared_at_least_as_often_as_said(seed):
    """Who lacks one value has more room for the others: independence errs towards refusal."""
    values, table = arbitrary_group(seed, 4 + seed % 5, 3 + seed % 4)
    parted = Parted(table, [0] * len(values) + [1] * (len(table) - len(values)), None)
    level, frequency = reached(parted, 1)[0], simulated(values, table, 1, seed)
    assert level <= frequency + NEAR
    assert level >= frequency - 0.1  # and not by much


@pytest.mark.parametrize("seed", range(12))
def test_two_further_values_are_shared_about_as_often_as_said(seed):
    values, table = arbitrary_group(seed, 5 + seed % 5, 4 + seed % 4)
    parted = Parted(table, [0] * len(values) + [1] * (len(table) - len(values)), None)
    assert abs(reached(parted, 2)[0] - simulated(values, table, 2, seed)) < 0.15


@settings(max_examples=150)
@given(parted_tables(with_people=False), st.integers(1, 3))
def test_united_groups_share_at_least_as_much(parted, d):
    bound = Linkable(ATTRIBUTE, d, 0.5).bind(parted.totals)
    apart = bound.levels(parted.statistics())
    known = [
        any(row[ATTRIBUTE] is not None for row in parted.rows_of(g)) for g in range(len(apart))
    ]
    ids = np.array(parted.groups)
    for one in range(len(apart)):
        for other in range(one):
            united = np.unique(np.where(ids == other, one, ids), return_inverse=True)[1]
            groups = Groups(united.astype(np.int32), int(united.max()) + 1)
            place = united[np.flatnonzero(ids == one)[0]]
            level = bound.levels(parted.statistics(groups))[place]
            # a group without values has nothing to share, and asks for nothing
            lower = [apart[g] for g in (one, other) if known[g]]
            assert level >= max(lower, default=1.0) - 1e-12


@pytest.mark.parametrize(
    ("d", "alpha", "reason"),
    [
        (0, 0.5, "`d` must be a whole number of at least 1"),
        (1.5, 0.5, "`d` must be a whole number"),
        (True, 0.5, "`d` must be a whole number"),
        (65, 0.5, "`d` must not be above 64"),
        (1, 1, "`alpha` must be below 1"),
        (1, 1.5, "`alpha` must be below 1"),
        (1, 0, "`alpha`"),
        (1, -0.5, "`alpha`"),
        (1, float("nan"), "`alpha`"),
        (1, "0.5", "`alpha`"),
    ],
)
def test_parameters_that_are_none(d, alpha, reason):
    with pytest.raises(ParameterError, match=f"linkable: {reason}"):
        Linkable(ATTRIBUTE, d, alpha)


def test_the_largest_d():
    """Its scratch must do, and nobody shares so many values."""
    parted = Parted([f"v{i}" for i in range(70)], [0] * 70, None)
    model = Linkable(ATTRIBUTE, 64, 0.5)
    assert not model.bind(parted.totals).holds(parted.statistics())[0]
    assert from_claim(model.claim()) == model
    assert model.minimum_rows == 65
