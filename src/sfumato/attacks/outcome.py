"""What came of one attack: how often it succeeds, and how often it would have by chance.

An attack is a risk only if it does better than a blind guess about the same people, and better
than the same attack does on people who are not in the data: what is true of them is not given away
by the release of others. Intervals decide, not the shares themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, Literal, Self

import numpy as np
import numpy.typing as npt

from sfumato.attacks.intervals import CONFIDENCE, wilson

Reals = npt.NDArray[np.float64]
Verdict = Literal["risk", "at chance", "inconclusive"]

# With fewer people than this, doing no better than chance shows nothing.
FEWEST: Final = 30


@dataclass(frozen=True, slots=True)
class Rate:
    """So many hits in so many tries; hits may be expected ones, and so need not be whole.

    >>> Rate(5, 100).share
    0.05
    """

    hits: float
    tried: int

    @classmethod
    def of(cls, chances: npt.ArrayLike) -> Self:
        """Return the rate of people who are hit, each with a chance (or surely, or not)."""
        found = np.asarray(chances, np.float64)
        return cls(float(found.sum()), found.size)

    @property
    def share(self) -> float:
        """The share of hits, 0 where nothing was tried."""
        return self.hits / self.tried if self.tried else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the share."""
        return self.within()

    def within(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """Return Wilson's interval of the share."""
        return wilson(self.hits, self.tried, confidence)

    def to_dict(self) -> dict[str, Any]:
        """Return the rate as plain values that JSON can hold."""
        return {
            "share": self.share,
            "interval": list(self.interval),
            "hits": self.hits,
            "tried": self.tried,
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one attack went.

    `knows` and `how` say what the adversary knows and does. `success` counts people of the data,
    `blind` a blind guess about the same people, `control` the same attack on people who are not
    in the data (None where that has no meaning; `how` says why). `worst` is the mean chance of the
    tenth of the people that is hit worst. `sample` of `population` people were looked at. `certain`
    counts what the files alone show without any guess, such as groups of one record: one is enough.
    `confidence` is what the intervals of the verdict have; `figures` are further numbers.
    """

    attack: str
    attribute: str | None
    knows: str
    how: str
    success: Rate
    blind: Rate
    control: Rate | None
    worst: float
    sample: int
    population: int
    figures: Mapping[str, float] = field(default_factory=dict)
    certain: int = 0
    confidence: float = CONFIDENCE

    def __post_init__(self) -> None:
        object.__setattr__(self, "figures", MappingProxyType(dict(self.figures)))

    @property
    def verdict(self) -> Verdict:
        """What the numbers say.

        `risk`: the interval of the success lies above those of the blind guess and of the control,
        or something is certain. `at chance`: it does not, the share itself lies within or below
        one of them, and enough people were looked at. Otherwise `inconclusive`.
        """
        if self.certain:
            return "risk"
        rivals = [self.blind] if self.control is None else [self.blind, self.control]
        highest = max(rival.within(self.confidence)[1] for rival in rivals)
        if self.success.within(self.confidence)[0] > highest:
            return "risk"
        # who finds nobody to say anything about does no better than chance, either
        asked = self.success.tried or self.sample
        if asked >= FEWEST and self.success.share <= highest:
            return "at chance"
        return "inconclusive"

    def judged(self, confidence: float) -> Outcome:
        """Return the outcome judged by intervals of this confidence."""
        return replace(self, confidence=confidence, figures=dict(self.figures))

    def sentence(self) -> str:
        """Return the outcome in plain words, without any cell."""
        about = "" if self.attribute is None else f" of '{self.attribute}'"
        low, high = self.success.interval
        rivals = f"a blind guess for {self.blind.share:.1%}"
        if self.control is not None:
            rivals += (
                f", and the same attack on people outside the data for {self.control.share:.1%}"
            )
        said = {
            "risk": "this is a risk",
            "at chance": "no better than chance",
            "inconclusive": "too few were looked at to tell",
        }[self.verdict]
        cases = "1 case is" if self.certain == 1 else f"{self.certain} cases are"
        sure = f"; {cases} certain from the files alone" if self.certain else ""
        return (
            f"{self.attack}{about}, knowing {self.knows}: succeeds for {self.success.share:.1%} of "
            f"{self.success.tried} people (95 % interval {low:.1%} to {high:.1%}), {rivals}"
            f"{sure}: {said}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values that JSON can hold."""
        return {
            "attack": self.attack,
            "attribute": self.attribute,
            "knows": self.knows,
            "how": self.how,
            "verdict": self.verdict,
            "success": self.success.to_dict(),
            "blind": self.blind.to_dict(),
            "control": None if self.control is None else self.control.to_dict(),
            "worst_decile": self.worst,
            "certain": self.certain,
            "sample": self.sample,
            "population": self.population,
            "confidence": self.confidence,
            "figures": dict(self.figures),
            "sentence": self.sentence(),
        }


def worst_decile(chances: npt.ArrayLike) -> float:
    """Return the mean chance of the tenth of the people (one at least) that is hit worst.

    >>> worst_decile([0.0, 1.0, 0.5])
    1.0
    """
    ordered = np.sort(np.asarray(chances, np.float64))
    if not ordered.size:
        return 0.0
    return float(ordered[-max(1, ordered.size // 10) :].mean())
