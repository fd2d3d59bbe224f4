"""From counted sets back to a cross table: the estimators of the sensitive-QID paper, and others.

Let w be the numbers of records whose sets contain each cell (`set_counts.py`). A set holds the own
value of a record with probability x and any other value with probability y, attribute by
attribute and independently, so the expected w is δn, where n is the true table and δ the Kronecker
product of (x − y)·I + y·11ᵀ. δ is never made: it is applied axis by axis, in O(|C|·q)
for |C| cells and q attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt

import numpy as np
import numpy.typing as npt

from sfumato.answers.set_axes import Axis
from sfumato.errors import ParameterError

Reals = npt.NDArray[np.float64]

# The Bayes iteration ends when a step moves less than this share of all records and the table
# explains the counts better than the true one would, by chance: the squares that are left are this
# share of what chance leaves. Or when a step moves less than this many records; or after so many
# visits of cells, which take about a minute.
TOLERANCE = 1e-5
EXPLAINED = 0.3
FEWEST_MOVED = 0.5
MOST_VISITS = 2_000_000_000
# By how much of the way so far an extrapolation may reach ahead; what is left of a cell that would
# fall below 0; and what counts as nothing (smaller numbers are slow to work with).
_AHEAD = 0.125
_LEFT = 0.01
_NOTHING = 1e-100


def bayes(axes: Sequence[Axis], counts: Reals) -> tuple[Reals, int, bool]:
    """Return the table that equation 26 leads to, divided as in equation 27.

    And the number of steps, and whether it came to rest.

    Steps are made from w on. The table keeps the total, and no cell of it is negative. The paper
    ends when steps are "sufficiently small". Steps that go on begin to follow the noise; but where
    p is small, or records are many, small steps still lead far. So small ones end it only where
    chance explains what is left, or where they move less than half a record.

    The paper's steps become small slowly, after thousands of them. Here two of them tell where
    many would lead to (squared extrapolation), a quarter more of them than were made so far at
    most, lest the end be missed; what makes the counts less likely is taken back.

    Source: the sensitive-QID paper, section V-D2; Varadhan, Roland, "Simple and globally convergent
    methods for accelerating the convergence of any EM algorithm" (2008), scheme S3.
    """
    mixing = [(axis.telling, axis.other) for axis in axes]
    table, small = counts.copy(), TOLERANCE * counts.sum()
    inside = prod(axis.eta for axis in axes)
    least = min(small, FEWEST_MOVED * inside)
    first, _ = _step(mixing, counts, table)
    made, way, moved = 1, 1.0, _distance(first, table)

    def is_at_rest() -> bool:
        return moved <= least or (moved <= small and _is_explained(axes, counts, first / inside))

    while not is_at_rest() and made * counts.size < MOST_VISITS:
        second, likelihood = _step(mixing, counts, first)
        far, reach = _extrapolated(table, first, second, most=_AHEAD * way)
        after, reached = _step(mixing, counts, far)
        if reached < likelihood:  # that of `first`, which `second` is never below
            far, reach, after = second, 1.0, _step(mixing, counts, second)[0]
            made += 1
        table, first = far, after
        made, way, moved = made + 2, way + 2 * reach + 1, _distance(after, far)
    settled = is_at_rest()
    first /= inside
    return first, made, settled


def _is_explained(axes: Sequence[Axis], counts: Reals, table: Reals) -> bool:
    """Return whether the counts differ from those expected by less than chance lets them."""
    once = _applied([(axis.telling, axis.other) for axis in axes], table)
    # a record's set has a cell or not, with a chance c: its variance is c − c²
    squares = [(axis.telling * (axis.own + axis.other), axis.other**2) for axis in axes]
    variance = float(once.sum() - _applied(squares, table).sum())
    left = counts - once
    return _dot(left, left) <= EXPLAINED * variance


def _step(
    mixing: Sequence[tuple[float, float]], counts: Reals, table: Reals
) -> tuple[Reals, float]:
    """Return the table after one step of equation 26, and the log-likelihood before it."""
    expected = _applied(mixing, table)
    if np.minimum.reduce(expected, axis=None) > 0:
        likelihood = _dot(counts, np.log(expected))
        ratio = np.divide(counts, expected, out=expected)
    else:
        # nothing is expected only where no record can be
        possible = expected > 0
        logs = np.log(expected, out=np.zeros_like(expected), where=possible)
        likelihood = _dot(counts, logs)
        ratio = np.divide(counts, expected, out=expected, where=possible)
    after = _applied(mixing, ratio)
    after *= table
    return after, likelihood


def _extrapolated(table: Reals, first: Reals, second: Reals, *, most: float) -> tuple[Reals, float]:
    """Return where three tables in a row lead to, with the same total and nothing below 0.

    And by how many steps' length it is ahead of the first, halved; 1 is that of the last table.
    """
    step = first - table
    bend = second - first - step
    bent = sqrt(_dot(bend, bend))
    reach = min(sqrt(_dot(step, step)) / bent, most) if bent else 1.0
    if reach <= 1:
        return second, 1.0
    bend *= reach * reach
    step *= 2 * reach
    far = table + step
    far += bend
    # a cell at 0 would stay there for good
    np.maximum(far, second * _LEFT, out=far)
    if np.minimum.reduce(far, axis=None) < _NOTHING:
        far[far < _NOTHING] = 0
    far *= np.add.reduce(second, axis=None) / np.add.reduce(far, axis=None)
    return far, reach


def _distance(one: Reals, other: Reals) -> float:
    moved = one - other
    return float(np.add.reduce(np.abs(moved, out=moved), axis=None))


def inverse(axes: Sequence[Axis], counts: Reals) -> tuple[Reals, Reals]:
    """Return δ⁻¹w, which is unbiased and may be negative, and an estimate of its cells' variances.

    A record adds g = ∏ (1[its set contains the value] − y)/(x − y) to a cell. Records are
    randomised independently, and the expectation of g is 1 for the cell of the record and 0 for
    all others; so the variance of a cell is Σ E g² − n. The sum of g² over the records, less the
    estimate of n, is an unbiased estimate of it, which may fall below 0 too. It is about the
    randomness of the sets alone: the people are taken as they are.

    Refuses (ParameterError) attributes whose sets say nothing about the values.
    """
    for axis in axes:
        if not axis.is_telling:
            raise ParameterError(
                f"the sets of '{axis.name}' do not depend on the value, so there is nothing to "
                "invert; leave the attribute out or use another method"
            )
    # The sum of w along an axis is η times that without the axis: −y of a record is −y/η of w.
    own = [axis.telling for axis in axes]
    factors = [(1 / c, -a.other / (a.eta * c)) for a, c in zip(axes, own, strict=True)]
    table = _applied(factors, counts)
    squares = [
        ((1 - 2 * a.other) / c**2, a.other**2 / (a.eta * c**2))
        for a, c in zip(axes, own, strict=True)
    ]
    variance = _applied(squares, counts)
    variance -= table
    return table, variance


def value_adding(axes: Sequence[Axis], counts: Reals, rows: int) -> Reals:
    """Return equation 18: a record's weight is spread evenly over the cells that it may be in.

    The rest of its weight, by which its own cell is not among them, goes to all others.

    Source: the sensitive-QID paper, section V-D1.
    """
    inside = prod(axis.eta for axis in axes)
    outside = counts.size - inside
    chance = prod(axis.own for axis in axes)
    table = counts * (chance / inside)
    if outside:
        table += (rows - counts) * ((1 - chance) / outside)
    return table


def random(sizes: tuple[int, ...], rows: int, rng: np.random.Generator) -> Reals:
    """Return a table of uniformly distributed numbers, scaled to the right total.

    The paper does not say how its baseline is drawn.
    """
    table = rng.random(sizes)
    table *= rows / table.sum()
    return table


def _applied(factors: Sequence[tuple[float, float]], table: Reals) -> Reals:
    """Return (a·I + b·11ᵀ) ⊗ … applied to a table, (a, b) being the factors of an axis."""
    # tables are small, and there are thousands of steps: what stands around `add` takes longer
    for place, (alone, spread) in enumerate(factors):
        sums = np.add.reduce(table, axis=place, keepdims=True) if spread else None
        table = np.multiply(table, alone, out=table if place else None)
        if sums is not None:
            sums *= spread
            table += sums
    return table


def _dot(one: Reals, other: Reals) -> float:
    """Return the sum of the products of two tables.

    Not by BLAS, which wakes threads for large tables: they take longer to meet than the sum does.
    """
    return float(np.add.reduce(one * other, axis=None))
