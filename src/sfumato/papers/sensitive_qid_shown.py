"""The figures and tables of the sensitive-QID paper's page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sfumato.papers.figures import Figure, Mark
from sfumato.papers.grid import Results
from sfumato.papers.paper import NumbersTable
from sfumato.papers.sensitive_qid_judges import DISTANCES, cells

NAMES = {
    "bayes": "bayes",
    "inverse": "inverse",
    "value-adding": "ValueAdding",
    "rating": "Rating",
    "random": "Random",
}


def _distance(experiment: str, distance: str) -> Callable[[Results], list[Mark]]:
    parameter = experiment.removeprefix("by ")

    def marks(results: Results) -> list[Mark]:
        return [
            Mark(given[parameter], found[name][distance], told, f"q′ = {given['width']}")
            for name, told in NAMES.items()
            if name != "inverse"
            for _, given, found in cells(results, experiment)
            if name in found and found[name][distance] > 0
        ]

    return marks


def _by_distance(numbers: str, experiment: str) -> list[Figure]:
    parameter = experiment.removeprefix("by ")
    return [
        Figure(
            f"fig-{'1' if parameter == 'l' else '3'}-{distance.lower()}",
            f"{distance} distance of cross tables by {parameter}",
            f"as its Fig. {numbers}",
            parameter,
            f"{distance} between counts (log scale)",
            _distance(experiment, distance),
            log=True,
        )
        for distance in DISTANCES
    ]


def _publishing(results: Results) -> list[Mark]:
    return [
        Mark(given["l"], found[f"{key}_seconds"], name)
        for key, name in (("sets", "random sets"), ("rating", "Rating"))
        for given, found in results.all("publishing")
    ]


def _reading(results: Results) -> list[Mark]:
    return [
        Mark(given["l"], found[name]["seconds"], NAMES[name], f"q′ = {given['width']}")
        for name in ("bayes", "value-adding", "rating")
        for _, given, found in cells(results, "by l")
    ]


def _histogram(results: Results) -> list[Mark]:
    found = results.all("histogram")[0][1]
    return [
        Mark(place + 1, count, name, job)
        for name in ("original", "bayes", "ValueAdding", "Rating")
        for job, counts in found[name]["shown"].items()
        for place, count in enumerate(counts)
    ]


FIGURES = (
    *_by_distance("1 and 2", "by l"),
    *_by_distance("3 and 4", "by t"),
    Figure(
        "fig-5",
        "Time to publish all attributes",
        "as its Fig. 5",
        "l",
        "processor seconds",
        _publishing,
    ),
    Figure(
        "fig-6",
        "Time to reconstruct a cross table",
        "as its Fig. 6",
        "l",
        "processor seconds (mean of the queries)",
        _reading,
    ),
    Figure(
        "fig-7",
        "Age within two occupations, l = 5",
        "as its Fig. 7",
        "part of the ages",
        "people",
        _histogram,
    ),
)


def tables(results: Results) -> list[NumbersTable]:
    """Return the tables of all numbers."""
    return [
        *(
            _table(results, experiment, width)
            for experiment in ("by l", "by t")
            for width in dict.fromkeys(given["width"] for _, given, _ in cells(results, experiment))
        ),
        _times(results),
    ]


def _table(results: Results, experiment: str, width: int) -> NumbersTable:
    parameter = experiment.removeprefix("by ")
    found = [
        (given, numbers)
        for _, given, numbers in cells(results, experiment)
        if given["width"] == width
    ]
    names = [name for name in NAMES if name in found[0][1]]
    lines = [
        [str(given[parameter]), *(_told(numbers[name]) for name in names)]
        for given, numbers in found
    ]
    title = f"Distances by {parameter}, q′ = {width}: {', '.join(DISTANCES)}"
    return NumbersTable(title, [parameter, *(NAMES[name] for name in names)], lines)


def _told(numbers: Mapping[str, Any]) -> str:
    return ", ".join(f"{numbers[name]:,.0f}" for name in DISTANCES)


def _times(results: Results) -> NumbersTable:
    lines = [
        [str(given["l"]), f"{found['sets_seconds']:.2f}", f"{found['rating_seconds']:.2f}"]
        for given, found in results.all("publishing")
    ]
    return NumbersTable("Seconds to publish all attributes", ["l", "random sets", "Rating"], lines)
