"""What is known of the population that the data were drawn from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Sampling:
    """The sampling fraction, the records of the population, and where that comes from.

    `source` is `table`, `size`, `fraction` or `weights`, or `none`, where nothing is known.
    """

    source: str
    fraction: float | None = None
    population: int | None = None

    @property
    def is_census(self) -> bool:
        """Whether the data are the whole population."""
        return self.fraction == 1

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {"source": self.source, "fraction": self.fraction, "population": self.population}


def sampling_of(
    records: int,
    people: int,
    *,
    counted: int | None = None,
    fraction: float | None = None,
    size: int | None = None,
    weights: npt.NDArray[np.float64] | None = None,
) -> Sampling:
    """Return what is known: from a population table's records, a stated number, or weights.

    Refuses (ParameterError) more than one statement, and populations smaller than the data.

    >>> sampling_of(50, 50, fraction=0.1)
    Sampling(source='fraction', fraction=0.1, population=500)
    """
    if sum(each is not None for each in (counted, fraction, size)) > 1:
        raise ParameterError(
            "the population is stated twice: keep one of --population, --population-size and "
            "--fraction"
        )
    if counted is not None:
        _refuse_small(records, counted, "the population table has", "records")
        return Sampling("table", records / counted, counted)
    if size is not None:
        _refuse_small(people, size, "the population is said to have", "people")
        return Sampling("size", people / size, round(records * size / people))
    if fraction is not None:
        if not 0 < fraction <= 1 or math.isnan(fraction):
            raise ParameterError("the sampling fraction lies above 0 and is 1 at most")
        return Sampling("fraction", float(fraction), round(records / fraction))
    if weights is not None:
        total = float(weights.sum())
        if total < records * (1 - 1e-9):
            raise ParameterError(
                f"the weights add up to less than the {records} records: a weight says how many "
                "people a record stands for; state --fraction or --population-size if they are "
                "relative ones"
            )
        return Sampling("weights", min(1.0, records / total), max(records, round(total)))
    return Sampling("none")


def _refuse_small(here: int, there: int, who: str, what: str) -> None:
    if there < here:
        raise ParameterError(f"{who} {there} {what}, and the data have {here}")
