"""DiffGen's scores, and how domains are divided."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from sfumato.rows.budget import Budget
from sfumato.rows.diffgen import Axis, Node, leaf_codes, specialize, steps
from sfumato.schema import Attribute, Hierarchy, Role, Schema
from sfumato.table import Column, encode
from sfumato.table.stated import stated_column

LEAVES = tuple("abcdef")
TREE = Hierarchy.from_rows(
    [(leaf, "low" if leaf < "c" else "high", "any") for leaf in LEAVES[:5]] + [("f", "f", "any")],
    "letter",
)
SHAPES = {
    "tree": {"hierarchy": TREE},
    "flat": {"domain": LEAVES},
    "order": {"order": LEAVES},
}


def column_of(shape: str, letters: list[str | None]) -> Column:
    attribute = Attribute("letter", Role.QUASI_IDENTIFIER, **SHAPES[shape])
    data = pa.table({"letter": pa.array(letters, pa.string())})
    return stated_column(encode(data, Schema((attribute,)))["letter"], 32).column


def axis_of(shape: str, letters: list[str | None], classes: list[int]) -> Axis:
    return Axis.of(column_of(shape, letters), np.array(classes, np.int32), 3)


def every_node(axis: Axis) -> list[tuple[Node, list[Node]]]:
    """Return every way to divide every node that a run can come to."""
    found, left = [], [axis.root]
    while left:
        node = left.pop()
        ways = range(node.atoms - 1) if axis.needs_split(node) else [None]
        for split in ways:
            children = axis.children(node, split)
            if children:
                found.append((node, children))
                left += [child for child in children if child not in left]
    return found


ROW = st.tuples(st.sampled_from([*LEAVES, None]), st.integers(0, 2))
ROWS = st.lists(ROW, min_size=1, max_size=12)


@pytest.mark.parametrize("shape", SHAPES)
@given(rows=ROWS, more=ROW)
def test_one_row_more_adds_nothing_or_one_to_every_score(shape, rows, more):
    """The sensitivity that the noise is made for, whatever is scored."""
    less, greater = (
        axis_of(shape, [letter for letter, _ in table], [value for _, value in table])
        for table in (rows, [*rows, more])
    )
    for node, children in every_node(less):
        assert greater.score(children) - less.score(children) in (0, 1)
        if less.needs_split(node):
            added = greater.split_scores(node) - less.split_scores(node)
            assert set(added.tolist()) <= {0, 1}


@pytest.mark.parametrize("shape", SHAPES)
@given(rows=ROWS)
def test_scores_count_the_commonest_value_of_each_child(shape, rows):
    letters, classes = [r[0] for r in rows], [r[1] for r in rows]
    axis, column = axis_of(shape, letters, classes), column_of(shape, letters)
    values = column.values.to_pylist()
    for node, children in every_node(axis):
        expected = 0
        covered = []
        for child in children:
            held = set(values[child.first : child.last + 1]) | ({None} if child.missing else set())
            covered += held
            inside = [value for letter, value in rows if letter in held]
            expected += max((inside.count(value) for value in set(inside)), default=0)
        assert axis.score(children) == expected
        whole = set(values[node.first : node.last + 1]) | ({None} if node.missing else set())
        assert sorted(covered, key=str) == sorted(whole, key=str)
        if axis.needs_split(node):
            split = children[0].atoms - 1
            assert axis.split_scores(node)[split] == expected


@pytest.mark.parametrize("cuts", [1, 2, 3, 9])
def test_every_row_is_in_one_leaf_and_no_more_choices_are_made_than_said(cuts, monkeypatch):
    letters = [*LEAVES, None] * 3
    classes = [i % 3 for i in range(len(letters))]
    axes = [axis_of(shape, letters, classes) for shape in SHAPES]
    calls = []

    def first(self, several, epsilon):
        calls.append(len(several))
        return [0 for _ in several]

    monkeypatch.setattr(Budget, "choose", first)
    nodes = specialize(axes, Budget(1.0), cuts, 10**6, 1)
    assert len(calls) <= steps(axes, cuts)
    for shape, own in zip(SHAPES, nodes, strict=True):
        held = sum(node.atoms for node in own), sum(node.missing for node in own)
        assert held == (len(LEAVES), 1)
        codes = leaf_codes(column_of(shape, letters), own)
        column = column_of(shape, letters)
        for code, place in zip(column.codes.tolist(), codes.tolist(), strict=True):
            node = own[place]
            is_missing = code == column.null_code
            assert node.missing if is_missing else node.first <= code <= node.last


def test_a_node_with_a_single_child_is_passed_over():
    chain = Hierarchy.from_rows([("x", "only", "*"), ("y", "other", "*"), ("z", "other", "*")], "c")
    attribute = Attribute("letter", Role.QUASI_IDENTIFIER, hierarchy=chain)
    table = encode(pa.table({"letter": ["x", "y"]}), Schema((attribute,)))
    column = stated_column(table["letter"], 32).column
    axis = Axis.of(column, np.zeros(2, np.int32), 1)
    labels = [column.tree.labels[n.label] for n in axis.children(axis.root) if n.label is not None]
    assert labels == ["x", "other"]
