"""How far a run is: a box that the script keeps up to date, and a link where there is none."""

from __future__ import annotations

from typing import Final

from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from sfumato.markup import Html, join, tag
from sfumato.web import frame
from sfumato.web.bench import Visit, done, shown, to
from sfumato.web.forms import Form
from sfumato.web.option_words import for_a_page
from sfumato.web.runs import Kind, Run
from sfumato.web.stage_words import stage_words
from sfumato.web.status import State

WORDS: Final = {
    State.QUEUED: "waits for its turn",
    State.RUNNING: "runs",
    State.FINISHED: "finished",
    State.REFUSED: "refused",
    State.FAILED: "failed",
    State.CANCELLED: "cancelled",
    State.INTERRUPTED: "interrupted",
}


def address_of(here: Visit, run: Run) -> str:
    """Return where a run is shown: each kind has its own page."""
    if run.kind is Kind.INSPECT:
        return here.address("data")
    place = {Kind.PREVIEW: "preview", Kind.RECOMMEND: "recommend"}
    return here.address(f"{place.get(run.kind, 'runs')}/{run.id}")


def progress_box(here: Visit, run: Run, title: str) -> list[Html]:
    """Return how far a run is, what went wrong, and what can be done about it."""
    status = run.status
    address = here.address(f"runs/{run.id}")
    if status.state.is_over:
        words = f"{title}: {WORDS[status.state]}. {for_a_page(status.message)}"
        again = here.form(f"{address}/again", frame.button("Run it again", kind="plain"))
        return [tag("p", words, class_="box bad", role="alert"), again, *_ways_on(here, run)]
    bar = tag(
        "progress", "", max="1", value=f"{status.share():.3f}", id="share", aria_labelledby="stage"
    )
    said = tag("p", stage_words(status) or WORDS[status.state], id="stage", aria_live="polite")
    left = tag("p", remaining_words(status.remaining()), id="remaining")
    box = tag(
        "section",
        join([tag("h2", title), bar, said, left]),
        class_="progress",
        data_poll=f"{address}/status",
    )
    cancel = here.form(f"{address}/cancel", frame.button("Cancel", kind="danger"))
    return [
        box,
        tag("p", "You can close this page; the run goes on."),
        cancel,
        tag("noscript", tag("p", "This page loads itself anew every few seconds.")),
    ]


def _ways_on(here: Visit, run: Run) -> list[Html]:
    """Return where to change what stood in the way of a run."""
    if run.kind is Kind.INSPECT:
        return []
    change = tag("a", "Change the protection", href=here.address("protect"))
    roles = tag("a", "change the roles", href=here.address("roles"))
    return [tag("p", join([change, " or ", roles, "."]))]


def remaining_words(seconds: float | None) -> str:
    """Return a time that is left in words.

    >>> remaining_words(200), remaining_words(3)
    ('about 3 minutes left', 'a few seconds left')
    """
    if seconds is None:
        return ""
    if seconds < 10:
        return "a few seconds left"
    if seconds < 90:
        return f"about {round(seconds / 10) * 10} seconds left"
    return f"about {round(seconds / 60)} minutes left"


def status(here: Visit) -> Response:
    """Return the status of a run as JSON, with its remaining time in words."""
    now = here.this_run.status
    said = {"stage": stage_words(now), "left": remaining_words(now.remaining())}
    return JSONResponse(now.to_json() | said)


def cancel(here: Visit, form: Form) -> Response:
    """End a run."""
    here.bench.runner.cancel(here.this_run)
    here.bench.runner.wait(here.this_run, 5)
    return to(address_of(here, here.this_run))


def again(here: Visit, form: Form) -> Response:
    """Run with the same policy, whatever became of the project's since."""
    run = here.bench.runner.again(here.here, here.this_run)
    return to(address_of(here, run))


ROUTES: Final[list[BaseRoute]] = [
    shown("/p/{project}/runs/{run}/status", status),
    done("/p/{project}/runs/{run}/cancel", cancel),
    done("/p/{project}/runs/{run}/again", again),
]
