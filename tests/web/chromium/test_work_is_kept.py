"""Runs can be cancelled; pages, and the server itself, can go away and come back."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from web.chromium.pages import serious


def test_a_run_is_cancelled_and_leaves_no_release(walk, picture):
    walk.button("Try with sample data")
    walk.looked_at()
    run = walk.publish()
    assert serious(walk.page) == []
    picture(walk.page, "running")
    walk.button("Cancel")
    expect(walk.page.get_by_role("alert")).to_contain_text("cancelled")
    assert serious(walk.page) == []
    picture(walk.page, "cancelled")
    assert walk.page.request.get(f"{run}/release.zip").status == 404


def test_a_project_is_reopened_after_the_server_has_ended(walk, served, told):
    page = walk.page
    page.goto(served.base + told.project + "/data")
    went_on = walk.publish("lgb").removeprefix(served.base)
    page.wait_for_load_state("load")  # its script is what tells that nobody answers
    served.stop(at_once=True)
    expect(page.locator("#remaining")).to_contain_text("does not answer")
    served.start()
    page.goto(served.base)
    walk.complaints.clear()  # that nobody answered is what the browser has to say here
    expect(page.get_by_role("heading", level=1)).to_have_text("Locked")  # old cookies open nothing
    page.goto(served.address)
    page.locator(f"a[href='{told.project}/data']").click()
    page.get_by_role("link", name="Runs", exact=True).click()
    rows = page.get_by_role("row")
    expect(rows.filter(has_text="finished")).to_have_count(2)
    expect(rows.filter(has_text="interrupted")).to_have_count(1)
    # what was judged is still there, and answers
    page.goto(served.base + told.runs[0])
    expect(page.get_by_role("link", name="Download the release")).to_be_visible()
    # what was interrupted is run again, under the policy it had
    page.goto(served.base + went_on)
    walk.button("Run it again")
    page.wait_for_url(re.compile(r"/runs/(?!" + went_on.rpartition("/")[2] + ")"))
    walk.button("Cancel")
    expect(page.get_by_role("alert")).to_contain_text("cancelled")
