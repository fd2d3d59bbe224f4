"""Attacks on releases, from the published files alone and, to count hits, the originals."""

from sfumato.attacks.attack import AttackReport, attack
from sfumato.attacks.compose import compose
from sfumato.attacks.intervals import wilson
from sfumato.attacks.outcome import Outcome, Rate
from sfumato.attacks.result import CompositionReport, Finding, Matches, People, Regions

__all__ = [
    "AttackReport",
    "CompositionReport",
    "Finding",
    "Matches",
    "Outcome",
    "People",
    "Rate",
    "Regions",
    "attack",
    "compose",
    "wilson",
]
