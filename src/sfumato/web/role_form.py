"""The roles that a form asks for: read field by field, so that a page can say what is wrong where.

Nothing is kept before all of it is right; what was typed stays on the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sfumato.errors import SfumatoError
from sfumato.predicates.flags import check_rule
from sfumato.schema import Kind, Role, Schema
from sfumato.schema.attribute import SECRET_ROLES
from sfumato.web.attribute_form import MoreForm
from sfumato.web.forms import Form
from sfumato.web.hierarchy_levels import attribute_of
from sfumato.web.policy_form import PolicyForm

# Whose cells are secret, all or some: these have an `l` or `t` of their own.
SECRET: Final = SECRET_ROLES
Problems = dict[tuple[int, str], str]


# What a column can be to the whole table, beside its role.
TABLE_KEYS: Final = ("unit", "weight", "household")


def read_roles(
    form: Form, policy: PolicyForm, flags: Sequence[str], columns: Sequence[str] = ()
) -> Problems:
    """Change the policy to what the form says; return what is wrong, by attribute and field.

    `flags` are the columns that can say which cells are sensitive, `columns` all of the data. A
    field that was not sent stays as it is.
    """
    problems: Problems = {}
    before = {name: dict(keys) for name, keys in policy.attributes.items()}
    places = {name: place for place, name in enumerate(before)}
    for name, place in places.items():
        if f"role-{place}" not in form.fields:
            continue
        given = form.text(f"role-{place}")
        if given not in list(Role):
            problems[place, "role"] = "choose a role"
            continue
        now = dict(policy.attributes[name])
        if given != now["role"]:  # which brings its own keys back
            now |= policy.remembered.keys_of(name, given)
        keys = _One(form, place, name, now, problems).keys(Role(given), flags)
        policy.set(name, role=given, **keys)
    _read_table_keys(form, policy, columns, problems)
    policy.complete(columns)
    if not problems:
        _check_each(policy, before, places, problems)
    return problems


class _One:
    """The fields of one attribute."""

    def __init__(
        self, form: Form, place: int, name: str, now: Mapping[str, Any], problems: Problems
    ) -> None:
        self.form, self.place, self.now, self.problems = form, place, now, problems
        self.more = MoreForm(form, place, name, now, self.wrong)

    def text(self, field: str) -> str:
        return self.form.text(f"{field}-{self.place}")

    def wrong(self, field: str, words: str) -> None:
        self.problems[self.place, field] = words

    def keys(self, role: Role, flags: Sequence[str]) -> dict[str, Any]:
        """Return what the fields that belong to the role say; what others say is left."""
        found = self.more.keys(role)
        if role is Role.IDENTIFIER:
            found["recode"] = None  # which has no use there, and would be refused
        if f"kind-{self.place}" not in self.form.fields:  # the role alone
            return found
        found["kind"] = self._kind(found)
        if role is Role.INSENSITIVE and (self.text("keep") == "yes") != bool(self.now.get("keep")):
            found["keep"] = True if self.text("keep") == "yes" else None
        if role in SECRET:
            found |= self._models(found)
        if role is Role.SEMI_SENSITIVE:
            found |= self._flags(flags, found.get("density", self.now.get("density")))
        return found

    def _kind(self, more: Mapping[str, Any]) -> str | None:
        given = self.text("kind")
        if given == self.now.get("kind") and _makes_other_kind(more, given):
            return None  # what was drafted makes room for what is stated now
        if given and given not in list(Kind):
            self.wrong("kind", "choose a kind of the list")
        if given != Kind.ORDINAL and given and more.get("order", self.now.get("order")) is not None:
            self.wrong("kind", "the policy states an order of its values: it is ordinal")
        return given or None

    def _models(self, more: Mapping[str, Any]) -> dict[str, Any]:
        l_value, t_value = self._number("l"), self._number("t")
        if l_value is not None and l_value < 2:
            self.wrong("l", "l is 2 or more: with 1, nothing is hidden")
        if t_value is not None and not 0 < t_value < 1:
            self.wrong("t", "t lies above 0 and below 1: with 1, nothing is hidden")
        found: dict[str, Any] = {"l": l_value, "t": t_value}
        # what only steers an l or t goes with the one that was emptied
        if l_value is None and self.now.get("l") is not None:
            beta = more.get("beta", self.now.get("beta"))
            found |= {} if beta is not None else {"variant": None}
            found["c"] = None
        if t_value is None and self.now.get("t") is not None:
            found |= {"distance": None, "prior": None}
        return found

    def _number(self, field: str) -> int | float | None:
        try:
            return self.form.number(f"{field}-{self.place}")
        except SfumatoError:
            self.wrong(field, "this is no number")
            return None

    def _flags(self, flags: Sequence[str], density: Any) -> dict[str, Any]:
        flag, when = self.text("flag"), self.text("when")
        if flag and flag not in flags:
            self.wrong("flag", "choose a column of yes or no")
        if flag and when:
            self.wrong("when", "a column or a rule says which cells are sensitive, not both")
        if not flag and not when and density is None:
            self.wrong("flag", "say which cells are sensitive: by a column, or by a rule")
        drawn = {"density": None} if flag or when else {}
        return {"flag": flag or None, "when": when or None} | drawn


def _makes_other_kind(more: Mapping[str, Any], kind: str) -> bool:
    """Whether what was just stated of values gives them another kind."""
    steps = more.get("recode") or []
    if more.get("order") is not None or any("bins" in step for step in steps):
        return kind != Kind.ORDINAL
    return isinstance(more.get("domain"), Mapping) and kind != Kind.NUMERIC


def _read_table_keys(
    form: Form, policy: PolicyForm, columns: Sequence[str], problems: Problems
) -> None:
    """Read who is a person, what a row weighs, and who lives together."""
    for key in TABLE_KEYS:
        if key not in form.fields:
            continue
        given = form.text(key)
        if given == (policy.content.get(key) or ""):
            continue
        known = policy.attributes if key == "unit" else {*policy.attributes, *columns}
        if given and given not in known:
            problems[-1, key] = "choose a column of the list"
        elif given:
            policy.content[key] = given
            if key != "unit":  # which has no role of its own
                policy.attributes.pop(given, None)
        else:
            policy.content.pop(key, None)


def _check_each(
    policy: PolicyForm,
    before: Mapping[str, Mapping[str, Any]],
    places: Mapping[str, int],
    problems: Problems,
) -> None:
    """Find what a run would refuse of single attributes, and of the rules that read others."""
    made = []
    for name, keys in policy.attributes.items():
        try:
            made.append(attribute_of(name, keys, policy.folder))
        except SfumatoError as error:
            field = _blamed(name, keys, before.get(name, {}), policy)
            problems[places.get(name, -1), field] = str(error)
    if problems:
        return
    schema = Schema(tuple(made))
    for attribute in made:
        place = places.get(attribute.name, -1)
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


def _blamed(
    name: str, keys: Mapping[str, Any], before: Mapping[str, Any], policy: PolicyForm
) -> str:
    """Return the field whose change is at fault: without it, the attribute would be one."""
    changed = [key for key in {**before, **keys} if keys.get(key) != before.get(key)]
    for key in sorted(changed, key=lambda each: each == "role"):
        trial = {**keys, key: before.get(key)}
        try:
            attribute_of(
                name, {each: v for each, v in trial.items() if v is not None}, policy.folder
            )
        except SfumatoError:
            continue
        is_range = key == "domain" and isinstance(keys.get(key), Mapping)
        return "low" if is_range else FIELD_OF.get(key, key)
    return "role"


# Where a key is shown under another name.
FIELD_OF: Final = {"recode": "given-0", "pseudonym": "word"}
