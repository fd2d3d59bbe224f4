"""The fields of a scheme: what they show of a policy, and how what was typed comes into it.

Fields are named `<scheme>-<key>` or `<scheme>-<key>-<number of the attribute>`, since the fields of
all schemes stand on one page.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from sfumato.errors import InputError, ParameterError
from sfumato.jobs.draft import K as USUAL_K
from sfumato.jobs.draft import L as USUAL_L
from sfumato.jobs.draft import T as USUAL_T
from sfumato.jobs.policy_file import MODEL_KEYS, SET_KEYS
from sfumato.schema import Role
from sfumato.web.forms import Form
from sfumato.web.policy_form import PolicyForm
from sfumato.web.scheme_fit import Fit, Range
from sfumato.web.schemes import SCHEMES, Knob, Scheme

_SECRET: Final = {
    "lgb": (Role.SENSITIVE, Role.SEMI_SENSITIVE),
    "sensitive-qid": (Role.SENSITIVE, Role.SENSITIVE_QUASI_IDENTIFIER),
}
_SUPPRESS: Final = "suppress"


@dataclass(frozen=True, slots=True)
class Field:
    """A number to type: its name in the form, its value, and what it may be."""

    name: str
    label: str
    hint: str
    value: int | float | str | None
    range: Range
    is_whole: bool
    knob: Knob | None = None


class SchemeForm:
    """A scheme beside a policy and what the data allow of it."""

    def __init__(self, scheme: Scheme, policy: PolicyForm, fit: Fit) -> None:
        self.scheme, self.policy, self.fit = scheme, policy, fit
        self.is_current = policy.method["name"] == scheme.name
        self._numbers = {name: place for place, name in enumerate(policy.attributes)}

    def field_of(self, key: str, attribute: str | None = None) -> str:
        """Return the name of a field."""
        end = "" if attribute is None else f"-{self._numbers[attribute]}"
        return f"{self.scheme.name}-{key}{end}"

    @property
    def conflicts(self) -> dict[str, Any]:
        """The columns whose role must change, with what they may become."""
        return dict(self.fit.conflicts(self.scheme))

    @property
    def known(self) -> dict[str, bool]:
        """The columns that others may know, and whether they are secret too (sensitive-qid)."""
        if self.scheme.name != "sensitive-qid":
            return {}
        both = Role.SENSITIVE_QUASI_IDENTIFIER
        names = self.fit.names(Role.QUASI_IDENTIFIER, both)
        return {name: self.policy.attributes[name]["role"] == both for name in names}

    @property
    def withholds(self) -> bool:
        """Whether rows are left out whose value is too common."""
        return self.is_current and self.policy.content.get("on_infeasible") == _SUPPRESS

    def knobs(self) -> list[Field]:
        """Return the fields of the method."""
        secret = self.fit.names(Role.SENSITIVE)
        return [
            Field(
                self.field_of(knob.key),
                knob.label,
                knob.hint,
                self._value(knob, span := self.fit.of_knob(knob, secret)),
                span,
                knob.kind in ("people", "values", "tables"),
                knob,
            )
            for knob in self.scheme.knobs
        ]

    def of_attributes(self) -> dict[str, list[Field]]:
        """Return the fields that each protected attribute has for itself."""
        if not self.scheme.each:
            return {}
        roles = _SECRET.get(self.scheme.name, (Role.SENSITIVE,))
        # others may become secret on this page
        names = {*self.fit.names(*roles), *self.known, *self.conflicts}
        return {name: self._fields(name) for name in self.policy.attributes if name in names}

    def _fields(self, name: str) -> list[Field]:
        span = self.fit.of_l(self.scheme, name)
        own = self.policy.attributes[name]
        asked: dict[str, Any] = {key: own.get(key) for key in ("l", "t")}
        if asked == {"l": None, "t": None}:
            asked = {key: self.policy.method.get(key) for key in ("l", "t")}
        if asked == {"l": None, "t": None} and not self.is_current:
            is_possible = span.high is not None and not span.is_empty
            asked = {"l": USUAL_L, "t": None} if is_possible else {"l": None, "t": USUAL_T}
        if asked["l"] is not None and not self.is_current:
            asked["l"] = span.nearest(asked["l"])
            if span.is_empty:
                asked = {"l": None, "t": asked["t"] or USUAL_T}
        likely = "how many values a secret may be, at least"
        close = "how far a guess may move, from 0 to 1; the smaller, the safer"
        return [
            Field(self.field_of("l", name), "Possible values (l)", likely, asked["l"], span, True),
            Field(
                self.field_of("t", name),
                "or closeness (t)",
                close,
                asked["t"],
                Range(0.0001, 1),
                False,
            ),
        ]

    def _value(self, knob: Knob, span: Range) -> int | float | str | None:
        if self.is_current and (knob.key in self.policy.method or knob.default is None):
            return self.policy.method.get(knob.key)
        if knob.default is None or isinstance(knob.default, str):
            return knob.default
        stated = [keys.get("l") for keys in self.policy.attributes.values()]
        stated.append(self.policy.method.get("l"))
        largest = max((each for each in stated if isinstance(each, int)), default=USUAL_L)
        if knob.kind == "values":
            return span.nearest(largest)
        if knob.key == "beta":
            return span.nearest(math.floor(10_000 / largest) / 10_000)
        if knob.kind == "people":
            usual = (
                self.policy.method.get("k", USUAL_K) if knob.default == USUAL_K else knob.default
            )
            return span.nearest(usual)
        return span.nearest(knob.default)

    # What was typed

    def apply(self, form: Form) -> None:
        """Bring what was typed into the policy, which is not saved.

        Refuses (ParameterError, InputError) roles that were left open, and what is no number.
        """
        obstacle = self.fit.obstacle(self.scheme)
        if obstacle is not None:
            raise ParameterError(f"“{self.scheme.title}” does not fit. {obstacle}")
        asked = {name: list(fields) for name, fields in self.of_attributes().items()}
        self._change_roles(form)
        self._change_attributes(form, asked)
        own = {knob.key for knob in self.scheme.knobs} | set(self.scheme.each)
        kept = {
            key: value
            for key, value in self.policy.method.items()
            if self.is_current and key != "name" and key not in own
        }
        withholds = self.scheme.may_withhold and bool(form.text(self.field_of("withhold")))
        typed = {
            field.knob.key: _typed(form, field, is_free=withholds)
            for field in self.knobs()
            if field.knob is not None
        }
        self.policy.set_method(self.scheme.name, **kept, **typed)
        if withholds:
            self.policy.content["on_infeasible"] = _SUPPRESS
        else:
            self.policy.content.pop("on_infeasible", None)

    def _change_roles(self, form: Form) -> None:
        for name, ways in self.conflicts.items():
            chosen = form.text(self.field_of("role", name))
            if chosen not in ways:
                role = self.policy.attributes[name]["role"]
                raise ParameterError(
                    f"“{self.scheme.title}” does not know {role} columns such as '{name}': "
                    "choose what it is to be instead"
                )
            self.policy.set(name, role=chosen)
        for name in self.known:
            is_secret = bool(form.text(self.field_of("both", name)))
            role = Role.SENSITIVE_QUASI_IDENTIFIER if is_secret else Role.QUASI_IDENTIFIER
            if self.policy.attributes[name]["role"] != role:
                self.policy.set(name, role=str(role))

    def _change_attributes(self, form: Form, asked: dict[str, list[Field]]) -> None:
        """Leave of what attributes ask for only what the scheme knows, and what was typed."""
        for name in self.policy.attributes:
            if not self.is_current:
                self.policy.set(name, **dict.fromkeys((*MODEL_KEYS, *SET_KEYS)))
            elif not self.scheme.each and self.scheme.knobs:
                self.policy.set(name, l=None)
        roles = _SECRET.get(self.scheme.name, (Role.SENSITIVE,))
        for name, fields in asked.items():
            if Role(self.policy.attributes[name]["role"]) in roles:
                l, t = (_typed(form, field) for field in fields)  # noqa: E741
                self.policy.set(name, l=l, t=t)


def _typed(form: Form, field: Field, *, is_free: bool = False) -> int | float | str | None:
    """Return what was typed, or what the field would have shown where it was not sent.

    `is_free`: rows are left out until it is possible.
    """
    if field.name not in form.fields:
        return field.value
    if field.knob is not None and field.knob.options is not None:
        chosen = form.text(field.name)
        return chosen if chosen in field.knob.options else None
    try:
        number = form.number(field.name)
    except InputError:
        raise ParameterError(f"“{field.label}” must be a number") from None
    if number is None:
        return None
    if field.is_whole and number != int(number):
        raise ParameterError(f"“{field.label}” must be a whole number")
    if is_free and field.knob is not None and field.knob.key in ("l", "beta"):
        return int(number) if field.is_whole else number
    high = field.range.high
    if number < field.range.low or (high is not None and number > high):
        raise ParameterError(
            f"“{field.label}” cannot be {number:g}; it may be {field.range.words()}"
        )
    return int(number) if field.is_whole else number


def forms_of(policy: PolicyForm, fit: Fit) -> dict[str, SchemeForm]:
    """Return every scheme beside a policy, by name."""
    return {name: SchemeForm(scheme, policy, fit) for name, scheme in SCHEMES.items()}
