"""The pages under `docs/papers/` are what the committed numbers say, on real data, in full."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.papers.claims import judged
from sfumato.papers.page import MADE, page
from sfumato.papers.reproduce import PAPERS, kept, paper_of

FOLDER = Path(__file__).resolve().parent.parent.parent / "docs" / "papers"
MOST = 200_000  # bytes of a chart


@pytest.mark.parametrize("key", PAPERS)
def test_a_page_shows_the_committed_numbers(key):
    paper = paper_of(key)
    results = kept(paper, FOLDER / "results" / f"{key}.jsonl")
    assert [each.about.key for each in results] == list(paper.real)
    assert all(each.about.is_real for each in results)
    links = {
        (figure.key, data): f"figures/{key}/{figure.key}-{data}.svg"
        for figure in paper.figures
        for data in paper.real
        if (FOLDER / "figures" / key / f"{figure.key}-{data}.svg").is_file()
    }
    verdicts = [each for one in results for each in judged(paper.claims, one)]
    found = (FOLDER / f"{key}.md").read_text("utf-8")
    assert found.startswith(MADE)
    assert found == page(paper, results, verdicts, links), (
        f"run: sfumato reproduce {key} --data FILE --out docs/papers"
    )
    assert {figure for figure, _ in links} == {figure.key for figure in paper.figures}


@pytest.mark.parametrize("key", PAPERS)
def test_charts_are_small_and_no_other_lies_about(key):
    text = (FOLDER / f"{key}.md").read_text("utf-8")
    for chart in (FOLDER / "figures" / key).iterdir():
        assert chart.stat().st_size < MOST
        assert f"figures/{key}/{chart.name}" in text
