"""The fields of one column on the page of roles: the usual ones, the rarer ones a click away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sfumato.markup import Html, join, tag, text
from sfumato.schema import Kind, Role
from sfumato.web import frame
from sfumato.web.attribute_form import (
    BLANK_STEPS,
    CODED,
    MOST_STEPS,
    Setting,
    domain_fields,
    sent_rows,
    settings_of,
    shown_of,
    word_of,
)
from sfumato.web.bench import Visit
from sfumato.web.policy_form import PolicyForm
from sfumato.web.recode_form import STEPS, rows_of
from sfumato.web.role_form import Problems

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
STEPS_HELP: Final = "steps-help"
_COMES_BACK: Final = ("flag", "when", "l", "t", "keep")


@dataclass(frozen=True, slots=True)
class Sheet:
    """What the fields show: the policy, or what was typed and refused."""

    here: Visit
    policy: PolicyForm
    profile: Mapping[str, Any]
    typed: Mapping[str, str]
    problems: Problems

    @property
    def flags(self) -> list[str]:
        """The columns that can say which cells are sensitive."""
        return [each["name"] for each in self.profile["columns"] if each["type"] == _FLAG_TYPE]

    def value(self, field: str, place: int, saved: object) -> str:
        """Return what a field shows."""
        given = self.typed.get(f"{field}-{place}", saved)
        return "" if given is None else str(given)

    def is_ticked(self, field: str, place: int, *, saved: bool) -> bool:
        """Whether a box is ticked; one that is not is not sent."""
        if f"role-{place}" in self.typed:
            return self.typed.get(f"{field}-{place}") == "yes"
        return saved


def attribute(
    sheet: Sheet, place: int, column: str, keys: Mapping[str, Any], number: int | None
) -> Html:
    """Return the fields of one column; the style hides those of other roles."""
    role = sheet.value("role", place, keys["role"])
    own = _with_earlier(sheet, column, keys)
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
            sheet, "l", place, _of("Different secrets (l)", column), own.get("l"),
            "how many values a person's may be at least; empty: as the method says",
            class_="for-role for-secret", type="number", min=2, step="any",
        ),
        _entry(
            sheet, "t", place, _of("Distance from all (t)", column), own.get("t"),
            "how far a group's values may lie from everybody's; above 0 and below 1",
            class_="for-role for-secret", type="number", min=0, max=1, step="any",
        ),
        _choice(
            sheet, "flag", place, _of("Sensitive where this column says yes", column),
            {"": "No column", **{each: each for each in sheet.flags if each != column}},
            sheet.value("flag", place, own.get("flag")), class_="for-role for-semi",
        ),
        _entry(
            sheet, "when", place, _of("or where this rule holds", column), own.get("when"),
            "such as: occupation = 'Nurse' and age < 65", class_="for-role for-semi",
            maxlength=2000, spellcheck="false",
        ),
        _tick(
            sheet, "keep", place, "Publish it exactly", is_on=bool(own.get("keep")),
            class_="for-role for-kept",
        ),
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
                _more(sheet, place, column, keys, role),
            ],
            "\n",
        ),
        class_="attribute",
    )


def _with_earlier(sheet: Sheet, column: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys, and what the column had in other roles: shown when one is chosen again."""
    found = dict(keys)
    for role in Role:
        if role != keys["role"]:
            earlier = sheet.policy.remembered.keys_of(column, str(role))
            for key in _COMES_BACK:
                if key in earlier:
                    found.setdefault(key, earlier[key])
    return found


def _hierarchy(here: Visit, column: str, keys: Mapping[str, Any], number: int | None) -> Html:
    if number is None or keys["role"] == Role.IDENTIFIER:
        return Html("")
    given = keys.get("hierarchy")
    now = "none" if given is None else "built" if isinstance(given, dict) else "a file"
    words = join(["Change it", tag("span", f" for {column}", class_="unseen")])
    link = tag("a", words, href=here.address(f"hierarchy/{number}"))
    return tag("p", join(["Hierarchy: ", now, ". ", link]), class_="for-coded")


# The rarer settings


def _more(sheet: Sheet, place: int, column: str, keys: Mapping[str, Any], chosen: str) -> Html:
    """Return the settings of the role, closed unless something in them is wrong."""
    role = Role(chosen) if chosen in list(Role) else Role(keys["role"])
    if role != keys["role"]:
        keys = {**keys, **sheet.policy.remembered.keys_of(column, str(role))}
    fields: list[object] = []
    if role is Role.IDENTIFIER:
        fields += _pseudonym(sheet, place, column, keys)
    if role in CODED:
        fields += [_steps(sheet, place, column, keys), _domain(sheet, place, column, keys)]
    fields += [
        _setting(sheet, place, column, keys, each)
        for each in settings_of(role)
        if _has_use(each.key, keys) or f"{each.key}-{place}" in sheet.typed
    ]
    said = [each for each in keys if each in _told(role)]
    count = f" ({len(said)} set)" if said else ""
    names = {field for at, field in sheet.problems if at == place}
    is_open = any(_is_rare(name) for name in names)
    summary = tag(
        "summary", join(["More", tag("span", f" about {column}", class_="unseen"), count])
    )
    note = tag("p", f"Settings of the role {role}; those of another come when it was saved.",
               class_="soft")  # fmt: skip
    return tag(
        "details",
        join([summary, note, tag("div", join(fields, "\n"), class_="settings")], "\n"),
        class_="more",
        open="" if is_open else None,
    )


def _told(role: Role) -> set[str]:
    own = {each.key for each in settings_of(role)}
    return own | ({"pseudonym"} if role is Role.IDENTIFIER else {"domain", "recode"})


def _has_use(key: str, keys: Mapping[str, Any]) -> bool:
    """Whether a setting is set or could be: levels are of hierarchies, widths of ranges."""
    if key in keys or key not in ("max_level", "max_width"):
        return True
    return (key == "max_level") == ("hierarchy" in keys)


def _is_rare(field: str) -> bool:
    return field not in ("role", "kind", "l", "t", "flag", "when", "keep")


def _setting(
    sheet: Sheet, place: int, column: str, keys: Mapping[str, Any], setting: Setting
) -> Html:
    label = _of(setting.label, column)
    saved = shown_of(setting, keys)
    if setting.kind == "choice":
        options = dict(setting.options or {})
        value = sheet.value(setting.key, place, saved)
        options.setdefault(value, value)  # what a file says that is none of ours is not lost
        return _choice(sheet, setting.key, place, label, options, value)
    if setting.kind == "lines":
        return _area(sheet, setting.key, place, label, saved, setting.hint)
    step = 1 if setting.kind == "whole" else "any"
    return _entry(
        sheet, setting.key, place, label, saved, setting.hint, class_="", type="number", min=0,
        step=step,
    )  # fmt: skip


def _domain(sheet: Sheet, place: int, column: str, keys: Mapping[str, Any]) -> Html:
    shown = domain_fields(keys)
    return join(
        [
            _entry(sheet, "low", place, _of("Lowest possible value", column), shown["low"],
                   "of numbers and dates; others are refused", class_=""),
            _entry(sheet, "high", place, _of("Highest possible value", column), shown["high"],
                   "with the lowest; empty: as the data have it", class_=""),
            _area(sheet, "domain", place, _of("or all possible values", column), shown["domain"],
                  "a line each; others are refused"),
        ],
        "\n",
    )  # fmt: skip


def _steps(sheet: Sheet, place: int, column: str, keys: Mapping[str, Any]) -> Html:
    """Return the rows of `recode`, with some to be filled."""
    rows = sent_rows(sheet.typed, place)
    if not rows:
        saved = rows_of(keys.get("recode"))
        rows = [*saved, *[("", "")] * BLANK_STEPS][: max(MOST_STEPS, len(saved))]
    drawn = []
    for number, (kind, given) in enumerate(rows):
        what, value = f"step-{number}", f"given-{number}"
        drawn.append(
            tag(
                "div",
                join(
                    [
                        _choice(sheet, what, place, _of(f"Step {number + 1}", column), STEPS, kind),
                        _area(sheet, value, place, _of(f"Value of step {number + 1}", column),
                              given, "", lines=max(1, min(given.count("\n") + 1, 8))),
                    ]
                ),
                class_="step",
            )
        )  # fmt: skip
    help_ = tag("small", tag("a", "How values are written", href=f"#{STEPS_HELP}"))
    return tag(
        "fieldset",
        join([tag("legend", _of("Change values first", column)), *drawn, help_]),
        class_="steps-of",
    )


def _pseudonym(sheet: Sheet, place: int, column: str, keys: Mapping[str, Any]) -> list[object]:
    words = (
        "Publish tokens in its place. The release is then pseudonymised, not anonymised: whoever "
        "has the project's key can name everybody."
    )
    return [
        _tick(sheet, "pseudonym", place, words, is_on=bool(keys.get("pseudonym"))),
        _entry(sheet, "word", place, _of("Word of the tokens", column), word_of(keys),
               "columns of other tables with the same word have the same tokens; empty: the "
               "column's name", class_=""),
    ]  # fmt: skip


# Single fields


def _of(label: str, column: str) -> Html:
    """Return a label that says to screen readers whose field it is."""
    return join([label, tag("span", f" of {column}", class_="unseen")])


def _problem(sheet: Sheet, field: str, place: int) -> tuple[Html, dict[str, object]]:
    """Return what is wrong with a field, and the attributes that tie it to the field."""
    words = sheet.problems.get((place, field))
    if words is None:
        return Html(""), {}
    own = f"problem-{field}-{place}"
    said = tag("span", words, class_="wrong", id=own)
    return said, {"aria_invalid": "true", "aria_describedby": own}


def _choice(
    sheet: Sheet,
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
    select = tag("select", listed, name_=f"{field}-{place}", **tied)
    inner = tag("label", join([tag("span", label), select], " "))
    return tag("div", join([inner, said]), class_=f"{class_} field".strip())


def _entry(
    sheet: Sheet,
    field: str,
    place: int,
    label: object,
    saved: object,
    hint: str,
    class_: str,
    **attributes: object,
) -> Html:
    said, tied = _problem(sheet, field, place)
    value = sheet.value(field, place, saved)
    inner = frame.entry(f"{field}-{place}", label, value, hint=hint, **attributes, **tied)
    return tag("div", join([inner, said]), class_=f"{class_} field".strip())


def _area(
    sheet: Sheet, field: str, place: int, label: object, saved: str, hint: str, lines: int = 3
) -> Html:
    """Return a field of several lines."""
    said, tied = _problem(sheet, field, place)
    own = "".join(f' {key.replace("_", "-")}="{text(each)}"' for key, each in tied.items())
    value = join(sheet.value(field, place, saved).splitlines(), "\n")
    # the first line break of a field of lines is not its own
    area = Html(
        f'<textarea name="{field}-{place}" rows="{lines}" spellcheck="false"{own}>\n{value}'
        "</textarea>"
    )
    small = tag("small", hint) if hint else ""
    inner = tag("label", join([tag("span", label), area, small], " "), class_="entry")
    return tag("div", join([inner, said]), class_="field")


def _tick(
    sheet: Sheet, field: str, place: int, words: str, *, is_on: bool, class_: str = ""
) -> Html:
    on = " checked" if sheet.is_ticked(field, place, saved=is_on) else ""
    box = Html(f'<input type="checkbox" name="{field}-{place}" value="yes"{on}>')
    said, _ = _problem(sheet, field, place)
    inner = tag("label", join([box, " ", words]), class_="tick")
    return tag("div", join([inner, said]), class_=f"{class_} field".strip())
