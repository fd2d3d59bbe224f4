"""The figures and tables of the SLPPA paper's page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sfumato.papers.figures import Figure, Mark
from sfumato.papers.grid import NotMeasured, Results
from sfumato.papers.paper import NumbersTable
from sfumato.papers.slppa_judges import KINDS, METHODS, WAYS

_TITLES = {"withheld": "rows withheld", "all rows": "all rows, β relaxed"}


def _of_way(results: Results, way: str, attributes: str = "paper") -> list[tuple[int, Any]]:
    more = {"attributes": attributes} if way == "withheld" else {}
    return [(int(given["rows"]), found) for given, found in results.all(way, **more)]


def _division_times(results: Results) -> list[Mark]:
    both = ("SLPPA", "Slicing")
    by_rows = results.all("table division", attributes="paper", tables=3)
    last = by_rows[-1][0]["rows"]
    by_tables = results.all("table division", attributes="paper", rows=last)
    return [
        *(
            Mark(given["rows"], found["methods"][name]["seconds"], name, "by rows, three tables")
            for name in both
            for given, found in by_rows
        ),
        *(
            Mark(
                given["tables"],
                found["methods"][name]["seconds"],
                name,
                f"by number of tables, {last:,} rows",
            )
            for name in both
            for given, found in by_tables
        ),
    ]


def _spread(results: Results) -> list[Mark]:
    marks = []
    last = results.all("table division")[-1][0]["rows"]
    for given, found in results.all("table division", rows=last):
        if given["tables"] not in (3, 4):
            continue
        panel = f"{found['attributes']} QIs, {given['tables']} tables"
        for name, numbers in found["methods"].items():
            marks += [
                Mark(f"table {place}", size, name, panel)
                for place, size in enumerate(numbers["sizes"], start=1)
            ]
    return marks


def _by_rows(
    what: Callable[[Mapping[str, Any]], float], names: Sequence[str] = METHODS
) -> Callable[[Results], list[Mark]]:
    def marks(results: Results) -> list[Mark]:
        return [
            Mark(rows, what(found["methods"][name]), name, _TITLES[way])
            for way in WAYS
            for name in names
            for rows, found in _of_way(results, way)
        ]

    return marks


def _recq(attributes: str, *ways: str) -> Callable[[Results], list[Mark]]:
    def marks(results: Results) -> list[Mark]:
        return [
            Mark(
                rows,
                found["methods"][name]["recq"][kind]["mean"],
                name,
                f"{kind} QIs, {_TITLES[way]}",
            )
            for way in ways
            for kind in KINDS
            for name in METHODS
            for rows, found in _of_way(results, way, attributes)
        ]

    return marks


def _parameters(results: Results) -> list[Mark]:
    (_, base) = _of_way(results, "withheld")[-1]
    marks = []
    for kind in KINDS:
        for name in METHODS:
            panel = f"{kind} QIs"
            marks.append(Mark("Table 7", base["methods"][name]["recq"][kind]["mean"], name, panel))
            for given, found in results.all("parameters"):
                numbers = found["methods"].get(name, {})
                if "recq" in numbers:
                    change = str(given["change"])
                    marks.append(Mark(change, numbers["recq"][kind]["mean"], name, panel))
    return marks


def _slppa(experiment: str, parameter: str) -> Callable[[Results], list[Mark]]:
    def marks(results: Results) -> list[Mark]:
        return [
            Mark(
                found["kept"] / found["methods"]["SLPPA"]["groups"]
                if parameter == "beta"
                else given[parameter],
                found["methods"]["SLPPA"]["recq"][kind]["mean"],
                f"{kind} QIs",
            )
            for kind in KINDS
            for given, found in results.all(experiment)
        ]

    return marks


_ROWS, _ERROR = "rows (n)", "RECQ (mean relative error)"
FIGURES = (
    Figure(
        "fig-2",
        "Time of table division",
        "as its Fig. 2",
        "rows (n), or tables",
        "processor seconds",
        _division_times,
    ),
    Figure(
        "fig-3",
        "Attributes of each table, fewest first",
        "as its Fig. 3",
        "",
        "attributes",
        _spread,
        bars=True,
    ),
    Figure(
        "fig-4",
        "Time of group division",
        "as its Fig. 4",
        _ROWS,
        "processor seconds",
        _by_rows(lambda found: float(found["division_seconds"])),
    ),
    Figure(
        "fig-5",
        "Number of groups",
        "as its Fig. 5",
        _ROWS,
        "groups",
        _by_rows(lambda found: float(found["groups"])),
        log=True,
    ),
    Figure("fig-6", "Errors of counts", "as its Fig. 6", _ROWS, _ERROR, _recq("paper", *WAYS)),
    Figure(
        "fig-7",
        "Errors of counts with more QIs",
        "as its Fig. 7",
        _ROWS,
        _ERROR,
        _recq("more", "withheld"),
    ),
    Figure(
        "fig-8",
        "Errors of counts with other parameters, rows withheld",
        "as its Fig. 8",
        "what differs from Table 7",
        _ERROR,
        _parameters,
        bars=True,
    ),
    Figure(
        "fig-9",
        "Errors of counts by number of tables, rows withheld",
        "as its Fig. 9",
        "tables of QIs",
        _ERROR,
        _slppa("by tables", "tables"),
    ),
    Figure(
        "fig-10",
        "Errors of counts by size of groups, rows withheld",
        "as its Fig. 10",
        "rows in a group, on average",
        _ERROR,
        _slppa("by group size", "beta"),
    ),
)


def tables(results: Results) -> list[NumbersTable]:
    """Return the tables of all numbers."""
    found = [_divisions(results)]
    for title, way, attributes in (
        ("Rows withheld so that β = 0.05 is feasible", "withheld", "paper"),
        ("The same with more QIs", "withheld", "more"),
        ("All rows, β the least that is feasible", "all rows", "paper"),
    ):
        lines = [
            [f"{rows:,}", f"{one['kept']:,}", f"{one.get('beta', 0.05):g}", *line]
            for rows, one in _of_way(results, way, attributes)
            for line in _lines(one)
        ]
        found.append(_runs(title, ["rows", "kept", "β"], lines))
    for title, experiment, parameter in (
        ("Other parameters (its Table 8), rows withheld", "parameters", "change"),
        ("SLPPA by number of tables, rows withheld", "by tables", "tables"),
        ("SLPPA by size of groups, rows withheld", "by group size", "beta"),
    ):
        lines = [
            [str(given[parameter]), *line]
            for given, one in results.all(experiment)
            for line in _lines(one)
        ]
        found.append(_runs(title, [parameter], lines))
    return [*found, _times(results)]


def _divisions(results: Results) -> NumbersTable:
    lines = [
        [
            f"{given['rows']:,}",
            str(found["attributes"]),
            str(given["tables"]),
            *(
                ", ".join(map(str, found["methods"][name]["sizes"]))
                for name in ("SLPPA", "SLPPA, even", "Slicing")
            ),
        ]
        for given, found in results.all("table division")
    ]
    head = ["rows", "QIs", "tables", "SLPPA, literal", "SLPPA, even", "Slicing"]
    return NumbersTable("Attributes per table, fewest first", head, lines)


def _lines(one: Mapping[str, Any]) -> list[list[str]]:
    """Return a line for each method: groups and errors, or why it refuses."""
    lines = []
    for name, found in one["methods"].items():
        if "refused" in found:
            lines.append([name, f"refused: {found['refused']}", *[""] * len(KINDS)])
            continue
        errors = [found["recq"][kind] for kind in KINDS]
        told = [f"{each['mean']:.3f} ({each['median']:.3f})" for each in errors]
        lines.append([name, f"{found['groups']:,.0f}", *told])
    return lines


def _runs(title: str, first: Sequence[str], lines: Sequence[Sequence[str]]) -> NumbersTable:
    head = [*first, "method", "groups", *(f"RECQ, {kind} QIs" for kind in KINDS)]
    return NumbersTable(f"{title}; RECQ as mean (median)", head, lines)


def _times(results: Results) -> NumbersTable:
    lines = []
    for given, found in results.all("table division", attributes="paper"):
        both = [found["methods"][name]["seconds"] for name in ("SLPPA", "Slicing")]
        what = f"table division, {given['tables']} tables"
        lines.append([what, f"{given['rows']:,}", *(f"{each:.4f}" for each in both), ""])
    for way in WAYS:
        for rows, found in _of_way(results, way):
            seconds = [found["methods"][name]["division_seconds"] for name in METHODS]
            what = f"group division, {_TITLES[way]}"
            lines.append([what, f"{rows:,}", *(f"{each:.4f}" for each in seconds)])
    if not lines:
        raise NotMeasured("nothing timed")
    return NumbersTable("Seconds of the two divisions", ["what", "rows", *METHODS], lines)
