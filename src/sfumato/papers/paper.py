"""A paper: which data its experiments fit, their grid, how a point is measured, what it claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sfumato.papers.claims import Claim
from sfumato.papers.data import Data
from sfumato.papers.figures import Figure
from sfumato.papers.grid import Numbers, Point, Results

Measure = Callable[[Point], Numbers]


@dataclass(frozen=True, slots=True)
class NumbersTable:
    """A table of a page: a title above, a head, and lines of cells."""

    title: str
    head: Sequence[str]
    lines: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Paper:
    """All that a reproduction needs to know of a paper.

    `version` is that of the experiments: a change to what a point measures changes it, and
    results of other versions count no more. `real` are the keys of data sets that its experiments
    fit (`papers/data.py`), `synthetic` those of look-alikes with their rows, in full and quick.
    `bench` sets up what all points of one set of data share and returns the function from a
    point to its numbers. Numbers depend on the point and the data alone, but for seconds.
    """

    key: str
    title: str
    source: str
    version: str
    real: tuple[str, ...]
    synthetic: Mapping[str, tuple[int, int]]
    about_data: Mapping[str, str]
    """By key of the data, which rows and attributes the experiments take."""
    grid: Callable[[str, bool], list[Point]]
    """The points for the key of a set of data; the flag asks for the quick ones."""
    bench: Callable[[Data], Measure]
    claims: tuple[Claim, ...]
    figures: tuple[Figure, ...]
    tables: Callable[[Results], list[NumbersTable]]
    compared: str = ""
    """What the names in tables and figures stand for."""
