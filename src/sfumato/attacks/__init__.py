"""Attacks on releases, from the published files alone and, to count hits, the originals."""

from sfumato.attacks.compose import compose
from sfumato.attacks.intervals import wilson
from sfumato.attacks.result import CompositionReport, Finding, Matches, People, Regions

__all__ = ["CompositionReport", "Finding", "Matches", "People", "Regions", "compose", "wilson"]
