"""The whole path for each of the five schemes: open, roles, protect, run, judge, ask, hand over."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from web.chromium.walk import audits


@pytest.mark.parametrize("scheme", ["lgb", "arp", "merging", "slppa", "sensitive-qid"])
def test_from_a_file_to_a_release_that_audits(walk, people, tmp_path, scheme):
    walk.upload(people)
    run = walk.publish(scheme)
    walk.finished()
    release = walk.download(tmp_path)
    assert json.loads((release / "manifest.json").read_text())["method"] == scheme
    assert audits(release)
    walk.link("Ask this release")
    walk.title("Answer")
    walk.page.get_by_label("Query").fill("SELECT COUNT(*)")
    walk.button("Ask")
    expect(walk.page.locator("#answer")).to_contain_text("500")
    report = walk.page.request.get(f"{run}/report.html")
    assert report.status == 200
    assert "<h1" in report.text()
    commands = walk.page.request.get(f"{run}/command").text()
    assert "sfumato anonymize people.csv" in commands
    assert "seed" not in commands
