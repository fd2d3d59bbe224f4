"""Every page: nothing that keeps somebody out (axe), readable on a phone, and kept as pictures."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from web.chromium.pages import check

# Pages by their addresses: of the server, a project, its first or second run.
ADDRESSES = {
    "home": "/",
    "data": "{project}/data",
    "roles": "{project}/roles",
    "hierarchy": "{project}/hierarchy/{numeric}",
    "hierarchy-tree": "{project}/hierarchy/{named}",
    "protect": "{project}/protect",
    "recommend": "{project}/recommend",
    "runs": "{project}/runs",
    "run": "{one}",
    "compare": "{project}/compare?a={a}&b={b}",
    "answer": "{one}/answer",
    "not-found": "{project}/nothing",
    "locked": "/?token=wrong",
}


@pytest.mark.parametrize("name", ADDRESSES)
def test_a_page_keeps_nobody_out(walk, served, told, picture, name):
    one, other = told.runs
    address = ADDRESSES[name].format(
        project=told.project, one=one, numeric=1, named=2,
        a=one.rpartition("/")[2], b=other.rpartition("/")[2],
    )  # fmt: skip
    walk.page.goto(served.base + address)
    check(walk.page, picture, name)


def test_an_answer_keeps_nobody_out(walk, served, told, picture):
    walk.page.goto(f"{served.base}{told.runs[0]}/answer")
    walk.page.get_by_label("Query").fill("SELECT COUNT(*) GROUP BY nothing")
    walk.button("Ask")
    walk.page.locator("#refusal").wait_for()
    check(walk.page, picture, "answer-refused")
    walk.button("Tabulate")
    walk.page.locator("#answer").wait_for()
    check(walk.page, picture, "answer-cross")


def test_a_preview_appears_beside_the_choice(walk, served, told, picture):
    walk.page.goto(f"{served.base}{told.project}/protect")
    walk.page.locator("input[name=scheme][value=arp]").check()
    walk.page.get_by_label("Possible secrets (l)").first.fill("2")
    walk.button("Show a preview")
    walk.page.locator("#preview h2").wait_for()
    check(walk.page, picture, "protect-preview")


def test_a_hierarchy_is_tried_and_told_what_is_wrong(walk, served, told, picture):
    walk.page.goto(f"{served.base}{told.project}/hierarchy/1")
    card = walk.page.locator("form", has_text="Intervals of equal width")
    card.get_by_label("Width").fill("10")
    card.get_by_role("button", name="Try").click()
    expect(walk.page.get_by_role("table").first).to_be_visible()
    check(walk.page, picture, "hierarchy-tried")
    walk.page.goto(f"{served.base}{told.project}/roles")
    walk.page.get_by_label("Role of sex").select_option("semi-sensitive")
    walk.button("Save")
    expect(walk.page.get_by_role("alert")).to_contain_text("Nothing was saved")
    check(walk.page, picture, "roles-refused")


def test_the_keyboard_leads_past_the_steps(walk, served, told):
    page = walk.page
    page.goto(f"{served.base}{told.project}/roles")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Next: protect").first).to_be_focused()
    page.keyboard.press("Enter")
    walk.title("Protect")
