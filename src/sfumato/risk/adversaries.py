"""How likely three adversaries find people: prosecutor, journalist, marketer.

A prosecutor knows that someone is in the data: the risk of a record is 1/f, its class's people in
the data. A journalist does not: 1/F, its class's people in the population. A marketer wants as many
as possible: the expected share of records that is matched right, which is the mean of the
journalist's risks (of the prosecutor's, where the data are the whole population).

Source: El Emam, Guide to the De-Identification of Personal Health Information (2013).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.risk.classes import SMALL

# A posterior mean that is 1/k but for rounding is not above it.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Levels:
    """Risks of all records: the highest, the mean, and the share of records above 1/k.

    `weighted_mean` is over the people whom the records stand for, if there are weights.
    """

    highest: float
    mean: float
    above: Mapping[int, float]
    weighted_mean: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {
            "highest": self.highest,
            "mean": self.mean,
            "weighted_mean": self.weighted_mean,
            "above": {f"1/{k}": share for k, share in self.above.items()},
        }


def levels(
    risks: npt.NDArray[np.float64], weights: npt.NDArray[np.float64] | None = None
) -> Levels:
    """Return the risks of records, summed up.

    >>> levels(np.array([1.0, 0.5, 0.5])).above[2]
    0.3333333333333333
    """
    return Levels(
        float(risks.max()),
        float(risks.mean()),
        {k: float(np.mean(risks > 1 / k + _ROUNDING)) for k in SMALL},
        None if weights is None else float(np.average(risks, weights=weights)),
    )
