"""A file is dragged from the desktop onto the page, as the browser gets it from the system."""

from __future__ import annotations

from playwright.sync_api import expect


def drag(page, path, *steps):
    place = page.locator(".drop")
    place.scroll_into_view_if_needed()
    box = place.bounding_box()
    session = page.context.new_cdp_session(page)
    for step in steps:
        session.send(
            "Input.dispatchDragEvent",
            {
                "type": step,
                "x": box["x"] + box["width"] / 2,
                "y": box["y"] + box["height"] / 2,
                "data": {"items": [], "files": [str(path)], "dragOperationsMask": 1},
            },
        )


def test_a_dropped_file_is_opened(walk, people):
    page = walk.page
    drag(page, people, "dragEnter", "dragOver")
    expect(page.locator(".drop.over")).to_be_visible()
    drag(page, people, "drop")
    expect(page.locator(".drop.over")).to_have_count(0)
    assert page.get_by_label("Choose a file").evaluate("e => e.files[0].name") == people.name
    walk.button("Open the file")
    walk.looked_at()
    expect(page.locator("main")).to_contain_text(f"500 rows and 6 columns of {people.name}")


def test_a_dropped_file_that_is_too_large_is_refused_at_once(walk, people):
    page = walk.page
    page.get_by_label("Choose a file").evaluate("e => e.dataset.most = 10")
    drag(page, people, "dragEnter", "dragOver", "drop")
    assert "larger than" in page.get_by_label("Choose a file").evaluate("e => e.validationMessage")
    walk.button("Open the file")
    expect(page.get_by_role("heading", level=1)).to_have_text("Projects")
