"""What is handed over to be read: reports and the demonstration, opened from disk as by others."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from sfumato.jobs.demo import demo
from web.chromium.pages import check


def opened(walk, address, path):
    """Save what an address has, and open the saved file: as whoever it is handed to does."""
    answer = walk.page.request.get(address)
    assert answer.status == 200
    path.write_bytes(answer.body())
    walk.page.goto(path.as_uri())
    expect(walk.page.get_by_role("heading", level=1)).to_be_visible()


@pytest.mark.parametrize("place", [0, 1])
def test_the_report_keeps_nobody_out(walk, served, told, picture, tmp_path, place):
    opened(walk, f"{served.base}{told.runs[place]}/report.html", tmp_path / "report.html")
    check(walk.page, picture, f"report-saved-{place + 1}")


def test_the_report_shows_under_its_own_policy(walk, served, told, picture):
    walk.page.goto(served.base + told.runs[0])
    walk.link("Read the report")
    expect(walk.page.get_by_role("heading", level=1)).to_be_visible()
    assert walk.page.url.endswith("/report.html")
    picture(walk.page, "report")


def test_the_public_report_is_made_and_keeps_nobody_out(walk, served, told, picture, tmp_path):
    walk.page.goto(served.base + told.runs[0])
    walk.button("Make the public report")
    link = walk.page.get_by_role("link", name="Read the public report")
    address = walk.wait(link, "the public report").get_attribute("href")
    opened(walk, served.base + address, tmp_path / "public.html")
    check(walk.page, picture, "report-public")


def test_the_demonstration_keeps_nobody_out(walk, picture, tmp_path):
    made = demo(tmp_path / "demo", rows=200)
    walk.page.goto((made.path / "index.html").as_uri())
    check(walk.page, picture, "demo")
    report = walk.page.locator("a[href$='.html']").first
    report.click()
    expect(walk.page.get_by_role("heading", level=1)).to_be_visible()
    check(walk.page, picture, "demo-report")
