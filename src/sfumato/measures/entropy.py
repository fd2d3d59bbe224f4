"""Shannon entropy of counts, in nats."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from sfumato.measures.counts import total_of


@numba.njit(cache=True, nogil=True)
def entropy(counts: npt.NDArray[np.int64]) -> float:
    """Return the entropy of the distribution that the counts stand for (0 when there are none).

    >>> round(float(entropy(np.array([1, 1, 2]))), 4)
    1.0397
    """
    total = total_of(counts)
    if total <= 0:
        return 0.0
    weighted = 0.0
    for count in counts:
        if count > 0:
            weighted += count * np.log(count)
    return float(np.log(total) - weighted / total)
