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
    best = chances.max(axis=1, keepdims=True, initial=0)
    top = (chances >= best * (1 - _TOLERANCE)) & (chances > 0)
    own = top[np.arange(len(truth)), truth]
    return np.asarray(own / np.maximum(top.sum(axis=1), 1))


def guessed_value(chances: Reals, truth: Ints) -> Reals:
    """Return the same where the last value is a missing one, which nobody wants to guess.

    >>> guessed_value(np.array([[0.1, 0.2, 0.7]]), np.array([1])).tolist()
    [1.0]
    """
    named = chances.copy()
    named[:, -1:] = 0
    return guessed(named, truth)


def guessed_prior(shares: Reals) -> Reals:
    """Return the chance that the most frequent value is the own, for people with each of them.

    >>> guessed_prior(np.array([0.2, 0.1, 0.7])).tolist()
    [1.0, 0.0, 0.0]
    """
    named = np.append(shares[:-1], 0.0)
    top = (named >= named.max(initial=0) * (1 - _TOLERANCE)) & (named > 0)
    return np.asarray(top / max(int(top.sum()), 1))
