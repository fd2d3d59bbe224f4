"""k-map: how many people of the population share a record's values, counted or estimated.

Source: Sweeney (2001) for the model; for the estimate, the posterior of Benedetti and Franconi
(see `individual`) or of the fitted Pitman model (see `pitman`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.risk.classes import COUNTED
from sfumato.risk.individual import chance_below
from sfumato.risk.pitman import Pitman
from sfumato.risk.records import Records
from sfumato.table.groups import packed


@dataclass(frozen=True, slots=True)
class KMap:
    """The share of records with fewer than k people in the population.

    `how` is `counted` in a population table, or names the model of an estimate, which then has no
    `smallest`. `contradicted` counts classes that have more people in the data than in the
    population; they are taken to have as many.
    """

    how: str
    below: Mapping[int, float]
    smallest: int | None = None
    contradicted: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {
            "how": self.how,
            "estimated": self.how != "counted",
            "smallest": self.smallest,
            "below": {str(k): share for k, share in self.below.items()},
            "contradicted": self.contradicted,
        }


def population_sizes(sample: Records, population: Records) -> npt.NDArray[np.int64]:
    """Return the people of every class of the sample in the population, 0 if there are none.

    The codes of both must stand for the same values.
    """
    together = [np.concatenate(pair) for pair in zip(sample.codes, population.codes, strict=True)]
    _, ids = np.unique(packed(together), return_inverse=True)
    sizes = np.bincount(ids[sample.count :], minlength=int(ids.max()) + 1)
    found = np.empty(len(sample.sizes), np.int64)
    found[sample.ids] = sizes[ids[: sample.count]]
    return found


def counted(sample: Records, sizes: npt.NDArray[np.int64]) -> KMap:
    """Return the k-map of records whose classes have so many people in the population."""
    likely = np.maximum(sizes, sample.sizes)
    of_sizes = likely[sample.ids]
    return KMap(
        "counted",
        {k: float(np.mean(of_sizes < k)) for k in COUNTED},
        int(likely.min()),
        int(np.count_nonzero(sizes < sample.sizes)),
    )


def by_posterior(sample: Records, p: npt.NDArray[np.float64]) -> KMap:
    """Return the k-map expected if F given f is negative binomial."""
    shares = {
        k: float(np.sum(sample.sizes * chance_below(sample.sizes, p, k)) / sample.count)
        for k in COUNTED
    }
    return KMap("negative-binomial", shares)


def by_pitman(counts: Mapping[int, int], model: Pitman, population: int) -> KMap:
    """Return the k-map expected by Pitman's model, given the sample."""
    shares = {
        k: sum(
            size * count * model.below(size, k, population)
            for size, count in counts.items()
            if size < k
        )
        / model.sample
        for k in COUNTED
    }
    return KMap("pitman", shares)
