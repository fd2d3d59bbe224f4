"""What a steward does in the browser: clicks, counted, from a file to a downloaded release."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Locator, Page
from playwright.sync_api import TimeoutError as TooLate

import sfumato

# Milliseconds. Runs compile kernels in a fresh tree; machines of tests are shared.
PATIENCE = 240_000
_SHOWN = 600


@dataclass
class Walk:
    """A visitor with a page, and what that page complained about."""

    page: Page
    base: str
    clicks: int = 0
    complaints: list[str] = field(default_factory=list)

    def button(self, words: str) -> None:
        self._click(self.page.get_by_role("button", name=words, exact=True))

    def link(self, words: str) -> None:
        self._click(self.page.get_by_role("link", name=words, exact=True))

    def wait(self, found: Locator, what: str) -> Locator:
        """Return what is on the page now or after a while; if it never is, say what is instead."""
        try:
            found.first.wait_for(timeout=PATIENCE)
        except TooLate:
            seen = self.page.locator("body").inner_text()[:_SHOWN]
            late = f"{what} was not there after {PATIENCE // 1000} s"
            raise AssertionError(f"{late}; {self.page.url} says: {seen}") from None
        return found.first

    def _click(self, found: Locator) -> None:
        self.clicks += 1
        self.wait(found, "what is to be clicked").click()

    def title(self, words: str) -> None:
        """Wait for a page by its heading."""
        headings = self.page.get_by_role("heading", level=1)
        self.wait(headings.filter(has_text=words), f"the page '{words}'")

    def upload(self, path: Path) -> str:
        """Open a file; return the address of its project."""
        self.page.goto(self.base)
        self.page.get_by_label("Choose a file").set_input_files(path)
        self.button("Open the file")
        return self.looked_at()

    def looked_at(self) -> str:
        """Wait until the data were looked at; return the address of the project."""
        self.wait(self.page.get_by_role("link", name="Next: roles"), "the look at the data")
        return self.page.url.rpartition("/")[0]

    def publish(self, scheme: str | None = None) -> str:
        """Go from the data to a run that goes on; return its address."""
        self.link("Next: roles")
        self.button("Next: protect")
        self.title("Protect")
        if scheme is not None:
            self._choose(scheme)
        self.button("Publish")
        self.wait(self.page.locator("#told, [data-poll], #attacks"), "the run")
        assert "/runs/" in self.page.url, self.page.locator("#told").inner_text()
        return self.page.url

    def _choose(self, scheme: str) -> None:
        self.clicks += 1
        self.page.locator(f"input[name=scheme][value={scheme}]").check()
        # the sample has cells that people marked as private, which only one scheme heeds
        for asked in self.page.locator(f"select[name^='{scheme}-role-']").all():
            is_secret = "'disease'" in asked.locator("xpath=..").inner_text()
            asked.select_option("sensitive" if is_secret else "quasi-identifier")

    def finished(self) -> None:
        """Wait until the run of the open page was judged."""
        over = self.page.locator("a:has-text('Download the release'), .box.bad[role=alert]")
        over = self.wait(over, "the end of the run")
        assert self.page.locator(".box.bad[role=alert]").count() == 0, over.inner_text()

    def download(self, folder: Path) -> Path:
        """Download the release of the open run and unpack it; return its folder."""
        with self.page.expect_download() as waited:
            self.link("Download the release")
        path = folder / waited.value.suggested_filename
        waited.value.save_as(path)
        assert path.name.endswith("release.zip")
        with zipfile.ZipFile(path) as packed:
            packed.extractall(folder / "unpacked")
        return next((folder / "unpacked").rglob("manifest.json")).parent


def audits(release: Path) -> bool:
    """Return whether a release that was downloaded holds what it claims."""
    return sfumato.audit(release).ok
