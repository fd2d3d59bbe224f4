"""How to protect: a scheme by what it protects against, its parameters, and the start of a run."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response
from starlette.routing import BaseRoute

from sfumato.errors import ParameterError
from sfumato.jobs.protection import ABOUT
from sfumato.markup import Html, details, join, tag, text
from sfumato.reports.page import name as shown_name
from sfumato.web import frame
from sfumato.web.bench import Visit, done, shown, to, told
from sfumato.web.forms import Form
from sfumato.web.pages.preview import start_preview
from sfumato.web.policy_form import PolicyForm
from sfumato.web.runs import Kind
from sfumato.web.scheme_fit import Fit
from sfumato.web.scheme_form import Field, SchemeForm, forms_of
from sfumato.web.schemes import SCHEMES, Scheme


def protect(here: Visit) -> Response:
    """Return the page of the method."""
    profile, _ = here.profile()
    if profile is None:
        return to(here.address("data"))
    policy = PolicyForm.load(here.here)
    forms = forms_of(policy, Fit(policy.content, profile))
    typed: Form | None = getattr(here.request.state, "form", None)
    chosen = policy.method["name"] if typed is None else typed.text("scheme")
    main = [_choice(each, chosen, typed) for each in forms.values() if each.scheme.is_main]
    others = [_choice(each, chosen, typed) for each in forms.values() if not each.scheme.is_main]
    is_other = chosen in SCHEMES and not SCHEMES[chosen].is_main
    if policy.method["name"] not in SCHEMES:
        main.insert(0, _as_it_is(policy.method, chosen))
    more = tag(
        "details",
        join([tag("summary", "More schemes"), *others]),
        open="" if is_other else None,
        class_="more",
    )
    buttons = [
        frame.button("Publish", name="next", value="publish"),
        frame.button("Show a preview", name="next", value="preview", kind="plain"),
        frame.button("Save", kind="plain"),
    ]
    return here.page(
        "Protect",
        tag(
            "p",
            join(
                [
                    "Choose by what you fear. Not sure? ",
                    tag("a", "Let the workbench recommend one", href=here.address("recommend")),
                    ".",
                ]
            ),
        ),
        here.form(
            here.address("protect"),
            tag("fieldset", join([tag("legend", "What to protect against"), *main, more])),
            tag("p", join(buttons, " ")),
            data_guard="",
            data_live="",
        ),
        tag(
            "section",
            tag("p", "A preview on a sample of the rows appears here.", class_="soft"),
            id="preview",
            aria_live="polite",
            aria_label="Preview",
        ),
        step="protect",
        message=told(here),
    )


def _as_it_is(method: dict[str, Any], chosen: str) -> Html:
    """Return the choice to leave a method as it is that has no fields here."""
    words = ", ".join(f"{key} = {value}" for key, value in method.items() if key != "name")
    label = tag("label", join([_radio(method["name"], chosen), " As the policy says"]))
    said = tag("p", f"{method['name']}{', ' if words else ''}{words}")
    return tag("div", join([label, said]), class_="choice")


def _choice(form: SchemeForm, chosen: str, typed: Form | None) -> Html:
    scheme = form.scheme
    obstacle = form.fit.obstacle(scheme)
    is_off = obstacle is not None and not form.is_current
    about = f"about-{scheme.name}"
    label = tag(
        "label",
        join([_radio(scheme.name, chosen, about, is_off=is_off), " ", scheme.title]),
    )
    said = [tag("p", scheme.against, id=about)]
    if obstacle is not None:
        said.append(tag("p", join(["Not with these roles: ", obstacle]), class_="box note"))
    parts = [label, *said, _terms(scheme)]
    if not is_off:
        parts.append(_knobs(form, typed if chosen == scheme.name else None))
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


def _knobs(form: SchemeForm, typed: Form | None) -> Html:
    """Return all fields of a scheme; they are shown while it is chosen."""
    parts: list[object] = [tag("legend", f"How much: {form.scheme.title}", class_="unseen")]
    for name, ways in form.conflicts.items():
        field = form.field_of("role", name)
        role = form.policy.attributes[name]["role"]
        given = "" if typed is None else typed.text(field)
        label = f"'{name}' is {role}, which this scheme does not know. It is to be"
        parts.append(frame.select(field, {"": "Choose…", **ways}, given, label=label))
    parts += [_entry(field, typed, is_free=form.scheme.may_withhold) for field in form.knobs()]
    for name, fields in form.of_attributes().items():
        inner: list[object] = [tag("legend", shown_name(name))]
        if name in form.known:
            inner.append(_check(form.field_of("both", name), "secret too", form.known[name], typed))
        inner += [_entry(field, typed) for field in fields]
        parts.append(tag("fieldset", join(inner), class_="secret"))
    if form.scheme.may_withhold:
        words = (
            "Leave out rows whose secret is too common, instead of refusing. Their absence tells "
            "the secret, so those people are not protected."
        )
        parts.append(_check(form.field_of("withhold"), words, form.withholds, typed))
    if len(parts) == 1:
        parts.append(tag("p", "Nothing to set."))
    return tag("fieldset", join(parts, "\n"), class_="knobs", data_of=form.scheme.name)


def _check(name: str, words: str, is_set: bool, typed: Form | None) -> Html:
    if typed is not None:
        is_set = bool(typed.text(name))
    checked = " checked" if is_set else ""
    box = Html(f'<input type="checkbox" name="{text(name)}" value="yes"{checked}>')
    return tag("p", tag("label", join([box, " ", words])))


def _entry(field: Field, typed: Form | None, *, is_free: bool = False) -> Html:
    value = "" if field.value is None else field.value
    if typed is not None:
        value = typed.text(field.name)
    knob = field.knob
    if knob is not None and knob.options is not None:
        return frame.select(field.name, knob.options, str(value), label=field.label)
    hint = f"{field.hint}; {field.range.words()}"
    # what leaving rows out makes possible is not refused by the browser
    is_bound = not (is_free and knob is not None and knob.key in ("l", "beta"))
    return frame.entry(
        field.name,
        field.label,
        value,
        hint=hint,
        type="number",
        min=field.range.low if is_bound else None,
        max=field.range.high if is_bound else None,
        step=1 if field.is_whole else "any",
        inputmode="numeric" if field.is_whole else "decimal",
    )


def save(here: Visit, form: Form) -> Response:
    """Keep the choice, and publish if that was asked for; a preview keeps nothing."""
    policy = _chosen(here, form)
    if form.text("next") == "preview":
        policy.checked()
        return start_preview(here, policy.text())
    policy.save(here.here)
    if form.text("next") != "publish":
        return to(here.address("protect"))
    run = here.bench.runner.submit(here.here, Kind.PUBLISH)
    return to(here.address(f"runs/{run.id}"))


def _chosen(here: Visit, form: Form) -> PolicyForm:
    """Return the policy with what was chosen and typed."""
    profile, _ = here.profile()
    if profile is None:
        raise ParameterError("the data were not looked at yet")
    policy = PolicyForm.load(here.here)
    name = form.text("scheme", policy.method["name"])
    if name in SCHEMES:
        SchemeForm(SCHEMES[name], policy, Fit(policy.content, profile)).apply(form)
    elif name != policy.method["name"]:
        raise ParameterError("choose one of the schemes")
    return policy


ROUTES: Final[list[BaseRoute]] = [
    shown("/p/{project}/protect", protect),
    done("/p/{project}/protect", save, protect),
]
