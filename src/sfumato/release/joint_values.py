"""Values of attributes that were randomised as one: `a & b`, and `"a & co" & b` where need be.

A part is spelled as a member of a set is (a missing one as `null`), and in JSON if it has an
ampersand.
"""

from __future__ import annotations

import json
import re

from sfumato.release.cells import NULL, item, item_text

BETWEEN = " & "
# A text in quotes, or one without quotes and ampersands.
_PART = r'("(?:[^"\\]|\\.)*"|[^"&]+)'


def spelled_part(text: str | None) -> str:
    """Return a part as it stands in a combination; None is missing.

    >>> BETWEEN.join(map(spelled_part, ["Smith & co", "Cook", None]))
    '"Smith & co" & Cook & null'
    """
    if text is None:
        return NULL
    return json.dumps(text, ensure_ascii=False) if "&" in text else item(text)


def parts_of(value: str | None, parts: int) -> tuple[str | None, ...]:
    """Return the texts of so many parts of a combination.

    ValueError for what is none, and for a part in another spelling than its only one.

    >>> parts_of('"Smith & co" & null', 2)
    ('Smith & co', None)
    """
    found = re.fullmatch(BETWEEN.join([_PART] * parts), value or "", re.DOTALL)
    if found is None:
        raise ValueError("not a combination")
    return tuple(map(_text, found.groups()))


def _text(spelled: str) -> str | None:
    if spelled == NULL:
        return None
    text = item_text(spelled)
    if spelled != spelled_part(text):
        raise ValueError("another spelling")
    return text
