"""What a choice would do, on a sample: rows before and after, groups, and what is lost."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute

from sfumato.errors import InputError
from sfumato.jobs.yaml_file import read_yaml
from sfumato.markup import Html, details, join, table, tag
from sfumato.reports.page import bullets, cards
from sfumato.web import frame
from sfumato.web.bench import Visit, done, shown, to, to_saved, told
from sfumato.web.forms import Form
from sfumato.web.pages.progress import progress_box
from sfumato.web.pages.runs import method_words
from sfumato.web.policy_form import STAMP, PolicyForm
from sfumato.web.runs import Kind, Run, runs_of
from sfumato.web.status import State
from sfumato.web.work.names import SAMPLED


def start_preview(here: Visit, policy: str) -> Response:
    """Start a preview of a policy that is not kept; the project has one preview at a time."""
    for earlier in runs_of(here.here, Kind.PREVIEW):
        here.bench.runner.cancel(earlier)
        with suppress(InputError):  # it is just ending: the next preview removes it
            here.bench.runner.discard(earlier)
    options = {STAMP: PolicyForm.load(here.here).stamp}
    run = here.bench.runner.submit(here.here, Kind.PREVIEW, options, policy=policy)
    return to(here.address(f"preview/{run.id}"))


def preview(here: Visit) -> Response:
    """Return how far a preview is, then what it shows; the script takes its section."""
    run = _of_kind(here)
    state = run.status.state
    if state is State.FINISHED:
        content = _shown(run.result(SAMPLED) or {})
        use = [
            here.form(
                here.address(f"preview/{run.id}/use"),
                tag(
                    "p",
                    join(
                        [
                            frame.button("Publish this", name="next", value="publish"),
                            frame.button("Keep this choice", kind="plain"),
                        ],
                        " ",
                    ),
                ),
            )
        ]
    else:
        content, use = progress_box(here, run, "Preview"), []
        if state is State.REFUSED:
            words = "This was said of a sample; with all rows more may be possible."
            content.append(tag("p", words))
    section = tag("section", join(content, "\n"), id="preview", aria_label="Preview")
    return here.page(
        "Preview",
        tag("p", method_words(run), class_="lead"),
        section,
        *use,
        tag("p", tag("a", "Back to the choice", href=here.address("protect"))),
        step="protect",
        refresh=None if state.is_over else 2,
        message=told(here),
    )


def _of_kind(here: Visit) -> Run:
    if here.this_run.kind is not Kind.PREVIEW:
        raise HTTPException(404)
    return here.this_run


def _shown(found: dict[str, Any]) -> list[Html]:
    rows, of = found["rows"], found["of"]
    is_sample = rows < of
    said = (
        f"A random sample of {rows:,} of {of:,} rows. With all rows, people find their likes more "
        "easily: mostly less is lost."
        if is_sample
        else ("The only row." if of == 1 else f"All {of:,} rows.")
    )
    numbers: list[tuple[object, object]] = []
    if found["groups"]:
        numbers.append(("Groups", f"{found['groups']:,}"))
    if found["ncp"] is not None:
        numbers.append(("Information lost (NCP)", f"{100 * found['ncp']:.1f} %"))
    if found["suppressed"]:
        numbers.append(("Rows left out", f"{found['suppressed']:,}"))
    after = [
        table(each["names"], each["rows"], caption=f"After: the published table '{each['name']}'")
        for each in found["after"]
    ]
    warnings = found["warnings"]
    return [
        tag("h2", "Preview"),
        tag("p", said),
        cards(numbers) if numbers else Html(""),
        table(
            found["before"]["names"], found["before"]["rows"], caption="Before: rows of the data"
        ),
        *after,
        tag("p", "The rows after are not those before: a release has no order that tells."),
        details("Warnings", bullets(warnings)) if warnings else Html(""),
    ]


def adopt(here: Visit, policy: Path) -> None:
    """Make the policy of a run that of the project.

    Refuses (SfumatoError) one whose hierarchies the project does not have any more.
    """
    kept = PolicyForm.load(here.here)
    kept.content = read_yaml(policy)
    kept.save(here.here)


def use(here: Visit, form: Form) -> Response:
    """Make the policy of a preview that of the project, and publish if that was asked for."""
    run, now = _of_kind(here), PolicyForm.load(here.here)
    # the policy that it was made of, or its own, kept already; each with the hierarchies it had
    its_own = PolicyForm(read_yaml(run.policy), run.folder, now.reasons).stamp
    if now.stamp not in (its_own, run.options.get(STAMP)):
        raise InputError(
            "the policy was changed since this preview was made, and would lose that; "
            "go back to the choice and make another"
        )
    adopt(here, run.policy)
    if form.text("next") != "publish":
        return to_saved(here, here.address("protect"))
    started = here.bench.runner.submit(here.here, Kind.PUBLISH)
    return to(here.address(f"runs/{started.id}"))


ROUTES: Final[list[BaseRoute]] = [
    shown("/p/{project}/preview/{run}", preview),
    done("/p/{project}/preview/{run}/use", use, preview),
]
