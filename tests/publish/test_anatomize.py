"""Anatomised tables: distinct combinations with their counts, however they are packed."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sfumato.datasets import census, census_schema
from sfumato.publish import anatomize
from sfumato.publish.anatomize import anatomized_tables
from sfumato.randomness import repeatable
from sfumato.table import Groups, encode


@pytest.fixture(scope="module")
def table():
    return encode(census(3_000), census_schema(("age", "sex", "education", "zipcode")))


@pytest.fixture(scope="module", params=[1, 40, 2_500])
def groups(request, table):
    ids = repeatable(3).integers(0, request.param, table.rows)
    ids[: request.param] = np.arange(request.param)
    return Groups(ids.astype(np.int32), request.param)


def bits_of(table, groups):
    """Return how many bits the keys of the quasi-identifiers have."""
    widths = [groups.count, *(int(c.codes.max()) for c in table.quasi_identifiers)]
    return sum(width.bit_length() for width in widths)


def published(table, groups):
    return anatomized_tables(table, groups, rng=repeatable(5)).tables


def test_each_combination_of_a_group_is_listed_once_with_its_count(table, groups):
    tables = published(table, groups)
    for name, columns in (("qi_1", table.quasi_identifiers), ("sensitive_1", table.sensitive)):
        shown = tables[name].to_pylist()
        names = [column.name for column in columns]
        found = Counter()
        for row in shown:
            found[row["group"], *(row[each] for each in names)] += row["count"]
        assert len(found) == len(shown)
        # a missing value has the code after the last
        values = [[*column.values.to_pylist(), None] for column in columns]
        codes = zip(*(column.codes.tolist() for column in columns), strict=True)
        cells = [[own[code] for own, code in zip(values, row, strict=True)] for row in codes]
        by_group = Counter()
        for group, cell in zip(groups.ids.tolist(), cells, strict=True):
            by_group[group, *cell] += 1
        # ids of groups are others: groups are told by what they hold
        assert sorted(_of_groups(found)) == sorted(_of_groups(by_group))


def _of_groups(counted):
    held = {}
    for (group, *cells), count in counted.items():
        held.setdefault(group, []).append((tuple(map(str, cells)), count))
    return [sorted(each) for each in held.values()]


@pytest.mark.parametrize("room", ["no counts", "no codes"])
def test_the_tables_are_the_same_where_words_have_no_room(table, groups, room, monkeypatch):
    wanted = published(table, groups)
    bits = bits_of(table, groups)
    # keys need one bit less than there are; counts then have no room, and codes a bit below
    monkeypatch.setattr(anatomize, "_BITS", bits + 1 if room == "no counts" else bits)
    found = published(table, groups)
    assert list(found) == list(wanted)
    for name, content in wanted.items():
        assert found[name].equals(content)
