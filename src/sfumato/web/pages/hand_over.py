"""What a run leaves to take along: the release, the policy, the report, the command line."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Final

from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute

from sfumato.markup import Html, details, join, tag
from sfumato.reports.page import command
from sfumato.web import frame
from sfumato.web.bench import Visit, shown
from sfumato.web.guard import REPORT_POLICY
from sfumato.web.runs import Run
from sfumato.web.work.names import REPORT, ZIP

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
                    frame.link_button("Download the policy", f"{base}policy.yaml", "plain"),
                ],
                " ",
            ),
        ),
        details(
            "The command line for this",
            *(command(line) for line in command_lines(run, here.here.source)),
            tag(
                "p", "The seed of this run stays in its private record, so another run draws anew."
            ),
        ),
    ]


def command_lines(run: Run, source: str) -> list[str]:
    """Return the commands that do what a run did, without its seed."""
    data = source if run.data.name.startswith("table.") else str(run.data)
    lines = [
        ["sfumato", "anonymize", data, "--policy", "policy.yaml", "--out", "release"],
        ["sfumato", "audit", "release"],
        ["sfumato", "report", "release", "--original", data, "--policy", "policy.yaml"],
    ]
    return [shlex.join(each) for each in lines]


def _file(name: str) -> Callable[[Visit], Response]:
    stored, kind, is_download = FILES[name]

    def fetch(here: Visit) -> Response:
        path = here.this_run.folder / stored
        if not path.is_file():
            raise HTTPException(404)
        headers = {} if is_download else {"content-security-policy": REPORT_POLICY}
        shown_as = f"{here.here.id}-{name}" if is_download else None
        return FileResponse(path, media_type=kind, filename=shown_as, headers=headers)

    return fetch


def _command(here: Visit) -> Response:
    return PlainTextResponse("\n".join([*command_lines(here.this_run, here.here.source), ""]))


ROUTES: Final[list[BaseRoute]] = [
    *(shown(f"/p/{{project}}/runs/{{run}}/{name}", _file(name)) for name in FILES),
    shown("/p/{project}/runs/{run}/command", _command),
]
