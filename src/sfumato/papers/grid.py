"""An experiment as a grid of points, declared before anything is computed; and what was measured.

A point names all that its numbers depend on, so that it can be computed at any time, in any order,
and is never computed twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Parameters = Mapping[str, Any]
"""Numbers, texts and truth values by name."""
Numbers = Mapping[str, Any]
"""What was measured at a point: numbers, and mappings of them, that JSON can hold.

What a clock told has a key that is `seconds` or ends so: it is all that another run would not
repeat to the digit.
"""


class NotMeasured(LookupError):  # noqa: N818 -- a state, not a fault
    """A point that this grid does not have: a claim about it cannot be checked."""


@dataclass(frozen=True, slots=True)
class Point:
    """One cell of an experiment: its parameters, with numbers of rows and queries among them."""

    experiment: str
    parameters: Parameters

    def __str__(self) -> str:
        told = ", ".join(f"{name} = {value}" for name, value in self.parameters.items())
        return f"{self.experiment} ({told})"


def points(experiment: str, *parameters: Parameters) -> list[Point]:
    """Return the points of one experiment.

    >>> [str(point) for point in points("by l", {"l": 3}, {"l": 5})]
    ['by l (l = 3)', 'by l (l = 5)']
    """
    return [Point(experiment, dict(each)) for each in parameters]


@dataclass(frozen=True, slots=True)
class About:
    """What a page says of the data: which, how many rows, and a checksum of all of their cells."""

    key: str
    title: str
    rows: int
    is_real: bool
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Results:
    """The numbers of all points of one set of data, in the order of the grid."""

    about: About
    measured: Sequence[tuple[Point, Numbers]]
    is_quick: bool = field(default=False)

    def all(self, experiment: str, **parameters: Any) -> list[tuple[Parameters, Numbers]]:
        """Return parameters and numbers of an experiment's points that have these parameters.

        Refuses (NotMeasured) to return none.
        """
        found = [
            (point.parameters, numbers)
            for point, numbers in self.measured
            if point.experiment == experiment
            and all(point.parameters.get(name) == value for name, value in parameters.items())
        ]
        if not found:
            wanted = "".join(f", {name} = {value}" for name, value in parameters.items())
            raise NotMeasured(f"{experiment}{wanted}")
        return found

    def one(self, experiment: str, **parameters: Any) -> Numbers:
        """Return the numbers of the only such point; refuses (NotMeasured) none and several."""
        found = self.all(experiment, **parameters)
        if len(found) > 1:
            raise NotMeasured(f"{experiment}: {len(found)} points have these parameters")
        return found[0][1]

    def along(self, experiment: str, parameter: str, **others: Any) -> dict[Any, Numbers]:
        """Return the numbers of an experiment by the values of one parameter, in grid order."""
        return {given[parameter]: found for given, found in self.all(experiment, **others)}


def without_times(numbers: Numbers) -> dict[str, Any]:
    """Return the numbers that a clock did not tell: those that every run repeats.

    >>> without_times({"ARP": {"glp": 0.5, "seconds": 0.1}, "query_seconds": 2.0})
    {'ARP': {'glp': 0.5}}
    """
    return {
        name: without_times(value) if isinstance(value, Mapping) else value
        for name, value in numbers.items()
        if not name.endswith("seconds")
    }
