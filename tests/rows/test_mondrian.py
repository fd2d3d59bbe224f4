"""Mondrian as an adversary sees it: every group holds, no cut is missed, order tells nothing."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from arbitrary.coded import Sample, partition, samples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import models as oracle

from sfumato.errors import Infeasible, ParameterError
from sfumato.models import (
    AlphaKAnonymity,
    BetaLikeness,
    KAnonymity,
    LDiversity,
    LUniqueGroups,
    MinimumWidth,
    TCloseness,
)
from sfumato.randomness import Randomness, repeatable
from sfumato.rows.cuts import MOST_BLOCKS
from sfumato.rows.mondrian import mondrian
from sfumato.schema import Attribute, Hierarchy, Role, Schema
from sfumato.table import Groups, Table, encode

RULES = {
    "choose": ["loss", "widest"],
    "cut": ["best", "median"],
    "categories": ["frequency", "value"],
    "strict": [True, False],
}
OPTIONS = st.fixed_dictionaries({key: st.sampled_from(words) for key, words in RULES.items()})
SMALL_K = st.integers(1, 5)
FURTHER = st.lists(
    st.sampled_from(
        [
            LDiversity("illness", 2),
            LDiversity("illness", 2, missing="value"),
            LDiversity("illness", 2, "distinct"),
            LDiversity("illness", 1.5, "entropy"),
            LDiversity("illness", 2, "recursive", c=2.0),
            LDiversity("pay", 2, "distinct"),
            TCloseness("illness", 0.5),
            TCloseness("pay", 0.25, "ordered"),
            AlphaKAnonymity("illness", 0.6, 2),
            BetaLikeness("illness", 1.5),
            BetaLikeness("pay", 3.0, "enhanced"),
        ]
    ),
    max_size=2,
)


def cut(table: Table, *models, seed: int = 0, **options) -> Groups:
    return mondrian(table, models, rng=Randomness.test(seed).generator("ties"), **options)


def numeric_table(**columns) -> Table:
    """Return a coded table whose columns are all quasi-identifiers."""
    data = pa.table({name: pa.array(cells) for name, cells in columns.items()})
    return encode(data, Schema.of(dict.fromkeys(columns, "quasi-identifier")))


# --- every group holds, whatever is asked ---------------------------------------------------------


@settings(max_examples=200)
@given(samples(), SMALL_K, FURTHER, OPTIONS)
def test_every_group_satisfies_every_model(sample, k, further, options):
    if sample.table.units is not None:
        further = [model for model in further if not model.compares_with_whole]
    models = [KAnonymity(k), *further]
    try:
        groups = cut(sample.table, *models, **options)
    except Infeasible:
        # the table as a whole must really fail, up to a tie in floats that is refused
        whole = Groups(np.zeros(len(sample.rows), np.int32), 1)
        ties = [m for m in further if getattr(m, "variant", "") in ("entropy", "recursive")]
        assert ties or not all(sample.satisfies(whole, model) for model in models)
        return
    for model in models:
        assert sample.satisfies(groups, model)


@settings(max_examples=60)
@given(samples(people=True), SMALL_K, OPTIONS)
def test_k_counts_people_and_not_rows(sample, k, options):
    people = {row["person"] for row in sample.rows}
    if len(people) < k:
        with pytest.raises(Infeasible, match=f"use k <= {len(people)}$"):
            cut(sample.table, KAnonymity(k), **options)
        return
    groups = cut(sample.table, KAnonymity(k), **options)
    for group in range(groups.count):
        assert len({row["person"] for row in sample.members(groups, group)}) >= k


@settings(max_examples=40)
@given(samples(), st.sampled_from([0.2, 0.5, 3, 5]))
def test_the_values_of_a_group_span_the_minimum_width(sample, width):
    known = [row["pay"] for row in sample.rows if row["pay"] is not None]
    asked = width * (max(known, default=0) - min(known, default=0)) if width < 1 else width
    try:
        groups = cut(sample.table, KAnonymity(1), MinimumWidth("pay", width))
    except Infeasible:
        assert max(known) - min(known) < asked
        return
    for group in range(groups.count):
        pays = [r["pay"] for r in sample.members(groups, group) if r["pay"] is not None]
        assert not pays or max(pays) - min(pays) >= asked


# --- strict -------------------------------------------------------------------------------------


@settings(max_examples=120)
@given(samples(people=False), SMALL_K, FURTHER, OPTIONS, st.randoms(use_true_random=False))
def test_strict_groups_depend_on_neither_row_order_nor_randomness(
    sample, k, further, options, random
):
    options = options | {"strict": True}
    order = list(range(len(sample.rows)))
    random.shuffle(order)
    try:
        groups = cut(sample.table, KAnonymity(k), *further, **options)
    except Infeasible:
        with pytest.raises(Infeasible):
            cut(sample.reordered(order).table, KAnonymity(k), *further, **options)
        return
    shuffled = cut(sample.reordered(order).table, KAnonymity(k), *further, seed=1, **options)
    moved = {frozenset(order[i] for i in part) for part in partition(shuffled)}
    assert moved == partition(groups)


@settings(max_examples=100)
@given(samples(people=False), SMALL_K, FURTHER, OPTIONS)
def test_strict_never_parts_rows_that_agree_in_all_quasi_identifiers(sample, k, further, options):
    try:
        groups = cut(sample.table, KAnonymity(k), *further, **(options | {"strict": True}))
    except Infeasible:
        return
    group_of = {}
    for row, group in enumerate(groups.ids.tolist()):
        assert group_of.setdefault(sample.key(row), group) == group


def uncut(values: list, k: int) -> bool:
    """Whether no place in the order of the values has k rows on both sides, missing ones last."""
    sizes = Counter((value is None, value if value is not None else 0) for value in values)
    left = itertools.accumulate(sizes[key] for key in sorted(sizes))
    return all(n < k or len(values) - n < k for n in left)


@settings(max_examples=120)
@given(samples(quasi=("age",), people=False) | samples(people=False), SMALL_K, OPTIONS)
def test_no_cut_of_numbers_is_missed(sample, k, options):
    if len(sample.rows) < k:
        return
    groups = cut(sample.table, KAnonymity(k), **options)
    if "age" in sample.quasi:
        for group in range(groups.count):
            assert uncut([row["age"] for row in sample.members(groups, group)], k)


@settings(max_examples=120)
@given(samples(quasi=("place",), people=False), SMALL_K, OPTIONS)
def test_cuts_follow_the_nodes_of_a_hierarchy(sample, k, options):
    """A node's rows are parted only once nothing else is in their groups.

    So a group either holds all rows of a node or none but rows of it. Missing values lie below the
    root, beside its children.
    """
    if len(sample.rows) < k:
        return
    groups = cut(sample.table, KAnonymity(k), **(options | {"strict": True}))
    paths = {row[0]: row for row in sample.paths}
    places = [row["place"] for row in sample.rows]
    nodes = {label for path in paths.values() for label in path} - {"*"}
    for node in nodes:
        below = {i for i, place in enumerate(places) if place and node in paths[place]}
        touching = [part for part in partition(groups) if part & below]
        assert len(touching) <= 1 or all(part <= below for part in touching)


# --- relaxed --------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(samples(people=False), SMALL_K, FURTHER, OPTIONS)
def test_relaxed_only_refines_strict(sample, k, further, options):
    """So that no cell is wider: it never loses more NCP."""
    try:
        strict = cut(sample.table, KAnonymity(k), *further, **(options | {"strict": True}))
    except Infeasible:
        return
    relaxed = cut(sample.table, KAnonymity(k), *further, **(options | {"strict": False}))
    strict_parts = partition(strict)
    for part in partition(relaxed):
        assert any(part <= whole for whole in strict_parts)


@settings(max_examples=100)
@given(samples(people=False), SMALL_K, OPTIONS)
def test_relaxed_groups_have_fewer_than_2k_rows_unless_all_are_alike(sample, k, options):
    if len(sample.rows) < k:
        return
    groups = cut(sample.table, KAnonymity(k), **(options | {"strict": False}))
    for part in partition(groups):
        assert len(part) < 2 * k or len({sample.key(row) for row in part}) == 1


def test_relaxed_parts_equal_values_at_random():
    # no cut between the two values leaves five rows on both sides, so nine equal rows are parted
    table = numeric_table(age=[1] * 3 + [2] * 9)
    assert cut(table, KAnonymity(5)).count == 1
    parts = [partition(cut(table, KAnonymity(5), seed=seed, strict=False)) for seed in (0, 0, 1)]
    assert parts[0] == parts[1] != parts[2]
    for two in parts:
        assert sorted(len(part) for part in two) == [6, 6]
        assert any(part >= {0, 1, 2} for part in two)


# --- one row, one value, nothing there ------------------------------------------------------------


@pytest.mark.parametrize("strict", [True, False])
def test_one_row_is_a_group(strict):
    assert cut(numeric_table(age=[41]), KAnonymity(1), strict=strict).count == 1


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("cells", [[7] * 9, [None] * 9, ["x"] * 9])
def test_constant_columns_and_duplicates_make_one_group(cells, strict):
    table = numeric_table(age=pa.array(cells, None if cells[0] else pa.int32()), job=["x"] * 9)
    assert cut(table, KAnonymity(2), strict=strict).count == 1


def test_a_missing_value_is_a_value_of_its_own():
    groups = cut(numeric_table(age=[1, 1, None, None]), KAnonymity(2))
    assert partition(groups) == {frozenset({0, 1}), frozenset({2, 3})}


def test_a_column_that_misses_every_value_under_a_hierarchy():
    place = Hierarchy.from_rows([("a", "A", "*"), ("b", "B", "*")], "place")
    attributes = (
        Attribute("place", Role.QUASI_IDENTIFIER, hierarchy=place),
        Attribute("age", Role.QUASI_IDENTIFIER),
    )
    data = pa.table({"place": pa.nulls(4, pa.string()), "age": [1, 2, 3, 4]})
    groups = cut(encode(data, Schema(attributes)), KAnonymity(2))
    assert partition(groups) == {frozenset({0, 1}), frozenset({2, 3})}


# --- what cannot be met ---------------------------------------------------------------------------


@given(samples(people=False), st.integers(1, 100))
def test_a_k_above_the_rows_is_refused_with_the_largest_that_is_not(sample, excess):
    rows = len(sample.rows)
    with pytest.raises(Infeasible, match=rf"k = {rows + excess} .* use k <= {rows}$"):
        cut(sample.table, KAnonymity(rows + excess))
    assert cut(sample.table, KAnonymity(rows)).count == 1


@pytest.mark.parametrize(
    ("values", "model", "feasible"),
    [
        # counts 3, 2, 1: the commonest has half of the rows
        ("aaabbc", LDiversity("illness", 3), 2),
        ("aaabbc", LDiversity("illness", 4, "distinct"), 3),
        # missing values neither count as a value nor among the rows, however many there are
        ("aabb------", LDiversity("illness", 3), 2),
        ("aabb------", LDiversity("illness", 3, "distinct"), 2),
        # ... unless they count as a value like any other
        ("aabb----", LDiversity("illness", 3, missing="value"), 2),
        ("aabb--", LDiversity("illness", 4, missing="value"), 3),
        ("aabb--", LDiversity("illness", 4, "distinct", missing="value"), 3),
        ("------", LDiversity("illness", 2, "distinct"), 1),
    ],
)
def test_an_l_above_the_feasible_names_the_attribute_and_the_largest(values, model, feasible):
    cells = [None if letter == "-" else f"secret {letter}" for letter in values]
    data = pa.table({"age": range(len(cells)), "illness": pa.array(cells, pa.string())})
    table = encode(data, Schema.of(age="quasi-identifier", illness="sensitive"))
    with pytest.raises(Infeasible) as refusal:
        cut(table, KAnonymity(1), model)
    message = str(refusal.value)
    assert f"l = {model.l}" in message and "`illness`" in message
    assert message.endswith(f"the largest feasible l is {feasible}")
    assert "secret" not in message
    smaller = LDiversity("illness", feasible, model.variant, missing=model.missing)
    groups = cut(table, KAnonymity(1), smaller)
    rows = [{"illness": cell} for cell in cells]
    for part in partition(groups):
        assert oracle.holds(smaller.claim(), [rows[i] for i in part], rows)


@pytest.mark.parametrize(
    "model",
    [
        LDiversity("illness", 2.9, "entropy"),
        LDiversity("illness", 2, "recursive", c=1.0),
        LDiversity("illness", 9, "recursive", c=1.0),
        AlphaKAnonymity("illness", 0.4, 1),
    ],
)
def test_other_refusals_name_the_attribute_and_what_the_table_reaches(model):
    cells = [f"secret {letter}" for letter in "aaabbc"]
    data = pa.table({"age": range(len(cells)), "illness": cells})
    table = encode(data, Schema.of(age="quasi-identifier", illness="sensitive"))
    with pytest.raises(Infeasible) as refusal:
        cut(table, KAnonymity(1), model)
    assert "`illness`" in str(refusal.value) and "secret" not in str(refusal.value)


def test_models_that_a_union_breaks_are_refused():
    data = pa.table({"age": [1, 2], "illness": ["a", "b"]})
    table = encode(data, Schema.of(age="quasi-identifier", illness="sensitive"))
    with pytest.raises(ParameterError, match="l-unique-groups"):
        cut(table, LUniqueGroups("illness", 2))


@pytest.mark.parametrize("attribute", ["age", "shoe size"])
def test_a_model_of_an_attribute_that_is_not_sensitive_is_refused(attribute):
    data = pa.table({"age": [1, 2], "illness": ["a", "b"]})
    table = encode(data, Schema.of(age="quasi-identifier", illness="sensitive"))
    with pytest.raises(ParameterError, match=attribute):
        cut(table, LDiversity(attribute, 1))


# --- many values ----------------------------------------------------------------------------------


@pytest.mark.parametrize("choose", ["loss", "widest"])
def test_a_numeric_column_of_more_values_than_blocks_is_cut_to_the_end(choose):
    values = repeatable(1).permutation(8 * MOST_BLOCKS)
    table = numeric_table(age=values)
    k = 5
    groups = cut(table, KAnonymity(k), choose=choose)
    assert groups.sizes.min() >= k
    assert groups.sizes.max() < 2 * k
    for part in partition(groups):
        ages = sorted(values[list(part)])
        assert ages == list(range(ages[0], ages[-1] + 1))


@pytest.mark.parametrize("categories", ["frequency", "value"])
@pytest.mark.parametrize("choose", ["loss", "widest"])
def test_a_set_column_of_hundreds_of_values(choose, categories):
    rng = repeatable(2)
    jobs = [f"job {j:03}" for j in rng.integers(0, 3 * MOST_BLOCKS, 4000)]
    table = numeric_table(job=jobs, age=rng.integers(0, 3, 4000))
    k = 10
    groups = cut(table, KAnonymity(k), choose=choose, categories=categories)
    assert groups.sizes.min() >= k
    # any order of its values has a cut once a group is this large
    commonest = max(Counter(zip(jobs, table["age"].codes.tolist(), strict=True)).values())
    for part in partition(groups):
        ages = Counter(int(table["age"].codes[i]) for i in part)
        assert len(part) < 2 * k + commonest or max(ages.values()) > len(part) - k
    keys = {}
    for i, group in enumerate(groups.ids.tolist()):
        assert keys.setdefault((jobs[i], int(table["age"].codes[i])), group) == group


@pytest.mark.parametrize("strict", [True, False])
def test_many_values_with_a_model_and_people_of_several_rows(strict):
    rng = repeatable(3)
    rows = 1500
    data = pa.table(
        {
            "person": rng.integers(0, 700, rows),
            "age": rng.integers(0, 1200, rows),
            "job": [f"job {j}" for j in rng.integers(0, 400, rows)],
            "illness": [f"ill {j}" for j in rng.integers(0, 12, rows)],
        }
    )
    schema = Schema(
        (
            Attribute("person", Role.IDENTIFIER),
            Attribute("age", Role.QUASI_IDENTIFIER),
            Attribute("job", Role.QUASI_IDENTIFIER),
            Attribute("illness", Role.SENSITIVE),
        ),
        "person",
    )
    models = [KAnonymity(8), LDiversity("illness", 3), AlphaKAnonymity("illness", 0.3, 2)]
    table = encode(data, schema)
    groups = cut(table, *models, strict=strict)
    assert groups.count > 20
    plain = data.to_pylist()
    for part in partition(groups):
        here = [plain[i] for i in part]
        assert all(oracle.holds(model.claim(), here, plain, unit="person") for model in models)
    for model in (TCloseness("illness", 0.4), BetaLikeness("illness", 1.0)):
        with pytest.raises(ParameterError, match="needs one row a person"):
            cut(table, KAnonymity(8), model)


@pytest.mark.parametrize("threads", [1, 5])
def test_rows_are_cut_the_same_however_many_threads_there_are(threads, monkeypatch):
    rng = repeatable(4)
    table = numeric_table(age=rng.integers(0, 90, 3000), job=rng.integers(0, 40, 3000))
    together = partition(cut(table, KAnonymity(7)))
    monkeypatch.setattr("os.cpu_count", lambda: threads)
    assert partition(cut(table, KAnonymity(7))) == together


def test_the_sample_of_this_suite_has_every_kind_of_quasi_identifier():
    rows = [{"age": 1, "size": "small", "job": "x", "place": "p0", "illness": "flu", "pay": 1}]
    rows = [row | {"person": i} for i, row in enumerate(rows)]
    sample = Sample(rows, ("age", "size", "job", "place"), (("p0", "*"),), people=False)
    kinds = [str(column.kind) for column in sample.table.quasi_identifiers]
    assert kinds == ["numeric", "ordinal", "categorical", "categorical"]
    assert sample.table["place"].tree is not None
