"""One server and one Chromium for all tests of this folder, and a project with two runs.

The browser ends with the folder: while its loop runs, no other test of this process can have one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow.csv
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from sfumato.datasets import hospital
from web.chromium.served import Served
from web.chromium.walk import Walk

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARTEFACTS = Path(__file__).parents[3] / ".artifacts" / "workbench"
REBOUND = "rebound.example"  # a name of somebody else's that leads to this machine
COLUMNS = ["name", "age", "sex", "zipcode", "disease", "zipcode_private"]
_QUIET = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1",
)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium)")
    # its own sandbox needs rights that root and containers do not give
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=CHROMIUM, args=[*_QUIET, *sandbox], chromium_sandbox=False
        )
        yield opened
        opened.close()


@pytest.fixture(scope="package")
def served(browser, tmp_path_factory) -> Iterator[Served]:
    workbench = Served(tmp_path_factory.mktemp("workbench"))
    workbench.start()
    yield workbench
    workbench.stop()


@pytest.fixture(scope="package")
def people(tmp_path_factory) -> Path:
    """A small file, so that runs take seconds; some cells are marked as private."""
    path = tmp_path_factory.mktemp("people") / "people.csv"
    pyarrow.csv.write_csv(hospital(500).select(COLUMNS), path)
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
    page = context.new_page()
    one = Walk(page, served.base)
    page.on("console", lambda said: one.complaints.extend(_complaint(said)))
    page.on("pageerror", lambda error: one.complaints.append(str(error)))
    page.goto(served.address)
    try:
        yield one
    finally:
        context.close()
    assert one.complaints == []


def _complaint(said) -> list[str]:
    # refusals are answers: what a page may not load or run is a fault
    is_answer = said.text.startswith("Failed to load resource: the server responded")
    return [said.text] if said.type == "error" and not is_answer else []


@dataclass
class Told:
    """A project with two finished runs, and a search for a policy that may go on."""

    project: str
    runs: list[str]
    search: str


@pytest.fixture(scope="package")
def told(browser, served, people) -> Told:
    with _visit(browser, served) as one:
        project = one.upload(people).removeprefix(served.base)
        runs = []
        for scheme in ("arp", "merging"):
            one.page.goto(f"{served.base}{project}/data")
            runs.append(one.publish(scheme).removeprefix(served.base))
        for run in runs:
            one.page.goto(served.base + run)
            one.finished()
        one.page.goto(f"{served.base}{project}/recommend")
        one.page.get_by_label("Minutes").fill("0.5")
        one.button("Search")
        one.page.locator("[data-poll]").wait_for()
        search = one.page.url.removeprefix(served.base)
    return Told(project, runs, search)


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
