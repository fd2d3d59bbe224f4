"""Recommend for me: limits in plain terms in, a policy with its reasons out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute

from sfumato.errors import ParameterError
from sfumato.jobs.limits import PRESETS, limits_of
from sfumato.jobs.limits import shown as as_words
from sfumato.markup import Html, details, join, table, tag
from sfumato.reports.page import bullets, cards, note
from sfumato.web import frame
from sfumato.web.bench import Visit, done, shown, to, to_saved, told
from sfumato.web.count_words import counted
from sfumato.web.forms import Form
from sfumato.web.option_words import LABELS, for_a_page
from sfumato.web.pages.preview import adopt
from sfumato.web.pages.progress import progress_box
from sfumato.web.runs import Kind, Run, runs_of
from sfumato.web.schemes import SCHEMES
from sfumato.web.status import State
from sfumato.web.work.names import FOUND, RECOMMENDED

_TITLE: Final = "Recommend for me"
_MINUTES: Final = (0.5, 60)
_USUAL_MINUTES: Final = 3
_PRESET_WORDS: Final = {
    "": "My own limits",
    "strict": "Strict: crowds of 20, five likely values",
    "ema": "European Medicines Agency: 0.09",
    "cms": "US Medicare & Medicaid: cells of 11",
}
_LIMITS: Final = {
    "max_reidentification": (
        LABELS["max-reidentification"],
        "such as 0.09 or 1/11; empty: as the rule above",
    ),
    "max_inference": (
        LABELS["max-inference"],
        "such as 0.25 or 1/4; empty: as the rule above, most rules state none",
    ),
    "max_withheld": (LABELS["max-withheld"], "such as 0.02; 0 for none"),
}


def ask(here: Visit) -> Response:
    """Return the page that asks for limits."""
    profile, _ = here.profile()
    if profile is None:
        return to(here.address("data"))
    typed: Form = getattr(here.request.state, "form", None) or Form(_usual())
    fields = [
        frame.entry(key, label, typed.text(key), hint=hint, inputmode="decimal", autocomplete="off")
        for key, (label, hint) in _LIMITS.items()
    ]
    low, high = _MINUTES
    minutes = frame.entry(
        "minutes",
        LABELS["minutes"],
        typed.text("minutes"),
        hint=f"from {low:g} to {high:g}; more time tries more",
        type="number",
        min=low,
        max=high,
        step="any",
    )
    sources = bullets(f"{name}: {preset.source}." for name, preset in PRESETS.items())
    return here.page(
        _TITLE,
        tag(
            "p",
            "Say what risk you accept. The workbench tries methods and parameters on your data, "
            "keeps those that stay within the limits, and picks the one whose answers are best.",
        ),
        here.form(
            here.address("recommend"),
            tag(
                "fieldset",
                join(
                    [
                        tag("legend", "Limits"),
                        frame.select(
                            "preset", _PRESET_WORDS, typed.text("preset"), label=LABELS["preset"]
                        ),
                        details("Where these rules come from", sources),
                        *fields,
                        minutes,
                    ],
                    "\n",
                ),
            ),
            frame.button("Search"),
        ),
        *_earlier(here),
        tag("p", tag("a", "Back to the schemes", href=here.address("protect"))),
        step="protect",
        message=told(here),
    )


def _usual() -> dict[str, str]:
    return {"preset": "strict", "max_withheld": "0", "minutes": str(_USUAL_MINUTES)}


def _earlier(here: Visit) -> list[Html]:
    found = runs_of(here.here, Kind.RECOMMEND)
    if not found:
        return []
    lines = [
        tag(
            "a",
            f"{run.created[:16].replace('T', ' ')}: {_asked_words(run.options)}",
            href=here.address(f"recommend/{run.id}"),
        )
        for run in found
    ]
    return [tag("h2", "Earlier searches"), bullets(lines)]


def _asked_words(options: Mapping[str, Any]) -> str:
    words = {"preset": "rule", "max_reidentification": "recognised", "max_inference": "guessed"}
    return ", ".join(f"{word} {options[key]}" for key, word in words.items() if options.get(key))


def search(here: Visit, form: Form) -> Response:
    """Start a search; limits that are none are refused before."""
    preset = form.text("preset") or None
    people, values = (form.text(key) or None for key in ("max_reidentification", "max_inference"))
    if preset is None and people is None and values is None:
        raise ParameterError("state a limit, or choose a rule")
    try:
        limits_of(preset, people, values, form.text("max_withheld") or 0)
    except ParameterError as error:
        raise ParameterError(for_a_page(str(error))) from None
    minutes = form.number("minutes") or _USUAL_MINUTES
    low, high = _MINUTES
    if not low <= minutes <= high:
        raise ParameterError(f"the search may take from {low:g} to {high:g} minutes")
    options = {
        "preset": preset,
        "max_reidentification": people,
        "max_inference": values,
        "max_withheld": form.text("max_withheld") or "0",
        "minutes": minutes,
    }
    run = here.bench.runner.submit(here.here, Kind.RECOMMEND, options)
    return to(here.address(f"recommend/{run.id}"))


def found(here: Visit) -> Response:
    """Return how far a search is, then what it found."""
    run = here.this_run
    if run.kind is not Kind.RECOMMEND:
        raise HTTPException(404)
    state = run.status.state
    if state is not State.FINISHED:
        box = progress_box(here, run, "Searching for a policy")
        again = tag("p", tag("a", "Other limits", href=here.address("recommend")))
        refresh = None if state.is_over else 3
        return here.page(_TITLE, *box, again, step="protect", refresh=refresh, message=told(here))
    content = run.result(FOUND) or {}
    parts = _choice(here, run, content) if content.get("ok") else _nothing(content)
    return here.page(
        _TITLE,
        *parts,
        *_frontier(content),
        *([tag("h2", "Notes"), _told(content["notes"])] if content["notes"] else []),
        tag("p", tag("a", "Search with other limits", href=here.address("recommend"))),
        step="protect",
        message=told(here),
    )


def _choice(here: Visit, run: Run, content: dict[str, Any]) -> list[Html]:
    choice = content["choice"]
    scheme = SCHEMES.get(choice["method"])
    title = choice["candidate"] if scheme is None else f"{scheme.title} ({choice['candidate']})"
    numbers: list[tuple[object, object]] = [
        ("Highest chance to be recognised", _share(choice["reidentification"])),
        ("Highest chance that a secret is guessed", _share(choice["inference"])),
        ("Mean error of counts, on questions it never saw", f"{choice['error_held_out']:.3g}"),
    ]
    use = here.form(
        here.address(f"recommend/{run.id}/use"),
        tag(
            "p",
            join(
                [
                    frame.button("Use this policy"),
                    frame.button("Use it and publish", name="next", value="publish", kind="plain"),
                ],
                " ",
            ),
        ),
        tag("p", "It takes the place of the roles and the method that the project has now."),
    )
    return [
        tag("h2", f"Recommended: {title}"),
        cards(numbers),
        tag("h3", "Why this one"),
        _told(choice["reasons"]),
        use,
        details("The policy file", tag("pre", _lines(choice["policy"]), tabindex=0)),
    ]


def _told(lines: Iterable[str]) -> Html:
    """Return what the search says, with fields in place of the command line's options."""
    return bullets(for_a_page(line) for line in lines)


def _lines(content: str) -> Html:
    """Return a text of several lines, each escaped by itself."""
    return join(content.splitlines(), "\n")


def _nothing(content: dict[str, Any]) -> list[Html]:
    if content["frontier"] or not content["tried"]:
        words = (
            "The time did not do to check a candidate to the end, so nothing is recommended. "
            "Search again, with more minutes."
        )
        return [note(words, kind="warning")]
    words = "Nothing that was tried keeps these limits, so nothing is recommended."
    parts = [note(words, kind="warning")]
    if content["binds"]:
        parts += [tag("h2", "What stands in the way"), _told(content["binds"])]
    ways = [
        f"{each['words']}, tried with {each['method']}{'; ' if each['note'] else ''}{each['note']}"
        for each in content["relaxations"]
    ]
    if ways:
        parts += [tag("h2", "What would do"), bullets(ways)]
    refusals = [f"{method}: {why}" for method, why in content["refusals"].items()]
    if refusals:
        parts.append(details("Why methods published nothing", _told(refusals)))
    return parts


def _frontier(content: dict[str, Any]) -> list[Html]:
    count = len(content["tried"])
    were = "was" if count == 1 else "were"
    rows_tried = counted(content["rows"], "row")
    tried = f"{counted(count, 'candidate')} {were} tried on {rows_tried}"
    judged = f"{tried}; judged by {content['queries']}."
    if not content["frontier"]:
        return [tag("p", judged)]
    rows = [
        [
            each["candidate"],
            _share(each["reidentification"]),
            _share(each["inference"]),
            None if each["error"] is None else f"{each['error']:.3g}",
        ]
        for each in content["frontier"]
    ]
    return [
        tag("h2", "The best of what was tried"),
        tag("p", judged),
        table(
            ["Candidate", "Recognised at most", "Guessed at most", "Mean error of counts"],
            rows,
            caption="Within the limits, and beaten by none in both risks and the error",
        ),
    ]


def _share(value: float | None) -> str:
    """Return a share rounded up.

    >>> _share(0.05), _share(1 / 3)
    ('0.05', '0.334')
    """
    # by its digits: the float of 0.05 is a little more, and would be rounded up
    return "–" if value is None else as_words(Fraction(str(value)))


def use(here: Visit, form: Form) -> Response:
    """Make the recommended policy that of the project, and publish if that was asked for."""
    run = here.this_run
    policy = run.folder / RECOMMENDED
    if run.kind is not Kind.RECOMMEND or not policy.is_file():
        raise HTTPException(404)
    adopt(here, policy)
    if form.text("next") != "publish":
        return to_saved(here, here.address("protect"))
    started = here.bench.runner.submit(here.here, Kind.PUBLISH)
    return to(here.address(f"runs/{started.id}"))


ROUTES: Final[list[BaseRoute]] = [
    shown("/p/{project}/recommend", ask),
    done("/p/{project}/recommend", search, ask),
    shown("/p/{project}/recommend/{run}", found),
    done("/p/{project}/recommend/{run}/use", use, found),
]
