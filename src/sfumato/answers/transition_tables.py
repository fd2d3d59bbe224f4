"""Cross tables and plausible rows behind cells that were replaced at random."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers.transition_axes import (
    Cells,
    Levels,
    TransitionAxis,
    read_transition_axis,
)
from sfumato.errors import ParameterError
from sfumato.measures.transitions import drawn, estimated_shares, posterior
from sfumato.release import Release
from sfumato.release.transitions import read_transitions

Reals = npt.NDArray[np.float64]


def inverse_table(
    release: Release, attributes: Sequence[str], most_cells: int
) -> tuple[tuple[pa.Array, ...], Reals, Reals]:
    """Return the values of each axis, the estimated cross table, and its standard errors.

    Published counts times the inverse of every matrix: unbiased, and so perhaps below 0. The
    variance of a cell is that of the count of its combination (see `transitions.py`).

    Refuses (ParameterError) more than `most_cells` combinations.
    """
    axes = _axes(release, attributes)
    shape = tuple(axis.size for axis in axes)
    if prod(shape) > most_cells:
        raise ParameterError(
            f"the cross table of {len(axes)} attributes has more than {most_cells} cells; "
            "ask for fewer attributes, or for ones with fewer values"
        )
    cells = Cells.of(axes, release.manifest.rows, [Levels.every(axis) for axis in axes])
    counts = np.zeros(shape)
    counts[cells.codes] = cells.counts
    estimates, squares = counts, counts
    for place, axis in enumerate(axes):
        if axis.transition is not None:
            estimates = _times(estimates, axis.transition.inverse, place)
            squares = _times(squares, axis.transition.inverse**2, place)
    se = np.sqrt(np.maximum(squares - estimates, 0.0))
    return tuple(axis.values for axis in axes), estimates, se


def plausible_rows(
    release: Release, attributes: Sequence[str], rng: np.random.Generator
) -> pa.Table:
    """Return a table whose cells are drawn by how likely each value is behind the published one.

    By Bayes, from the matrix and the estimated shares of values, none of which is below 0; each
    attribute on its own, so that what goes together in the original does so less here. Cells that
    were not replaced are exact.
    """
    columns = {}
    for axis in _axes(release, attributes):
        codes = axis.codes.astype(np.int32)
        if axis.transition is not None:
            matrix = axis.transition.matrix
            shares = estimated_shares(axis.counts, matrix)
            codes = drawn(posterior(shares, matrix), codes, rng)
        columns[axis.name] = axis.values.take(pa.array(codes))
    return pa.table(columns)


def _axes(release: Release, attributes: Sequence[str]) -> list[TransitionAxis]:
    transitions = read_transitions(release.manifest)
    return [read_transition_axis(release, transitions, name) for name in attributes]


def _times(table: Reals, matrix: Reals, place: int) -> Reals:
    """Return a table of published values turned into one of true values along one axis."""
    return np.moveaxis(np.tensordot(table, matrix, axes=(place, 0)), -1, place)
