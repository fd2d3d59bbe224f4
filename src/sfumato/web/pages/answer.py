"""Questions to a release: a query in SQL, or a cross-tabulation; with bounds and errors."""

from __future__ import annotations

import re
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from sfumato.errors import SfumatoError
from sfumato.markup import Html, details, join, table, tag
from sfumato.reports.page import bullets, formula
from sfumato.web import frame
from sfumato.web.answer_tables import cross_counts, cross_estimates, result_table
from sfumato.web.bench import Bench, Visit, done, shown, to
from sfumato.web.forms import FORM_TOKEN, Form
from sfumato.web.pages.runs import method_words, when
from sfumato.web.questions import Question
from sfumato.web.runs import Kind, Run, runs_of
from sfumato.web.small_files import read_json
from sfumato.web.status import State
from sfumato.web.work.names import RELEASE

_FIRST: Final = "SELECT COUNT(*)"
_FINDING: Final = "Finding the answer in the background"
_PLACE: Final = re.compile(r"query, character ([0-9]+): (.*)", re.DOTALL)
_QUERY, _CROSS = "query", "cross"
_WAYS: Final = {
    "bounds": "counts with bounds that cannot fail",
    "table": "reconstructed counts, with standard errors where there are any",
}
_WORDS: Final = (
    "value: the expected answer, given the release.",
    "low, high: bounds that hold for every original that the release may have come from.",
    "se: the standard error of the release's own randomness, where it has any.",
)


def newest(here: Visit) -> Response:
    """Lead to the questions to the newest release."""
    for run in runs_of(here.here, Kind.PUBLISH):
        if run.status.state is State.FINISHED:
            return to(here.address(f"runs/{run.id}/answer"))
    return here.page(
        "Answer",
        tag("p", "Nothing was published yet that could be asked."),
        frame.link_button("Choose a protection", here.address("protect")),
        step="answer",
    )


def page(here: Visit) -> Response:
    """Return the forms, and what came of a question: its answer, why it was refused, or a wait."""
    given = here.query("asked")
    if not given:
        return _page(here, None)
    question = here.bench.questions.asked(given, _asked(here).folder)
    if question is None:
        here.request.state.message = (frame.NOTE, "This answer was not kept. Ask again.")
        return _page(here, None)
    here.request.state.form = Form(dict(question.fields))
    if not question.answer.done():
        return _page(here, _waiting(here, question), refresh=2)
    return _answered(here, question)


def ask(here: Visit, form: Form) -> Response:
    """Answer what a form asks; what takes longer is waited for on a page of its own."""
    run = _asked(here)
    fields = {key: value for key, value in form.fields.items() if key != FORM_TOKEN}
    question = here.bench.questions.ask(run.folder, fields, lambda: _find(here.bench, run, form))
    if not question.answer.done():
        return to(here.address(f"runs/{run.id}/answer?asked={question.id}#answer"))
    here.request.state.form = form
    return _answered(here, question)


def _answered(here: Visit, question: Question) -> Response:
    try:
        return _page(here, question.answer.result())
    except SfumatoError as error:
        here.request.state.message = (frame.BAD, str(error))
    refused = _page(here, None)
    refused.status_code = 422
    return refused


def _find(bench: Bench, run: Run, form: Form) -> list[Html]:
    """Return the answer to what a form asks.

    Refuses (SfumatoError) what cannot be answered.
    """
    loaded = bench.shelf.take(run)
    with loaded.turn:
        if form.text("what") != _CROSS:
            return result_table(loaded.answerer.query(typed(form)))
        names = tuple(dict.fromkeys((form.text("one"), form.text("other"))))
        if form.text("way") == "table":
            from sfumato.jobs.reconstruct import reconstruct

            return cross_counts(reconstruct(loaded.release, list(names)))
        from sfumato.answers import Count, Query

        return cross_estimates(loaded.answerer.query(Query(Count(), names)))


def _waiting(here: Visit, question: Question) -> list[Html]:
    """Return a line that says that the answer is being found; the script loads it when it is."""
    bar = tag("progress", "", id="share", aria_labelledby="stage")
    said = tag("p", _FINDING, id="stage", aria_live="polite")
    left = tag("p", _so_long(question.seconds), id="remaining")
    status = here.address(f"runs/{here.this_run.id}/answer/{question.id}")
    return [tag("div", join([bar, said, left]), class_="progress", data_poll=status)]


def _so_long(seconds: float) -> str:
    return f"{seconds:.0f} seconds so far" if seconds >= 2 else ""


def status(here: Visit) -> Response:
    """Return whether a question was answered, as JSON; one that is forgotten is over."""
    id = here.request.path_params["question"]
    question = here.bench.questions.asked(id, _asked(here).folder)
    is_over = question is None or question.answer.done()
    left = "" if question is None else _so_long(question.seconds)
    return JSONResponse({"over": is_over, "stage": _FINDING, "share": None, "left": left})


def typed(form: Form | None) -> str:
    """Return the query of a form; an example's button comes before what was typed."""
    if form is None or form.text("what") == _CROSS:
        return _FIRST
    given = form.fields.get("example") or form.fields.get("q", "")
    return given.replace("\r\n", "\n")


def _asked(here: Visit) -> Run:
    """Return the run of the address if it has published something."""
    run = here.this_run
    if run.kind is not Kind.PUBLISH or run.status.state is not State.FINISHED:
        raise HTTPException(404)
    return run


def _page(here: Visit, answer: list[Html] | None, refresh: int | None = None) -> Response:
    run = _asked(here)
    here.bench.shelf.fetch(run)  # while the question is typed
    form: Form | None = getattr(here.request.state, "form", None)
    message = getattr(here.request.state, "message", None)
    what = None if form is None else _CROSS if form.text("what") == _CROSS else _QUERY
    below: list[Html] = []
    if message is not None and form is not None:
        below = _refusal(typed(form), message[1])
    elif answer is not None:
        below = [
            tag("section", join([tag("h3", "Answer"), *answer]), id="answer", role="status"),
            formula("what the numbers are", *_WORDS),
        ]
    manifest = read_json(run.folder / RELEASE / "manifest.json") or {}
    attributes = list(manifest.get("attributes", []))
    return here.page(
        "Answer",
        tag("p", join(["From the release of ", when(run), ": ", method_words(run), "."])),
        _others(here, run),
        tag("h2", "Ask in SQL"),
        _query_form(here, run, typed(form), attributes, what == _QUERY and message is not None),
        *(below if what == _QUERY else []),
        _columns(attributes),
        tag("h2", "Cross-tabulation"),
        _cross_form(here, run, form if what == _CROSS else None, attributes),
        *(below if what == _CROSS else []),
        step="answer",
        message=message if form is None else None,
        refresh=refresh,
    )


def _query_form(here: Visit, run: Run, text: str, attributes: list[Any], is_refused: bool) -> Html:
    hint = "COUNT(*), SUM(column) or AVG(column), with WHERE and GROUP BY if wanted."
    # a line at a time: what does not show in texts from files is replaced, and so are ends of lines
    lines = join(text.split("\n"), "&#10;")
    area = tag(
        "textarea", lines, name_="q", rows=4, spellcheck="false", autocapitalize="off",
        required="", maxlength=50_000, aria_invalid="true" if is_refused else None,
        aria_describedby="refusal query-hint" if is_refused else "query-hint",
    )  # fmt: skip
    label = tag("label", join([tag("span", "Query"), area], " "), class_="query")
    examples = [
        frame.button(each, name="example", value=each, kind="plain")
        for each in _examples(attributes)
    ]
    form: Html = here.form(
        here.address(f"runs/{run.id}/answer"),
        frame.hidden("what", _QUERY),
        label,
        tag("p", tag("small", hint), id="query-hint"),
        frame.button("Ask"),
        details("Examples", tag("p", join(examples, " "))) if examples else "",
    )
    return form


def _examples(attributes: list[Any]) -> list[str]:
    """Return queries that any release with such columns answers."""
    named = [str(each["name"]) for each in attributes]
    few = [_quoted(name) for name in named[:3]]
    found = [f"SELECT {each}, COUNT(*) GROUP BY {each}" for each in few]
    numbers = [each for each in attributes if str(each.get("kind")) == "numeric"]
    return [_FIRST, *found, *(f"SELECT AVG({_quoted(e['name'])})" for e in numbers[:1])]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _columns(attributes: list[Any]) -> Html:
    rows = [[each["name"], each.get("kind"), each.get("type")] for each in attributes]
    return details("Columns that can be asked for", table(["Column", "Kind", "Type"], rows))


def _cross_form(here: Visit, run: Run, form: Form | None, attributes: list[Any]) -> Html:
    names = [str(each["name"]) for each in attributes]
    options = {name: name for name in names}
    given = form.text if form is not None else lambda name: ""
    one = given("one") or next(iter(names), None)
    other = given("other") or next(iter(names[1:]), None)
    made: Html = here.form(
        here.address(f"runs/{run.id}/answer"),
        frame.hidden("what", _CROSS),
        frame.select("one", options, one, label="Rows"),
        frame.select("other", options, other, label="Columns"),
        frame.select("way", _WAYS, given("way") or "bounds", label="Show"),
        frame.button("Tabulate", kind="plain"),
        class_="asked",
    )
    return made


def _refusal(text: str, words: str) -> list[Html]:
    """Return why a question was refused, and of a query the place."""
    found = _PLACE.fullmatch(words)
    if found is None:
        return [tag("p", words, class_="box bad", role="alert", id="refusal")]
    place = int(found[1]) - 1
    said = tag(
        "p", join([f"Character {place + 1}: ", found[2]]), class_="box bad", role="alert",
        id="refusal",
    )  # fmt: skip
    return [said, marked(text, place)]


def marked(text: str, place: int) -> Html:
    """Return a text with the character at a place marked, or its end.

    >>> marked("a b", 2)
    '<pre class="scroll" tabindex="0"><code>a <mark>b</mark></code></pre>'
    """
    before, at, after = text[:place], text[place : place + 1], text[place + 1 :]
    after, at = (at + after, "") if at == "\n" else (after, at)
    shown = join(
        [_lines(before), tag("mark", at or "\N{NO-BREAK SPACE}"), _lines(after)],
    )
    return tag("pre", tag("code", shown), class_="scroll", tabindex=0)


def _lines(text: str) -> Html:
    return join(text.split("\n"), "\n")


def _others(here: Visit, run: Run) -> Html:
    """Return the way to other releases of the project."""
    others = [
        tag("a", f"{when(e)}: {method_words(e)}", href=here.address(f"runs/{e.id}/answer"))
        for e in runs_of(here.here, Kind.PUBLISH)
        if e.id != run.id and e.status.state is State.FINISHED
    ]
    return details("Ask another release", bullets(others)) if others else Html("")


ROUTES: Final[list[BaseRoute]] = [
    shown("/p/{project}/answer", newest),
    shown("/p/{project}/runs/{run}/answer", page),
    done("/p/{project}/runs/{run}/answer", ask, page),
    shown("/p/{project}/runs/{run}/answer/{question}", status),
]
