"""Normalised certainty penalty (NCP) of one generalised cell, from 0 (exact) to 1 (withheld).

A missing value adds nothing: only the values beside it count. Source: Xu et al., KDD 2006.
"""

from __future__ import annotations

import numba


@numba.njit(cache=True, nogil=True)
def range_loss(low: float, high: float, extent: float) -> float:
    """Return the NCP of a closed interval: its width over the attribute's range.

    >>> float(range_loss(25.0, 30.0, 50.0))
    0.1
    """
    return (high - low) / extent if high > low else 0.0


@numba.njit(cache=True, nogil=True)
def leaves_loss(leaves: int, domain_size: int) -> float:
    """Return the NCP of a set of values or of a hierarchy node with so many leaves.

    >>> float(leaves_loss(1, 4)), float(leaves_loss(2, 4))
    (0.0, 0.5)
    """
    return leaves / domain_size if leaves > 1 else 0.0
