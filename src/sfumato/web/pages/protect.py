"""How to protect: a scheme by what it protects against, its parameters, and the start of a run."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response
from starlette.routing import BaseRoute

from sfumato.errors import ParameterError
from sfumato.markup import Html, join, tag
from sfumato.web import frame
from sfumato.web.bench import Visit, done, shown, to, to_saved, told
from sfumato.web.forms import Form
from sfumato.web.output_form import read_output
from sfumato.web.pages.preview import start_preview
from sfumato.web.pages.scheme_parts import Sent, as_it_is, choice, output_part
from sfumato.web.policy_form import STAMP, PolicyForm
from sfumato.web.runs import Kind
from sfumato.web.scheme_fields import FieldError
from sfumato.web.scheme_fit import Fit
from sfumato.web.scheme_form import SchemeForm, forms_of
from sfumato.web.schemes import SCHEMES, Shelf

_SHELVES: Final[dict[Shelf, str]] = {
    "more": "More methods",
    "compared": "Methods that papers compare with",
}


def protect(here: Visit) -> Response:
    """Return the page of the method."""
    profile, _ = here.profile()
    if profile is None:
        return to(here.address("data"))
    policy = PolicyForm.load(here.here)
    forms = forms_of(policy, Fit(policy.content, profile, here.here.data))
    typed: Form | None = getattr(here.request.state, "form", None)
    chosen = policy.method["name"] if typed is None else typed.text("scheme")
    sent = Sent(chosen, typed, getattr(here.request.state, "wrong", {}))
    main = [choice(each, sent) for each in forms.values() if each.scheme.is_main]
    if policy.method["name"] not in SCHEMES:
        main.insert(0, as_it_is(policy.method, chosen))
    more = [_shelf(forms, shelf, words, sent) for shelf, words in _SHELVES.items()]
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
            frame.hidden(STAMP, policy.stamp),
            tag("fieldset", join([tag("legend", "What to protect against"), *main, *more])),
            output_part(policy, sent),
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
        message=told(here, policy),
    )


def _shelf(forms: dict[str, SchemeForm], shelf: Shelf, words: str, sent: Sent) -> Html:
    """Return schemes that stand one click away; open where one of them is chosen."""
    listed = [each for each in forms.values() if each.scheme.shelf == shelf]
    is_open = any(each.scheme.name == sent.chosen for each in listed)
    return tag(
        "details",
        join([tag("summary", words), *(choice(each, sent) for each in listed)]),
        open="" if is_open else None,
        class_="more",
    )


def save(here: Visit, form: Form) -> Response:
    """Keep the choice, and publish if that was asked for; a preview keeps nothing."""
    try:
        policy = _chosen(here, form)
    except FieldError as error:
        here.request.state.wrong = {error.field: str(error)}
        raise
    if form.text("next") == "preview":
        policy.checked()
        return start_preview(here, policy.text())
    policy.save(here.here)
    if form.text("next") != "publish":
        return to_saved(here, here.address("protect"))
    run = here.bench.runner.submit(here.here, Kind.PUBLISH)
    return to(here.address(f"runs/{run.id}"))


def _chosen(here: Visit, form: Form) -> PolicyForm:
    """Return the policy with what was chosen and typed."""
    profile, _ = here.profile()
    if profile is None:
        raise ParameterError("the data were not looked at yet")
    policy = PolicyForm.load(here.here)
    policy.refuse_other(form.text(STAMP))
    name = form.text("scheme", policy.method["name"])
    if name in SCHEMES:
        SchemeForm(SCHEMES[name], policy, Fit(policy.content, profile, here.here.data)).apply(form)
    elif name != policy.method["name"]:
        raise ParameterError("choose one of the schemes")
    policy.complete([each["name"] for each in profile["columns"]])
    read_output(form, policy)
    return policy


ROUTES: Final[list[BaseRoute]] = [
    shown("/p/{project}/protect", protect),
    done("/p/{project}/protect", save, protect),
]
