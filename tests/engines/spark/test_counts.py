"""Counts of staged rows are those of the table in memory, however they are held meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.engines.spark import counts
from sfumato.engines.spark.counts import StagedCounts
from sfumato.engines.spark.staged import Staged, as_codes
from sfumato.predicates.flags import flagged
from sfumato.rows.coarse_cuts import CutTree, TableCounts
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import encode
from sfumato.table.whole import commonest_of, flag_name, frame_of, visible_name

from .conftest import people

ASKED = [(), ("town",), ("age", "illness"), (flag_name("age"),), (visible_name("age"), "town")]


@pytest.fixture
def table():
    quasi = Role.QUASI_IDENTIFIER
    attributes = [Attribute(name, quasi) for name in ("town", "pay", "job")]
    attributes += [Attribute("age", Role.SEMI_SENSITIVE, flag="hide")]
    attributes += [Attribute("illness", Role.SENSITIVE), Attribute("name", Role.IDENTIFIER)]
    data = people(900)
    return flagged(encode(data, Schema(tuple(attributes))), data)


def in_process(session, tasks, hand_out, buckets, work_on):
    """Return what a job returns, without Spark."""
    parts = [[] for _ in range(buckets)]
    for task in range(tasks):
        for bucket, rows in hand_out(task):
            parts[bucket].append(rows)
    return [work_on(bucket, iter(rows)) for bucket, rows in enumerate(parts)]


@pytest.mark.parametrize("held", ["dense", "sparse", "lines"])
def test_counts_are_those_of_the_table(table, tmp_path, monkeypatch, held):
    staged = Staged(str(tmp_path), 3)
    rows = as_codes(table)
    for number in range(3):
        staged.write(number, [rows.slice(number * 300, 200), rows.slice(number * 300 + 200, 100)])
    monkeypatch.setattr(counts, "exchange", in_process)
    if held != "dense":
        monkeypatch.setattr(counts, "_DENSE", 0)
    if held == "lines":
        monkeypatch.setattr(counts, "_LARGEST_KEY", 0)
        monkeypatch.setattr(counts, "_MOST_LINES", 5)
    asked = StagedCounts(None, staged, frame_of(table))
    expected = TableCounts(table).joints(CutTree(), [0], ASKED)
    for own, other in zip(asked.joints(CutTree(), [0], ASKED), expected, strict=True):
        assert own.counts.tolist() == other.counts.tolist()
        for codes, others in zip(own.codes, other.codes, strict=True):
            assert np.array_equal(codes, others)
    names = ("town", "job")
    assert asked.commonest(names) == commonest_of(table, [names])[names]
