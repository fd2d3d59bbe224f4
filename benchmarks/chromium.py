"""Debian's Chromium without a window, driven by Playwright (extra `test`)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
MISSING = "Chromium is not installed (Debian: apt-get install chromium)"
_QUIET = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def opened(*arguments: str) -> Iterator[Browser]:
    """Yield a browser that ends with the block."""
    assert CHROMIUM is not None, MISSING
    # its own sandbox needs rights that root and containers do not give
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=[*_QUIET, *sandbox, *arguments],
            chromium_sandbox=False,
        )
        try:
            yield browser
        finally:
            browser.close()
