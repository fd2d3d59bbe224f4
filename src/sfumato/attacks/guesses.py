"""Guesses: the likeliest value, and equally likely ones with equal chances."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

_TOLERANCE = 1e-9


def guessed(chances: Reals, truth: Ints) -> Reals:
    """Return the chance of each person that the likeliest of their values is their own.

    >>> guessed(np.array([[0.4, 0.4, 0.2], [0.1, 0.2, 0.7]]), np.array([1, 0])).tolist()
    [0.5, 0.0]
    """
    least = _least(chances.max(axis=1, initial=0))
    own = chances[np.arange(len(truth)), truth] >= least
    return np.asarray(own / np.maximum(np.count_nonzero(chances >= least[:, None], axis=1), 1))


def guessed_value(chances: Reals, truth: Ints) -> Reals:
    """Return the same where the last value is a missing one, which nobody wants to guess.

    >>> guessed_value(np.array([[0.1, 0.2, 0.7]]), np.array([1])).tolist()
    [1.0]
    """
    named = chances[:, :-1]
    if not named.shape[1]:
        return np.zeros(len(truth))
    missing = truth == named.shape[1]
    return np.where(missing, 0.0, guessed(named, np.where(missing, 0, truth)))


def guessed_prior(shares: Reals) -> Reals:
    """Return the chance that the most frequent value is the own, for people with each of them.

    >>> guessed_prior(np.array([0.2, 0.1, 0.7])).tolist()
    [1.0, 0.0, 0.0]
    """
    named = np.append(shares[:-1], 0.0)
    top = named >= _least(named.max(initial=0, keepdims=True))
    return np.asarray(top / max(int(top.sum()), 1))


def _least(best: Reals) -> Reals:
    """Return which chances count as the largest: those that are as good as it, and not nothing."""
    return np.maximum(best * (1 - _TOLERANCE), np.finfo(float).smallest_subnormal)
