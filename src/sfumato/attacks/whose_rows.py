"""What attacks count: people, or rows where people have several of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from sfumato.attacks.outcome import Outcome
from sfumato.release import Manifest

Counted = Literal["people", "rows"]

ABOUT_ROWS: Final = (
    "people have several rows in this release, and attacks take each row for a person's only one: "
    "who knows several rows of a person may do better"
)


def counted(manifest: Manifest) -> Counted:
    """Return what a row of the data is: a person, unless the release counts people apart."""
    return "rows" if any(table.name == "units" for table in manifest.tables) else "people"


def said_of_rows(outcome: Outcome) -> Outcome:
    """Return the outcome with rows in the place of people, wherever it counts them.

    >>> from sfumato.attacks.outcome import Rate
    >>> one = Outcome("a", None, "b", "c", Rate(1, 2), Rate(1, 2), None, None, 2, 2)
    >>> said_of_rows(one).unit
    'rows'
    """
    unit, asks = (words.replace("people", "rows") for words in (outcome.unit, outcome.asks))
    return replace(outcome, unit=unit, asks=asks, figures=dict(outcome.figures))
