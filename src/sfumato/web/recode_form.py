"""The steps of `recode` as rows of a form: what is done, and with which values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sfumato.errors import InputError, SchemaError
from sfumato.recoding import steps_from_policy
from sfumato.web.typed_values import same_text, text_of, value_of

STEPS: Final[Mapping[str, str]] = {
    "": "No step",
    "top": "Nothing above",
    "bottom": "Nothing below",
    "round": "Round to multiples of",
    "bins": "Intervals between edges",
    "truncate": "Cut dates to the",
    "shift": "Shift dates at random, by days up to",
    "mask": "Keep first characters, so many",
    "map": "Replace values",
}
HELP: Final = (
    "Steps are done in their order, before anything else. What stands in them is published with "
    "a release: name no value there that nobody may know of.",
    "Nothing above or below: a number, or a date such as 2026-01-31; what lies beyond becomes it.",
    "Intervals: edges such as 0, 18, 65, open. The last may be open, and the first.",
    "Dates: year, quarter, month, week, day, hour, minute or second.",
    "Dates that are shifted move by one secret number of days for each person; this comes first.",
    "Replaced values: a line each, such as Flu = Infection. Nothing after = makes a value missing; "
    "* = Other stands for all values that no line names.",
)
Rows = list[tuple[str, str]]
_OPEN: Final = "open"
_PAIR: Final = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^=]*?)\s*=(.*)', re.DOTALL)
_REST: Final = "*"


def rows_of(given: Any) -> Rows:
    """Return the rows that show the steps of a policy.

    >>> rows_of([{"top": 90}, {"bins": [0, 18, None]}, {"map": {"Flu": None}, "otherwise": "X"}])
    [('top', '90'), ('bins', '0, 18, open'), ('map', 'Flu =\\n* = X')]
    """
    if given is None:
        return []
    return [_row(step) for step in (given if isinstance(given, list) else [given])]


def _row(step: Mapping[str, Any]) -> tuple[str, str]:
    kind = next((key for key in STEPS if key and key in step), "")
    value = step.get(kind)
    if kind == "bins" and isinstance(value, list):
        return kind, ", ".join(_OPEN if edge is None else text_of(edge) for edge in value)
    if kind == "shift" and isinstance(value, Mapping):
        return kind, str(value.get("days", ""))
    if kind == "map" and isinstance(value, Mapping):
        lines = [_line(_key_text(str(key)), new) for key, new in value.items()]
        if "otherwise" in step:
            lines.append(_line(_REST, step["otherwise"]))
        return kind, "\n".join(lines)
    return kind, text_of(value)


def _line(key: str, new: Any) -> str:
    return f"{key} =" if new is None else f"{key} = {text_of(new)}"


def _key_text(key: str) -> str:
    """Return a key of a map as a line has it; quotes stand where it would be read otherwise."""
    found = _PAIR.fullmatch(f"{key} =")
    is_plain = found is not None and found[1] == key and key != _REST and not key.startswith('"')
    return key if is_plain else _quoted(key)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def is_same(rows: Sequence[tuple[str, str]], given: Any) -> bool:
    """Whether rows are still what is shown of the steps of a policy."""
    filled = [row for row in rows if row[0] or row[1].strip()]
    saved = rows_of(given)
    return len(filled) == len(saved) and all(
        one[0] == other[0] and same_text(one[1], other[1])
        for one, other in zip(filled, saved, strict=True)
    )


def step_of(kind: str, text: str, column: str) -> dict[str, Any]:
    """Return the step that a row asks for.

    Refuses (InputError) values that are none for this kind of step.
    """
    if kind not in STEPS or not kind:
        raise InputError("choose what is to be done with the values")
    if not text.strip():
        raise InputError("say a value for this step")
    step = _step(kind, text)
    try:
        steps_from_policy([step], column)
    except SchemaError as error:
        raise InputError(without_place(str(error))) from None
    return step


def _step(kind: str, text: str) -> dict[str, Any]:
    if kind == "bins":
        pieces = [piece.strip() for piece in text.replace(";", ",").strip("[] \n").split(",")]
        ends = (_OPEN, "null", "")
        return {"bins": [None if piece.lower() in ends else value_of(piece) for piece in pieces]}
    if kind == "shift":
        return {"shift": {"days": value_of(text)}}
    if kind == "map":
        return _map(text)
    return {kind: value_of(text)}


def _map(text: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        found = _PAIR.fullmatch(line)
        if found is None:
            raise InputError("write each line as old value = new value")
        new = value_of(found[2]) if found[2].strip() else None
        if found[1] == _REST:
            rest = {"otherwise": new}
            continue
        key = str(value_of(found[1])) if found[1].startswith('"') else found[1]
        if key in values:
            raise InputError("a value is replaced twice; keep one line")
        values[key] = new
    return {"map": values, **rest}


def without_place(words: str) -> str:
    """Return a message without its column, beside whose field it stands."""
    return re.sub(r"^column '.*?', `recode`: ", "", words)
