"""Plausible cells: what a record shows beside a sensitive value that its own cannot have."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from arbitrary.coded import Sample, samples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.cells import Exact, Reading, Star, covers, parse_cell
from oracles.incompatible import incompatible_pairs as literal_pairs
from oracles.points import point_of_value

from sfumato.columns.incompatible import incompatible_pairs
from sfumato.publish.plausible import plausible_cells
from sfumato.randomness import Randomness
from sfumato.schema import Attribute, Hierarchy, Role, Schema
from sfumato.table import Groups, Table, encode


def shown(known: list, impossible: set, *, k: int, groups=None, order=None, paths=None) -> list:
    """Return the cells of people each of whom is published with what `impossible` values exclude.

    There are two sensitive values, and `bad` is beside every cell.
    """
    hierarchy = Hierarchy.from_rows(paths, "known") if paths else None
    schema = Schema(
        (
            Attribute("known", Role.QUASI_IDENTIFIER, order=order, hierarchy=hierarchy),
            Attribute("hidden", Role.SENSITIVE),
        )
    )
    cells = pa.array(known)
    hidden = ["bad", *["good"] * (len(known) - 1)]
    table = encode(pa.table({"known": cells, "hidden": hidden}), schema)
    column = table["known"]
    ids = np.array(groups or [0] * len(known), np.int32)
    names = [*column.values.to_pylist(), None]
    matrix = np.array([[name in impossible, False, False] for name in names])
    found, column_shown = plausible_cells(
        column,
        Groups(ids, int(ids.max()) + 1),
        np.arange(len(known)),
        ids,
        {"hidden": np.zeros(len(known), np.int32)},
        {"hidden": matrix},
        k=k,
        rng=Randomness.test(1).generator("sets"),
    )
    assert column_shown.is_exact == (not impossible & set(known))
    return found.to_pylist()


# --- by hand --------------------------------------------------------------------------------------


def test_without_a_wrong_cell_all_stay_as_they_were():
    assert shown([3, 1, 2, 1], {9}, k=2) == [3, 1, 2, 1]


def test_ranges_cover_the_nearest_rows():
    ages = [20, 30, 33, 60]  # the nearest in order; of two, the lower
    assert shown(ages, {30}, k=2) == ["20", "[20, 30]", "33", "60"]
    assert shown(ages, {30}, k=3) == ["20", "[20, 33]", "33", "60"]
    assert shown(ages, {30, 33}, k=2) == ["20", "[20, 30]", "[30, 60]", "60"]
    assert shown(ages, {60}, k=2)[3] == "[33, 60]"
    assert shown(ages, {20}, k=4)[0] == "[20, 60]"


def test_rows_of_other_groups_do_not_count():
    found = shown([20, 21, 30, 40], {20}, k=2, groups=[0, 1, 1, 0])
    assert found == ["[20, 40]", "21", "30", "40"]


def test_rows_of_the_same_value_count_but_are_not_enough():
    assert shown([20, 20, 20, 40], {20}, k=2)[:3] == ["[20, 40]"] * 3
    assert shown([20, 20, 40, 40, 40], {40}, k=2)[2:] == ["[20, 40]"] * 3


def test_orders_give_ranges():
    sizes = ("small", "medium", "large", "huge")
    found = shown(["small", "large", "huge"], {"huge"}, k=2, order=sizes)
    assert found == ["small", "large", "[large, huge]"]


def test_categories_give_sets():
    assert shown(["m", "f", "m"], {"m"}, k=2) == ["{f, m}", "f", "{f, m}"]
    assert shown(["a", "b", "c"], {"b"}, k=3) == ["a", "{a, b, c}", "c"]


PATHS = (("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*"))


def test_hierarchies_give_nodes():
    found = shown(["a", "b", "c"], {"a"}, k=2, paths=PATHS)
    assert found == ["ab", "b", "c"]
    assert shown(["a", "b", "c"], {"a", "b"}, k=2, paths=PATHS)[:2] == ["*", "*"]


def test_where_nothing_is_compatible_the_cell_is_withheld():
    assert shown(["m", "m", "m"], {"m"}, k=2) == ["*"] * 3
    assert shown([20, 30], {20, 30}, k=1) == ["*"] * 2
    assert shown([20, 30, 40], {20, 30}, k=2, groups=[0, 0, 1]) == ["*", "*", "40"]


def test_missing_values_are_compatible_and_are_named():
    assert shown(["m", None, None], {"m"}, k=2) == ["{null, m}", None, None]
    assert shown([20, 30, None], {20, 30}, k=2) == ["{null, [20, 30]}"] * 2 + [None]
    assert shown(["a", None, "b"], {"a", "b"}, k=2, paths=PATHS) == ["*", None, "*"]


def test_a_missing_value_that_a_rule_names():
    assert shown([None, 20, 30], {None}, k=2) == ["{null, 30}", "20", "30"]
    assert shown([None, None], {None}, k=2) == ["*", "*"]


@pytest.mark.parametrize("k", [4, 5, 1000])
def test_a_k_above_the_class_takes_all_of_it(k):
    assert shown([20, 30, 40], {20}, k=k)[0] == "[20, 40]"


def test_a_large_group_covers_k_rows_whatever_the_size_of_others():
    """Who asks for three rows gets them wherever a group has so many."""
    found = shown([20, 30, 40, 50, 60, 70], {20}, k=3, groups=[0, 0, 0, 0, 1, 1])
    assert found[0] == "[20, 40]"


# --- any table ------------------------------------------------------------------------------------


def readings(sample: Sample, table: Table) -> dict[str, Reading]:
    kinds = {"age": ("int64", "numeric"), "size": ("string", "ordinal")}
    kinds |= {"job": ("string", "categorical"), "place": ("string", "categorical")}
    return {
        name: Reading.of(
            *kinds[name],
            order=("small", "medium", "large", "huge") if name == "size" else (),
            hierarchy=sample.paths if name == "place" else (),
        )
        for name in sample.quasi
    }


@settings(max_examples=200)
@given(samples(people=False), st.sampled_from([0.1, 0.3, 0.6, 1.0]), st.integers(1, 4), st.data())
def test_cells_are_plausible_cover_enough_and_are_generalised_only_where_wrong(
    sample, expected, k, data
):
    table = sample.table
    count = len(sample.rows)
    ids = data.draw(st.lists(st.integers(0, 1), min_size=count, max_size=count))
    dense = {group: i for i, group in enumerate(dict.fromkeys(ids))}
    groups = Groups(np.array([dense[g] for g in ids], np.int32), len(dense))
    rows = np.argsort(groups.ids, kind="stable")
    ids_of_cells = groups.ids[rows]
    secrets = ("illness", "pay")
    # sensitive values dealt within groups
    keys = np.array(data.draw(st.permutations(range(count))))
    dealt = np.lexsort((keys, groups.ids))
    hidden = {name: table[name].codes[dealt] for name in secrets}
    pairs = incompatible_pairs(table, expected=expected)
    literal = literal_pairs(sample.rows, sample.quasi, secrets, (), expected)
    for name, reading in readings(sample, table).items():
        known = {other: matrix for (n, other), matrix in pairs.items() if n == name}
        if not known:
            continue
        cells, _ = plausible_cells(
            table[name],
            groups,
            rows,
            ids_of_cells,
            hidden,
            known,
            k=k,
            rng=Randomness.test(1).generator("sets"),
        )
        for i, text in enumerate(cells.to_pylist()):
            own = sample.rows[rows[i]][name]
            beside = [(secret, sample.rows[dealt[i]][secret]) for secret in secrets]
            bad = {a for n, a, s, v in literal if n == name and (s, v) in beside}
            typed = not isinstance(text, str)
            cell = Exact(point_of_value(text)) if typed else parse_cell(text, reading)
            assert covers(cell, point_of_value(own), reading)
            if own not in bad:
                assert cell == Exact(point_of_value(own))
                continue
            members = [row[name] for row in sample.members(groups, ids_of_cells[i])]
            compatible = [a for a in members if a not in bad]
            if not compatible:
                assert isinstance(cell, Star)
                continue
            behind = [a for a in members if covers(cell, point_of_value(a), reading)]
            assert len(behind) >= min(k, len(members))
            assert any(a not in bad for a in behind)
