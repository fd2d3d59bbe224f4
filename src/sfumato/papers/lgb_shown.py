"""The figures and tables of the LGB paper's page."""

from __future__ import annotations

from collections.abc import Callable

from sfumato.papers.figures import Figure, Mark
from sfumato.papers.grid import Results
from sfumato.papers.lgb_judges import grid_of, letter, values
from sfumato.papers.paper import NumbersTable

LITERAL = "NCP to the letter"


def _by_l(measure: str, with_letter: bool = False) -> Callable[[Results], list[Mark]]:
    def marks(results: Results) -> list[Mark]:
        found = [
            Mark(ell, numbers[measure], name, f"k = {k}")
            for (name, k, ell), numbers in grid_of(results).items()
        ]
        if with_letter:
            found += [
                Mark(ell, numbers[measure], LITERAL, f"k = {k}")
                for (k, ell), numbers in letter(results).items()
            ]
        return found

    return marks


def _by_density(results: Results) -> list[Mark]:
    found = sorted(
        (given["k"], given["l"], given["density"], numbers["error_mean"])
        for given, numbers in results.all("queries", variant="MDP")
    )
    ends = {(k, ell) for k, ell, share, _ in found if share != 0.2}
    return [
        Mark(100 * share, error, f"k = {k}, l = {ell}")
        for k, ell, share, error in found
        if (k, ell) in ends
    ]


FIGURES = (
    Figure(
        "fig-5",
        "Discernibility by l",
        "as its Fig. 5",
        "l",
        "C_DM (rows squared)",
        _by_l("c_dm", with_letter=True),
    ),
    Figure(
        "fig-6",
        "Loss by generalisation, by l",
        "as its Fig. 6",
        "l",
        "NCP (mean share of the range)",
        _by_l("ncp_mean", with_letter=True),
    ),
    Figure(
        "fig-7",
        "Relative error of sums, by l",
        "as its Fig. 7",
        "l",
        "R_error (mean, times the true sum)",
        _by_l("error_mean"),
    ),
    Figure(
        "range",
        "Relative error without rounding, by l",
        "not in the paper",
        "l",
        "R_error (median, times the true sum)",
        _by_l("range_median"),
    ),
    Figure(
        "fig-8",
        "Relative error of MDP by the share of flagged cells",
        "as its Fig. 8",
        "flagged cells (%)",
        "R_error (mean, times the true sum)",
        _by_density,
    ),
)


def tables(results: Results) -> list[NumbersTable]:
    """Return the tables of all numbers."""
    return [
        _losses(results),
        *(_errors(results, measure) for measure in _WHAT),
        _densities(results),
        _open_values(results),
        _intervals(results),
    ]


def _losses(results: Results) -> NumbersTable:
    found, strict = grid_of(results), letter(results)
    ell = values(found, 2)[0]
    lines = []
    for k in values(found, 1):
        least = found["MDP", k, ell]["ncp_mean"]
        by = {name: numbers for (name, own, at), numbers in found.items() if (own, at) == (k, ell)}
        for name, numbers in (by | {LITERAL: strict[k, ell]}).items():
            lines.append(
                [
                    str(k),
                    name,
                    f"{numbers['c_dm']:,}",
                    f"{numbers['ncp_sum']:,.0f}",
                    f"{numbers['ncp_mean']:.4f}",
                    "" if name == "MDP" else f"{1 - numbers['ncp_mean'] / least:.1%}",
                ]
            )
    head = ["k", "", "C_DM", "NCP sum", "NCP mean", "NCP below MDP's"]
    return NumbersTable("Loss by generalisation, the same for all l", head, lines)


_WHAT = {
    "error_mean": "R_error, mean over the queries",
    "error_median": "R_error, median over the queries",
    "range_median": "R_error without rounding (the range of the buckets alone), median",
}


def _errors(results: Results, measure: str) -> NumbersTable:
    found = grid_of(results)
    ls = values(found, 2)
    pairs = dict.fromkeys((name, k) for name, k, _ in found)
    lines = [
        [name, str(k), *(f"{found[name, k, ell][measure]:.3f}" for ell in ls)] for name, k in pairs
    ]
    return NumbersTable(_WHAT[measure], ["", "k", *(f"l = {ell}" for ell in ls)], lines)


def _densities(results: Results) -> NumbersTable:
    by: dict[tuple[int, int], dict[float, str]] = {}
    for given, numbers in results.all("queries", variant="MDP"):
        told = f"{numbers['error_mean']:.2f} ({numbers['error_median']:.3f})"
        by.setdefault((given["k"], given["l"]), {})[given["density"]] = told
    whole = {key: cell for key, cell in sorted(by.items()) if len(cell) > 1}
    shares = sorted(next(iter(whole.values())))
    lines = [[str(k), str(ell), *(cell[s] for s in shares)] for (k, ell), cell in whole.items()]
    return NumbersTable(
        "R_error of MDP by the share of flagged cells, mean (median)",
        ["k", "l", *(f"{share:.0%}" for share in shares)],
        lines,
    )


def _open_values(results: Results) -> NumbersTable:
    found = grid_of(results)
    ell = values(found, 2)[0]
    lines = []
    names: list[str] = []
    for (name, k, at), numbers in found.items():
        if at == ell:
            opened = numbers["open"]
            names = list(opened["cells"])
            told = [
                f"{opened[where][each]:.1f}" for where in ("cells", "buckets") for each in names
            ]
            lines.append([name, str(k), *told])
    return NumbersTable(
        f"Different values that a cell leaves open, on average (buckets at l = {ell})",
        ["", "k", *(f"{each}, cell" for each in names), *(f"{each}, bucket" for each in names)],
        lines,
    )


def _intervals(results: Results) -> NumbersTable:
    found = results.all("intervals")
    k, ell = found[0][0]["k"], found[0][0]["l"]
    lines = [
        [
            str(given["variant"]),
            f"{numbers['paper_holds']:.1%}",
            f"{numbers['paper_width']:.3f}",
            f"{numbers['bounds_hold']:.1%}",
            f"{numbers['bounds_width']:.3f}",
            f"{numbers['estimate_error']:.1%}",
        ]
        for given, numbers in found
    ]
    head = ["", "paper's interval holds", "its width", "hard bounds hold", "their width"]
    return NumbersTable(
        f"Intervals at k = {k}, l = {ell} (widths and errors relative to the truth, medians)",
        [*head, "error of the estimate"],
        lines,
    )
