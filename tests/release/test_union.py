"""Releases of parts become one release that says no more than they do."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.audit import audit
from sfumato.methods import LGB, Anatomy, Mondrian
from sfumato.randomness import Randomness
from sfumato.release import Bounds, Release
from sfumato.release.union import PartSummary, unite, unite_releases
from sfumato.schema import Attribute, EqualWidth, Role, Schema
from sfumato.table import Table, encode
from sfumato.table.whole import frame_of, part_of, whole_of

SECRET = Randomness.secret(b"a secret of more than sixteen bytes")


def table_of(known: pa.Array, **also: Any) -> Table:
    data = pa.table({"known": known, "ill": (["a", "b", "c"] * len(known))[: len(known)]})
    attributes = (
        Attribute("known", Role.QUASI_IDENTIFIER, **also),
        Attribute("ill", Role.SENSITIVE),
    )
    return encode(data, Schema(attributes))


def released(table: Table, *parts: list[int], k: int = 2) -> list[Release]:
    whole = whole_of(table)
    return [
        Mondrian(k=k).release(part_of(table, np.array(rows), whole), SECRET.part(number))
        for number, rows in enumerate(parts)
    ]


def united(table: Table, *parts: list[int], k: int = 2) -> Release:
    release = unite_releases(released(table, *parts, k=k), frame_of(table))
    assert audit(release).ok
    return release


def test_ends_of_narrow_parts_are_rounded_on_the_scale_of_all() -> None:
    """Within a narrow part the ends are exact, and would be somebody's age."""
    table = table_of(pa.array([18, 19, 20, 21, 94, 95, 96, 97]))
    release = united(table, [0, 1, 2, 3], [4, 5, 6, 7])
    assert release.manifest.attribute("known").domain == Bounds(min=15, max=100)


@pytest.mark.parametrize(
    ("values", "domain"),
    [
        ([0.5, 0.75, 110.0, 120.0], Bounds(min=0.0, max=120.0)),
        ([Decimal("0.50"), Decimal("0.75"), Decimal("9.50"), Decimal("99.95")], None),
        ([dt.date(1950, 3, 1), dt.date(1950, 4, 1), dt.date(2001, 5, 2), dt.date(2003, 1, 1)],
         Bounds(min="1950-01-01", max="2003-12-31")),
    ],
)  # fmt: skip
def test_ends_of_other_kinds_reach_as_far_as_all_parts(values: list[Any], domain: Any) -> None:
    release = united(table_of(pa.array(values)), [0, 1], [2, 3])
    found = release.manifest.attribute("known").domain
    assert isinstance(found, Bounds)
    if domain is not None:
        assert found == domain


def test_lists_of_values_are_united_in_their_order() -> None:
    texts = table_of(pa.array(["b", "d", "a", "c"]))
    assert united(texts, [0, 1], [2, 3]).manifest.attribute("known").domain == tuple("abcd")
    sizes = ("small", "medium", "large", "huge")
    order = pa.DictionaryArray.from_arrays(pa.array([0, 2, 1, 3]), pa.array(sizes), ordered=True)
    ranked = united(table_of(order), [0, 1], [2, 3])
    assert ranked.manifest.attribute("known").domain == sizes


def test_built_hierarchies_are_united_and_name_nothing_more() -> None:
    table = table_of(pa.array([11, 12, 13, 21, 31, 32, 45, 46]), hierarchy=EqualWidth(width=10))
    release = united(table, [0, 1, 2, 3], [4, 5, 6, 7])
    leaves = set(release.hierarchies["known"].leaves)
    parts = released(table, [0, 1, 2, 3], [4, 5, 6, 7])
    labels = {leaf for part in parts for leaf in part.hierarchies["known"].leaves}
    assert leaves <= labels
    cells = {cell for cell in release.tables["records"]["known"].to_pylist() if cell != "*"}
    assert cells <= {label for row in release.hierarchies["known"].rows() for label in row}


def test_exact_columns_become_texts_beside_generalised_ones() -> None:
    table = table_of(pa.array([30, 30, 41, 42]))
    exact, ranges = released(table, [0, 1], [2, 3])
    assert pa.types.is_integer(exact.tables["records"]["known"].type)
    for order in ([exact, ranges], [ranges, exact]):
        release = unite_releases(order, frame_of(table))
        assert sorted(release.tables["records"]["known"].to_pylist()) == [
            *("30", "30"),
            *("[41, 42]", "[41, 42]"),
        ]
        assert audit(release).ok


def test_groups_and_buckets_are_numbered_on() -> None:
    table = table_of(pa.array(range(12)))
    release = united(table, [0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], k=3)
    groups = release.tables["records"]["group"].to_pylist()
    assert sorted(set(groups)) == list(range(1, len(set(groups)) + 1))
    assert len(set(groups)) == 4
    anatomy = Anatomy(l=2)
    parts = [part_of(table, np.arange(first, first + 6), whole_of(table)) for first in (0, 6)]
    both = unite_releases([anatomy.release(part, SECRET) for part in parts], frame_of(table))
    assert audit(both).ok
    assert set(both.tables["qi_1"]["group"].to_pylist()) == set(
        both.tables["sensitive_1"]["group"].to_pylist()
    )
    local = [LGB(k=3, l=2).release(part, SECRET) for part in parts]
    release = unite_releases(local, frame_of(table))
    buckets = release.tables["records"]["ill.bucket"].to_pylist()
    assert max(buckets) == sum(max(p.tables["records"]["ill.bucket"].to_pylist()) for p in local)
    assert audit(release).ok


def test_numbers_of_parts_add_up_and_differences_are_a_fault() -> None:
    table = table_of(pa.array([1, 2, 3, 4]))
    one, other = (PartSummary.of(each) for each in released(table, [0, 1], [2, 3]))

    def with_parameters(part: PartSummary, **parameters: Any) -> PartSummary:
        return replace(part, manifest=part.manifest.model_copy(update={"parameters": parameters}))

    parts = [with_parameters(one, fakes=2, a=1), with_parameters(other, fakes=3, a=1)]
    union = unite(parts, frame_of(table))
    assert union.manifest.parameters == {"fakes": 5, "a": 1}
    assert union.manifest.rows == 4
    with pytest.raises(AssertionError, match="`a`"):
        unite([parts[0], with_parameters(other, fakes=3, a=2)], frame_of(table))
    with pytest.raises(AssertionError, match="parameters"):
        unite([parts[0], with_parameters(other, fakes=3)], frame_of(table))
