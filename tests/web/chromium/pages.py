"""What is looked for on a page: nothing that keeps somebody out (axe), readable on a phone."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe


def serious(page) -> list[str]:
    """Return the serious and critical findings of axe, with the places where they are."""
    page.wait_for_load_state("load")  # without its styles a page has other colours
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {', '.join(str(node['target']) for node in each['nodes'][:5])}"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]


def check(page, picture, name: str) -> None:
    """Keep pictures of a page, and find nothing wrong with it, wide or narrow, light or dark."""
    picture(page, name)
    # the last picture was that of a phone
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "cut on a phone"
    assert serious(page) == [], "dark, on a phone"
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")
    assert serious(page) == []
