"""Hierarchies that are built: what the forms ask, and what a policy says for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from sfumato.errors import InputError
from sfumato.schema.kinds import is_text
from sfumato.web.forms import Form

DATE_PARTS: Final = ("day", "month", "quarter", "year")
# By the key of a policy: what it is called, and what it does.
BUILDERS: Final[Mapping[str, tuple[str, str]]] = {
    "bins": ("Intervals that you state", "For ages that mean something: 0, 18, 65, 120."),
    "width": ("Intervals of equal width", "Each level is twice as wide as the one below."),
    "intervals": ("A number of intervals", "Equal widths, found so that they cover the data."),
    "quantiles": ("Intervals with as many rows each", "Narrow where there are many people."),
    "mask": ("Characters masked", "One more character is hidden on each level: 1302*, 130**."),
    "dates": ("Parts of dates", "Days become months, quarters, years."),
}
NUMBERS: Final = {
    "width": "Width of an interval on the first level",
    "intervals": "How many intervals at most",
    "quantiles": "How many intervals",
}


def builders_for(dtype: pa.DataType) -> list[str]:
    """Return what can be built over values of a type.

    >>> builders_for(pa.string())
    ['mask']
    """
    if pa.types.is_date(dtype) or pa.types.is_timestamp(dtype):
        return ["dates"]
    if pa.types.is_integer(dtype):
        return ["bins", "width", "intervals", "quantiles", "mask"]
    if pa.types.is_floating(dtype) or pa.types.is_decimal(dtype):
        return ["bins", "width", "intervals", "quantiles"]
    return ["mask"] if is_text(dtype) else []


def spec_of(form: Form) -> dict[str, Any]:
    """Return what the policy says for a form that was sent.

    Refuses (InputError) what is no number where one must be; the rest is the policy's to refuse.
    """
    kind = form.text("builder")
    if kind not in BUILDERS:
        raise InputError("choose how the hierarchy is built")
    if kind == "bins":
        levels = [_numbers(line) for line in form.text("edges").splitlines() if line.strip()]
        return {"bins": levels[0] if len(levels) == 1 else levels}
    if kind == "mask":
        char = form.text("char")
        return {"mask": form.text("side", "right")} | ({"char": char} if char else {})
    if kind == "dates":
        return {"dates": [part for part in DATE_PARTS if form.text(part) == "yes"]}
    number = form.number("number")
    if number is None:
        raise InputError(f"say a number: {NUMBERS[kind].lower()}")
    levels_asked = form.number("levels")
    return {kind: number} | ({} if levels_asked is None else {"levels": levels_asked})


def fields_of(spec: Mapping[str, Any]) -> dict[str, str]:
    """Return what the fields of a form hold for what a policy says.

    >>> fields_of({"bins": [[0, 10, 20], [0, 20]]})["edges"]
    '0, 10, 20\\n0, 20'
    """
    kind = next((key for key in BUILDERS if key in spec), "")
    fields = {"builder": kind, "levels": str(spec.get("levels", ""))}
    value = spec.get(kind)
    if kind == "bins" and isinstance(value, list):
        lines = value if value and isinstance(value[0], list) else [value]
        fields["edges"] = "\n".join(", ".join(map(str, line)) for line in lines)
    elif kind == "mask":
        fields |= {"side": str(value), "char": str(spec.get("char", ""))}
    elif kind == "dates":
        parts = [value] if isinstance(value, str) else value or []
        fields |= {str(part): "yes" for part in parts}
    else:
        fields["number"] = "" if value is None else str(value)
    return fields


def _numbers(line: str) -> list[int | float]:
    found: list[int | float] = []
    for text in line.replace(";", ",").split(","):
        number = Form({"edges": text}).number("edges")
        if number is None:
            raise InputError("write edges as numbers with commas between them, such as 0, 18, 65")
        found.append(number)
    return found
