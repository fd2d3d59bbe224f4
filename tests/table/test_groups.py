"""Partitions of rows."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from sfumato.errors import ParameterError
from sfumato.table import Groups

_ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1)),
    min_size=1,
    max_size=20,
)


@settings(deadline=None)
@given(_ROWS)
def test_rows_are_grouped_if_and_only_if_they_agree_in_every_column(rows):
    columns = [np.array(column, np.int64) for column in zip(*rows, strict=True)]
    groups = Groups.of_equal([*columns, *columns])
    assert groups.count == len(set(rows))
    for i, left in enumerate(rows):
        for j, right in enumerate(rows):
            assert (groups.ids[i] == groups.ids[j]) == (left == right)
    assert groups.ids.dtype == np.int32


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_members_and_sizes_by_definition(labels):
    groups = Groups.of_equal([np.array(labels)])
    for group in range(groups.count):
        members = np.flatnonzero(groups.ids == group)
        assert groups.members(group).tolist() == members.tolist()
        assert groups.sizes[group] == len(members)
    assert sorted(groups.order.tolist()) == list(range(len(labels)))


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_people_are_counted_once_a_group(rows):
    labels, units = (np.array(side, np.int32) for side in zip(*rows, strict=True))
    groups = Groups.of_equal([labels])
    expected = [len(set(units[groups.members(group)])) for group in range(groups.count)]
    assert groups.unit_sizes(units).tolist() == expected
    assert groups.unit_sizes(None) is groups.sizes


def test_groups_are_immutable_and_leave_the_given_array_alone():
    ids = np.array([0, 1, 0], np.int32)
    groups = Groups(ids, 2)
    for array in (groups.ids, groups.sizes, groups.order, groups.offsets):
        assert not array.flags.writeable
    assert ids.flags.writeable
    assert repr(groups) == "Groups(count=2)"


@pytest.mark.parametrize(("ids", "count"), [([0, 2], 2), ([-1, 0], 1), ([0, 2], 3), ([0], 0)])
def test_ids_must_number_groups_with_rows(ids, count):
    with pytest.raises(ParameterError):
        Groups(np.array(ids, np.int32), count)


def test_no_rows_are_no_groups():
    assert Groups(np.empty(0, np.int32), 0).sizes.tolist() == []


def test_grouping_needs_a_column():
    with pytest.raises(ParameterError):
        Groups.of_equal([])


@pytest.mark.parametrize("width", [2, 2**20, 2**40, 2**61])
def test_groups_are_numbered_in_the_order_of_codes_however_many_may_occur(width):
    # few are counted, more are sorted with their rows' numbers, and most without
    codes = np.random.default_rng(1).integers(0, width, 500)
    codes[250:] = codes[:250]
    groups = Groups.of_equal([codes, np.ones_like(codes)])
    values, ids = np.unique(codes, return_inverse=True)
    assert groups.count == len(values)
    assert groups.ids.tolist() == ids.tolist()
