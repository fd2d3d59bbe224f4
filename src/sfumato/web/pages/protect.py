"""How to protect: a scheme, its parameters, and the start of a run."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response
from starlette.routing import BaseRoute

from sfumato.markup import Html, details, join, tag
from sfumato.web import frame
from sfumato.web.bench import Visit, done, shown, to, told
from sfumato.web.forms import Form
from sfumato.web.policy_form import PolicyForm
from sfumato.web.runs import Kind

# What a scheme protects against, in plain words; the papers' terms are one click away.
SCHEMES: Final = {
    "mondrian": ("Nobody stands alone", "Groups of people look alike (k-anonymity)", ("k",)),
    "lgb": ("Each person's own wishes", "Cells that their owner flagged (LGB)", ("k", "l")),
    "arp": ("Secrets stay ambiguous, numbers exact", "Refining partition (ARP)", ("l",)),
    "slppa": ("Records are mixed in slices", "SLPPA, (α, β, γ, δ)", ("k",)),
    "merging": ("Repeated releases of the same people", "Merging with fakes", ("k", "l")),
    "sensitive-qid": ("Some known things are secret too", "Sensitive quasi-identifiers", ()),
}
PARAMETERS: Final = {
    "k": ("Smallest group (k)", "how many people look alike at least"),
    "l": ("Different secrets (l)", "how many secrets a person may have at least"),
}


def protect(here: Visit) -> Response:
    """Return the page of the method."""
    profile, _ = here.profile()
    if profile is None:
        return to(here.address("data"))
    method = PolicyForm.load(here.here).method
    fields = [
        frame.entry(key, label, method.get(key, ""), hint=hint, type="number", min=1, step=1)
        for key, (label, hint) in PARAMETERS.items()
    ]
    return here.page(
        "Protect",
        here.form(
            here.address("protect"),
            tag("fieldset", join([tag("legend", "What to protect against"), *_choices(method)])),
            tag("fieldset", join([tag("legend", "How much"), *fields])),
            tag(
                "p",
                join(
                    [
                        frame.button("Publish", name="next", value="publish"),
                        frame.button("Save", kind="plain"),
                    ],
                    " ",
                ),
            ),
            data_guard="",
        ),
        step="protect",
        message=told(here),
    )


def _choices(method: dict[str, object]) -> list[Html]:
    found = []
    for name, (plain, term, _) in SCHEMES.items():
        checked = " checked" if method["name"] == name else ""
        radio = Html(f'<input type="radio" name="scheme" value="{name}"{checked}>')
        found.append(
            tag(
                "div",
                join(
                    [
                        tag("label", join([radio, " ", plain])),
                        details("In the papers", tag("p", term)),
                    ]
                ),
                class_="choice",
            )
        )
    return found


def save(here: Visit, form: Form) -> Response:
    """Keep the method, and publish if that was asked for."""
    policy = PolicyForm.load(here.here)
    name = form.text("scheme", policy.method["name"])
    known = SCHEMES.get(name, ("", "", ()))[2]
    kept = policy.method if name == policy.method["name"] else {}
    others = {key: value for key, value in kept.items() if key not in ("name", *PARAMETERS)}
    policy.set_method(name, **others, **{key: form.number(key) for key in known})
    policy.save(here.here)
    if form.text("next") != "publish":
        return to(here.address("protect"))
    run = here.bench.runner.submit(here.here, Kind.PUBLISH)
    return to(here.address(f"runs/{run.id}"))


ROUTES: Final[list[BaseRoute]] = [
    shown("/p/{project}/protect", protect),
    done("/p/{project}/protect", save, protect),
]
