"""The roles of the columns: as they were drafted, each with its reason, to be changed in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import Response
from starlette.routing import BaseRoute

from sfumato.errors import SfumatoError
from sfumato.markup import Html, join, tag
from sfumato.reports.page import bullets
from sfumato.schema import Kind, Role
from sfumato.web import frame
from sfumato.web.bench import Visit, done, shown, to, told
from sfumato.web.column_values import ColumnValues, read_values
from sfumato.web.forms import Form
from sfumato.web.policy_form import PolicyForm
from sfumato.web.role_form import Problems, read_roles, refuse_kinds
from sfumato.web.runs import Run

ROLES: Final = {
    Role.IDENTIFIER: "Identifier: never published",
    Role.QUASI_IDENTIFIER: "Quasi-identifier: others may know it",
    Role.SENSITIVE: "Sensitive: must not be learnt about a person",
    Role.SEMI_SENSITIVE: "Semi-sensitive: some people's cells are",
    Role.SENSITIVE_QUASI_IDENTIFIER: "Sensitive quasi-identifier: both at once",
    Role.INSENSITIVE: "Insensitive: left out, or kept",
}
_KINDS: Final = {
    "": "As its type suggests",
    str(Kind.NUMERIC): "Numbers, with distances",
    str(Kind.ORDINAL): "In an order",
    str(Kind.CATEGORICAL): "Categories",
}
_FLAG_TYPE: Final = "yes or no"  # what the profile calls the type of flags


@dataclass(frozen=True, slots=True)
class _Sheet:
    """What the fields show: the policy, or what was typed and refused."""

    here: Visit
    policy: PolicyForm
    profile: Mapping[str, Any]
    typed: Mapping[str, str]
    problems: Problems

    @property
    def flags(self) -> list[str]:
        return [each["name"] for each in self.profile["columns"] if each["type"] == _FLAG_TYPE]

    def value(self, field: str, place: int, saved: object) -> str:
        if self.typed:
            return self.typed.get(f"{field}-{place}", "")
        return "" if saved is None else str(saved)


def roles(here: Visit) -> Response:
    """Return the page of the roles."""
    profile, _ = here.profile()
    if profile is None:
        return to(here.address("data"))
    form = getattr(here.request.state, "form", None)
    typed = {} if form is None else form.fields
    sheet = _Sheet(here, PolicyForm.load(here.here), profile, typed, {})
    return _page(sheet, told(here))


def _page(sheet: _Sheet, message: tuple[str, str] | None) -> Response:
    here, policy = sheet.here, sheet.policy
    numbers = {each["name"]: at for at, each in enumerate(sheet.profile["columns"])}
    cards = [
        _attribute(sheet, place, each, keys, numbers.get(each))
        for place, (each, keys) in enumerate(policy.attributes.items())
    ]
    return here.page(
        "Roles",
        tag(
            "p",
            "What is each column to somebody who wants to find out about a person? Check "
            "every one: nobody knows your data as you do.",
        ),
        _warnings(sheet.profile["warnings"]),
        here.form(
            here.address("roles"),
            _buttons(),
            *cards,
            _unit(sheet),
            _buttons(),
            data_guard="",
        ),
        step="roles",
        message=message,
    )


def _buttons() -> Html:
    following = frame.button("Next: protect", name="next", value="protect")
    return tag("p", join([following, frame.button("Save", kind="plain")], " "))


def _warnings(lines: list[str]) -> Html:
    if not lines:
        return Html("")
    return tag(
        "div", join([tag("p", "Before this can run:"), bullets(lines)]), class_="box warning"
    )


def _attribute(
    sheet: _Sheet, place: int, column: str, keys: Mapping[str, Any], number: int | None
) -> Html:
    """Return the fields of one column; the style hides those of other roles."""
    role = sheet.value("role", place, keys["role"])
    fields = [
        _choice(
            sheet, "role", place, _of("Role", column),
            {str(each): words for each, words in ROLES.items()}, role,
        ),
        _choice(
            sheet, "kind", place, _of("Kind of values", column), _KINDS,
            sheet.value("kind", place, keys.get("kind")), class_="for-coded",
        ),
        _entry(
            sheet, "l", place, _of("Different secrets (l)", column), keys.get("l"),
            "how many values a person's may be at least; empty: as the method says",
            class_="for-role for-secret", type="number", min=2, step="any",
        ),
        _entry(
            sheet, "t", place, _of("Distance from all (t)", column), keys.get("t"),
            "how far a group's values may lie from everybody's; above 0, at most 1",
            class_="for-role for-secret", type="number", min=0, max=1, step="any",
        ),
        _choice(
            sheet, "flag", place, "Sensitive where this column says yes",
            {"": "No column", **{each: each for each in sheet.flags if each != column}},
            sheet.value("flag", place, keys.get("flag")), class_="for-role for-semi",
        ),
        _entry(
            sheet, "when", place, "or where this rule holds", keys.get("when"),
            "such as: occupation = 'Nurse' and age < 65", class_="for-role for-semi",
            maxlength=2000, spellcheck="false",
        ),
        _kept(sheet, place, keys),
    ]  # fmt: skip
    reason = sheet.policy.reasons.get(column, "")
    return tag(
        "fieldset",
        join(
            [
                tag("legend", tag("bdi", column)),
                *fields,
                tag("p", join([tag("strong", "Why: "), reason])) if reason else "",
                _hierarchy(sheet.here, column, keys, number),
            ],
            "\n",
        ),
        class_="attribute",
    )


def _hierarchy(here: Visit, column: str, keys: Mapping[str, Any], number: int | None) -> Html:
    if number is None or keys["role"] == Role.IDENTIFIER:
        return Html("")
    given = keys.get("hierarchy")
    now = "none" if given is None else "built" if isinstance(given, dict) else "a file"
    words = join(["Change it", tag("span", f" for {column}", class_="unseen")])
    link = tag("a", words, href=here.address(f"hierarchy/{number}"))
    return tag("p", join(["Hierarchy: ", now, ". ", link]), class_="for-coded")


def _of(label: str, column: str) -> Html:
    """Return a label that says to screen readers whose field it is."""
    return join([label, tag("span", f" of {column}", class_="unseen")])


def _problem(sheet: _Sheet, field: str, place: int) -> tuple[Html, str]:
    """Return what is wrong with a field, and the attributes that tie it to the field."""
    words = sheet.problems.get((place, field))
    if words is None:
        return Html(""), ""
    own = f"problem-{field}-{place}"
    said = tag("span", words, class_="wrong", id=own)
    return said, f' aria-invalid="true" aria-describedby="{own}"'


def _choice(
    sheet: _Sheet,
    field: str,
    place: int,
    label: object,
    options: Mapping[str, str],
    chosen: str,
    class_: str = "",
) -> Html:
    said, tied = _problem(sheet, field, place)
    listed = join(
        tag("option", words, value=value, selected="" if value == chosen else None)
        for value, words in options.items()
    )
    select = Html(f'<select name="{field}-{place}"{tied}>{listed}</select>')
    inner = tag("label", join([tag("span", label), select], " "))
    return tag("div", join([inner, said]), class_=f"{class_} field".strip())


def _entry(
    sheet: _Sheet,
    field: str,
    place: int,
    label: object,
    saved: object,
    hint: str,
    class_: str,
    **attributes: object,
) -> Html:
    said, _ = _problem(sheet, field, place)
    if said:
        attributes |= {"aria_invalid": "true", "aria_describedby": f"problem-{field}-{place}"}
    value = sheet.value(field, place, saved)
    inner = frame.entry(f"{field}-{place}", label, value, hint=hint, **attributes)
    return tag("div", join([inner, said]), class_=f"{class_} field")


def _kept(sheet: _Sheet, place: int, keys: Mapping[str, Any]) -> Html:
    is_on = sheet.value("keep", place, "yes" if keys.get("keep") else "") == "yes"
    on = " checked" if is_on else ""
    box = Html(f'<input type="checkbox" name="keep-{place}" value="yes"{on}>')
    said, _ = _problem(sheet, "keep", place)
    words = tag("label", join([box, " Publish it exactly"]), class_="tick")
    return tag("div", join([words, said]), class_="for-role for-kept field")


def _unit(sheet: _Sheet) -> Html:
    told_apart = (Role.IDENTIFIER, Role.INSENSITIVE)
    now = sheet.typed.get("unit", sheet.policy.content.get("unit") or "")
    names = [n for n, keys in sheet.policy.attributes.items() if keys["role"] in told_apart]
    options = {"": "Every row is a person", **{each: f"Column {each}" for each in names}}
    if now and now not in options:
        options[now] = f"Column {now}"
    wrong = sheet.problems.get((-1, "unit"))
    return tag(
        "fieldset",
        join(
            [
                tag("legend", "Who is a person?"),
                frame.select("unit", options, now, label="People are told apart by"),
                tag("span", wrong, class_="wrong") if wrong else "",
            ],
            "\n",
        ),
    )


def save(here: Visit, form: Form) -> Response:
    """Keep what was chosen, or show again what was typed, with what is wrong beside it."""
    profile, run = here.profile()
    if profile is None or run is None:
        return to(here.address("data"))
    policy = PolicyForm.load(here.here)
    before = {each: keys.get("kind") for each, keys in policy.attributes.items()}
    sheet = _Sheet(here, policy, profile, form.fields, {})
    problems = read_roles(form, policy, sheet.flags)
    message = None
    if not problems:
        problems = refuse_kinds(
            policy, _changed_kinds(policy, before, profile, run), list(policy.attributes)
        )
    if not problems:
        try:
            policy.checked_roles()
            policy.save(here.here, check=False)
            return to(here.address("protect" if form.text("next") == "protect" else "roles"))
        except SfumatoError as error:
            message = (frame.BAD, str(error))
    saved = PolicyForm.load(here.here)
    count = len(problems)
    if message is None:
        where = "one field" if count == 1 else f"{count} fields"
        message = (frame.BAD, f"Nothing was saved yet: see what is said beside {where}.")
    answer = _page(_Sheet(here, saved, profile, form.fields, problems), message)
    answer.status_code = 422
    return answer


def _changed_kinds(
    policy: PolicyForm, before: Mapping[str, Any], profile: Mapping[str, Any], run: Run
) -> dict[int, ColumnValues]:
    """Return the values of the attributes (by place) whose kind was changed."""
    numbers = {each["name"]: at for at, each in enumerate(profile["columns"])}
    found = {}
    for place, (each, keys) in enumerate(policy.attributes.items()):
        if keys.get("kind") in (None, before[each]) or each not in numbers:
            continue
        values = read_values(run, numbers[each], keys, each)
        if values is not None:
            found[place] = values
    return found


ROUTES: Final[list[BaseRoute]] = [
    shown("/p/{project}/roles", roles),
    done("/p/{project}/roles", save, roles),
]
