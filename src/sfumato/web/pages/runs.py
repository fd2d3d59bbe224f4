"""All runs of a project, and one of them: how far it is, then what came of it."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response
from starlette.routing import BaseRoute

from sfumato.jobs.yaml_file import read_yaml
from sfumato.markup import Html, join, table, tag
from sfumato.reports.page import badge
from sfumato.web import frame
from sfumato.web.bench import Visit, done, shown, to, told
from sfumato.web.forms import Form
from sfumato.web.pages.hand_over import hand_over
from sfumato.web.pages.progress import WORDS, address_of, progress_box
from sfumato.web.runs import Kind, Run, runs_of
from sfumato.web.status import State
from sfumato.web.work.names import JUDGED

_BADGES: Final = {State.FINISHED: "good", State.REFUSED: "bad", State.FAILED: "bad"}


def runs(here: Visit) -> Response:
    """Return the list of runs, the newest first."""
    found = runs_of(here.here, Kind.PUBLISH)
    if not found:
        return here.page(
            "Runs",
            tag("p", "Nothing was published yet."),
            frame.link_button("Choose a protection", here.address("protect")),
            step="runs",
            message=told(here),
        )
    listed = table(
        ["Run", "Method", "State", "Audit", "Loss"],
        [_line(here, run) for run in found],
        caption="Runs of this project",
    )
    return here.page("Runs", listed, step="runs", message=told(here))


def _line(here: Visit, run: Run) -> list[object]:
    state, judged = run.status.state, run.result(JUDGED)
    audit: object = "–"
    loss = None
    if judged is not None:
        audit = badge("holds", "good") if judged["audit"]["ok"] else badge("does not hold", "bad")
        loss = None if judged["ncp"] is None else f"{judged['ncp']:.3f}"
    return [
        tag("a", run.created[:19].replace("T", " "), href=here.address(f"runs/{run.id}")),
        method_words(run),
        badge(WORDS[state], _BADGES.get(state, "note")),
        audit,
        loss,
    ]


def method_words(run: Run) -> str:
    """Return the method of a run with its parameters."""
    method: dict[str, Any] = dict(read_yaml(run.policy)["method"])
    name = method.pop("name")
    return ", ".join([str(name), *(f"{key} = {value}" for key, value in method.items())])


def run(here: Visit) -> Response:
    """Return the page of one run."""
    this = here.this_run
    if this.kind is not Kind.PUBLISH:
        return to(address_of(here, this))
    state = this.status.state
    title = f"Run of {this.created[:16].replace('T', ' ')}"
    if state is not State.FINISHED:
        box = progress_box(here, this, method_words(this))
        refresh = None if state.is_over else 3
        return here.page(title, *box, step="runs", refresh=refresh, message=told(here))
    judged = this.result(JUDGED) or {}
    return here.page(
        title,
        tag("p", method_words(this), class_="lead"),
        *hand_over(here, this),
        *_verdicts(judged),
        step="runs",
        message=told(here),
    )


def _verdicts(judged: dict[str, Any]) -> list[Html]:
    audit = judged["audit"]
    rows = [
        [
            ", ".join(f"{key} = {value}" for key, value in each.items() if key not in _NOT_SHOWN),
            badge("holds", "good")
            if each["holds"]
            else badge("does not hold", "bad")
            if each["holds"] is False
            else badge("declared, not checked"),
        ]
        for each in audit["guarantees"]
    ]
    warnings = [tag("li", each) for each in judged["warnings"]]
    return [
        tag("h2", "What the audit says"),
        table(["Guarantee", "Verdict"], rows, caption="Checked on the published files alone"),
        tag("h2", "Warnings") if warnings else Html(""),
        tag("ul", join(warnings)) if warnings else Html(""),
    ]


_NOT_SHOWN: Final = ("holds", "worst", "reason")


def remove(here: Visit, form: Form) -> Response:
    """Remove a run that is over."""
    here.bench.runner.discard(here.this_run)
    return to(here.address("runs"))


ROUTES: Final[list[BaseRoute]] = [
    shown("/p/{project}/runs", runs),
    shown("/p/{project}/runs/{run}", run),
    done("/p/{project}/runs/{run}/remove", remove, run),
]
