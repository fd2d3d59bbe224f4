"""What a trial finds, in few numbers: linkage, inference, membership, and what a release is worth.

All shares are of the people whom the attacks looked at, the same for every method.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final, Self

import numpy as np

from sfumato.attacks.attack import AttackReport
from sfumato.attacks.outcome import Outcome
from sfumato.utility.margins import summary
from sfumato.utility.overview import Utility
from sfumato.utility.query_errors import QueryErrors

_PROSECUTOR: Final = "record linkage (prosecutor)"
_HOMOGENEITY: Final = "attribute linkage (homogeneity)"
_SKEWNESS: Final = "attribute linkage (skewness)"
_PROBABILISTIC: Final = "probabilistic"
# Attacks that say something of everybody: success is a share of all who were looked at.
_OF_ALL: Final = (_SKEWNESS, "deFinetti", "joint Bayes")


@dataclass(frozen=True, slots=True)
class Linkage:
    """Re-identification by somebody who knows that a person is in the data: chances to be right.

    `highest` is that of the person who is easiest to find among those looked at, `mean` that of
    all, `blind` one record of all.
    """

    highest: float
    mean: float
    blind: float

    @classmethod
    def of(cls, report: AttackReport) -> Self | None:
        """Return the prosecutor's chances; None where nobody can be linked to anything."""
        outcome = _first(report, _PROSECUTOR)
        if outcome is None:
            return None
        highest = outcome.figures["largest_chance"]
        return cls(highest, outcome.success.share, outcome.blind.share)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Inference:
    """What is found out about one secret.

    `success` is how often the guess of the strongest attack is right, `attack` which one that was,
    `blind` how often the commonest value of all is. `highest` is the largest chance that the
    release gives anybody's own value, among those looked at, and `certain` the share of people
    for whom one value alone is left, and is theirs.
    """

    attribute: str
    attack: str
    success: float
    blind: float
    highest: float
    certain: float

    @classmethod
    def of(cls, report: AttackReport) -> tuple[Self, ...]:
        """Return what is found out about every secret."""
        names = dict.fromkeys(o.attribute for o in report.outcomes if o.attribute is not None)
        found = [cls._about(report, name) for name in names]
        return tuple(each for each in found if each is not None)

    @classmethod
    def _about(cls, report: AttackReport, name: str) -> Self | None:
        own = [outcome for outcome in report.outcomes if outcome.attribute == name]
        guesses = [each for each in own if each.attack.startswith(_OF_ALL)]
        skewed = next((each for each in own if each.attack == _SKEWNESS), None)
        if not guesses or skewed is None:
            return None
        best = max(guesses, key=lambda each: each.success.share)
        drawn = next((each for each in own if each.attack.startswith(_PROBABILISTIC)), None)
        single = next((each for each in own if each.attack == _HOMOGENEITY), None)
        sure = 0.0
        if single is not None:
            sure = single.figures["share_of_people"] * single.success.share
        highest = 0.0 if drawn is None else drawn.figures["largest_chance"]
        return cls(name, best.attack, best.success.share, skewed.blind.share, highest, sure)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Membership:
    """How often people are told from others who are not in the data; a coin is right half the time.

    `success` is that of the better of the attacks.
    """

    attack: str
    success: float
    blind: float

    @classmethod
    def of(cls, report: AttackReport) -> Self | None:
        """Return the better attack; None where there was nobody else to ask about."""
        found = [outcome for name, outcome in report.named if name == "membership"]
        best = max(found, key=lambda each: each.success.share, default=None)
        return None if best is None else cls(best.attack, best.success.share, best.blind.share)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Worth:
    """What a release is worth beside the data; what is not defined for its layout is None.

    `ncp` is the mean loss of quasi-identifier cells (0 exact, 1 withheld). `count_*` are errors of
    COUNT queries relative to the truth, `asked` their number, and `missed` how many stated
    bounds do not hold the truth: none, or there is a fault. `margin` is the mean distance of
    single attributes' distributions (Hellinger, 0 to 1), `pairs` that of pairs, and `association`
    the mean change of how much the attributes of a pair go together (0 to 1).
    """

    ncp: float | None
    asked: int
    count_mean: float | None
    count_median: float | None
    count_90: float | None
    unanswered: int
    missed: int
    margin: float | None
    pairs: float | None
    association: float | None

    @classmethod
    def of(cls, measured: Utility, errors: QueryErrors | None) -> Self:
        """Return the few numbers that every trial has."""
        loss = measured.metrics.get("ncp")
        pairs = summary(measured.pairs)
        margins = [each.hellinger for each in measured.margins]
        return cls(
            ncp=None if loss is None else float(loss["mean"]),
            asked=0 if errors is None else errors.queries,
            count_mean=None if errors is None else errors.mean,
            count_median=None if errors is None else errors.median,
            count_90=None if errors is None else errors.percentile_90,
            unanswered=0 if errors is None else errors.unanswered,
            missed=0 if errors is None else errors.missed,
            margin=float(np.mean(margins)) if margins else None,
            pairs=pairs["hellinger"]["mean"] if pairs else None,
            association=pairs["association"]["mean_change"] if "association" in pairs else None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def _first(report: AttackReport, attack: str) -> Outcome | None:
    return next((each for each in report.outcomes if each.attack == attack), None)
