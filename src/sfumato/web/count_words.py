"""Numbers of things in words: one row, two rows."""

from __future__ import annotations

from typing import Final

_IRREGULAR: Final = {"person": "people"}


def counted(count: int, thing: str) -> str:
    """Return how many things there are.

    >>> counted(1, "row"), counted(2_000, "row"), counted(1, "person"), counted(0, "person")
    ('1 row', '2,000 rows', '1 person', '0 people')
    """
    return f"{count:,} {thing if count == 1 else _IRREGULAR.get(thing, thing + 's')}"
