"""Minimal sample uniques, combinations and classes equal what brute force finds."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import risk as oracle
from risk.people import NAMES, people, table_of

from sfumato.errors import ParameterError, SchemaError
from sfumato.risk import records_of, uniques_of
from sfumato.risk import uniques as module
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import encode


def records_in(rows, with_units):
    who = [person if with_units else place for place, (person, _) in enumerate(rows)]
    return oracle.distinct_records(who, [row for _, row in rows])


class Hashing(module._Search):
    """The search as if groups and codes were always too many for a table."""

    def _split(self, groups, count, column, finer):
        keys, owners = np.empty(self.slots, np.int64), np.empty(self.slots, np.int32)
        codes, width = self.records.codes[column], self.records.widths[column]
        return module.by_hash(groups, codes, width, self.units, keys, owners, self.alone, finer)


@given(people(), st.booleans())
def test_classes_are_counted_in_people(rows, with_units):
    expected = records_in(rows, with_units)
    found = records_of(table_of(rows, with_units=with_units))
    assert found.count == len(expected)
    assert sorted(found.of_sizes.tolist()) == sorted(oracle.class_sizes(expected))


@given(people(), st.booleans(), st.integers(1, 4), st.booleans())
def test_minimal_uniques_equal_brute_force(rows, with_units, limit, hashed):
    expected = records_in(rows, with_units)
    minimal = oracle.minimal_uniques(expected, limit)
    records = records_of(table_of(rows, with_units=with_units))
    found = Hashing(records, limit).run() if hashed else uniques_of(records, limit)
    by_set = Counter(s for sets in minimal for s in sets)
    everyone = range(len(expected))
    for each in found.combinations:
        chosen = tuple(NAMES.index(name) for name in each.columns)
        assert each.minimal == by_set[chosen]
        assert each.uniques == sum(oracle.is_alone(expected, i, chosen) for i in everyone)
    assert len(found.combinations) == len({c.columns for c in found.combinations})
    for size in range(1, limit + 1):
        assert found.having[size] == sum(any(len(s) == size for s in sets) for sets in minimal)
        smallest = [min(map(len, sets)) for sets in minimal if sets]
        assert found.with_msu[size] == smallest.count(size)
    scores = oracle.suda_scores(minimal, 4, limit)
    assert found.highest_score == max(scores)
    assert found.mean_score == pytest.approx(sum(scores) / len(scores))
    for place, name in enumerate(NAMES):
        alone = [[s for s in sets if place in s] for sets in minimal]
        share = sum(oracle.suda_scores(alone, 4, limit)) / (sum(scores) or 1)
        assert found.contributions[name] == pytest.approx(share)


def test_the_example_of_sdcmicro():
    """Its own test expects the contributions 50, 37.5 and 37.5 percent."""
    rows = [(0, (2, 0, 0)), (1, (1, 3, 6)), (2, (1, 0, 0))]
    found = uniques_of(records_of(table_of(rows)), 3)
    assert list(found.contributions.values()) == [0.5, 0.375, 0.375]


def test_both_ways_of_counting_agree_on_many_records():
    rng = np.random.default_rng(1)
    names = [f"c{i}" for i in range(6)]
    frame = pa.table({n: rng.integers(0, 4 + 9**i % 997, 5_000) for i, n in enumerate(names)})
    table = encode(frame, Schema(tuple(Attribute(n, Role.QUASI_IDENTIFIER) for n in names)))
    records = records_of(table)
    found = uniques_of(records, 3)
    assert Hashing(records, 3).run() == found
    assert found.having[3] > 0


def test_a_table_too_large_is_hashed(monkeypatch):
    used = []
    by_hash = module.by_hash
    monkeypatch.setattr(module, "by_hash", lambda *given: used.append(1) or by_hash(*given))
    monkeypatch.setattr(module, "_TABLE_SLOTS", 1)
    rows = [(i, (i // 2, i % 50, i % 7, 0)) for i in range(100)]
    uniques_of(records_of(table_of(rows)), 2)
    assert used


def test_too_many_combinations_are_refused():
    names = [f"c{i}" for i in range(60)]
    frame = pa.table({name: [1, 2] for name in names})
    table = encode(frame, Schema(tuple(Attribute(n, Role.QUASI_IDENTIFIER) for n in names)))
    with pytest.raises(ParameterError, match="60 columns have 36050 combinations of up to 3"):
        uniques_of(records_of(table), 3)
    assert len(uniques_of(records_of(table), 2).combinations) == 60 + 60 * 59 // 2
    with pytest.raises(ParameterError, match="--max-size must be at least 1"):
        uniques_of(records_of(table), 0)


def test_every_known_role_counts_and_no_other():
    frame = pa.table({name: [1, 2, 3] for name in ("q", "s", "semi", "both", "kept")})
    schema = Schema(
        (
            Attribute("q", Role.QUASI_IDENTIFIER),
            Attribute("s", Role.SENSITIVE),
            Attribute("semi", Role.SEMI_SENSITIVE, density=0.5),
            Attribute("both", Role.SENSITIVE_QUASI_IDENTIFIER),
            Attribute("kept", Role.INSENSITIVE),
        )
    )
    assert records_of(encode(frame, schema)).names == ("q", "semi", "both")
    with pytest.raises(SchemaError, match="no column is known to an adversary"):
        records_of(encode(frame.select(["s"]), Schema.of(s="sensitive")))
