"""The figures and tables of the refining-partition paper's page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sfumato.papers.figures import Figure, Mark
from sfumato.papers.grid import Numbers, Results
from sfumato.papers.paper import NumbersTable

_SHOWN = ("AT", "AIP", "ARP", "NG", "ARP on Mondrian")


def _marks(experiment: str, parameter: str, measure: str) -> Callable[[Results], list[Mark]]:
    def marks(results: Results) -> list[Mark]:
        fixed = {"l": 5} if experiment == "by attributes" else {}
        by = results.along(experiment, parameter, **fixed)
        return [
            Mark(value, found["methods"][name][measure], name)
            for name in _SHOWN
            for value, found in by.items()
        ]

    return marks


def _figure(number: int, experiment: str, parameter: str, x: str, measure: str) -> Figure:
    what, y = (
        ("Execution time", "processor seconds")
        if measure == "seconds"
        else ("Loss of correspondences", "GLP (0: nothing is lost)")
    )
    return Figure(
        key=f"fig-{number}",
        title=f"{what} {experiment if parameter != 'attributes' else 'by number of NSAs'}",
        like=f"as its Fig. {number}",
        x=x,
        y=y,
        marks=_marks(experiment, parameter, measure),
    )


def _refining(results: Results) -> list[Mark]:
    return [
        Mark(str(given["initial"]), found[f"glp_{when}"], f"{when} refining", f"l = {given['l']}")
        for when in ("before", "after")
        for given, found in results.all("refining")
    ]


FIGURES = (
    _figure(1, "by l", "l", "l", "seconds"),
    _figure(2, "by l", "l", "l", "glp"),
    _figure(3, "by rows", "rows", "rows (n)", "seconds"),
    _figure(4, "by rows", "rows", "rows (n)", "glp"),
    _figure(5, "by attributes", "attributes", "non-sensitive attributes (d)", "seconds"),
    _figure(6, "by attributes", "attributes", "non-sensitive attributes (d)", "glp"),
    Figure(
        key="refining",
        title="Other initial partitions, before and after refining",
        like="not in the paper",
        x="initial partition",
        y="GLP (0: nothing is lost)",
        marks=_refining,
        bars=True,
    ),
)


def tables(results: Results) -> list[NumbersTable]:
    """Return the tables of all numbers."""
    found = []
    for experiment, parameter, what, fixed in (
        ("by l", "l", "l", {}),
        ("by rows", "rows", "rows", {}),
        ("by attributes", "attributes", "NSAs (l = 5)", {"l": 5}),
        ("by attributes", "attributes", "NSAs (l = 3)", {"l": 3}),
    ):
        by = results.along(experiment, parameter, **fixed)
        for measure, digits in (("glp", 4), ("seconds", 3), ("re_ratio", 5)):
            if measure != "seconds" or what != "NSAs (l = 3)":
                found.append(_table(by, what, measure, digits))
    order = results.all("by l")[0][1]["order"]
    told = f"Attributes by association with the sensitive one: {', '.join(order)}"
    found[0] = NumbersTable(f"{told}.\n\n{found[0].title}", found[0].head, found[0].lines)
    return [*found, _refined(results)]


_MEASURES = {"glp": "GLP", "seconds": "Seconds", "re_ratio": "RE over its lower bound"}


def _table(by: Mapping[Any, Numbers], what: str, measure: str, digits: int) -> NumbersTable:
    names = list(next(iter(by.values()))["methods"])
    lines = [
        [f"{value:,}", *(f"{found['methods'][name][measure]:.{digits}f}" for name in names)]
        for value, found in by.items()
    ]
    return NumbersTable(f"{_MEASURES[measure]} by {what}", [what, *names], lines)


def _refined(results: Results) -> NumbersTable:
    head = ["l", "initial partition", "GLP before", "after", "mean probability before", "after"]
    lines = [
        [
            str(given["l"]),
            str(given["initial"]),
            *(
                f"{found[f'{measure}_{when}']:.4f}"
                for measure in ("glp", "mean_probability", "error")
                for when in ("before", "after")
            ),
        ]
        for given, found in results.all("refining")
    ]
    return NumbersTable(
        "Refining other partitions; errors are medians of COUNT queries",
        [*head, "error before", "after"],
        lines,
    )
