"""Matrices of transitions: how likely each true value (rows) is published as each value (columns).

*Source*: Gouweleeuw, Kooiman, Willenborg, De Wolf, "Post randomisation for statistical disclosure
control: theory and implementation", Journal of Official Statistics 14 (1998). If n are the true
counts and P the matrix, the published ones have the expectation nP; so the published counts times
P⁻¹ estimate n without bias, whatever n is.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.randomness import random_shares

Matrix = npt.NDArray[np.float64]
Reals = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]

# By how much rows of a stated matrix may miss 1, for rounding.
TOLERANCE = 1e-9
# Estimates from a matrix of a larger condition number would be noise.
MOST_CONDITION = 1_000.0
# Margins that a matrix tells are rounded to whole units: of so many people at least, and of a
# thousandth of them. No value has less than one unit.
LEAST_UNIT = 10
UNITS = 1_000
_DECIMALS = 12
_STEPS = 100


def uniform(size: int, keep: float) -> Matrix:
    """Return the matrix that keeps a value with a probability, and else takes any other equally.

    >>> uniform(3, 0.8).round(3).tolist()
    [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    """
    if size == 1:
        return np.ones((1, 1))
    return _rounded(np.full((size, size), (1 - keep) / (size - 1)))


def proportional(shares: Reals, keep: float) -> Matrix:
    """Return the matrix that keeps a value with a probability, and else takes others by shares.

    >>> proportional(np.array([0.5, 0.25, 0.25]), 0.8).round(3).tolist()
    [[0.8, 0.1, 0.1], [0.133, 0.8, 0.067], [0.133, 0.067, 0.8]]
    """
    size = len(shares)
    if size == 1:
        return np.ones((1, 1))
    return _rounded((1 - keep) * np.tile(shares, (size, 1)) / (1 - shares)[:, None])


def invariant(shares: Reals, keep: float) -> Matrix:
    """Return a matrix R under which shares π stay as they are in expectation, πR = π.

    Two stages: values are first replaced by the uniform matrix P, and what comes of it is then
    replaced by what it may have been, with the chances π_i P_ij / (πP)_j. P is such that the share
    `keep` of all cells stays as it is.

    Refuses (ParameterError) a `keep` that is no more than by drawing anew from the shares.

    *Source*: Gouweleeuw et al., section 4.2 (two-stage construction of an invariant matrix).

    >>> shares = np.array([0.5, 0.3, 0.2])
    >>> (shares @ invariant(shares, 0.8)).round(6).tolist()
    [0.5, 0.3, 0.2]
    """
    size = len(shares)
    if size == 1:
        return np.ones((1, 1))
    by_chance = float(shares @ shares)
    if keep <= by_chance:
        raise ParameterError(
            f"`keep` {keep:g} is no more than the {by_chance:.3f} that stay as they are if cells "
            "are drawn anew from the shares of values, which says nothing; use a larger one"
        )
    low, high = 1 / size, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if float(shares @ np.diagonal(_two_stages(shares, middle))) < keep:
            low = middle
        else:
            high = middle
    return _rounded(_two_stages(shares, high))


def _two_stages(shares: Reals, keep: float) -> Matrix:
    size = len(shares)
    first = np.full((size, size), (1 - keep) / (size - 1))
    np.fill_diagonal(first, keep)
    weighted = shares[:, None] * first
    return np.asarray(first @ (weighted / weighted.sum(axis=0)).T)


def _rounded(matrix: Matrix) -> Matrix:
    """Return the matrix in few decimals; the diagonal has what the other entries leave of 1."""
    found = matrix.round(_DECIMALS)
    np.fill_diagonal(found, 0.0)
    np.fill_diagonal(found, (1 - found.sum(axis=1)).round(_DECIMALS))
    return found


def rounded_shares(counts: Ints) -> Reals:
    """Return shares of values that tell no small count: whole units, one at least.

    A unit is ten people or a thousandth of all, whichever is more; so nobody can tell from the
    shares whether a value is held by none or by a unit and a half.

    >>> rounded_shares(np.array([97, 0, 4])).round(4).tolist()
    [0.8333, 0.0833, 0.0833]
    """
    unit = max(LEAST_UNIT, -(-int(counts.sum()) // UNITS))
    units = np.maximum((2 * counts.astype(np.int64) + unit) // (2 * unit), 1)
    return np.asarray(units / units.sum())


def problem(matrix: Matrix) -> str | None:
    """Return what makes a square of numbers no usable matrix of transitions; None if it is one."""
    if not np.isfinite(matrix).all() or matrix.min() < 0 or matrix.max() > 1:
        return "has entries that are not probabilities"
    if np.abs(matrix.sum(axis=1) - 1).max() > TOLERANCE:
        return "has rows that do not add up to 1"
    if condition(matrix) > MOST_CONDITION:
        return (
            "hardly tells true values apart, or not at all (its condition number is above "
            f"{MOST_CONDITION:g})"
        )
    return None


def condition(matrix: Matrix) -> float:
    """Return the condition number: by how much errors may grow on the way back; inf if there is
    none."""
    singular = np.linalg.svd(matrix, compute_uv=False)
    return float(singular[0] / singular[-1]) if singular[-1] > 0 else math.inf


def inverse(matrix: Matrix) -> Matrix:
    """Return the inverse, whose rows add up to 1 as well."""
    return np.asarray(np.linalg.inv(matrix))


def epsilon(matrix: Matrix) -> float:
    """Return the ε of local differential privacy of one cell: inf where an entry excludes a value.

    Whatever value is published, no two true ones differ by more than e^ε in how likely they make
    it.

    >>> round(epsilon(uniform(2, 0.75)), 4)  # log 3
    1.0986
    """
    shown = matrix[:, matrix.max(axis=0) > 0]
    if shown.min() == 0:
        return math.inf
    return float(np.log(shown.max(axis=0) / shown.min(axis=0)).max())


def largest_posterior(matrix: Matrix) -> float:
    """Return how likely a published value makes its likeliest true one, at most, if all true ones
    were equally likely before.

    >>> round(largest_posterior(uniform(4, 0.7)), 4)
    0.7
    """
    shown = matrix[:, matrix.max(axis=0) > 0]
    return float((shown.max(axis=0) / shown.sum(axis=0)).max())


def tells_all(matrix: Matrix) -> bool:
    """Return whether every published value tells the true one."""
    return bool(len(matrix) > 1 and ((matrix > 0).sum(axis=0) <= 1).all())


def estimated_shares(counts: Ints, matrix: Matrix) -> Reals:
    """Return the estimated shares of true values, none of them below 0, from published counts."""
    found = np.maximum(counts @ inverse(matrix), 0.0)
    total = found.sum()
    return np.asarray(found / total if total > 0 else np.full(len(matrix), 1 / len(matrix)))


def posterior(shares: Reals, matrix: Matrix) -> Matrix:
    """Return how likely each published value (rows) makes each true one (columns), by Bayes.

    Where the shares allow no true value at all, all are taken as equally likely before.
    """
    found = (shares[:, None] * matrix).T
    lost = found.sum(axis=1) <= 0
    found[lost] = matrix.T[lost]
    lost = found.sum(axis=1) <= 0  # a value that is never published
    found[lost] = 1.0
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def drawn(matrix: Matrix, codes: Codes | Ints, rng: np.random.Generator) -> Codes:
    """Return for each code another one, drawn by its row of the matrix; never one of chance 0."""
    ends = np.cumsum(matrix, axis=1)
    ends /= ends[:, -1:]
    # rounding must leave nothing above the last entry that can be drawn
    last = matrix.shape[1] - 1 - np.argmax(matrix[:, ::-1] > 0, axis=1)
    ends[np.arange(matrix.shape[1]) >= last[:, None]] = 1.0
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(matrix) + 1))
    chances = random_shares(rng, len(codes))
    found = np.empty(len(codes), np.int32)
    for code in range(len(matrix)):
        own = order[starts[code] : starts[code + 1]]
        found[own] = np.searchsorted(ends[code], chances[own], side="right")
    return found
