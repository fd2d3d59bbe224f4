"""One server and one Chromium for all tests of this folder, and runs that all of them look at.

The browser ends with the folder: while its loop runs, no other test of this process can have one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow.csv
import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks import chromium
from benchmarks.served import Served
from sfumato.datasets import hospital
from web.chromium.walk import PATIENCE, Walk

ARTEFACTS = Path(__file__).parents[3] / ".artifacts" / "workbench"
REBOUND = "rebound.example"  # a name of somebody else's that leads to this machine
COLUMNS = ["name", "age", "sex", "zipcode", "disease", "zipcode_private"]
ROWS = 500
SHARED = ("arp", "merging")  # runs of one project; others have a project each
ALONE = ("lgb", "slppa", "sensitive-qid")


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    if chromium.CHROMIUM is None:
        pytest.skip(chromium.MISSING)
    expect.set_options(timeout=PATIENCE)
    with chromium.opened(f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1") as opened:
        yield opened


@pytest.fixture(scope="package")
def served(browser, tmp_path_factory) -> Iterator[Served]:
    workbench = Served(tmp_path_factory.mktemp("workbench"))
    try:
        workbench.start()
        yield workbench
    finally:
        workbench.stop()


@pytest.fixture(scope="package")
def people(tmp_path_factory) -> Path:
    """A small file, so that runs take seconds; some cells are marked as private."""
    path = tmp_path_factory.mktemp("people") / "people.csv"
    pyarrow.csv.write_csv(hospital(ROWS).select(COLUMNS), path)
    return path


@pytest.fixture
def walk(browser, served) -> Iterator[Walk]:
    """A visitor who has opened the printed address; the browser must have nothing to complain."""
    with _visit(browser, served) as one:
        yield one


@contextmanager
def _visit(browser: Browser, served: Served) -> Iterator[Walk]:
    # without motion, colours are what they are at once
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    try:
        page = context.new_page()
        one = Walk(page, served.base)
        page.on("console", lambda said: one.complaints.extend(_complaint(said)))
        page.on("pageerror", lambda error: one.complaints.append(str(error)))
        page.goto(served.address)
        yield one
    finally:
        context.close()
    assert one.complaints == []


def _complaint(said) -> list[str]:
    # refusals are answers: what a page may not load or run is a fault
    is_answer = said.text.startswith("Failed to load resource: the server responded")
    return [said.text] if said.type == "error" and not is_answer else []


@dataclass
class Started:
    """What takes long, by addresses: a run of each scheme, and a search for a policy."""

    project: str  # of the runs of `SHARED`
    runs: dict[str, str]
    search: str


@pytest.fixture(scope="package")
def started(browser, served, people) -> Started:
    """Ask for all of it at once: it goes on while tests look at pages."""
    with _visit(browser, served) as one:
        project, runs = one.upload(people).removeprefix(served.base), {}
        for scheme in SHARED:
            one.page.goto(f"{served.base}{project}/data")
            runs[scheme] = one.publish(scheme)
        for scheme in ALONE:
            alone = one.upload(people)
            runs[scheme] = one.publish(scheme)
        # in a project of its own: what it finds takes the place of the policy
        one.page.goto(f"{alone}/recommend")
        one.page.get_by_label("Whose rule").select_option("")
        one.page.get_by_label("Highest chance that anybody is recognised").fill("0.5")
        one.page.get_by_label("Minutes").fill("0.5")
        one.button("Search")
        one.wait(one.page.locator("[data-poll]"), "a search that goes on")
        search = one.page.url
    return Started(
        project,
        {scheme: run.removeprefix(served.base) for scheme, run in runs.items()},
        search.removeprefix(served.base),
    )


@dataclass
class Told:
    """A project with two finished runs."""

    project: str
    runs: list[str]


@pytest.fixture(scope="package")
def told(browser, served, started) -> Told:
    runs = [started.runs[scheme] for scheme in SHARED]
    with _visit(browser, served) as one:
        for run in runs:
            one.page.goto(served.base + run)
            one.finished()
    return Told(started.project, runs)


@pytest.fixture(scope="package")
def picture() -> Callable[[Page, str], None]:
    """Keeps a page as pictures: wide and as on a phone, light and dark."""
    ARTEFACTS.mkdir(parents=True, exist_ok=True)

    def keep(page, name: str) -> None:
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                place = ARTEFACTS / f"{name}-{width}-{scheme}.png"
                page.screenshot(path=place, full_page=True, animations="disabled")

    return keep
