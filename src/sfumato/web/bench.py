"""What every page works with: the workspace, the runner, the keys; and how pages answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from sfumato.errors import SfumatoError
from sfumato.markup import Html
from sfumato.web import frame
from sfumato.web.forms import Form, read_form
from sfumato.web.guard import SESSION, Keys
from sfumato.web.loaded import Shelf
from sfumato.web.policy_form import PolicyForm, StalePageError, adopt_draft
from sfumato.web.projects import Project, Workspace
from sfumato.web.questions import Questions
from sfumato.web.runs import Kind, Run, Runner, run_of, runs_of
from sfumato.web.status import State
from sfumato.web.work.names import DRAFT, PROFILE

_SAVED: Final = "saved"  # in an address: the stamp of the policy that was saved


@dataclass(frozen=True, slots=True)
class Bench:
    """The state of one server."""

    workspace: Workspace
    runner: Runner
    keys: Keys
    max_upload: int
    shelf: Shelf = field(default_factory=Shelf)
    questions: Questions = field(default_factory=Questions)


@dataclass(frozen=True, slots=True)
class Visit:
    """One request: what it asks for, already looked up; a page gets nothing else."""

    request: Request
    bench: Bench
    project: Project | None = None
    run: Run | None = None

    @property
    def form_token(self) -> str:
        """What the forms of the page carry."""
        return self.bench.keys.form_token(self.request.scope[SESSION])

    @property
    def here(self) -> Project:
        """The project of the address."""
        if self.project is None:
            raise HTTPException(404)
        return self.project

    @property
    def this_run(self) -> Run:
        """The run of the address."""
        if self.run is None:
            raise HTTPException(404)
        return self.run

    def address(self, rest: str = "") -> str:
        """Return an address inside the project."""
        return f"/p/{self.here.id}/{rest}"

    def query(self, name: str) -> str:
        """Return a value of the address's query."""
        return self.request.query_params.get(name, "")

    def page(self, title: str, *content: object, step: str | None = None, **more: Any) -> Response:
        """Return a page in the frame."""
        status = more.pop("status", 200)
        html = frame.page(
            title,
            *content,
            project=None if self.project is None else self.project.id,
            heading=None if self.project is None else self.project.title,
            step=step,
            **more,
        )
        return HTMLResponse(html, status)

    def form(self, action: str, *content: object, **attributes: object) -> Html:
        """Return a form that the server takes."""
        return frame.form(action, self.form_token, *content, **attributes)

    def profile(self) -> tuple[dict[str, Any] | None, Run | None]:
        """Return the profile of the project's data (None before it is there) and its run.

        With the first profile the draft becomes the policy of the project.
        """
        for run in runs_of(self.here, Kind.INSPECT):
            found = run.result(PROFILE) if run.status.state is State.FINISHED else None
            if found is not None:
                adopt_draft(self.here, run.folder / DRAFT, found["reasons"])
            return found, run
        return None, None


def to(address: str) -> Response:
    """Return the way to another page, after something was done."""
    return RedirectResponse(address, 303)


Page = Callable[[Visit], Response]
Action = Callable[[Visit, Form], Response]


def shown(path: str, page: Page) -> Route:
    """Return the route of a page. It is made in a thread, so that others need not wait."""

    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(lambda: page(visit(request)))

    return Route(path, endpoint, methods=["GET"])


def done(path: str, action: Action, again: Page | None = None) -> Route:
    """Return the route of a form. `again` shows its page where what was sent is refused."""

    async def endpoint(request: Request) -> Response:
        form = await read_form(request, request.app.state.bench.keys)

        def act() -> Response:
            here = visit(request)
            try:
                return action(here, form)
            except SfumatoError as error:
                if again is None:
                    raise
                request.state.message = (frame.BAD, str(error))
                if not isinstance(error, StalePageError):
                    request.state.form = form
                answer = again(here)
                answer.status_code = 422
                return answer

        return await run_in_threadpool(act)

    return Route(path, endpoint, methods=["POST"])


def visit(request: Request) -> Visit:
    """Return what a request asks for; 404 where there is no such project or run."""
    bench: Bench = request.app.state.bench
    project = run = None
    if "project" in request.path_params:
        project = bench.workspace.project(request.path_params["project"])
        if project is None:
            raise HTTPException(404)
    if project is not None and "run" in request.path_params:
        run = run_of(project, request.path_params["run"])
        if run is None:
            raise HTTPException(404)
    return Visit(request, bench, project, run)


def to_saved(here: Visit, address: str) -> Response:
    """Return the way to a page that says that the policy was saved."""
    return to(f"{address}?{_SAVED}={PolicyForm.load(here.here).stamp}")


def told(here: Visit, policy: PolicyForm | None = None) -> tuple[str, str] | None:
    """Return the message that a form left for its page: why it was refused, or that it was saved.

    The latter only while the policy is the one that was saved: the page may be loaded again.
    """
    message: tuple[str, str] | None = getattr(here.request.state, "message", None)
    if message is None and policy is not None and here.query(_SAVED) == policy.stamp:
        return (frame.GOOD, "Saved.")
    return message
