"""Every privacy model against its literal definition, on arbitrary groups of arbitrary tables."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from arbitrary.hierarchies import nested_labels
from arbitrary.parted import ATTRIBUTE, Parted, parted_tables
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import models as oracle

from sfumato.errors import ParameterError
from sfumato.models import (
    MODELS,
    AlphaBetaGammaDelta,
    AlphaKAnonymity,
    BetaLikeness,
    DeltaPresence,
    KAnonymity,
    LDiversity,
    Linkable,
    LUniqueBuckets,
    LUniqueGroups,
    MinimumWidth,
    SetAnonymity,
    SetCloseness,
    SetDiversity,
    TCloseBuckets,
    TCloseness,
    from_claim,
)
from sfumato.table import Groups

# Where floats are compared the product refuses ties; the oracle decides them in fractions.
NEAR = 1e-9
LEVELS = st.sampled_from([0.05, 0.1, 0.2, 0.25, 0.3, 1 / 3, 0.4, 0.5, 2 / 3, 0.75, 0.9, 1.0])
MISSING = st.sampled_from(["excluded", "value"])
SMALL = st.integers(1, 4)

ANY_MODEL = st.one_of(
    st.builds(KAnonymity, st.integers(1, 6)),
    st.builds(
        LDiversity,
        st.just(ATTRIBUTE),
        SMALL,
        st.sampled_from(["frequency", "distinct"]),
        missing=MISSING,
    ),
    st.builds(
        LDiversity,
        st.just(ATTRIBUTE),
        st.sampled_from([1, 1.5, 2, 2.5, 3, 4]),
        st.just("entropy"),
        missing=MISSING,
    ),
    st.builds(
        LDiversity,
        st.just(ATTRIBUTE),
        SMALL,
        st.just("recursive"),
        c=st.sampled_from([0.3, 0.5, 1, 1.5, 2, 3]),
        missing=MISSING,
    ),
    st.builds(LUniqueGroups, st.just(ATTRIBUTE), SMALL),
    st.builds(TCloseness, st.just(ATTRIBUTE), LEVELS, st.just("equal"), MISSING),
    st.builds(
        AlphaKAnonymity,
        st.just(ATTRIBUTE),
        LEVELS | st.decimals("0.3333", "0.5", places=8).map(float),
        st.integers(1, 4),
    ),
    st.builds(
        BetaLikeness,
        st.just(ATTRIBUTE),
        st.sampled_from([0.1, 0.5, 1, 1.25, 2, 4]),
        st.sampled_from(["basic", "enhanced"]),
    ),
    st.builds(
        Linkable, st.just(ATTRIBUTE), st.integers(1, 3), st.sampled_from([0.05, 0.25, 0.5, 0.9])
    ),
)
ORDERED = st.builds(TCloseness, st.just(ATTRIBUTE), LEVELS, st.just("ordered"))
HIERARCHICAL = st.builds(TCloseness, st.just(ATTRIBUTE), LEVELS, st.just("hierarchical"), MISSING)


def test_every_checkable_model_is_asked_here():
    asked = {KAnonymity, LDiversity, LUniqueGroups, TCloseness, AlphaKAnonymity, BetaLikeness}
    asked |= {Linkable}
    asked |= {MinimumWidth}  # with an oracle of its own below
    asked |= {AlphaBetaGammaDelta}  # in test_association.py
    buckets = {LUniqueBuckets, TCloseBuckets}  # the predicates of groups, see below
    sets = {SetDiversity, SetCloseness, SetAnonymity}  # of no groups, see test_sets.py
    assert {model for model in MODELS.values() if model.checkable} == asked | buckets | sets


def test_models_of_buckets_are_those_of_groups():
    """But a t-close bucket holds two values (`whole`), which no distance asks for."""
    totals = Parted(["a", "b", "b"], [0, 0, 0], None, hierarchy=(("a", "*"), ("b", "*"))).totals
    for distance in ("equal", "hierarchical"):
        of_groups, of_buckets = (
            model(ATTRIBUTE, 0.3, distance).bind(totals).rule
            for model in (TCloseness, TCloseBuckets)
        )
        assert (of_groups.whole, of_buckets.whole) == (0, 2)
        assert str(of_groups._replace(whole=2)) == str(of_buckets)
    rules = [model(ATTRIBUTE, 2).bind(totals).rule for model in (LUniqueGroups, LUniqueBuckets)]
    assert str(rules[0]) == str(rules[1])


@settings(max_examples=100)
@given(LEVELS | st.just(1.0), parted_tables(with_people=False))
def test_close_buckets_hold_two_values(t, parted):
    groups = TCloseness(ATTRIBUTE, t).bind(parted.totals).holds(parted.statistics())
    buckets = TCloseBuckets(ATTRIBUTE, t).bind(parted.totals).holds(parted.statistics())
    for group, (close, holds) in enumerate(zip(groups, buckets, strict=True)):
        values = {row[ATTRIBUTE] for row in parted.rows_of(group)} - {None}
        assert holds == (close and len(values) >= 2)


def oracle_holds(model, parted: Parted, *groups: int) -> bool:
    return oracle.holds(
        model.claim(),
        parted.rows_of(*groups),
        parted.rows,
        unit="person",
        order=parted.order,
        hierarchy=parted.hierarchy,
    )


def oracle_level(model, parted: Parted, group: int) -> tuple[float, float | None]:
    """Return the level that a group reaches, and the bound that floats are compared with."""
    rows, everywhere = parted.rows_of(group), parted.rows
    values = [row[ATTRIBUTE] for row in rows]
    table = [row[ATTRIBUTE] for row in everywhere]
    here = {"units": [row["person"] for row in rows]}
    both = here | {"table_units": [row["person"] for row in everywhere]}
    rule = {"missing": getattr(model, "missing", "excluded")}
    counts = sorted(oracle.counts(values, **here, **rule).values(), reverse=True)
    counted = oracle.counted(values, **here, **rule)
    match model:
        case KAnonymity():
            return oracle.size(values, **here), None
        case LUniqueGroups() | LDiversity(variant="distinct"):
            return len(counts), None
        case LDiversity(variant="frequency"):
            return Fraction(counted, counts[0]) if counts else math.inf, None
        case LDiversity(variant="entropy"):
            reached = math.exp(oracle.entropy(values, **here, **rule)) if counts else 0.0
            return reached, model.l
        case LDiversity(variant="recursive"):
            tail = sum(counts[model.l - 1 :])
            return Fraction(counts[0], tail) if tail else math.inf, model.c
        case AlphaKAnonymity():
            return Fraction(counts[0], counted) if counts else 0.0, None
        case BetaLikeness(variant="basic"):
            gains = oracle.relative_gains(values, table, **both).values()
            return max((gain for _, gain in gains), default=0.0), model.beta
        case BetaLikeness(variant="enhanced"):
            gains = oracle.relative_gains(values, table, **both).values()
            over = [float(gain) / min(model.beta, -math.log(p)) for p, gain in gains]
            return max(over, default=0.0), 1.0
        case Linkable():
            return oracle.likely_shared(values, table, model.d, **both), model.alpha
        case TCloseness():
            ground = oracle.ground_distance(
                model.distance, table, order=parted.order, hierarchy=parted.hierarchy
            )
            return oracle.emd(values, table, ground, **both, **rule), model.t
    raise TypeError(model)


def compare(model, parted: Parted) -> None:
    statistics = parted.statistics()
    bound = model.bind(parted.totals)
    holds, levels = bound.holds(statistics), bound.levels(statistics)
    assert len(holds) == len(levels) == parted.partition.count
    reached = []
    for group in range(parted.partition.count):
        level, threshold = oracle_level(model, parted, group)
        reached.append(level)
        assert levels[group] == pytest.approx(float(level), abs=NEAR)
        allowed = oracle_holds(model, parted, group)
        if threshold is None or abs(level - threshold) > NEAR:
            assert holds[group] == allowed
        assert allowed or not holds[group]
    least = min(reached) if model.at_least else max(reached)
    assert bound.worst(statistics) == pytest.approx(float(least), abs=NEAR)


@settings(max_examples=400)
@given(ANY_MODEL, parted_tables())
def test_a_model_holds_where_its_definition_does(model, parted):
    compare(model, parted)


@settings(max_examples=100)
@given(ORDERED, parted_tables(ordered=True))
def test_ordered_closeness_holds_where_its_definition_does(model, parted):
    compare(model, parted)


@settings(max_examples=100)
@given(HIERARCHICAL, parted_tables(ordered=False))
def test_hierarchical_closeness_holds_where_its_definition_does(model, parted):
    assume(parted.hierarchy is not None)
    compare(model, parted)


@settings(max_examples=60)
@given(st.sampled_from([0.1, 0.5, 0.999, 1, 2, 4, 9]), parted_tables(ordered=True))
def test_minimum_width_is_the_span_of_the_values(width, parted):
    assume(parted.order is None)
    model = MinimumWidth(ATTRIBUTE, width)
    known = [value for value in parted.values if value is not None]
    asked = width * (max(known, default=0) - min(known, default=0)) if width < 1 else width
    bound, statistics = model.bind(parted.totals), parted.statistics()
    for group, holds in enumerate(bound.holds(statistics)):
        values = [row[ATTRIBUTE] for row in parted.rows_of(group) if row[ATTRIBUTE] is not None]
        span = max(values) - min(values) if values else math.inf
        assert holds == (span >= asked)
        assert bound.levels(statistics)[group] == span


@settings(max_examples=200)
@given(ANY_MODEL | ORDERED, parted_tables(ordered=True, with_people=False))
def test_a_monotone_model_holds_for_the_union_of_groups_that_hold(model, parted):
    """Where people have several rows a union may count a person once who was counted twice."""
    assume(model.monotone)
    _check_unions(model, parted)


@settings(max_examples=60)
@given(HIERARCHICAL, parted_tables(ordered=False, with_people=False))
def test_hierarchical_closeness_is_monotone(model, parted):
    assume(parted.hierarchy is not None)
    _check_unions(model, parted)


def _check_unions(model, parted: Parted) -> None:
    bound = model.bind(parted.totals)
    holds = bound.holds(parted.statistics())
    ids = np.array(parted.groups)
    for one in np.flatnonzero(holds):
        for other in np.flatnonzero(holds):
            united = np.unique(np.where(ids == other, one, ids), return_inverse=True)[1]
            groups = Groups(united.astype(np.int32), int(united.max()) + 1)
            place = united[np.flatnonzero(ids == one)[0]]
            assert bound.holds(parted.statistics(groups))[place]


def test_unique_groups_are_not_called_monotone():
    parted = Parted(["a", "b", "a", "b"], [0, 0, 1, 1], None)
    model = LUniqueGroups(ATTRIBUTE, 2)
    assert model.bind(parted.totals).holds(parted.statistics()).all()
    whole = Groups(np.zeros(4, np.int32), 1)
    assert not model.bind(parted.totals).holds(parted.statistics(whole)).any()
    assert not model.monotone


# --- earth mover's distances against another library ---------------------------------------------


@st.composite
def _wide(draw, distance: str) -> Parted:
    """Return a table of many values, too many for the exact transport of the oracle."""
    count = draw(st.integers(2, 25))
    rows = draw(st.integers(2, 40))
    values = draw(st.lists(st.integers(0, count - 1), min_size=rows, max_size=rows))
    names = tuple(f"v{i:02}" for i in range(count))
    groups = draw(st.lists(st.integers(0, 1), min_size=rows, max_size=rows))
    dense = {group: i for i, group in enumerate(dict.fromkeys(groups))}
    hierarchy = draw(nested_labels(names)) if distance == "hierarchical" else None
    return Parted(
        values if distance == "ordered" else [names[value] for value in values],
        [dense[group] for group in groups],
        None,
        hierarchy=hierarchy,
    )


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
@settings(max_examples=60)
@given(data=st.data())
def test_distances_are_those_of_an_optimal_transport_library(distance, data):
    parted = data.draw(_wide(distance))
    levels = TCloseness(ATTRIBUTE, 1.0, distance).bind(parted.totals).levels(parted.statistics())
    ground = oracle.ground_distance(distance, parted.values, hierarchy=parted.hierarchy)
    for group in range(parted.partition.count):
        values = [row[ATTRIBUTE] for row in parted.rows_of(group)]
        moved = oracle.emd(values, parted.values, ground, by_pot=True)
        assert levels[group] == pytest.approx(moved, abs=NEAR)


# --- ties and edges, by hand ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "values"),
    [
        # (half the group has `a`, a quarter of the table does): 0.25, which the oracle allows
        (TCloseness(ATTRIBUTE, 0.25), ["a", "b", "b", "b"]),
        (BetaLikeness(ATTRIBUTE, 1.0), ["a", "b", "b", "b"]),
        (LDiversity(ATTRIBUTE, 2, "recursive", c=1.0), ["a", "b", "b", "b"]),
    ],
)
def test_a_tie_in_floats_is_refused(model, values):
    parted = Parted(values, [0, 0, 1, 1], None)
    assert not model.bind(parted.totals).holds(parted.statistics())[0]


def test_integers_decide_ties_exactly():
    parted = Parted(["a", "b", "c", "a", "b", "c"], [0, 0, 0, 1, 1, 1], None)
    for model in (
        LDiversity(ATTRIBUTE, 3),
        LDiversity(ATTRIBUTE, 3, "distinct"),
        LDiversity(ATTRIBUTE, 3, "entropy"),
        AlphaKAnonymity(ATTRIBUTE, 0.34, 3),
        KAnonymity(3),
        TCloseness(ATTRIBUTE, 0.01),
        BetaLikeness(ATTRIBUTE, 0.01, "enhanced"),
    ):
        assert model.bind(parted.totals).holds(parted.statistics()).all(), model


@pytest.mark.parametrize("alpha", [0.3333333, 0.333333333333, 1 / 3])
def test_alpha_is_not_rounded_up(alpha):
    """A third is more than any of these decimals say."""
    parted = Parted(["a", "b", "c"], [0, 0, 0], None)
    model = AlphaKAnonymity(ATTRIBUTE, alpha, 1)
    assert not oracle_holds(model, parted, 0)
    assert not model.bind(parted.totals).holds(parted.statistics())[0]


@pytest.mark.parametrize("number", [2**31, 2**62, 2**63, 10**30])
@pytest.mark.parametrize(
    "make",
    [
        KAnonymity,
        lambda number: LDiversity(ATTRIBUTE, number),
        lambda number: LDiversity(ATTRIBUTE, number, "distinct"),
        lambda number: LUniqueGroups(ATTRIBUTE, number),
        lambda number: LUniqueBuckets(ATTRIBUTE, number),
        lambda number: AlphaKAnonymity(ATTRIBUTE, 0.5, number),
    ],
)
def test_whole_numbers_that_would_overflow_are_refused(make, number):
    """Four times 2**62 is nothing in 64 bits, and so would not be too much for any group."""
    with pytest.raises(ParameterError, match="must not be above 2,147,483,647"):
        make(number)


@pytest.mark.parametrize("number", [10**400, float("inf"), float("nan"), 0, -1, "2", None])
def test_numbers_that_are_none_are_refused(number):
    for make in (
        lambda: BetaLikeness(ATTRIBUTE, number),
        lambda: TCloseness(ATTRIBUTE, number),
        lambda: MinimumWidth(ATTRIBUTE, number),
        lambda: LDiversity(ATTRIBUTE, number, "entropy"),
        lambda: LDiversity(ATTRIBUTE, 2, "recursive", c=number),
        lambda: AlphaKAnonymity(ATTRIBUTE, number, 2),
    ):
        with pytest.raises(ParameterError):
            make()


def test_a_group_that_misses_every_value():
    parted = Parted([None, None, "a", "b"], [0, 0, 1, 1], None)
    for model, holds in [
        (LDiversity(ATTRIBUTE, 2), True),
        (LDiversity(ATTRIBUTE, 2, "distinct"), False),
        (LDiversity(ATTRIBUTE, 2, "entropy"), False),
        (LDiversity(ATTRIBUTE, 1, "recursive", c=9.0), False),
        (LDiversity(ATTRIBUTE, 2, missing="value"), False),
        (LUniqueGroups(ATTRIBUTE, 1), False),
        (TCloseness(ATTRIBUTE, 0.01), True),
        (BetaLikeness(ATTRIBUTE, 0.01), True),
        (AlphaKAnonymity(ATTRIBUTE, 0.01, 2), True),
    ]:
        assert model.bind(parted.totals).holds(parted.statistics())[0] == holds, model


# --- claims ---------------------------------------------------------------------------------------


@given(
    ANY_MODEL
    | ORDERED
    | HIERARCHICAL
    | st.builds(MinimumWidth, st.just("age"), LEVELS)
    | st.builds(DeltaPresence, st.just(0.05), LEVELS)
)
def test_a_claim_spells_out_its_model(model):
    claim = model.claim()
    assert claim["model"] == model.name
    assert from_claim(claim) == model
