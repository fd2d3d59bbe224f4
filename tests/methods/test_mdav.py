"""Microaggregated releases: means that are exact, types that hold them, and what is refused."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.means import means_from
from oracles.release import read_release

from sfumato.audit import audit
from sfumato.errors import Infeasible, ParameterError, ReleaseDamaged, SfumatoError
from sfumato.methods import MDAV
from sfumato.release import Release
from sfumato.release.microaggregated import microaggregated
from sfumato.schema import Attribute, Kind, Role, Schema


def of(data: pa.Table, **attributes: Attribute) -> Schema:
    quasi = [
        attributes.get(name, Attribute(name, Role.QUASI_IDENTIFIER))
        for name in data.column_names
        if name != "illness"
    ]
    return Schema((*quasi, Attribute("illness", Role.SENSITIVE)))


def with_illness(**columns: object) -> pa.Table:
    table = pa.table(columns)
    return table.append_column("illness", pa.array([f"i{i}" for i in range(table.num_rows)]))


CELLS = {
    "int16": st.integers(-(2**15), 2**15 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "uint64": st.integers(0, 2**64 - 1),
    "double": st.floats(allow_nan=False, allow_infinity=False),
    "date32": st.dates(date(1, 1, 1), date(9999, 12, 31)),
    "decimal": st.decimals("-99999.99", "99999.99", places=2),
    "timestamp": st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)),
}
TYPES = {
    "int16": pa.int16(),
    "int64": pa.int64(),
    "uint64": pa.uint64(),
    "double": pa.float64(),
    "date32": pa.date32(),
    "decimal": pa.decimal128(9, 2),
    "timestamp": pa.timestamp("us"),
}


@st.composite
def numeric_tables(draw):
    rows = draw(st.integers(1, 14))
    columns = {}
    for name in draw(st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=3, unique=True)):
        cell = CELLS[name] | st.none() if draw(st.integers(0, 3)) == 0 else CELLS[name]
        own = draw(st.lists(cell, min_size=rows, max_size=rows))
        columns[name] = pa.array(own, TYPES[name])
    return with_illness(**columns)


@settings(max_examples=120)
@given(data=numeric_tables(), k=st.integers(1, 5), file_format=st.sampled_from(["csv", "parquet"]))
def test_any_table_of_numbers_is_published_well_or_refused(data, k, file_format, tmp_path_factory):
    try:
        release = MDAV(k).publish(data, of(data))
    except Infeasible:
        return
    except SfumatoError as error:  # beyond the calendar, or a column without any value
        assert "mdav publishes means" in str(error) or "column" in str(error)
        return
    folder = tmp_path_factory.mktemp("mdav") / "release"
    release.save(folder, format=file_format)
    assert audit(folder).ok
    assert means_from(data.to_pylist(), read_release(folder))


def test_means_are_the_nearest_floats_and_sums_survive():
    data = with_illness(n=[2**53 + 1, 2**53 + 2, 2**53 + 4], x=[0.1, 0.2, 0.3])
    records = MDAV(3).publish(data, of(data)).tables["records"]
    assert set(records["n"].to_pylist()) == {float(Fraction(3 * 2**53 + 7, 3))}
    assert records["x"].to_pylist() == pytest.approx([0.2] * 3)
    assert str(records["n"].type) == str(records["x"].type) == "double"


def test_dates_are_rounded_to_days_and_decimals_become_floats():
    data = with_illness(
        day=[date(2026, 1, 1), date(2026, 1, 2), date(2026, 1, 4), date(2026, 1, 4)],
        fee=pa.array([Decimal("1.10"), Decimal("1.20")] * 2, pa.decimal128(5, 2)),
    )
    release = MDAV(4).publish(data, of(data))
    assert set(release.tables["records"]["day"].to_pylist()) == {date(2026, 1, 3)}  # of 2.75 days
    assert set(release.tables["records"]["fee"].to_pylist()) == {1.15}
    assert [e.type for e in release.manifest.attributes[:2]] == ["date32[day]", "double"]


def test_a_domain_is_told_only_where_the_policy_states_it():
    data = with_illness(age=[20, 30, 40, 90], pay=[1.0, 2.0, 3.0, 4.0])
    stated = Attribute("age", Role.QUASI_IDENTIFIER, domain=(0, 120))
    manifest = MDAV(2).publish(data, of(data, age=stated)).manifest
    assert (manifest.attribute("age").domain.min, manifest.attribute("age").domain.max) == (0, 120)
    assert manifest.attribute("pay").domain is None
    assert manifest.parameters == {"microaggregated": ["age", "pay"]}


def test_categories_are_refused_with_advice():
    data = with_illness(job=["Cook", "Nurse"], age=[1, 2])
    with pytest.raises(ParameterError, match="'job' is categorical; use mondrian or local-supp"):
        MDAV(2).publish(data, of(data))
    ordinal = Attribute("age", Role.QUASI_IDENTIFIER, kind=Kind.ORDINAL, order=(1, 2))
    job = Attribute("job", Role.INSENSITIVE)
    with pytest.raises(ParameterError, match="'age' is ordinal"):
        MDAV(2).publish(data, of(data, age=ordinal, job=job))


def test_people_with_several_rows_and_widths_are_refused():
    data = with_illness(age=[1, 2, 3], name=["a", "a", "b"])
    schema = Schema((*of(data, name=Attribute("name", Role.IDENTIFIER)),), unit="name")
    with pytest.raises(ParameterError, match="one row a person"):
        MDAV(2).publish(data, schema)


def spoilt(release: Release, **parameters: object) -> Release:
    manifest = release.manifest.model_copy(update={"parameters": parameters})
    return Release(manifest, dict(release.tables), dict(release.hierarchies))


@pytest.mark.parametrize("stated", [[], "age", [1], ["age", "age"], ["illness"], ["shoe"]])
def test_other_attributes_cannot_be_said_to_hold_means(stated, tmp_path: Path):
    data = with_illness(age=[1, 2, 3, 4])
    release = spoilt(MDAV(2).publish(data, of(data)), microaggregated=stated)
    with pytest.raises(ReleaseDamaged):
        microaggregated(release.manifest)
    with pytest.raises(ReleaseDamaged):
        audit(release)


def test_ranges_cannot_be_said_to_be_means():
    from sfumato.methods import Mondrian

    data = with_illness(age=[1, 2, 3, 4])
    with pytest.raises(ReleaseDamaged, match="said to hold means, and has other cells"):
        audit(spoilt(Mondrian(2).publish(data, of(data)), microaggregated=["age"]))


def test_a_hundred_rows_in_two_columns_lose_little():
    rng = np.random.default_rng(2)
    data = with_illness(x=rng.normal(size=100), y=rng.normal(size=100))
    release = MDAV(3).publish(data, of(data))
    sizes = np.bincount(release.tables["records"]["group"].to_numpy())[1:]
    assert sizes.min() >= 3 and sizes.max() <= 5
