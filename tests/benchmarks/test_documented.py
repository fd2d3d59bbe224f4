"""The page on performance shows the committed results."""

from __future__ import annotations

import re

from benchmarks import documented


def test_the_page_shows_the_committed_results():
    page = documented.PAGE.read_text(encoding="utf-8")
    shown = re.findall(r"<!-- begin ([a-z-]+) -->", page)
    assert sorted(shown) == sorted(documented.BLOCKS)
    # else: python -m benchmarks.documented
    assert documented.documented(page, *documented.committed()) == page


def test_other_numbers_would_be_noticed():
    side, begun = documented.committed()
    page = documented.PAGE.read_text(encoding="utf-8")
    for block, changed in (
        ("growth", (side | {"growth": {"arp": 1.5}}, begun)),
        ("first-runs", (side, begun | {"help_seconds": 9.0})),
    ):
        assert documented.BLOCKS[block](*changed) not in page
