"""The figures and tables of the Merging paper's page."""

from __future__ import annotations

from collections.abc import Callable

from sfumato.attacks import wilson
from sfumato.papers.figures import Figure, Mark
from sfumato.papers.grid import NotMeasured, Results
from sfumato.papers.merging_judges import LITERAL, OTHERS, OURS
from sfumato.papers.paper import NumbersTable

_METHODS = (OURS, LITERAL, *OTHERS)


def _degrees(results: Results) -> list[tuple[str, int]]:
    pairs = [(str(given["secret"]), int(given["degree"])) for given, _ in results.all("risk")]
    return list(dict.fromkeys(pairs))


def _risk(secret: str, degree: int) -> Callable[[Results], list[Mark]]:
    def marks(results: Results) -> list[Mark]:
        by = results.along("risk", "overlap", secret=secret, degree=degree)
        return [
            Mark(people, 100 * found[name]["record_risk"], name)
            for name in _METHODS
            for people, found in by.items()
        ]

    return marks


def _fewer(results: Results) -> list[Mark]:
    marks = []
    for secret, degree in _degrees(results):
        *_, found = results.along("risk", "overlap", secret=secret, degree=degree).values()
        case = f"{secret}, l = {degree}"
        marks += [Mark(case, 100 * found[name]["fewer_than_l"], name) for name in _METHODS]
    return marks


def _loss(results: Results) -> list[Mark]:
    return [
        Mark(f"{given['secret']}, l = {given['degree']}", found[name], name)
        for name in _METHODS
        for given, found in results.all("loss")
    ]


def _errors(results: Results) -> list[Mark]:
    return [
        Mark(
            given["attributes"],
            100 * found[name]["mean"],
            name,
            f"{given['secret']}, l = {given['degree']}",
        )
        for given, found in results.all("queries")
        for name in _METHODS
    ]


def _learned(which: str) -> Callable[[Results], list[Mark]]:
    def marks(results: Results) -> list[Mark]:
        points = [
            (given, found)
            for given, found in results.all("learning")
            if (given["target"] == "education") == (which == "sensitive")
        ]
        if not points:
            raise NotMeasured(which)
        return [
            Mark(f"k = l = {given['degree']}", 100 * found[name], label)
            for name, label in (
                *((each, each) for each in _METHODS),
                ("original", "original"),
                ("majority", "commonest value"),
            )
            for given, found in points
        ]

    return marks


def _times(results: Results) -> list[Mark]:
    return [
        Mark(rows, found["seconds"][name], name)
        for name in (OURS, LITERAL)
        for rows, found in results.along("time", "rows").items()
    ]


def _risk_figure(number: int, secret: str, degree: int) -> Figure:
    return Figure(
        key=f"fig-{number}",
        title=f"Risk by composition, {secret}, k = l = {degree}",
        like=f"as its Fig. {number}",
        x="people whom two sets share",
        y="true matches of records (%)",
        marks=_risk(secret, degree),
        log=True,
    )


FIGURES = (
    _risk_figure(1, "occupation", 4),
    _risk_figure(2, "occupation", 6),
    _risk_figure(3, "education", 4),
    _risk_figure(4, "education", 6),
    Figure(
        "fewer",
        "People with fewer than l candidates left by two releases",
        "not in the paper",
        "",
        "people (%)",
        _fewer,
        bars=True,
    ),
    Figure(
        "fig-5",
        "Loss of data",
        "as its Fig. 5",
        "",
        "distortion ratio (0: all cells exact)",
        _loss,
        bars=True,
    ),
    Figure(
        "fig-6",
        "Error of counts",
        "as its Fig. 6",
        "quasi-identifiers in a query",
        "mean relative error (%)",
        _errors,
        log=True,
    ),
    Figure(
        "fig-7",
        "Learning education, the sensitive attribute",
        "as its Fig. 7",
        "",
        "right (%)",
        _learned("sensitive"),
        bars=True,
    ),
    Figure(
        "fig-8",
        "Learning relationship, a quasi-identifier",
        "as its Fig. 8",
        "",
        "right (%)",
        _learned("other"),
        bars=True,
    ),
    Figure(
        "fig-9", "Execution time, l = 6", "as its Fig. 9", "rows (n)", "processor seconds", _times
    ),
)


def tables(results: Results) -> list[NumbersTable]:
    """Return the tables of all numbers."""
    found = []
    for secret, degree in _degrees(results):
        found += [_risks(results, secret, degree), _queries(results, secret, degree)]
    return [*found, _losses(results), _learning(results), _seconds(results)]


def _risks(results: Results, secret: str, degree: int) -> NumbersTable:
    by = results.along("risk", "overlap", secret=secret, degree=degree)
    *_, last = by.values()
    lines = []
    for name in _METHODS:
        one = last[name]
        low, high = wilson(one["disclosed"], one["people"])
        lines.append(
            [
                name,
                f"{one['groups']:,.0f}",
                *(f"{found[name]['record_risk']:.2%}" for found in by.values()),
                f"{one['class_risk']:.1%}",
                f"{one['disclosed'] / one['people']:.2%} ({low:.2%} to {high:.2%})",
                f"{one['fewer_than_l']:.1%}",
                f"{one['candidates_left']:.2f}",
                f"{one['guess']:.1%}",
            ]
        )
    head = ["method", "classes", *(f"records, {people}" for people in by), "classes match"]
    head += ["given away", f"fewer than {degree} left", "candidates left", "guessed"]
    title = f"Risk, {secret}, k = l = {degree} ({_asked(last[OURS]['parameters'])})"
    return NumbersTable(title, head, lines)


def _asked(parameters: str) -> str:
    return f"Merging, as here: {parameters}"


def _queries(results: Results, secret: str, degree: int) -> NumbersTable:
    by = results.along("queries", "attributes", secret=secret, degree=degree)
    names = list(next(iter(by.values())))
    lines = [
        [
            name,
            *(f"{found[name]['mean']:.3f} ({found[name]['median']:.3f})" for found in by.values()),
        ]
        for name in names
    ]
    head = ["method", *(f"{width} QI{'s' * (width > 1)}" for width in by)]
    title = f"Relative error of counts, mean (median), {secret}, k = l = {degree}"
    return NumbersTable(title, head, lines)


def _losses(results: Results) -> NumbersTable:
    cases = results.all("loss")
    lines = [[name, *(f"{found[name]:.4f}" for _, found in cases)] for name in _METHODS]
    head = ["method", *(f"{given['secret']}, {given['degree']}" for given, _ in cases)]
    return NumbersTable("Distortion ratio", head, lines)


def _learning(results: Results) -> NumbersTable:
    cases = results.all("learning")
    lines = [
        [name, *(f"{100 * found[name]:.2f}" for _, found in cases)]
        for name in ("original", *_METHODS, "majority")
    ]
    head = ["method", *(f"{given['target']}, {given['degree']}" for given, _ in cases)]
    return NumbersTable("Accuracy of trees (%); majority: always the commonest value", head, lines)


def _seconds(results: Results) -> NumbersTable:
    lines = [
        [f"{rows:,}", *(f"{found['seconds'][name]:.3f}" for name in (OURS, LITERAL))]
        for rows, found in results.along("time", "rows").items()
    ]
    return NumbersTable("Seconds by rows, l = 6, occupation", ["rows", OURS, LITERAL], lines)
