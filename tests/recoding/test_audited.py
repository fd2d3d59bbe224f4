"""An audit never denies an honest recoding, whatever the steps, the type and the method are."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import ReleaseDamaged
from sfumato.recoding import PARAMETER, recode, recording, steps_from_policy, with_orders
from sfumato.release import Release

NUMBERS = st.integers(-20, 20)
DAYS = st.dates(dt.date(2019, 11, 1), dt.date(2021, 3, 1))
ON_NUMBERS = st.one_of(
    st.builds(lambda n: {"top": n}, NUMBERS),
    st.builds(lambda n: {"bottom": n}, NUMBERS),
    st.builds(lambda n: {"round": n}, st.sampled_from([1, 2, 3, 5, 7, 10])),
    st.builds(lambda a, b: {"map": {str(a): b}}, NUMBERS, st.none() | NUMBERS),
)
ON_DATES = st.one_of(
    st.builds(lambda day: {"top": day.isoformat()}, DAYS),
    st.builds(lambda day: {"bottom": day.isoformat()}, DAYS),
    st.builds(lambda unit: {"truncate": unit}, st.sampled_from(["week", "month", "quarter"])),
)
LAST = st.sampled_from(
    [[], [{"bins": [None, 0, 7, None]}], [{"bins": [-99, 1, 2, 99]}, {"map": {"1": "one"}}]]
)


def published(table, steps, method):
    """Return an honest release of recoded rows, with the steps in its manifest."""
    read = {name: steps_from_policy(given, name) for name, given in steps.items() if given}
    changed = recode(table, read)
    schema = sf.Schema.of(known="quasi-identifier", secret="sensitive")
    release = method.publish(changed, with_orders(schema, changed, read))
    manifest = release.manifest.model_copy(
        update={"parameters": {**release.manifest.parameters, PARAMETER: recording(read, steps)}}
    )
    return Release(manifest, release.tables, release.hierarchies)


def methods(table):
    """Return methods whose cells are ranges, exact values and blocks."""
    return [sf.Mondrian(k=2), sf.Mondrian(k=table.num_rows), sf.TopDown(k=2)]


@given(
    data=st.data(),
    dtype=st.sampled_from([pa.int16(), pa.float64(), pa.float32(), pa.decimal128(9, 2)]),
    steps=st.lists(ON_NUMBERS, max_size=4),
    last=LAST,
)
def test_numbers(data, dtype, steps, last):
    cells = st.lists(st.none() | st.integers(-90, 90), min_size=6, max_size=12)
    known, part = data.draw(cells), 1 if pa.types.is_integer(dtype) else 4
    values = pa.array([None if n is None else n / part for n in known], pa.float64())
    table = pa.table({"known": values.cast(dtype, safe=False), "secret": pa.array(known)})
    secret = data.draw(st.lists(ON_NUMBERS, max_size=3))
    for method in methods(table):
        release = published(table, {"known": [*steps, *last], "secret": secret}, method)
        assert sf.audit(release).ok


@given(
    days=st.lists(st.none() | DAYS, min_size=6, max_size=12),
    steps=st.lists(ON_DATES, max_size=4),
    dtype=st.sampled_from([pa.date32(), pa.timestamp("s"), pa.timestamp("ms", "America/New_York")]),
    shift=st.booleans(),
)
def test_dates(days, steps, dtype, shift):
    cells = pa.array(days, pa.date32()).cast(pa.timestamp("s"))
    if getattr(dtype, "tz", None):
        cells = cells.cast(pa.timestamp("s", "UTC"))
    steps = [*([{"shift": {"days": 40}}] * shift), *steps]
    table = pa.table({"known": cells.cast(dtype), "secret": cells.cast(dtype)})
    for method in methods(table):
        release = published(table, {"known": steps, "secret": steps}, method)
        assert sf.audit(release).ok


@given(
    cells=st.lists(st.sampled_from(["13021", "13", "", "481", "*", None]), min_size=6, max_size=9),
    steps=st.lists(
        st.sampled_from(
            [
                {"mask": 2},
                {"mask": 3},
                {"map": {"13*": "x"}},
                {"map": {"13": None}, "otherwise": "y"},
            ]
        ),
        max_size=3,
    ),
)
def test_codes(cells, steps):
    table = pa.table(
        {"known": pa.array(cells, pa.string()), "secret": pa.array(cells, pa.string())}
    )
    for method in methods(table):
        assert sf.audit(published(table, {"known": steps, "secret": steps}, method)).ok


@given(top=st.integers(0, 60), step=st.sampled_from([2, 5, 10]), beyond=st.integers(1, 9))
def test_a_value_beyond_the_bounds_is_found(top, step, beyond):
    """Secrets are exact: one that rounding after the bound cannot give is found in any group."""
    ages = list(range(0, 80, 2))
    table = pa.table({"known": ages, "secret": ages})
    release = published(table, {"secret": [{"top": top}, {"round": step}]}, sf.Mondrian(k=4))
    assert sf.audit(release).ok
    records = release.tables["records"]
    secrets = records["secret"].to_pylist()
    highest = max(secrets)
    forged = [*secrets[:-1], highest + beyond]
    place = records.column_names.index("secret")
    tables = {"records": records.set_column(place, "secret", pa.array(forged))}
    domain = release.manifest.attribute("secret").model_copy(update={"domain": None})
    attributes = (release.manifest.attribute("known"), domain)
    manifest = release.manifest.model_copy(update={"attributes": attributes})
    with pytest.raises(ReleaseDamaged, match="'secret'"):
        sf.audit(Release(manifest, tables, release.hierarchies))
