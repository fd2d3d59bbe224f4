"""The first page: projects, and three ways to a new one."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pyarrow.parquet as pq
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from sfumato.datasets import hospital
from sfumato.errors import InputError, SfumatoError
from sfumato.io.read import SUFFIXES
from sfumato.markup import Html, join, table, tag
from sfumato.reports.page import bullets
from sfumato.web import frame
from sfumato.web.bench import Bench, Visit, done, shown, to, told, visit
from sfumato.web.forms import Form, read_upload
from sfumato.web.projects import Project, refuse_other_kinds
from sfumato.web.runs import Kind

UPLOAD: Final = "/new/upload"
SAMPLE_ROWS: Final = 10_000
_SAMPLE: Final = "Sample: hospital stays"


def home(here: Visit) -> Response:
    """Return the page with all projects."""
    projects = here.bench.workspace.projects()
    opened = (
        table(
            ["Project", "Data", "Made"],
            [
                [
                    tag("a", each.title, href=f"/p/{each.id}/data"),
                    each.source,
                    each.created[:16].replace("T", " "),
                ]
                for each in projects
            ],
            caption="Your projects",
        )
        if projects
        else tag("p", "No project yet. Everything you do here is kept in a folder of its own.")
    )
    return here.page(
        "Projects",
        tag("p", "From a table about people to a release that you can defend.", class_="lead"),
        _ways(here),
        tag("section", join([tag("h2", "Go on"), opened])) if projects else opened,
        _astray(here),
        message=told(here),
    )


def _astray(here: Visit) -> Html:
    """Return the projects that cannot be opened now, so that nobody takes them for lost."""
    found = here.bench.workspace.astray()
    if not found:
        return Html("")
    lines = [f"{title}: {where}" if where else title for title, where in found]
    words = (
        "These projects are kept, but their data are not where they were. Put the file back, or "
        "start `sfumato serve` with its folder as --data-folder."
    )
    return tag("div", join([tag("p", words), bullets(lines)]), class_="box warning")


def _ways(here: Visit) -> Html:
    sample = here.form(
        "/new/sample",
        tag("h2", "Look around"),
        tag("p", f"{SAMPLE_ROWS:,} made-up hospital stays. Nothing of yours is needed."),
        frame.button("Try with sample data"),
        class_="card",
    )
    limit = here.bench.max_upload
    upload = here.form(
        UPLOAD,
        tag("h2", "Open a file"),
        tag(
            "label",
            join(
                [
                    tag("span", "Choose a file, or drop it here"),
                    Html(
                        f'<input type="file" name="file" required accept="{",".join(SUFFIXES)}" '
                        f'data-most="{limit}">'
                    ),
                    tag("small", f"CSV, Parquet, Excel, SPSS, Stata, SAS; up to {_size(limit)}"),
                ]
            ),
            class_="drop",
        ),
        frame.button("Open the file"),
        class_="card",
        enctype="multipart/form-data",
    )
    cards = [sample, upload]
    listed = here.bench.workspace.listed()
    if listed:
        names = {each: each.partition(":")[2] for each in listed}
        cards.append(
            here.form(
                "/new/path",
                tag("h2", "Open in place"),
                frame.select("place", names, None, label="A file of the data folder"),
                frame.button("Open it"),
                class_="card",
            )
        )
    return tag("div", join(cards, "\n"), class_="ways")


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:g} MB"


def from_sample(here: Visit, form: Form) -> Response:
    """Make a project of made-up data."""
    space = here.bench.workspace
    folder = space.new_folder("sample")
    pq.write_table(hospital(SAMPLE_ROWS), folder / "data" / "table.parquet")
    return _opened(
        here.bench, space.finish(folder, _SAMPLE, "hospital.parquet", own="table.parquet")
    )


def from_path(here: Visit, form: Form) -> Response:
    """Make a project of a file that stays where it is."""
    space, place = here.bench.workspace, form.text("place")
    path = space.under_data_folders(place)
    folder = space.new_folder(path.stem)
    return _opened(here.bench, space.finish(folder, path.stem, path.name, place=place))


async def from_upload(request: Request) -> Response:
    """Make a project of a file that arrives."""
    bench: Bench = request.app.state.bench
    made: list[Path] = []

    def place(name: str) -> Path:
        suffix = refuse_other_kinds(Path(name)).suffix.lower()
        made.append(bench.workspace.new_folder(Path(name).stem))
        return made[0] / "data" / f"table{suffix}"

    try:
        form = await read_upload(request, bench.keys, place)
        if form.file is None or not form.file.stat().st_size:
            raise InputError("choose a file that is not empty")
        title = Path(form.file_name).stem
        project = bench.workspace.finish(made[0], title, form.file_name, own=form.file.name)
    except SfumatoError as error:
        _discard(bench, made)
        request.state.message = (frame.BAD, str(error))
        answer = await run_in_threadpool(lambda: home(visit(request)))
        answer.status_code = 422
        return answer
    except BaseException:
        _discard(bench, made)
        raise
    return await run_in_threadpool(lambda: _opened(bench, project))


def _discard(bench: Bench, folders: list[Path]) -> None:
    for folder in folders:
        bench.workspace.discard(folder)


def _opened(bench: Bench, project: Project) -> Response:
    bench.runner.submit(project, Kind.INSPECT)
    return to(f"/p/{project.id}/data")


ROUTES: Final[list[BaseRoute]] = [
    shown("/", home),
    done("/new/sample", from_sample, home),
    done("/new/path", from_path, home),
    Route(UPLOAD, from_upload, methods=["POST"]),
]
