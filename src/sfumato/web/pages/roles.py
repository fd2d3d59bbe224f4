"""The roles of the columns: as they were drafted, each with its reason, to be changed in place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response
from starlette.routing import BaseRoute

from sfumato.errors import SfumatoError
from sfumato.markup import Html, join, tag
from sfumato.reports.page import bullets
from sfumato.schema import Role
from sfumato.web import frame
from sfumato.web.attribute_form import sent_rows
from sfumato.web.bench import Visit, done, shown, to, to_saved, told
from sfumato.web.column_values import read_values
from sfumato.web.forms import Form
from sfumato.web.pages.role_fields import STEPS_HELP, Sheet, attribute
from sfumato.web.policy_form import STAMP, PolicyForm
from sfumato.web.recode_form import HELP
from sfumato.web.role_form import Problems, read_roles
from sfumato.web.runs import Run
from sfumato.web.value_checks import OF_VALUES, Read, misfit

_NUMBERS: Final = ("whole numbers", "numbers")  # what the profile calls types that can be weights


def roles(here: Visit) -> Response:
    """Return the page of the roles."""
    profile, _ = here.profile()
    if profile is None:
        return to(here.address("data"))
    form = getattr(here.request.state, "form", None)
    typed = {} if form is None else form.fields
    sheet = Sheet(here, PolicyForm.load(here.here), profile, typed, {})
    return _page(sheet, told(here, sheet.policy))


def _page(sheet: Sheet, message: tuple[str, str] | None) -> Response:
    here, policy = sheet.here, sheet.policy
    numbers = {each["name"]: at for at, each in enumerate(sheet.profile["columns"])}
    cards = [
        attribute(sheet, place, each, keys, numbers.get(each))
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
            frame.hidden(STAMP, policy.stamp),
            _buttons(),
            *cards,
            _people(sheet),
            _buttons(),
            data_guard="",
        ),
        tag(
            "section",
            join([tag("h2", "How steps that change values are written"), bullets(HELP)]),
            id=STEPS_HELP,
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


# What a column is to the whole table


def _people(sheet: Sheet) -> Html:
    """Return who is a person, what a row weighs, and who lives together."""
    columns = sheet.profile["columns"]
    told_apart = (Role.IDENTIFIER, Role.INSENSITIVE)
    keys = sheet.policy.attributes
    units = [name for name, own in keys.items() if own["role"] in told_apart]
    weights = [each["name"] for each in columns if each["type"] in _NUMBERS]
    homes = [each["name"] for each in columns]
    parts = [
        tag("legend", "Who is a person?"),
        _column(sheet, "unit", "People are told apart by", "Every row is a person", units),
        tag(
            "details",
            join(
                [
                    tag("summary", "More about the rows: weights and households"),
                    _column(sheet, "weight", "How many people a row stands for",
                            "Every row counts once", weights),
                    tag("small", "Of weights only means of groups are published."),
                    _column(sheet, "household", "Who lives together",
                            "Nobody is known to", homes),
                    tag("small", "Groups are then counted in households. Neither column has a "
                        "role of its own, and none is published."),
                ],
                "\n",
            ),
            open="" if _is_told(sheet, "weight", "household") else None,
        ),
        _others(sheet),
    ]  # fmt: skip
    return tag("fieldset", join(parts, "\n"), class_="people")


def _is_told(sheet: Sheet, *keys: str) -> bool:
    return any(
        sheet.typed.get(key) or sheet.policy.content.get(key) or (-1, key) in sheet.problems
        for key in keys
    )


def _column(sheet: Sheet, key: str, label: str, none: str, names: list[str]) -> Html:
    now = sheet.typed.get(key, sheet.policy.content.get(key) or "")
    options = {"": none, **{each: f"Column {each}" for each in names}}
    if now and now not in options:
        options[now] = f"Column {now}"
    wrong = sheet.problems.get((-1, key))
    said = tag("span", wrong, class_="wrong", id=f"problem-{key}") if wrong else ""
    return tag("p", join([frame.select(key, options, now, label=label), said]))


def _others(sheet: Sheet) -> Html:
    """Return which columns say something about rows or cells, and have no role of their own."""
    served = sorted(each for each in sheet.policy.served if each not in sheet.policy.attributes)
    if not served:
        return Html("")
    names = join([tag("bdi", each) for each in served], ", ")
    return tag("p", join(["Without a role, since they say something about rows or cells: ", names]))


# What was sent


def save(here: Visit, form: Form) -> Response:
    """Keep what was chosen, or show again what was typed, with what is wrong beside it."""
    profile, run = here.profile()
    if profile is None or run is None:
        return to(here.address("data"))
    policy = PolicyForm.load(here.here)
    policy.refuse_other(form.text(STAMP))
    before = {each: dict(keys) for each, keys in policy.attributes.items()}
    sheet = Sheet(here, policy, profile, form.fields, {})
    names = [each["name"] for each in profile["columns"]]
    problems = read_roles(form, policy, sheet.flags, names)
    message = None
    if not problems:
        problems = _misfits(policy, before, names, run, form)
    if not problems:
        try:
            policy.checked_roles()
            policy.save(here.here, check=False)
            if form.text("next") == "protect":
                return to(here.address("protect"))
            return to_saved(here, here.address("roles"))
        except SfumatoError as error:
            message = (frame.BAD, str(error))
    saved = PolicyForm.load(here.here)
    count = len(problems)
    if message is None:
        where = "one field" if count == 1 else f"{count} fields"
        message = (frame.BAD, f"Nothing was saved yet: see what is said beside {where}.")
    answer = _page(Sheet(here, saved, profile, form.fields, problems), message)
    answer.status_code = 422
    return answer


def _misfits(
    policy: PolicyForm, before: Mapping[str, Any], names: list[str], run: Run, form: Form
) -> Problems:
    """Return what does not fit the values, of attributes of which something else is said now."""
    problems: Problems = {}
    numbers = {name: at for at, name in enumerate(names)}
    for place, (name, was) in enumerate(before.items()):
        keys = policy.attributes.get(name)
        if keys is None or name not in numbers:
            continue
        if all(keys.get(key) == was.get(key) for key in OF_VALUES):
            continue
        found = misfit(name, keys, policy, _reader(run, numbers[name], name))
        if found is not None:
            field = _field_of(found[0], keys, form, place)
            problems[place, field] = found[1]
    return problems


def _reader(run: Run, number: int, name: str) -> Read:
    return lambda keys: read_values(run, number, keys, name)


def _field_of(key: str, keys: Mapping[str, Any], form: Form, place: int) -> str:
    """Return the field that stands for a key, or for a step of `recode`."""
    if key.startswith("recode-"):
        filled = [at for at, row in enumerate(sent_rows(form.fields, place)) if row[0]]
        step = int(key.partition("-")[2])
        return f"given-{filled[step]}" if step < len(filled) else "role"
    if key == "domain" and isinstance(keys["domain"], Mapping):
        return "low"
    return key


ROUTES: Final[list[BaseRoute]] = [
    shown("/p/{project}/roles", roles),
    done("/p/{project}/roles", save, roles),
]
