"""One field of a scheme: what it shows, and what was typed into it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sfumato.errors import InputError, ParameterError
from sfumato.jobs.policy_text import spelled
from sfumato.web.forms import Form
from sfumato.web.knobs import Knob
from sfumato.web.scheme_fit import Range
from sfumato.web.typed_values import same_text, structure_of, text_of, value_of

ABSENT: Final = object()  # of a parameter that is left out; None is a value that some know


class FieldError(ParameterError):
    """What is no value of a field, with the field's name."""

    def __init__(self, field: str, words: str) -> None:
        super().__init__(words)
        self.field = field


@dataclass(frozen=True, slots=True)
class Field:
    """A value to type: its name in the form, what the policy has, and what it may be."""

    name: str
    label: str
    hint: str
    value: Any
    range: Range
    is_whole: bool
    knob: Knob | None = None

    @property
    def is_number(self) -> bool:
        """Whether a number is asked for."""
        return self.knob is None or self.knob.kind not in ("choice", "lines", "structure")

    @property
    def shown(self) -> str:
        """What the field shows of the policy."""
        kind = None if self.knob is None else self.knob.kind
        if self.value is None:
            return ""
        if kind == "lines" and isinstance(self.value, list):
            return "\n".join(map(str, self.value))
        if kind == "structure" and not isinstance(self.value, str):
            return spelled(self.value)
        return text_of(self.value) if kind in ("choice", "structure") else str(self.value)


def typed(form: Form, field: Field, *, is_free: bool = False) -> Any:
    """Return what was typed, or what the field would have shown where it was not sent.

    `is_free`: rows are left out until it is possible. Refuses (FieldError) what is no value.
    """
    if field.name not in form.fields:
        return ABSENT if field.value is None else field.value
    given = form.text(field.name)
    if not given:
        return ABSENT
    if field.value is not None and same_text(given, field.shown) and not field.is_number:
        return field.value
    knob = field.knob
    if knob is not None and knob.kind == "choice":
        if given not in (knob.options or {}):
            raise FieldError(field.name, f"“{field.label}”: choose one of the list")
        return value_of(given)
    if knob is not None and knob.kind == "lines":
        return [line.strip() for line in given.splitlines() if line.strip()]
    if knob is not None and knob.kind == "structure":
        try:
            return structure_of(given)
        except InputError as error:
            raise FieldError(field.name, f"“{field.label}”: {error}") from None
    return _number(form, field, is_free=is_free)


def _number(form: Form, field: Field, *, is_free: bool) -> int | float:
    try:
        number = form.number(field.name)
    except InputError:
        number = None
    if number is None:
        raise FieldError(field.name, f"“{field.label}” must be a number")
    if field.is_whole and number != int(number):
        raise FieldError(field.name, f"“{field.label}” must be a whole number")
    whole = int(number) if field.is_whole else number
    if is_free and field.knob is not None and field.knob.key in ("l", "beta"):
        return whole
    if not field.range.holds(number):
        raise FieldError(
            field.name, f"“{field.label}” cannot be {number:g}; it may be {field.range.words()}"
        )
    return whole
