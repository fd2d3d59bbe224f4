"""Texts that a reader takes for one: they differ in what is not seen, or in how it is written.

Models count texts as they stand. A secret that is spelt in two ways counts as two secrets.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable

# Signs without a shape (joiners, marks of direction, soft hyphens) and accents that are added.
_UNSEEN = frozenset({"Cf", "Mn", "Me"})


def count_lookalikes(texts: Iterable[str]) -> int:
    """Return how many of the distinct texts look like another one of them.

    >>> count_lookalikes(["HIV", "HIV\\u200b", "hiv ", "Flu"]), count_lookalikes(["HIV", "Flu"])
    (3, 0)
    """
    shapes = Counter(map(_shape, set(texts)))
    return sum(times for times in shapes.values() if times > 1)


def _shape(text: str) -> str:
    seen = (
        c for c in unicodedata.normalize("NFKD", text) if unicodedata.category(c) not in _UNSEEN
    )
    return " ".join("".join(seen).casefold().split())
