"""t-close buckets of LGB: what is claimed holds, and nothing but sensitive cells decides on them.

The distance of two values may depend on which values occur (their ranks): those of sensitive cells
that are published, since an auditor sees no others, and since the rest must leave no trace.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.audit import audit
from sfumato.errors import Infeasible
from sfumato.methods import LGB
from sfumato.models import TCloseBuckets
from sfumato.randomness import Randomness
from sfumato.schema import Attribute, Hierarchy, Role, Schema
from sfumato.schema.builders import Mask

GRADES = ("none", "mild", "fair", "bad", "worst", "fatal")
PLACES = ("110", "111", "125", "200", "214", "215", "3")
PATHS = [(place, place[:2], place[:1], "*") for place in PLACES[:-1]] + [("3", "3", "3", "*")]
SHARES = st.sampled_from([0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0])
SEED = Randomness.secret(b"the same choices for whatever secret")

# The values of a column, what its attribute says, and the distance of its values.
COLUMNS: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "numbers": ((0, 20, 30, 31, 32, 33, 40, 95, 100), {}, "ordered"),
    "grades": (GRADES, {"order": GRADES}, "ordered"),
    "supplied": (PLACES, {"hierarchy": Hierarchy.from_rows(PATHS, "place")}, "hierarchical"),
    "masked": (PLACES, {"hierarchy": Mask("right")}, "hierarchical"),
}


def schema(options: dict[str, Any]) -> Schema:
    return Schema(
        (
            Attribute("q", Role.QUASI_IDENTIFIER),
            Attribute("x", Role.SEMI_SENSITIVE, flag="hide x", **options),
            Attribute("y", Role.SEMI_SENSITIVE, flag="hide y"),
        )
    )


@st.composite
def tables(draw, values: tuple[Any, ...]) -> pa.Table:
    rows = draw(st.integers(4, 24))

    def column(cells: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(cells, min_size=rows, max_size=rows))

    return pa.table(
        {
            "q": column(st.integers(0, 3)),
            "x": pa.array(
                column(st.sampled_from([*values, None])),
                pa.int64() if isinstance(values[0], int) else pa.string(),
            ),
            "hide x": column(st.booleans()),
            "y": list(range(rows)),
            "hide y": column(st.booleans()),
        }
    )


@pytest.mark.parametrize("name", COLUMNS)
@given(data=st.data(), t=SHARES, k=st.integers(1, 3))
def test_what_is_claimed_of_close_buckets_holds(name, data, t, k):
    values, options, distance = COLUMNS[name]
    table = data.draw(tables(values))
    method = LGB(k=k, l=1, protection={"x": TCloseBuckets("x", t, distance)})
    try:
        release = method.publish(table, schema(options))
    except Infeasible:
        return
    assert audit(release).ok


@pytest.mark.parametrize(
    ("name", "flagged", "others", "t"),
    [
        ("numbers", (30, 31, 32, 33), (31, 0, 95, 100), 0.15),
        ("grades", ("none", "mild", "fair", "bad"), ("mild", "worst", "fatal"), 0.15),
    ],
)
def test_buckets_are_the_same_whatever_is_withheld(name, flagged, others, t):
    """One person hides both attributes: too few for a group, so their cells are withheld."""
    _, options, distance = COLUMNS[name]
    releases = []
    for secret in others:
        data = pa.table(
            {
                "q": [1] * 11,
                "x": [*flagged * 2, flagged[0], flagged[1], secret],
                "hide x": [True] * 8 + [False] * 2 + [True],
                "y": list(range(11)),
                "hide y": [False] * 8 + [True] * 3,
            }
        )
        method = LGB(k=3, l=2, protection={"x": TCloseBuckets("x", t, distance)})
        release = method.publish(data, schema(options), randomness=SEED)
        assert release.manifest.parameters["withheld_cells"] == 3
        releases.append(release)
    assert (
        len({max(r.tables["records"]["x.bucket"].drop_null().to_pylist()) for r in releases}) == 1
    )
    assert all(r.tables["records"].equals(releases[0].tables["records"]) for r in releases)
