"""Mondrian with caps on cells, weights, and records that may be withheld."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pyarrow as pa
import pytest
from arbitrary.coded import SIZES, samples
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.audit import audit
from sfumato.errors import Infeasible
from sfumato.methods import Mondrian
from sfumato.models import LDiversity, TCloseness
from sfumato.release.cells import Exact, Null, Range, parse
from sfumato.schema import Attribute, Role, Schema


def width_of(cell: str | None) -> tuple[str, str] | None:
    """Return the ends of a range, None where a cell is exact or missing."""
    match None if cell is None else parse(cell):
        case Range(low, high):
            return low, high
        case Exact() | Null() | None:
            return None
    raise AssertionError("a cell that is no range")


@settings(max_examples=120)
@given(
    data=st.data(),
    quasi=st.sampled_from([("age",), ("place",), ("age", "place"), ("size", "place", "age")]),
    k=st.integers(1, 4),
    share=st.sampled_from([0, 0.2, 0.6]),
    level=st.integers(0, 2),
    width=st.sampled_from([1, 2, 4.5]),
    models=st.sampled_from([(), (LDiversity("illness", 2),), (TCloseness("illness", 0.4),)]),
    strict=st.booleans(),
)
def test_every_published_cell_keeps_its_cap(data, quasi, k, share, level, width, models, strict):
    whole = any(model.compares_with_whole for model in models)
    sample = data.draw(samples(quasi=quasi, people=False if whole else None))
    caps = {"place": {"max_level": level}, "age": {"max_width": width}, "size": {"max_width": 1}}
    attributes = tuple(replace(each, **caps.get(each.name, {})) for each in sample.schema)
    schema = Schema(attributes, sample.schema.unit)
    method = Mondrian(k, models, strict=strict, suppression=share)
    try:
        release = method.publish(sample.frame, schema)
    except Infeasible:
        return
    assert audit(release).ok
    manifest = release.manifest
    assert manifest.suppressed <= share * len(sample.rows)
    assert manifest.rows + manifest.suppressed == len(sample.rows)
    assert manifest.suppressed_by_value <= bool(models)
    records = release.tables["records"]
    for name in quasi:
        column = records[name]
        if not pa.types.is_dictionary(column.type):
            continue  # exact
        cells = set(column.to_pylist())
        if name == "place":
            allowed = {label for path in sample.paths for label in path[: level + 1]} | {None}
            assert cells <= allowed
            continue
        for ends in filter(None, map(width_of, cells)):
            places = [SIZES.index(e) if name == "size" else int(e) for e in ends]
            assert places[1] - places[0] <= caps[name]["max_width"]


def test_intervals_begin_where_few_are_left_over():
    """Three clumps, each within the cap: a grid from the least value would part them."""
    ages = [20, 28, 29, 30, 31, 32, 44, 45, 46, 47]
    data = pa.table({"age": ages})
    schema = Schema((Attribute("age", Role.QUASI_IDENTIFIER, max_width=10),))
    release = Mondrian(k=4, suppression=0.1).publish(data, schema)
    assert release.manifest.suppressed <= 1
    assert audit(release).ok


def test_caps_that_cannot_be_kept_name_the_one_that_binds():
    data = pa.table({"age": [1, 2, 50, 90], "job": ["a", "a", "b", "b"]})
    attributes = (
        Attribute("age", Role.QUASI_IDENTIFIER, max_width=5),
        Attribute("job", Role.QUASI_IDENTIFIER),
    )
    told = r"leave 2 records in groups .* allows 0 of 4; 'age' binds most: without its cap 0 would"
    with pytest.raises(Infeasible, match=told):
        Mondrian(k=2).publish(data, Schema(attributes))
    release = Mondrian(k=2, suppression=0.5).publish(data, Schema(attributes))
    assert (release.manifest.rows, release.manifest.suppressed) == (2, 2)
    assert not release.manifest.suppressed_by_value
    assert release.manifest.parameters == {"suppression": 0.5}


def test_a_cap_never_says_more_than_the_table():
    data = pa.table({"age": [1, 2]})
    schema = Schema((Attribute("age", Role.QUASI_IDENTIFIER, max_width=5),))
    with pytest.raises(Infeasible, match=r"use k <= 2$"):
        Mondrian(k=3).publish(data, schema)


@pytest.mark.parametrize("dtype", [pa.date32(), pa.date64(), pa.timestamp("us"), pa.timestamp("s")])
def test_the_width_of_dates_is_in_days(dtype):
    first = dt.date(2020, 1, 1)
    days = pa.array([first + dt.timedelta(days=d) for d in (0, 3, 7, 8, 12, 13)]).cast(dtype)
    schema = Schema((Attribute("seen", Role.QUASI_IDENTIFIER, max_width=7),))
    release = Mondrian(k=3).publish(pa.table({"seen": days}), schema)
    cells = set(release.tables["records"]["seen"].to_pylist())
    assert len(cells) == 2
    for ends in map(width_of, cells):
        low, high = (dt.datetime.fromisoformat(end) for end in ends)
        assert (high - low).days <= 7


def test_missing_values_stand_apart_under_a_cap():
    data = pa.table({"age": [1, 2, 3, None, None, None]})
    capped = Schema((Attribute("age", Role.QUASI_IDENTIFIER, max_width=5),))
    release = Mondrian(k=3).publish(data, capped)
    cells = release.tables["records"]["age"].to_pylist()
    assert sorted(cells, key=str) == [None] * 3 + ["[1, 3]"] * 3


@pytest.mark.parametrize("choose", ["loss", "widest"])
def test_weights_say_which_attribute_is_cut(choose):
    data = pa.table({"a": [1, 1, 1, 2, 2, 2] * 2, "b": [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2]})
    for heavy in ("a", "b"):
        attributes = tuple(
            Attribute(n, Role.QUASI_IDENTIFIER, loss_weight=3 if n == heavy else 1) for n in "ab"
        )
        release = Mondrian(k=6, choose=choose).publish(data, Schema(attributes))
        records = release.tables["records"]
        assert [n for n in "ab" if "[1, 2]" not in set(records[n].to_pylist())] == [heavy]
