"""The roles that a form asks for: read field by field, so that a page can say what is wrong where.

Nothing is kept before all of it is right; what was typed stays on the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from sfumato.errors import SfumatoError
from sfumato.predicates.flags import check_rule
from sfumato.schema import Kind, Role, Schema
from sfumato.web.column_values import ColumnValues
from sfumato.web.forms import Form
from sfumato.web.hierarchy_levels import attribute_of
from sfumato.web.policy_form import PolicyForm

# Whose cells are secret, all or some: these have an `l` or `t` of their own.
SECRET: Final = (Role.SENSITIVE, Role.SEMI_SENSITIVE, Role.SENSITIVE_QUASI_IDENTIFIER)
Problems = dict[tuple[int, str], str]


def read_roles(form: Form, policy: PolicyForm, flags: Sequence[str]) -> Problems:
    """Change the policy to what the form says; return what is wrong, by attribute and field.

    `flags` are the columns that can say which cells are sensitive. A field that was not sent stays
    as it is.
    """
    problems: Problems = {}
    for place, name in enumerate(list(policy.attributes)):
        if f"role-{place}" not in form.fields:
            continue
        own = _One(form, place, policy.attributes[name], problems)
        role = own.role()
        if role is None:
            continue
        keys = own.keys(role, flags)
        policy.set(name, role=str(role), **keys)
    if "unit" in form.fields:
        _read_unit(form, policy, problems)
    if not problems:
        _check_each(policy, problems)
    return problems


def refuse_kinds(
    policy: PolicyForm, changed: Mapping[int, ColumnValues], names: Sequence[str]
) -> Problems:
    """Return which of the attributes (by place) cannot have the kind that they are given."""
    problems: Problems = {}
    for place, found in changed.items():
        attribute = attribute_of(names[place], policy.attributes[names[place]], policy.folder)
        try:
            found.arranged(replace(attribute, hierarchy=None, max_level=None))
        except SfumatoError as error:
            problems[place, "kind"] = str(error)
    return problems


class _One:
    """The fields of one attribute."""

    def __init__(self, form: Form, place: int, now: Mapping[str, Any], problems: Problems) -> None:
        self.form, self.place, self.now, self.problems = form, place, now, problems

    def text(self, field: str) -> str:
        return self.form.text(f"{field}-{self.place}")

    def wrong(self, field: str, words: str) -> None:
        self.problems[self.place, field] = words

    def role(self) -> Role | None:
        try:
            return Role(self.text("role"))
        except ValueError:
            self.wrong("role", "choose a role")
            return None

    def keys(self, role: Role, flags: Sequence[str]) -> dict[str, Any]:
        """Return what the fields that belong to the role say; what others say is left."""
        found: dict[str, Any] = {}
        if role is Role.IDENTIFIER:
            found["recode"] = None  # which has no use there, and would be refused
        if f"kind-{self.place}" not in self.form.fields:  # the role alone
            return found
        found["kind"] = self._kind()
        if role is Role.INSENSITIVE:
            found["keep"] = True if self.text("keep") == "yes" else None
        if role in SECRET:
            found |= self._models()
        if role is Role.SEMI_SENSITIVE:
            found |= self._flags(flags)
        return found

    def _kind(self) -> str | None:
        given = self.text("kind")
        if given and given not in list(Kind):
            self.wrong("kind", "choose a kind of the list")
        if given != Kind.ORDINAL and given and self.now.get("order") is not None:
            self.wrong("kind", "the policy states an order of its values: it is ordinal")
        return given or None

    def _models(self) -> dict[str, Any]:
        l_value, t_value = self._number("l"), self._number("t")
        if l_value is not None and l_value < 2:
            self.wrong("l", "l is 2 or more: with 1, nothing is hidden")
        if t_value is not None and not 0 < t_value <= 1:
            self.wrong("t", "t lies above 0, and is at most 1")
        # what only steers an l or t goes with it
        return (
            {"l": l_value, "t": t_value}
            | ({} if l_value is not None else {"variant": None, "c": None})
            | ({} if t_value is not None else {"distance": None, "prior": None})
        )

    def _number(self, field: str) -> int | float | None:
        try:
            return self.form.number(f"{field}-{self.place}")
        except SfumatoError:
            self.wrong(field, "this is no number")
            return None

    def _flags(self, flags: Sequence[str]) -> dict[str, Any]:
        flag, when = self.text("flag"), self.text("when")
        if flag and flag not in flags:
            self.wrong("flag", "choose a column of yes or no")
        if flag and when:
            self.wrong("when", "a column or a rule says which cells are sensitive, not both")
        if not flag and not when and self.now.get("density") is None:
            self.wrong("flag", "say which cells are sensitive: by a column, or by a rule")
        density = {"density": None} if flag or when else {}
        return {"flag": flag or None, "when": when or None} | density


def _read_unit(form: Form, policy: PolicyForm, problems: Problems) -> None:
    unit = form.text("unit")
    if unit and unit not in policy.attributes:
        problems[-1, "unit"] = "choose a column of the list"
    elif unit:
        policy.content["unit"] = unit
    else:
        policy.content.pop("unit", None)


def _check_each(policy: PolicyForm, problems: Problems) -> None:
    """Find what a run would refuse of single attributes, and of the rules that read others."""
    made = []
    for place, (name, keys) in enumerate(policy.attributes.items()):
        try:
            made.append(attribute_of(name, keys, policy.folder))
        except SfumatoError as error:
            problems[place, "role"] = str(error)
    if problems:
        return
    schema = Schema(tuple(made))
    for place, attribute in enumerate(made):
        if attribute.role is Role.SEMI_SENSITIVE and attribute.when is not None:
            try:
                check_rule(attribute, schema)
            except SfumatoError as error:
                problems[place, "when"] = str(error)
        elif attribute.flag in policy.attributes and schema[attribute.flag].is_published:
            problems[place, "flag"] = (
                f"flags are never published, and '{attribute.flag}' is "
                f"{schema[attribute.flag].role}; make it insensitive"
            )
