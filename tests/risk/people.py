"""Tables for the tests of risk: a few people, with few values and any number of rows each."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from sfumato.schema import Attribute, Role, Schema
from sfumato.table import Table, encode

NAMES = ("a", "b", "c", "d")


@st.composite
def people(draw, columns: int = 4, most: int = 14, values: int = 3):
    """Draw (person, values) rows; people may have several."""
    row = st.tuples(*[st.one_of(st.none(), st.integers(0, values)) for _ in range(columns)])
    return draw(
        st.lists(st.tuples(st.integers(0, 8), row), min_size=1, max_size=most), label="rows"
    )


def table_of(rows, *, with_units: bool = True) -> Table:
    """Return the coded table of rows; without units every row is a person."""
    import pyarrow as pa

    width = len(rows[0][1])
    names = NAMES[:width]
    frame = pa.table(
        {name: pa.array([row[i] for _, row in rows], pa.int64()) for i, name in enumerate(names)}
    )
    schema = Schema(tuple(Attribute(name, Role.QUASI_IDENTIFIER) for name in names))
    table = encode(frame, schema)
    if not with_units:
        return table
    _, units = np.unique([person for person, _ in rows], return_inverse=True)
    return Table(table.schema, table.columns, table.rows, units.astype(np.int32))
