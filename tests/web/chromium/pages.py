"""What is looked for on a page: findings of axe that keep somebody out."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe


def serious(page) -> list[str]:
    """Return the serious and critical findings of axe, with the places where they are."""
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {', '.join(str(node['target']) for node in each['nodes'][:5])}"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
