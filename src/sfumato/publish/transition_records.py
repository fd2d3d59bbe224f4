"""Records some of whose cells are replaced at random, by published probabilities."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from sfumato.measures.transitions import Matrix, drawn
from sfumato.publish.assemble import Published
from sfumato.publish.describe import describe
from sfumato.publish.exact import exact_column
from sfumato.randomness import split
from sfumato.release import TableEntry
from sfumato.schema.text import to_texts
from sfumato.table import Column, Table
from sfumato.table.permutation import permutation


def transition_records(
    table: Table, matrices: Mapping[str, Matrix], *, rng: np.random.Generator
) -> Published:
    """Return the records in random order, cells of some attributes replaced by their matrices.

    The values of such a column are all of its domain, whichever occur; where the matrix has one
    line more, a missing value is one too. Every cell is drawn on its own. There are no groups, and
    nothing is generalised, so no hierarchy is published.
    """
    order = permutation(rng, table.rows)
    generators = dict(zip(matrices, split(rng, len(matrices)), strict=True))
    columns, attributes = {}, []
    for column in table.columns:
        codes = column.codes[order]
        if column.name in matrices:
            codes = drawn(matrices[column.name], codes, generators[column.name])
        columns[column.name] = exact_column(column, codes)
        attributes.append(describe(column))
    names = tuple(column.name for column in table.columns)
    return Published(
        "generalized",
        {"records": pa.table(columns)},
        [TableEntry(name="records", attributes=names)],
        attributes,
    )


def stated_transition(column: Column, matrix: Matrix) -> dict[str, list[object]]:
    """Return what the manifest says of a matrix: values in the order of its lines, a missing one
    being null."""
    texts = [*to_texts(column.values).to_pylist(), None][: len(matrix)]
    return {"values": texts, "matrix": matrix.tolist()}
