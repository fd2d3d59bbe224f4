"""A toy paper among the papers, and results made by hand."""

from __future__ import annotations

import pytest

from papers import toy
from sfumato.papers import reproduce
from sfumato.papers.grid import About, Point, Results


@pytest.fixture
def toys(monkeypatch):
    """The toy paper, with nothing measured yet."""
    monkeypatch.setitem(reproduce.PAPERS, "toy", "papers.toy")
    toy.BENCHES.clear()
    toy.MEASURED.clear()
    return toy


@pytest.fixture
def about():
    return About("adult", "UCI Adult", 48_842, True, "00ff00ff00ff00ff")


@pytest.fixture
def by_hand(about):
    """Make results of points that are given as (experiment, parameters, numbers)."""

    def make(*given, quick=False):
        return Results(about, [(Point(name, by), numbers) for name, by, numbers in given], quick)

    return make
