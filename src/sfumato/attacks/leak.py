"""The common shape of leaks: what order and residue tell, against chance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sfumato.attacks.order import Trained
from sfumato.attacks.outcome import Outcome, Rate

KNOWS: Final = "the files of the release and, for half of the data, the truth to train on"
_CONTROL: Final = "People outside the data have no place in the files, so there is no control."


def leak(
    what: str,
    how: str,
    found: Trained,
    population: int,
    *,
    attribute: str | None = None,
    figures: Mapping[str, float] | None = None,
    certain: int = 0,
) -> Outcome:
    """Return the outcome of looking for one leak."""
    return Outcome(
        attack=f"leak: {what}",
        attribute=attribute,
        knows=KNOWS,
        how=f"{how} {_CONTROL}",
        success=found.success,
        blind=found.blind,
        control=None,
        worst=found.success.share,
        sample=found.success.tried,
        population=population,
        figures=figures or {},
        certain=certain,
    )


def residue(what: str, how: str, found: int, population: int, **figures: float) -> Outcome:
    """Return the outcome of looking for what should not be in the files: each find is certain."""
    nobody = Trained(Rate(0, population), Rate(0, population))
    return leak(what, how, nobody, population, figures=figures, certain=found)
