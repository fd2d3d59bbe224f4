"""The roles of the columns: as they were drafted, each with its reason, to be changed in place."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response
from starlette.routing import BaseRoute

from sfumato.errors import InputError
from sfumato.markup import join, table, tag
from sfumato.schema import Role
from sfumato.web import frame
from sfumato.web.bench import Visit, done, shown, to, told
from sfumato.web.forms import Form
from sfumato.web.policy_form import PolicyForm

ROLES: Final = {
    Role.IDENTIFIER: "Identifier: never published",
    Role.QUASI_IDENTIFIER: "Quasi-identifier: others may know it",
    Role.SENSITIVE: "Sensitive: must not be learnt about a person",
    Role.SEMI_SENSITIVE: "Semi-sensitive: some people's cells are",
    Role.SENSITIVE_QUASI_IDENTIFIER: "Sensitive quasi-identifier: both at once",
    Role.INSENSITIVE: "Insensitive: left out, or kept",
}


def roles(here: Visit) -> Response:
    """Return the page of the roles."""
    profile, _ = here.profile()
    if profile is None:
        return to(here.address("data"))
    policy = PolicyForm.load(here.here)
    options = {str(role): words for role, words in ROLES.items()}
    rows = [
        [
            name,
            frame.select(
                f"role-{place}", options, keys["role"], label=f"Role of {name}", hide_label=True
            ),
            policy.reasons.get(name, ""),
        ]
        for place, (name, keys) in enumerate(policy.attributes.items())
    ]
    return here.page(
        "Roles",
        tag(
            "p",
            "What is each column to somebody who wants to find out about a person? Check "
            "every line: nobody knows your data as you do.",
        ),
        here.form(
            here.address("roles"),
            table(["Column", "Role", "Why"], rows, caption="Columns and their roles"),
            tag(
                "p",
                join(
                    [
                        frame.button("Next: protect", name="next", value="protect"),
                        frame.button("Save", kind="plain"),
                    ],
                    " ",
                ),
            ),
            data_guard="",
        ),
        step="roles",
        message=told(here),
    )


def save(here: Visit, form: Form) -> Response:
    """Keep the roles that were chosen."""
    policy = PolicyForm.load(here.here)
    for place, name in enumerate(list(policy.attributes)):
        role = form.text(f"role-{place}")
        if role and role not in list(Role):
            raise InputError(f"column '{name}': unknown role")
        if role and role != policy.attributes[name]["role"]:
            policy.set(name, role=role)
    policy.save(here.here, check=False)
    return to(here.address("protect" if form.text("next") == "protect" else "roles"))


ROUTES: Final[list[BaseRoute]] = [
    shown("/p/{project}/roles", roles),
    done("/p/{project}/roles", save, roles),
]
