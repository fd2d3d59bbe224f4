"""The application: all routes, what errors look like, and the guard around everything."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from sfumato.errors import SfumatoError
from sfumato.reports.style import CSS
from sfumato.web.bench import Bench
from sfumato.web.forms import ForeignForm
from sfumato.web.frame import bare_page
from sfumato.web.guard import SMALL_BODY, Guard, Hosts
from sfumato.web.pages import (
    answer,
    compare,
    data,
    hand_over,
    hierarchy,
    home,
    preview,
    progress,
    protect,
    recommend,
    roles,
    runs,
)

PAGES: Final[list[BaseRoute]] = [
    *home.ROUTES,
    *data.ROUTES,
    *roles.ROUTES,
    *hierarchy.ROUTES,
    *protect.ROUTES,
    *preview.ROUTES,
    *recommend.ROUTES,
    *progress.ROUTES,
    *hand_over.ROUTES,
    *runs.ROUTES,
    *compare.ROUTES,
    *answer.ROUTES,
]
_STATIC: Final = {
    "workbench.css": "text/css; charset=utf-8",
    "workbench.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_FORM_ROOM: Final = 2**16  # what a form has beside its file
_WORDS: Final = {
    404: ("Not found", "There is no such page, project or run."),
    405: ("Not supported", "This address does not take that."),
}


def application(
    bench: Bench, hosts: Hosts, note: Callable[[str], None] = lambda line: None
) -> Guard:
    """Return the workbench behind its guard; `note` is told of internal errors."""
    app = Starlette(
        routes=[*PAGES, Route("/static/{name}", _static, methods=["GET"])],
        exception_handlers={
            SfumatoError: _refused,
            ForeignForm: _foreign,
            HTTPException: _http,
        },
    )
    app.state.bench = bench

    def limit_of(path: str) -> int:
        if path == home.UPLOAD:
            return bench.max_upload + _FORM_ROOM
        if hierarchy.UPLOAD.fullmatch(path):
            return min(bench.max_upload, hierarchy.MOST_BYTES) + _FORM_ROOM
        return SMALL_BODY

    return Guard(app, bench.keys, hosts, limit_of=limit_of, note=note)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        raise HTTPException(404)
    content = (files("sfumato.web") / "static" / name).read_text("utf-8")
    if name == "workbench.css":
        content = CSS + content  # the colours and elements of reports come first
    return Response(content, media_type=_STATIC[name])


async def _refused(request: Request, error: Exception) -> Response:
    return HTMLResponse(bare_page("That does not work", str(error)), 422)


async def _foreign(request: Request, error: Exception) -> Response:
    words = "This form is out of date. Go back, load the page anew and send it again."
    return HTMLResponse(bare_page("Refused", words), 403)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    title, words = _WORDS.get(error.status_code, ("Refused", "This cannot be done."))
    return HTMLResponse(bare_page(title, words), error.status_code)
