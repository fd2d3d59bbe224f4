"""Limits on what a release may expose people to, in plain terms, and presets with their sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from types import MappingProxyType
from typing import Any

from sfumato.attacks.exposure import Exposure
from sfumato.errors import ParameterError
from sfumato.jobs.policy_errors import nearest

Share = float | int | str | Fraction


@dataclass(frozen=True, slots=True)
class Limits:
    """The highest probabilities that are accepted, exact; None where nothing is said.

    `withheld` is the largest share of the rows that may be left out. `preset` says whose they are.

    >>> Limits(Fraction("0.09")).k, Limits(Fraction(1, 11)).k, Limits(None, Fraction("0.25")).l
    (12, 11, 4)
    """

    reidentification: Fraction | None = None
    inference: Fraction | None = None
    withheld: Fraction = Fraction(0)
    preset: str | None = None

    @property
    def k(self) -> int:
        """The fewest records among which a person must be hidden."""
        return 1 if self.reidentification is None else ceil(1 / self.reidentification)

    @property
    def l(self) -> int:  # noqa: E743 -- the parameter's name in every paper
        """The fewest values among which a person's must be hidden, if each is as likely."""
        return 1 if self.inference is None else ceil(1 / self.inference)

    def broken_by(self, exposed: Exposure, withheld: Fraction) -> tuple[str, ...]:
        """Return which of the limits a release breaks: their names, in exact arithmetic."""
        pairs = (
            ("re-identification", exposed.reidentification, self.reidentification),
            ("inference", exposed.highest_inference, self.inference),
            ("withheld", withheld, self.withheld),
        )
        return tuple(name for name, found, most in pairs if most is not None and found > most)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        preset = PRESETS.get(self.preset or "")
        return {
            "max_reidentification": _plain(self.reidentification),
            "max_inference": _plain(self.inference),
            "max_withheld": float(self.withheld),
            "k": self.k,
            "l": self.l,
            "preset": self.preset,
            "source": None if preset is None else preset.source,
        }


@dataclass(frozen=True, slots=True)
class Preset:
    """Limits that somebody has set, and where that is written."""

    reidentification: Fraction
    inference: Fraction | None
    source: str


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "cms": Preset(
            Fraction(1, 11),
            None,
            "cells of 11: the cell size suppression policy of the US Centers for Medicare & "
            "Medicaid Services lets nobody report a cell of 1 to 10; it says nothing of inference",
        ),
        "ema": Preset(
            Fraction(9, 100),
            None,
            "0.09: the threshold of re-identification in the European Medicines Agency's external "
            "guidance on Policy 0070 (publication of clinical data); it states none for inference",
        ),
        "strict": Preset(
            Fraction(1, 20),
            Fraction(1, 5),
            "0.05 and 0.2: sfumato's own choice, of nobody else's rule: crowds of 20 people, and "
            "five values that are equally likely",
        ),
    }
)


def limits_of(
    preset: str | None = None,
    max_reidentification: Share | None = None,
    max_inference: Share | None = None,
    max_withheld: Share = 0,
) -> Limits:
    """Return the limits that are asked for: what is stated wins over the preset.

    Refuses (ParameterError) unknown presets, what is no share, and to search without any limit.
    """
    if preset is not None and preset not in PRESETS:
        raise ParameterError(f"there is no preset '{preset}'; {nearest(preset, PRESETS)}")
    own = None if preset is None else PRESETS[preset]
    people = _share(max_reidentification, "--max-reidentification")
    values = _share(max_inference, "--max-inference")
    withheld = exact(max_withheld, "--max-withheld")
    if not 0 <= withheld < 1:
        raise ParameterError("`--max-withheld` must be at least 0 and below 1")
    if own is not None:
        people = own.reidentification if people is None else people
        values = own.inference if values is None else values
    if people is None and values is None:
        raise ParameterError(
            "no limit is stated: give --max-reidentification, --max-inference or a --preset "
            f"({', '.join(PRESETS)})"
        )
    return Limits(people, values, withheld, preset)


def exact(share: Share, name: str) -> Fraction:
    """Return a number as it is written: 0.09 is nine hundredths, and `1/11` one eleventh.

    >>> exact(0.09, "limit"), exact("1/11", "limit")
    (Fraction(9, 100), Fraction(1, 11))
    """
    if isinstance(share, bool):
        raise ParameterError(f"`{name}` must be a number such as 0.09, or 1/11")
    try:
        return share if isinstance(share, Fraction) else Fraction(str(share).strip())
    except (ValueError, ZeroDivisionError):
        raise ParameterError(f"`{name}` must be a number such as 0.09, or 1/11") from None


def shown(share: Fraction | None) -> str:
    """Return a share for people to read, rounded up: no risk looks lower than it is.

    >>> shown(Fraction(1, 11)), shown(Fraction(1, 4)), shown(None)
    ('0.091', '0.25', 'no limit')
    """
    if share is None:
        return "no limit"
    return f"{ceil(share * 1000) / 1000:g}" if share >= Fraction(1, 100) else f"{float(share):.2g}"


def stated(limit: Fraction | None) -> str:
    """Return a limit for people to read, exactly: who states it again asks for the same.

    >>> stated(Fraction(1, 3)), stated(Fraction("0.09")), stated(None)
    ('1/3', '0.09', 'no limit')
    """
    if limit is None or limit == round(limit, 3):
        return shown(limit)
    return str(limit)


def _share(given: Share | None, name: str) -> Fraction | None:
    if given is None:
        return None
    found = exact(given, name)
    if not 0 < found <= 1:
        raise ParameterError(f"`{name}` is a probability: above 0, and 1 at most")
    return found


def _plain(share: Fraction | None) -> float | None:
    return None if share is None else float(share)
