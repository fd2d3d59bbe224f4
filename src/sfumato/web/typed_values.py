"""Values of a policy as someone types them into a field, and back.

What a field shows of a value, sent back as it was, is that value again; anything else is read as
the policy file would read it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sfumato.errors import InputError
from sfumato.jobs.policy_text import spelled
from sfumato.jobs.yaml_file import plain_data

Scalar = bool | int | float | str


def value_of(text: str) -> Scalar:
    """Return the number, truth value or text that someone typed; quotes make a text of anything.

    >>> value_of("90"), value_of("2026-01-31"), value_of("no"), value_of('"90"'), value_of("a: b")
    (90, '2026-01-31', 'no', '90', 'a: b')
    """
    text = text.strip()
    try:
        found = structure_of(text)
    except InputError:
        return text
    return found if isinstance(found, bool | int | float | str) else text


def text_of(value: Any) -> str:
    """Return what a field shows of a value, so that `value_of` reads it back.

    >>> text_of("Flu"), text_of(90), text_of("90"), text_of(True)
    ('Flu', '90', '"90"', 'true')
    """
    plain = value if isinstance(value, str) else spelled(value)
    read = value_of(plain)
    is_read = bool(plain.strip()) and read == value and type(read) is type(value)
    return plain if is_read else spelled(value)


def lines_of(values: Iterable[Any]) -> str:
    """Return values one below the other."""
    return "\n".join(text_of(each) for each in values)


def values_of(text: str) -> list[Scalar]:
    """Return the values of lines that are not empty."""
    return [value_of(line) for line in text.splitlines() if line.strip()]


def structure_of(text: str) -> Any:
    """Return a list or mapping that was typed as a policy file has it, such as `[[age, sex]]`.

    Refuses (InputError) what cannot be read.
    """
    try:
        return plain_data(text)
    except Exception:  # YAML's own, and those of our reader: of anchors, tags, depth
        raise InputError("this cannot be read; check its brackets, commas and quotes") from None


def same_text(one: str, other: str) -> bool:
    """Whether two texts are the same but for blanks around lines, which browsers change."""
    return [line.strip() for line in one.strip().splitlines()] == [
        line.strip() for line in other.strip().splitlines()
    ]
