"""Warnings about releases: numbers that lie so close together that they are as good as known."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.jobs.doubts import _count_narrow, narrow_groups
from sfumato.methods import LGB, Anatomy
from sfumato.models import TCloseBuckets
from sfumato.predicates.flags import flagged
from sfumato.randomness import Randomness
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import encode

SECRET = Randomness.secret(b"some choices, the same each time")
QUASI = Attribute("age", Role.QUASI_IDENTIFIER)
SENSITIVE = Attribute("pay", Role.SENSITIVE)
SEMI = Attribute("pay", Role.SEMI_SENSITIVE, flag="hide")


def warnings(method, pays: list[float | None], pay: Attribute = SENSITIVE) -> list[str]:
    """Return what is said of a release; every other pay is flagged, if flags count."""
    columns = {"age": list(range(len(pays))), "pay": pays}
    if pay.flag is not None:
        columns["hide"] = [row % 2 == 0 for row in range(len(pays))]
    data = pa.table(columns)
    table = flagged(encode(data, Schema((QUASI, pay))), data)
    return narrow_groups(method.release(table, SECRET), table)


NARROW = [1000, 1010, 5000, 5010]
WIDE = [1000, 2000, 5000, 9000]


def test_groups_of_nearly_equal_numbers():
    assert warnings(Anatomy(l=2), WIDE) == []
    (said,) = warnings(Anatomy(l=4), [1000, 1001, 1002, 1003])
    assert said.startswith("'pay': in 1 of 1 groups the values lie within 5% of each other")
    assert "`min_width`" in said


def test_values_of_a_bucket_count_not_those_of_a_group():
    """A group of all four spans a lot; each value is one of two in its bucket."""
    (said,) = warnings(LGB(k=4, l=2), NARROW)
    assert said.startswith("'pay': in 2 of 2 buckets the values lie within 5% of each other")
    assert "min_width" not in said
    assert "larger `l`" in said
    assert warnings(LGB(k=4, l=2), WIDE) == []
    assert warnings(LGB(k=4, l=4), NARROW) == []
    assert warnings(LGB(k=1, l=2), WIDE) == []  # though a group alone has one value


@pytest.mark.parametrize("kind", [int, float, lambda x: -x])
def test_semi_sensitive_attributes_count_where_they_are_flagged(kind):
    pays = [kind(n) for n in (1000, 3, 1010, 4, 5000, 50, 5010, 90)]
    (said,) = warnings(LGB(k=2, l=2), pays, SEMI)
    assert "in 2 of 2 buckets" in said
    pays = [kind(n) for n in (1000, 3, 3000, 4, 5000, 50, 9010, 90)]
    assert warnings(LGB(k=2, l=2), pays, SEMI) == []


def test_close_buckets_span_the_range_of_all():
    close = LGB(k=2, protection={"pay": TCloseBuckets("pay", 0.6)})
    assert warnings(close, NARROW) == []


def test_missing_values_are_nowhere():
    (said,) = warnings(LGB(k=2, l=2), [None, *NARROW, None])
    assert "in 2 of 2 buckets" in said


def test_nothing_flagged_and_all_withheld_are_nothing_to_doubt():
    data = pa.table({"age": [1, 2, 3], "pay": [10, 11, 12], "hide": [False, False, True]})
    table = flagged(encode(data, Schema((QUASI, SEMI))), data)
    release = LGB(k=2, l=2).release(table, SECRET)
    assert release.manifest.parameters["withheld_cells"] > 0
    assert narrow_groups(release, table) == []


@pytest.mark.parametrize("dtype", [pa.int8(), pa.int64(), pa.uint64(), pa.float32()])
def test_the_ends_of_a_type_are_numbers_as_others_are(dtype):
    """The third group has no value, and so none that are nearly exact."""
    least, most = (-(2.0**127), 2.0**127) if pa.types.is_floating(dtype) else ends(dtype)
    cells = pa.array([most, most, least, most, None], dtype)
    records = pa.table({"group": pa.array([1, 1, 2, 2, 3], pa.int32()), "pay": cells})
    assert _count_narrow(records, "pay", "group") == (1, 3)


def ends(dtype: pa.DataType) -> tuple[int, int]:
    info = np.iinfo(dtype.to_pandas_dtype())
    return int(info.min), int(info.max)
