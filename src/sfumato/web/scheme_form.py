"""The fields of a scheme: what they show of a policy, and how what was typed comes into it.

Fields are named `<scheme>-<key>` or `<scheme>-<key>-<number of the attribute>`, since the fields of
all schemes stand on one page.
"""

from __future__ import annotations

import math
from typing import Any, Final

from sfumato.errors import ParameterError
from sfumato.jobs.draft import K as USUAL_K
from sfumato.jobs.draft import L as USUAL_L
from sfumato.jobs.draft import T as USUAL_T
from sfumato.jobs.policy_file import MODEL_KEYS, SET_KEYS
from sfumato.jobs.set_requests import SET_METHODS
from sfumato.schema import Role
from sfumato.web.forms import Form
from sfumato.web.knobs import Knob
from sfumato.web.policy_form import PolicyForm
from sfumato.web.scheme_fields import ABSENT, Field, FieldError, typed
from sfumato.web.scheme_fit import Fit, Range
from sfumato.web.schemes import SCHEMES, Scheme

_SECRET: Final = {
    "lgb": (Role.SENSITIVE, Role.SEMI_SENSITIVE),
    **dict.fromkeys(SET_METHODS, (Role.SENSITIVE, Role.SENSITIVE_QUASI_IDENTIFIER)),
}
_SUPPRESS: Final = "suppress"
_NOTHING: Final[dict[str, Any]] = {"l": None, "t": None}


class SchemeForm:
    """A scheme beside a policy and what the data allow of it."""

    def __init__(self, scheme: Scheme, policy: PolicyForm, fit: Fit) -> None:
        self.scheme, self.policy, self.fit = scheme, policy, fit
        self.is_current = policy.method["name"] == scheme.name
        self._numbers = {name: place for place, name in enumerate(policy.attributes)}
        # what the policy says of the method, or said when it last had it
        if self.is_current:
            self._stated = {key: v for key, v in policy.method.items() if key != "name"}
        else:
            self._stated = policy.remembered.parameters_of(scheme.name)

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
        """The columns that others may know, and whether they are secret too (random sets)."""
        if self.scheme.name not in SET_METHODS:
            return {}
        both = Role.SENSITIVE_QUASI_IDENTIFIER
        names = self.fit.names(Role.QUASI_IDENTIFIER, both)
        return {name: self.policy.attributes[name]["role"] == both for name in names}

    @property
    def earlier(self) -> dict[str, str]:
        """The columns that were semi-sensitive before, and which of their cells were secret."""
        if self.scheme.name != "lgb":
            return {}
        found = {}
        for name, keys in self.policy.attributes.items():
            if keys["role"] in (Role.SEMI_SENSITIVE, Role.IDENTIFIER):
                continue
            said = self.policy.remembered.keys_of(name, Role.SEMI_SENSITIVE)
            if "flag" in said:
                found[name] = f"where '{said['flag']}' says yes"
            elif "when" in said:
                found[name] = f"where {said['when']}"
        return found

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
                self._hint(knob),
                self._value(knob, span := self.fit.of_knob(knob, secret)),
                span,
                knob.is_whole,
                knob,
            )
            for knob in self.scheme.knobs
        ]

    def _hint(self, knob: Knob) -> str:
        if knob.key != "columns":
            return knob.hint
        return f"{knob.hint}; from 1 to {max(len(self.fit.names(Role.QUASI_IDENTIFIER)), 1)}"

    def of_attributes(self) -> dict[str, list[Field]]:
        """Return the fields that each protected attribute has for itself."""
        if not self.scheme.each:
            return {}
        roles = _SECRET.get(self.scheme.name, (Role.SENSITIVE,))
        # others may become secret on this page
        names = {*self.fit.names(*roles), *self.known, *self.conflicts, *self.earlier}
        return {name: self._fields(name) for name in self.policy.attributes if name in names}

    def _fields(self, name: str) -> list[Field]:
        span = self.fit.of_l(self.scheme, name, may_be_flagged=name in self.earlier)
        asked = self._asked(name, span)
        likely = "how many values a secret may be, at least"
        close = "how far a guess may move; the smaller, the safer, and 1 protects nothing"
        or_close = "or closeness (t)"
        variant = self.policy.attributes[name].get("variant", self._stated.get("variant"))
        is_whole = variant not in ("entropy", "recursive")
        fields = {
            "l": Field(
                self.field_of("l", name), "Possible values (l)", likely, asked["l"], span, is_whole
            ),
            "t": Field(
                self.field_of("t", name),
                or_close,
                close,
                asked["t"],
                Range(0.0001, 1, is_below=True),
                False,
            ),
        }
        return [fields[key] for key in self.scheme.each]

    def _asked(self, name: str, span: Range) -> dict[str, Any]:
        """Return the l and t of an attribute: its own, the method's, or usual ones."""
        before = self.policy.remembered.asked_of(self.scheme.name, name)
        own, method = self.policy.attributes[name], self.policy.method
        if "l" in method and method["name"] == "lgb":
            method = {"l": method["l"]}  # which wins where both are given
        sources = [own] if "k" in own else [own, method]
        if not self.is_current and before.keys() & _NOTHING.keys():
            sources.insert(0, before)
        found = [{key: each.get(key) for key in _NOTHING} for each in sources]
        asked = next((each for each in found if each != _NOTHING), dict(_NOTHING))
        if self.is_current:
            return asked
        if asked == _NOTHING:
            is_possible = span.high is not None and not span.is_empty
            asked = {"l": USUAL_L, "t": None} if is_possible else {"l": None, "t": USUAL_T}
        if "t" not in self.scheme.each:
            asked = {"l": asked["l"] or USUAL_L, "t": None}
        if asked["l"] is not None:
            asked["l"] = span.nearest(asked["l"])
            if span.is_empty:
                asked = {"l": None, "t": asked["t"] or USUAL_T}
        return asked

    def _value(self, knob: Knob, span: Range) -> Any:
        if knob.key in self._stated:
            value = self._stated[knob.key]
            is_number = knob.is_whole and isinstance(value, int)
            return value if self.is_current or not is_number else span.nearest(value)
        if knob.default is None or isinstance(knob.default, str):
            return knob.default
        if self.is_current and knob.kind != "values":  # an l may stand at the attributes
            return None
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

        Refuses (ParameterError) roles that were left open, what is no number, and secrets that
        are left without protection.
        """
        obstacle = self.fit.obstacle(self.scheme)
        if obstacle is not None:
            raise ParameterError(f"“{self.scheme.title}” does not fit. {obstacle}")
        asked = {name: list(fields) for name, fields in self.of_attributes().items()}
        self._change_roles(form)
        withholds = self.scheme.may_withhold and bool(form.text(self.field_of("withhold")))
        own = {knob.key for knob in self.scheme.knobs} | set(self.scheme.each)
        parameters = {key: value for key, value in self._stated.items() if key not in own}
        for field in self.knobs():
            assert field.knob is not None
            value = typed(form, field, is_free=withholds)
            if value is not ABSENT:
                parameters[field.knob.key] = value
            elif field.name not in form.fields and field.knob.key in self._stated:
                parameters[field.knob.key] = self._stated[field.knob.key]
        self._change_attributes(form, asked, parameters)
        self.policy.content["method"] = {"name": self.scheme.name, **parameters}
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
        for name in self.earlier:
            if form.text(self.field_of("again", name)):
                self.policy.set(name, role=str(Role.SEMI_SENSITIVE))

    def _change_attributes(
        self, form: Form, asked: dict[str, list[Field]], parameters: dict[str, Any]
    ) -> None:
        """Leave of what attributes ask for only what the scheme knows, and what was typed."""
        for name, keys in self.policy.attributes.items():
            if not self.is_current:
                self.policy.set(name, **dict.fromkeys((*MODEL_KEYS, *SET_KEYS)))
            elif not self.scheme.each and self.scheme.knobs:
                self.policy.set(name, l=None)
            if self.scheme.name in SET_METHODS and keys.get("missing") == "excluded":
                self.policy.set(name, missing=None)  # sets count a missing value like any other
        roles = _SECRET.get(self.scheme.name, (Role.SENSITIVE,))
        for name, fields in asked.items():
            if Role(self.policy.attributes[name]["role"]) not in roles:
                continue
            if not self.is_current:
                self.policy.set(name, **self.policy.remembered.asked_of(self.scheme.name, name))
            found = (typed(form, field) for field in fields)
            values = [None if value is ABSENT else value for value in found]
            self.policy.set(name, **dict(zip(self.scheme.each, values, strict=True)))
            self.policy.set(name, **_idle({**parameters, **self.policy.attributes[name]}))
            self._refuse_unprotected(name, parameters)

    def _refuse_unprotected(self, name: str, parameters: dict[str, Any]) -> None:
        """Refuse (FieldError) a secret of which nothing is asked: a run would publish nothing."""
        if self.scheme.name not in _SECRET:  # others protect without, or have an l for all
            return
        asked = {key for key in _NOTHING if key in self.policy.attributes[name]}
        if self.scheme.name in SET_METHODS:  # which know a k, and columns that are one secret
            asked |= {"k"} & {*self.policy.attributes[name], *parameters}
            joint = parameters.get("joint")
            if isinstance(joint, list) and any(
                isinstance(each, list) and name in each for each in joint
            ):
                return
        if not asked:
            either = " or ".join(f"`{key}`" for key in self.scheme.each)
            raise FieldError(
                self.field_of("l", name),
                f"'{name}' is secret, and nothing protects it: fill in {either}, or change its "
                "role under Roles",
            )


def _idle(asked: dict[str, Any]) -> dict[str, None]:
    """Return the keys that only steer what is not asked for any more."""
    needed = {
        "variant": ("l", "beta"),
        "c": ("l",),
        "distance": ("t",),
        "prior": ("t",),
        "max_eta": ("l", "t", "k"),
    }
    return {
        key: None
        for key, others in needed.items()
        if all(asked.get(other) is None for other in others)
    }


def forms_of(policy: PolicyForm, fit: Fit) -> dict[str, SchemeForm]:
    """Return every scheme beside a policy, by name."""
    return {name: SchemeForm(scheme, policy, fit) for name, scheme in SCHEMES.items()}
