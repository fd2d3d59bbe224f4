"""The parts of the page of schemes: a choice with its words, and the fields of its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sfumato.jobs.protection import ABOUT
from sfumato.markup import Html, details, join, tag, text
from sfumato.reports.page import name as shown_name
from sfumato.web import frame, output_form
from sfumato.web.forms import Form
from sfumato.web.policy_form import PolicyForm
from sfumato.web.scheme_fields import Field
from sfumato.web.scheme_form import SchemeForm
from sfumato.web.schemes import Scheme


@dataclass(frozen=True, slots=True)
class Sent:
    """What was chosen and typed, and what is wrong with it, by field."""

    chosen: str
    form: Form | None = None
    wrong: Mapping[str, str] = field(default_factory=dict)

    def value(self, name: str, saved: str) -> str:
        """Return what a field shows."""
        return saved if self.form is None else self.form.fields.get(name, saved)

    def is_ticked(self, name: str, saved: bool) -> bool:
        """Whether a box is ticked."""
        return saved if self.form is None else bool(self.form.text(name))

    def of(self, scheme: str) -> Sent:
        """Return what was sent of the fields of a scheme: only those of the chosen one are."""
        return self if scheme == self.chosen else Sent(self.chosen)


def as_it_is(method: dict[str, Any], chosen: str) -> Html:
    """Return the choice to leave a method as it is that has no fields here."""
    words = ", ".join(f"{key} = {value}" for key, value in method.items() if key != "name")
    label = tag("label", join([_radio(method["name"], chosen), " As the policy says"]))
    said = tag("p", f"{method['name']}{', ' if words else ''}{words}")
    return tag("div", join([label, said]), class_="choice")


def choice(form: SchemeForm, sent: Sent) -> Html:
    """Return a scheme to choose, with what it protects against and its parameters."""
    scheme = form.scheme
    obstacle = form.fit.obstacle(scheme)
    is_off = obstacle is not None and not form.is_current
    about = f"about-{scheme.name}"
    label = tag(
        "label",
        join([_radio(scheme.name, sent.chosen, about, is_off=is_off), " ", scheme.title]),
    )
    said = [tag("p", scheme.against, id=about)]
    if obstacle is not None:
        said.append(tag("p", join(["Not with these roles: ", obstacle]), class_="box note"))
    parts = [label, *said, _terms(scheme)]
    if not is_off:
        parts.append(_knobs(form, sent.of(scheme.name)))
    return tag("div", join(parts, "\n"), class_="choice")


def _radio(name: str, chosen: str, about: str | None = None, *, is_off: bool = False) -> Html:
    more = ' aria-describedby="' + text(about) + '"' if about else ""
    more += " checked" if name == chosen else ""
    more += " disabled" if is_off else ""
    return Html(f'<input type="radio" name="scheme" value="{text(name)}" required{more}>')


def _terms(scheme: Scheme) -> Html:
    beware = ABOUT.get(scheme.name)
    return details(
        "In the papers' terms",
        tag("p", scheme.term),
        tag("p", f"Readers get: {scheme.reader}"),
        tag("p", f"To know: {beware}.") if beware else "",
        tag("p", join(["In a policy file: ", tag("code", scheme.name)])),
    )


def _knobs(form: SchemeForm, sent: Sent) -> Html:
    """Return all fields of a scheme; they are shown while it is chosen."""
    parts: list[object] = [tag("legend", f"How much: {form.scheme.title}", class_="unseen")]
    for name, ways in form.conflicts.items():
        asked = form.field_of("role", name)
        role = form.policy.attributes[name]["role"]
        label = f"'{name}' is {role}, which this scheme does not know. It is to be"
        options = {"": "Choose…", **ways}
        parts.append(frame.select(asked, options, sent.value(asked, ""), label=label))
    for name, cells in form.earlier.items():
        words = f"'{name}' is private {cells}, as before"
        parts.append(tick(form.field_of("again", name), words, not form.is_current, sent))
    fields = form.knobs()
    is_free = form.scheme.may_withhold
    usual = [each for each in fields if each.knob is None or not each.knob.is_rare]
    parts += [_entry(each, sent, is_free=is_free) for each in usual]
    for name, own in form.of_attributes().items():
        inner: list[object] = [tag("legend", shown_name(name))]
        if name in form.known:
            inner.append(tick(form.field_of("both", name), "secret too", form.known[name], sent))
        inner += [_entry(each, sent) for each in own]
        parts.append(tag("fieldset", join(inner), class_="secret"))
    if form.scheme.may_withhold:
        words = (
            "Leave out rows whose secret is too common, instead of refusing. Their absence tells "
            "the secret, so those people are not protected."
        )
        parts.append(tick(form.field_of("withhold"), words, form.withholds, sent))
    if len(parts) == 1:
        parts.append(tag("p", "Nothing to set."))
    parts.append(_rare([each for each in fields if each not in usual], sent))
    return tag("fieldset", join(parts, "\n"), class_="knobs", data_of=form.scheme.name)


def _rare(fields: list[Field], sent: Sent) -> Html:
    """Return the parameters that few change; open where one of them is wrong."""
    if not fields:
        return Html("")
    count = sum(each.value is not None for each in fields)
    words = f"More parameters ({count} set)" if count else "More parameters"
    is_open = any(each.name in sent.wrong for each in fields)
    return tag(
        "details",
        join([tag("summary", words), *(_entry(each, sent) for each in fields)], "\n"),
        open="" if is_open else None,
    )


def tick(name: str, words: str, is_set: bool, sent: Sent) -> Html:
    """Return a box to tick."""
    checked = " checked" if sent.is_ticked(name, is_set) else ""
    box = Html(f'<input type="checkbox" name="{text(name)}" value="yes"{checked}>')
    return tag("p", tag("label", join([box, " ", words])))


def _entry(field: Field, sent: Sent, *, is_free: bool = False) -> Html:
    value, knob = sent.value(field.name, field.shown), field.knob
    if knob is not None and knob.options is not None:
        options = dict(knob.options)
        options.setdefault(value, value)
        drawn: Html = frame.select(field.name, options, value, label=field.label)
        return join([drawn, _wrong(field.name, sent)])
    if knob is not None and knob.kind == "lines":
        return area(field.name, field.label, value, field.hint, sent)
    if not field.is_number:
        drawn = frame.entry(
            field.name, field.label, value, hint=field.hint, spellcheck="false",
            **_tied(field.name, sent),
        )  # fmt: skip
        return join([drawn, _wrong(field.name, sent)])
    hint = "; ".join(filter(None, [field.hint, field.range.words()]))
    # what leaving rows out makes possible is not refused by the browser
    is_bound = not (is_free and knob is not None and knob.key in ("l", "beta"))
    drawn = frame.entry(
        field.name,
        field.label,
        value,
        hint=hint,
        type="number",
        min=field.range.low if is_bound else None,
        max=field.range.high if is_bound else None,
        step=1 if field.is_whole else "any",
        inputmode="numeric" if field.is_whole else "decimal",
        **_tied(field.name, sent),
    )
    return join([drawn, _wrong(field.name, sent)])


def area(name: str, label: str, value: str, hint: str, sent: Sent) -> Html:
    """Return a field of several lines."""
    own = "".join(f' {key.replace("_", "-")}="{text(v)}"' for key, v in _tied(name, sent).items())
    lines = join(value.splitlines(), "\n")
    # the first line break of a field of lines is not its own
    drawn = Html(f'<textarea name="{name}" rows="3" spellcheck="false"{own}>\n{lines}</textarea>')
    inner = [tag("span", label), drawn, tag("small", hint)]
    return join([tag("label", join(inner, " "), class_="entry"), _wrong(name, sent)])


def _wrong(name: str, sent: Sent) -> Html:
    words = sent.wrong.get(name)
    return Html("") if words is None else tag("span", words, class_="wrong", id=f"problem-{name}")


def _tied(name: str, sent: Sent) -> dict[str, Any]:
    if name not in sent.wrong:
        return {}
    return {"aria_invalid": "true", "aria_describedby": f"problem-{name}"}


def output_part(policy: PolicyForm, sent: Sent) -> Html:
    """Return how files are written, and what is promised beside the scheme's own."""
    told = [key for key in ("output", "guarantees") if key in policy.content]
    hint = (
        "a line each, as in a policy file, such as {model: delta-presence, minimum: 0, "
        "maximum: 0.5}; a scheme that does not give one refuses it"
    )
    chosen = sent.value(output_form.FORMAT, output_form.format_of(policy))
    guard = "In CSV, mark texts that a spreadsheet would run as a formula"
    guarantees = sent.value(output_form.GUARANTEES, output_form.guarantees_text(policy))
    return tag(
        "details",
        join(
            [
                tag("summary", f"Files and further guarantees{' (set)' if told else ''}"),
                frame.select(
                    output_form.FORMAT, output_form.FORMATS, chosen, label="Files of the release"
                ),
                tick(output_form.GUARD, guard, output_form.is_guarded(policy), sent),
                area(output_form.GUARANTEES, "Further guarantees", guarantees, hint, sent),
            ],
            "\n",
        ),
        open="" if output_form.GUARANTEES in sent.wrong else None,
        class_="more knobs-of-all",
    )
