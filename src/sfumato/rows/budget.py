"""A privacy budget, and the two mechanisms of OpenDP that spend it: a noisy choice, noisy counts.

OpenDP draws its noise from the operating system and takes no seed. What a mechanism costs is what
its own privacy map says (rounded up), for neighbours that differ in one row that is there or not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import EngineUnavailable, ParameterError

Ints = npt.NDArray[np.int64]


class Budget:
    """How much of `epsilon` has been spent; sequential composition adds up what is.

    Scores and counts must have sensitivity 1: a row more makes no score lower and none higher by
    more than 1; it makes one count higher by 1, and no other different.
    """

    def __init__(self, epsilon: float) -> None:
        self.epsilon = Fraction(epsilon)
        self.spent = Fraction(0)
        self._made: dict[tuple[str, Fraction], Any] = {}

    def choose(self, several: Sequence[Ints], epsilon: Fraction) -> list[int]:
        """Return for each vector of scores the place of one that is likely to be high.

        The vectors are of *disjoint* rows, so that a row matters to one of them alone and all
        together cost `epsilon` (parallel composition). The chance of each choice changes by the
        factor e^epsilon at most: OpenDP's noisy maximum (permute-and-flip) on monotone scores.
        """
        choice = self._measurement("choice", epsilon)
        self._pay(choice)
        return [int(choice([int(score) for score in scores])) for scores in several]

    def noisy(self, counts: Ints, epsilon: Fraction) -> Ints:
        """Return the counts with noise of the discrete Laplace distribution; some may be below 0.

        Every count of a histogram of *disjoint* cells gets noise, empty ones too.
        """
        noise = self._measurement("counts", epsilon)
        self._pay(noise)
        return np.array(noise([int(count) for count in counts]), dtype=np.int64)

    def _pay(self, measurement: Any) -> None:
        cost = Fraction(measurement.map(1))
        if self.spent + cost > self.epsilon:
            raise ParameterError("the privacy budget is spent, so nothing more can be told")
        self.spent += cost

    def _measurement(self, what: str, epsilon: Fraction) -> Any:
        key = (what, epsilon)
        if key not in self._made:
            self._made[key] = calibrated(what, epsilon)
        return self._made[key]


def calibrated(what: str, epsilon: Fraction) -> Any:
    """Return OpenDP's measurement (`choice` or `counts`) of the least noise that costs epsilon."""
    dp = _opendp()
    domain = dp.vector_domain(dp.atom_domain(T="i64"))

    def of_scale(scale: float) -> Any:
        if what == "counts":
            return dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=scale)
        metric = dp.linf_distance(T="i64", monotonic=True)
        return dp.m.make_noisy_max(domain, metric, dp.max_divergence(), scale=scale)

    scale = float(1 / epsilon)
    measurement = of_scale(scale)
    while Fraction(measurement.map(1)) > epsilon:  # floats round: an ulp or two
        scale = math.nextafter(scale, math.inf)
        measurement = of_scale(scale)
    return measurement


def _opendp() -> Any:
    try:
        import opendp.prelude as dp
    except ImportError:
        raise EngineUnavailable(
            "dp takes its noise from OpenDP, which is not installed: `pip install 'sfumato[dp]'`"
        ) from None
    dp.enable_features("contrib")
    return dp
