"""The whole path for each of the five schemes: open, roles, protect, run, judge, ask, hand over.

The first half of it, up to the run, is walked by `started` for all schemes at once.
"""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from web.chromium.conftest import ALONE, ROWS, SHARED
from web.chromium.walk import audits


@pytest.mark.parametrize("scheme", [*SHARED, *ALONE])
def test_from_a_file_to_a_release_that_audits(walk, served, started, tmp_path, scheme):
    run = served.base + started.runs[scheme]
    walk.page.goto(run)
    walk.finished()
    release = walk.download(tmp_path)
    assert json.loads((release / "manifest.json").read_text())["method"] == scheme
    assert audits(release)
    walk.link("Ask this release")
    walk.title("Answer")
    walk.page.get_by_label("Query").fill("SELECT COUNT(*)")
    walk.button("Ask")
    expect(walk.page.locator("#answer")).to_contain_text(str(ROWS))
    report = walk.page.request.get(f"{run}/report.html")
    assert report.status == 200
    assert "<h1" in report.text()
    commands = walk.page.request.get(f"{run}/command").text()
    assert "sfumato anonymize people.csv" in commands
    assert "seed" not in commands
