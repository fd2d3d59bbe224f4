"""What a run leaves to take along: the release, the policy, the report, the command line."""

from __future__ import annotations

import shlex
import zipfile
from collections.abc import Callable
from io import BytesIO
from typing import Final

from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute

from sfumato.jobs.policy import Policy
from sfumato.markup import Html, details, join, tag
from sfumato.reports.page import command
from sfumato.web import frame
from sfumato.web.bench import Visit, done, shown, to
from sfumato.web.forms import Form
from sfumato.web.guard import REPORT_POLICY
from sfumato.web.projects import HIERARCHIES, POLICY, Project
from sfumato.web.pseudonym_key import FILE as KEY_FILE
from sfumato.web.pseudonym_key import needs_key
from sfumato.web.runs import Kind, Run, runs_of
from sfumato.web.status import State
from sfumato.web.work.names import REPORT, REPORT_OF, ZIP

POLICY_ZIP: Final = "policy.zip"
# What can be fetched of a run, by its last part of the address: never anything else.
FILES: Final = {
    "release.zip": (ZIP, "application/zip", True),
    "policy.yaml": ("policy.yaml", "application/yaml", True),
    "report.html": (REPORT, "text/html; charset=utf-8", False),
}


def hand_over(here: Visit, run: Run) -> list[Html]:
    """Return the links of a finished run."""
    base = here.address(f"runs/{run.id}/")
    return [
        tag(
            "p",
            join(
                [
                    frame.link_button("Download the release", f"{base}release.zip"),
                    frame.link_button("Read the report", f"{base}report.html", "plain"),
                    frame.link_button("Download the policy", f"{base}{_policy_name(run)}", "plain"),
                ],
                " ",
            ),
        ),
        _public(here, run),
        details(
            "Show the command line for this",
            *(command(line) for line in command_lines(run, here.here.source)),
            tag(
                "p", "The seed of this run stays in its private record, so another run draws anew."
            ),
        ),
    ]


def _policy_name(run: Run) -> str:
    """Return what is fetched as the policy: an archive where it names files of its own."""
    return POLICY_ZIP if _hierarchy_files(run) else POLICY


def _hierarchy_files(run: Run) -> list[str]:
    """Return the files that the policy of a run names, as it names them."""
    given = [keys.hierarchy for keys in Policy.load(run.policy).content.attributes.values()]
    places = sorted({each for each in given if isinstance(each, str)})
    own = (run.folder / HIERARCHIES).resolve()
    return [each for each in places if (run.folder / each).resolve().parent == own]


def _policy_archive(here: Visit) -> Response:
    """Return the policy with the hierarchies that it names: without them it cannot be run."""
    run = here.this_run
    if run.kind is not Kind.PUBLISH:
        raise HTTPException(404)
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in (POLICY, *_hierarchy_files(run)):
            archive.write(run.folder / name, name)
    headers = {"content-disposition": f'attachment; filename="{here.here.id}-{POLICY_ZIP}"'}
    return Response(packed.getvalue(), media_type="application/zip", headers=headers)


def _public(here: Visit, run: Run) -> Html:
    """Return the report for the public, how far it is, or how to have it made."""
    base = here.address("runs/")
    report = next(iter(public_reports(here.here, run)), None)
    state = None if report is None else report.status.state
    if state is State.FINISHED:
        link = frame.link_button("Read the public report", f"{base}{run.id}/public.html", "plain")
        return tag("p", join([link, " Made from the published files alone: give it to anyone."]))
    if report is not None and state is not None and not state.is_over:
        link = tag("a", "The public report is being made", href=f"{base}{report.id}")
        return tag("p", link)
    form: Html = here.form(
        f"{base}{run.id}/public",
        frame.button("Make the public report", kind="plain"),
        tag("p", "The report above tells of the original and is for you alone."),
    )
    return form


def public_reports(project: Project, run: Run) -> list[Run]:
    """Return the runs that made a public report on what a run published, the newest first."""
    return [each for each in runs_of(project, Kind.REPORT) if each.options.get(REPORT_OF) == run.id]


def make_public(here: Visit, form: Form) -> Response:
    """Have the report for the public made."""
    this = here.this_run
    if this.kind is not Kind.PUBLISH or this.status.state is not State.FINISHED:
        raise HTTPException(404)
    made = here.bench.runner.submit(here.here, Kind.REPORT, {REPORT_OF: this.id}, rules=this.folder)
    return to(here.address(f"runs/{made.id}"))


def _public_page(here: Visit) -> Response:
    for each in public_reports(here.here, here.this_run):
        if each.status.state is State.FINISHED:
            return _sent(each, "report.html", here.here.id)
    raise HTTPException(404)


def command_lines(run: Run, source: str) -> list[str]:
    """Return the commands that do what a run did, without its seed."""
    is_own = run.data.is_relative_to(run.folder.parent.parent)  # a copy, under a name of ours
    data = source if is_own else str(run.data)
    key = ["--key-file", KEY_FILE.name] if needs_key(Policy.load(run.policy)) else []
    lines = [
        ["sfumato", "anonymize", data, "--policy", "policy.yaml", "--out", "release", *key],
        ["sfumato", "audit", "release"],
        ["sfumato", "report", "release", "--original", data, "--policy", "policy.yaml"],
    ]
    return [shlex.join(each) for each in lines]


def _file(name: str) -> Callable[[Visit], Response]:
    def fetch(here: Visit) -> Response:
        if here.this_run.kind is not Kind.PUBLISH:
            raise HTTPException(404)
        return _sent(here.this_run, name, here.here.id)

    return fetch


def _sent(run: Run, name: str, project: str) -> Response:
    """Return a file of a run, read while it is sent."""
    stored, kind, is_download = FILES[name]
    path = run.folder / stored
    if not path.is_file():
        raise HTTPException(404)
    headers = {} if is_download else {"content-security-policy": REPORT_POLICY}
    shown_as = f"{project}-{name}" if is_download else None
    return FileResponse(path, media_type=kind, filename=shown_as, headers=headers)


def _command(here: Visit) -> Response:
    return PlainTextResponse("\n".join([*command_lines(here.this_run, here.here.source), ""]))


ROUTES: Final[list[BaseRoute]] = [
    *(shown(f"/p/{{project}}/runs/{{run}}/{name}", _file(name)) for name in FILES),
    shown(f"/p/{{project}}/runs/{{run}}/{POLICY_ZIP}", _policy_archive),
    shown("/p/{project}/runs/{run}/public.html", _public_page),
    done("/p/{project}/runs/{run}/public", make_public),
    shown("/p/{project}/runs/{run}/command", _command),
]
