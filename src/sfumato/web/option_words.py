"""What jobs say about the options of the command line, in the words of the pages' fields."""

from __future__ import annotations

import re
from typing import Final

# The fields of “Recommend for me”, by the option that asks for the same.
LABELS: Final = {
    "max-reidentification": "Highest chance that anybody is recognised",
    "max-inference": "Highest chance that a secret is guessed",
    "max-withheld": "Share of the rows that may be left out",
    "preset": "Whose rule",
    "minutes": "Minutes that the search may take",
}
_SAID: Final = {
    "give more --minutes": "search again with more minutes",
}
_OPTION: Final = re.compile(r"`?--([a-z][a-z-]*)`?(?: ([0-9./]+))?")


def for_a_page(words: str) -> str:
    """Return a message with fields in place of options.

    >>> for_a_page("no time was left; give more --minutes")
    'no time was left; search again with more minutes'
    >>> for_a_page("state `--max-inference` 0.2")
    'state “Highest chance that a secret is guessed” 0.2'
    """
    for said, instead in _SAID.items():
        words = words.replace(said, instead)
    return _OPTION.sub(_field, words)


def _field(found: re.Match[str]) -> str:
    label = LABELS.get(found[1])
    if label is None:
        return found[0]
    return f"“{label}”" + (f" {found[2]}" if found[2] else "")
