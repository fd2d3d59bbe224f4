"""What came of one attack: how often it succeeds, and how often it would have by chance.

An attack is a risk only if it does better than a blind guess about the same people, and better
than the same attack does on people who are not in the data: what is true of them is not given away
by the release of others. Intervals decide, not the shares themselves; and "no better than chance"
is only said where any excess is known to be small.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import hypot
from types import MappingProxyType
from typing import Any, Final, Literal, Self

import numpy as np
import numpy.typing as npt

from sfumato.attacks.intervals import CONFIDENCE, wilson

Reals = npt.NDArray[np.float64]
Verdict = Literal["risk", "as for strangers", "at chance", "inconclusive", "not judged"]

# With fewer people than this, doing no better than chance shows nothing.
FEWEST: Final = 30
# Who does better than chance by more than this share of the people does relevantly better.
RELEVANT: Final = 0.05
OUTSIDE: Final = "the same attack on people outside the data"
_STRANGERS: Final = "no better than about people outside the data"


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
    tenth of the people that is hit worst, None where it is no person's chance. `sample` of
    `population` people were looked at. `certain` counts what the files alone show without any
    guess, such as groups of one record: one is enough. `confidence` is what the intervals of the
    verdict have; `figures` are further numbers.

    `unit` says what the tries are, `blind_is` and `control_is` what the rivals are, `where` which
    table was looked at and `asks` what was to be told, if it is not the attribute. `is_search` says
    that all of something was searched and nothing guessed: what is not certain is not there.
    """

    attack: str
    attribute: str | None
    knows: str
    how: str
    success: Rate
    blind: Rate
    control: Rate | None
    worst: float | None
    sample: int
    population: int
    figures: Mapping[str, float] = field(default_factory=dict)
    certain: int = 0
    confidence: float = CONFIDENCE
    unit: str = "people"
    blind_is: str = "a blind guess"
    control_is: str = OUTSIDE
    where: str = ""
    asks: str = ""
    is_search: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "figures", MappingProxyType(dict(self.figures)))

    @property
    def rivals(self) -> tuple[Rate, ...]:
        """The blind guess, and the control if it has enough people to say anything."""
        if self.control is None or self.control.tried < FEWEST:
            return (self.blind,)
        return self.blind, self.control

    @property
    def asked(self) -> int:
        """The number of tries; where there was nobody to say anything about, of all looked at."""
        return self.success.tried or self.sample

    @property
    def verdict(self) -> Verdict:
        """What the numbers say.

        `risk`: the interval of the success lies above those of the blind guess and of the control,
        or something is certain. `at chance`: its share is at most that of the blind guess, or
        higher by at most `RELEVANT` (upper end of the 95 % interval of the difference) while their
        95 % intervals overlap: of rare hits a relevant excess may be small. `as for strangers`: it
        is no higher, or by at most `RELEVANT`, than the control alone. `not judged`: nothing could
        be looked at. Otherwise, and with fewer than `FEWEST` tries, `inconclusive`.
        """
        if self.certain:
            return "risk"
        if self.is_search:
            return "at chance"
        if not self.asked:
            return "not judged"
        if self._parts_from_all(self.confidence):
            return "risk"
        if self.asked < FEWEST:
            return "inconclusive"
        # who finds nobody to say anything about does no better than chance, either
        if not self._parts_from(self.blind) and self._is_no_better_than(self.blind):
            return "at chance"
        if any(self._is_no_better_than(rival) for rival in self.rivals[1:]):
            return "as for strangers"
        return "inconclusive"

    def _parts_from(self, rival: Rate, confidence: float = CONFIDENCE) -> bool:
        return self.success.within(confidence)[0] > rival.within(confidence)[1]

    def _parts_from_all(self, confidence: float = CONFIDENCE) -> bool:
        return all(self._parts_from(rival, confidence) for rival in self.rivals)

    def _is_no_better_than(self, rival: Rate) -> bool:
        """Return whether the success is at most as high, or surely not relevantly higher."""
        excess = self.success.share - rival.share
        return excess <= 0 or highest_difference(self.success, rival) <= RELEVANT

    def judged(self, confidence: float) -> Outcome:
        """Return the outcome judged by intervals of this confidence."""
        return replace(self, confidence=confidence, figures=dict(self.figures))

    @property
    def title(self) -> str:
        """The attack, what it was on, and what it was to tell."""
        about = "" if self.attribute is None else f" of '{self.attribute}'"
        where = f" in {self.where}" if self.where else ""
        asks = f" ({self.asks})" if self.asks else ""
        return f"{self.attack}{about}{where}{asks}"

    @property
    def against(self) -> str:
        """What the success is compared with, in plain words."""
        found = f"{self.blind_is} {percent(self.blind.share)}"
        if self.control is None:
            return found
        if self.control.tried < FEWEST:
            tried = self.control.tried
            return f"{found}, and {self.control_is} does not count ({tried} tried, too few)"
        return f"{found}, {self.control_is} {percent(self.control.share)}"

    @property
    def words(self) -> str:
        """The verdict in plain words."""
        if self.is_search and not self.certain:
            return "nothing was found"
        if self.verdict == "as for strangers":
            right = percent(self.success.share)
            return f"{_STRANGERS}, though whoever knows this is right for {right}"
        doubt = "cannot be told apart from chance"
        if self.asked < FEWEST:
            doubt = f"too few {self.unit} were looked at to tell"
        elif self._parts_from_all():
            doubt = "better than chance on its own, but not clearly so for one of so many attacks"
        elif self._parts_from(self.blind):
            doubt = (
                "better than a blind guess, but not clearly so than about people outside the data"
            )
        return {
            "risk": "this is a risk",
            "at chance": "no better than chance",
            "inconclusive": doubt,
            "not judged": "not judged",
        }[self.verdict]

    def sentence(self) -> str:
        """Return the outcome in plain words, without any cell."""
        low, high = self.success.interval
        said = []
        if self.success.tried:
            said.append(
                f"succeeds for {percent(self.success.share)} of {self.success.tried} {self.unit} "
                f"(95 % interval {low:.1%} to {high:.1%}); for comparison: {self.against}"
            )
        elif self.sample and not self.is_search:
            said.append(f"finds none of {self.sample} {self.unit} to say anything about")
        if self.certain:
            cases = "1 case is" if self.certain == 1 else f"{self.certain} cases are"
            said.append(f"{cases} certain from the files alone")
        told = ": ".join(["; ".join(said), self.words] if said else [self.words])
        return f"{self.title}, knowing {self.knows}: {told}"

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values that JSON can hold."""
        return {
            "attack": self.attack,
            "attribute": self.attribute,
            "where": self.where,
            "asks": self.asks,
            "knows": self.knows,
            "how": self.how,
            "verdict": self.verdict,
            "unit": self.unit,
            "success": self.success.to_dict(),
            "blind": self.blind.to_dict(),
            "blind_is": self.blind_is,
            "control": None if self.control is None else self.control.to_dict(),
            "control_is": None if self.control is None else self.control_is,
            "worst_decile": self.worst,
            "certain": self.certain,
            "sample": self.sample,
            "population": self.population,
            "confidence": self.confidence,
            "figures": dict(self.figures),
            "sentence": self.sentence(),
        }


def highest_difference(one: Rate, other: Rate) -> float:
    """Return the upper end of the 95 % interval of how much higher the first share is.

    Source: Newcombe 1998, method 10 (square-and-add of Wilson's intervals).

    >>> f"{highest_difference(Rate(56, 70), Rate(48, 80)):.4f}"
    '0.3339'
    """
    above = one.interval[1] - one.share
    below = other.share - other.interval[0]
    return one.share - other.share + hypot(above, below)


def percent(share: float) -> str:
    """Return a share in words that do not make nothing of a small one.

    >>> percent(0.107), percent(0.0002), percent(0.0)
    ('10.7%', '<0.1%', '0.0%')
    """
    return "<0.1%" if 0 < share < 0.0005 else f"{share:.1%}"


def worst_decile(chances: npt.ArrayLike) -> float:
    """Return the mean chance of the tenth of the people (one at least) that is hit worst.

    >>> worst_decile([0.0, 1.0, 0.5])
    1.0
    """
    ordered = np.sort(np.asarray(chances, np.float64))
    if not ordered.size:
        return 0.0
    return float(ordered[-max(1, ordered.size // 10) :].mean())
