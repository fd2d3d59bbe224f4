"""A search for a policy ends with one that is used and published with one click."""

from __future__ import annotations

import json

from playwright.sync_api import expect

from web.chromium.pages import check
from web.chromium.walk import audits


def test_what_is_recommended_is_used_and_published(walk, served, started, picture, tmp_path):
    page = walk.page
    page.goto(served.base + started.search)
    over = page.get_by_text("Search with other limits").or_(page.get_by_role("alert"))
    walk.wait(over, "the end of the search")
    expect(page.get_by_role("alert")).to_have_count(0)
    check(page, picture, "recommended")
    chosen = page.get_by_role("heading", level=2).filter(has_text="Recommended").inner_text()
    walk.button("Use it and publish")
    walk.wait(page.locator("[data-poll], #attacks"), "the run")
    walk.finished()
    release = walk.download(tmp_path)
    assert json.loads((release / "manifest.json").read_text())["method"] in chosen
    assert audits(release)
