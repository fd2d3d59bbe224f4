"""All runs of a project, and one of them: how far it is, then what came of it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

from starlette.responses import Response
from starlette.routing import BaseRoute

from sfumato.errors import InputError
from sfumato.jobs.yaml_file import read_yaml
from sfumato.markup import Html, table, tag
from sfumato.reports.page import badge
from sfumato.web import frame
from sfumato.web.bench import Visit, done, shown, to, told
from sfumato.web.forms import Form
from sfumato.web.judgement import Judgement
from sfumato.web.pages.hand_over import public_reports
from sfumato.web.pages.judge import judge
from sfumato.web.pages.progress import WORDS, address_of, progress_box
from sfumato.web.risk_map import Point, risk_utility_map
from sfumato.web.runs import Kind, Run, runs_of
from sfumato.web.status import State
from sfumato.web.work.names import REPORT_OF

_PATIENCE: Final = 5.0
_BADGES: Final = {State.FINISHED: "good", State.REFUSED: "bad", State.FAILED: "bad"}


def runs(here: Visit) -> Response:
    """Return the list of runs, the newest first, and the map of those that finished."""
    found = sorted(runs_of(here.here, Kind.PUBLISH), key=lambda run: run.created, reverse=True)
    if not found:
        return here.page(
            "Runs",
            tag("p", "Nothing was published yet."),
            frame.link_button("Choose a protection", here.address("protect")),
            step="runs",
            message=told(here),
        )
    numbers = {run.id: str(len(found) - place) for place, run in enumerate(found)}
    judged = {run.id: Judgement.of(run) for run in found}
    listed = table(
        ["Run", "Started", "Method", "State", "Audit", "Re-id", "Inferred", "Error", "Loss"],
        [_line(here, run, numbers[run.id], judged[run.id]) for run in found],
        caption="Runs of this project, the newest first",
    )
    points = [
        Point(numbers[run.id], method_words(run), here.address(f"runs/{run.id}"), own)
        for run in found
        if (own := judged[run.id]) is not None
    ]
    return here.page(
        "Runs",
        listed,
        tag("p", _COLUMNS),
        *_comparison(here, points),
        *_map(points),
        step="runs",
        message=told(here),
    )


def _line(here: Visit, run: Run, number: str, judged: Judgement | None) -> list[object]:
    state = run.status.state
    numbers = {} if judged is None else {each.name: each.text for each in judged.numbers}
    return [
        tag("a", f"Run {number}", href=here.address(f"runs/{run.id}")),
        when(run),
        method_words(run),
        badge(WORDS[state], _BADGES.get(state, "note")),
        None if judged is None else judged.badge,
        *(numbers.get(name) for name in _SHOWN),
    ]


def _comparison(here: Visit, points: list[Point]) -> list[Html]:
    if len(points) < 2:
        return []
    link = here.address(f"compare?a={points[1].judged.run.id}&b={points[0].judged.run.id}")
    return [tag("p", frame.link_button("Compare two runs", link, "plain"))]


def _map(points: list[Point]) -> list[Html]:
    drawn = risk_utility_map(points)
    if not drawn:
        return []
    return [
        tag("h2", "Risk and utility"),
        tag("p", "Each point is a run of this project; a run to the left of and below another is "
            "better in both."),
        drawn,
    ]  # fmt: skip


_SHOWN: Final = (
    "Re-identification, mean", "Inference", "Query error, mean", "Loss of cells (NCP)",
)  # fmt: skip
_COLUMNS: Final = (
    "Re-id: mean chance to find a person. Inferred: sensitive values guessed rightly. Error: mean "
    "error of COUNT queries. Loss: of quasi-identifier cells. Less is better in each."
)


def when(run: Run) -> str:
    """Return when a run was asked for."""
    return run.created[:16].replace("T", " ")


def method_words(run: Run) -> str:
    """Return the method of a run with its parameters."""
    method: dict[str, Any] = dict(read_yaml(run.policy)["method"])
    name = method.pop("name")
    return ", ".join([str(name), *(f"{key} = {value}" for key, value in method.items())])


def run(here: Visit) -> Response:
    """Return the page of one run."""
    this = here.this_run
    state = this.status.state
    if this.kind not in (Kind.PUBLISH, Kind.REPORT):
        return to(address_of(here, this))
    if this.kind is Kind.REPORT and state is State.FINISHED:  # linked where its release is
        return to(here.address(f"runs/{this.options[REPORT_OF]}"))
    title = f"Run of {when(this)}"
    words = method_words(this) if this.kind is Kind.PUBLISH else "Report for the public"
    judged = Judgement.of(this)
    if judged is None:
        box = progress_box(here, this, words)
        refresh = None if state.is_over else 3
        return here.page(title, *box, step="runs", refresh=refresh, message=told(here))
    lead = tag("p", words, class_="lead")
    return here.page(title, lead, *judge(here, judged), step="runs", message=told(here))


def remove(here: Visit, form: Form) -> Response:
    """Remove a run that is over, with the reports about it."""
    this = here.this_run
    here.bench.runner.discard(this)
    here.bench.shelf.forget(this)
    for each in public_reports(here.here, this):
        here.bench.runner.cancel(each)
        here.bench.runner.wait(each, _PATIENCE)
        with suppress(InputError):  # one that does not end in time stays, and finds no release
            here.bench.runner.discard(each)
    return to(here.address("runs"))


ROUTES: Final[list[BaseRoute]] = [
    shown("/p/{project}/runs", runs),
    shown("/p/{project}/runs/{run}", run),
    done("/p/{project}/runs/{run}/remove", remove, run),
]
