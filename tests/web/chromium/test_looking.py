"""A large file is looked at: what is known is shown at once, and the rest filled in."""

from __future__ import annotations

import json
import shutil
import time

from playwright.sync_api import expect

from web.chromium.pages import check

COUNTED = ("missing", "distinct", "commonest", "bars", "others", "is_range")


def test_columns_are_filled_in_as_they_are_counted(walk, served, people, picture):
    """A copy of a project whose look is over: its files tell the story again, step by step."""
    project = walk.upload(people).rpartition("/")[2]
    kept = shutil.ignore_patterns("scratch", ".*")  # but what a process may still be at
    shutil.copytree(served.folder / project, served.folder / "looking", ignore=kept)
    (run,) = (served.folder / "looking" / "runs").iterdir()
    profile, status = (json.loads((run / f"{n}.json").read_text()) for n in ("profile", "status"))
    seen = {key: profile[key] for key in ("rows", "columns", "preview")}
    bare = [{k: v for k, v in each.items() if k not in COUNTED} for each in seen["columns"]]

    def tell(columns):
        write(run / "seen.json", {**seen, "columns": columns})

    now = time.time()
    stage = {"state": "running", "stage": "looking at the columns", "stage_began": now}
    tell(bare)
    write(run / "status.json", {**status, **stage})
    page = walk.page
    page.goto(f"{served.base}/p/looking/data")
    walk.wait(page.locator("#seen"), "what is known so far")
    expect(page.locator("[data-waiting]")).to_have_count(3 * len(bare))
    expect(page.locator("#seen")).to_contain_text("roles can be chosen once that is done")
    check(page, picture, "data-looking")
    page.locator("#seen h2").evaluate("e => e.dataset.mine = 'yes'")
    tell([*seen["columns"][:2], *bare[2:]])
    expect(page.locator("#spread-1 svg")).to_be_visible()
    expect(page.locator("[data-waiting]")).to_have_count(3 * (len(bare) - 2))
    # the rest of the page is as it was left
    assert page.locator("#seen h2").get_attribute("data-mine") == "yes"
    write(run / "status.json", status)
    expect(page.get_by_role("link", name="Next: roles")).to_be_visible()
    expect(page.locator("[data-waiting]")).to_have_count(0)


def write(path, content):
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(content))
    draft.replace(path)
