"""The tables of `docs/papers/lgb.md`, as Markdown, from the numbers of the experiments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Numbers = dict[str, Any]


def markdown(results: Numbers) -> str:
    """Return the tables of one data set."""
    sections = [
        f"### {results['data']}: {results['rows']:,} rows, {results['queries']:,} queries",
        _losses(results),
        *(_errors(results["grid"], f"error_{each}") for each in ("mean", "median", "range")),
        _densities(results["density"]),
        _open_values(results["open_values"]),
        _intervals(results["bounds"]),
    ]
    return "\n\n".join(sections) + "\n"


def _losses(results: Numbers) -> str:
    grid = results["grid"]
    rows = []
    for k in sorted({run["k"] for run in grid}):
        same_k = [run for run in grid if run["k"] == k]
        mdp = next(run for run in same_k if run["variant"] == "MDP")
        for name in dict.fromkeys(run["variant"] for run in same_k):
            runs = [run for run in same_k if run["variant"] == name]
            same = "yes" if len({run["c_dm"] for run in runs}) == 1 else "no"
            rows.append(_loss(runs[0], mdp, same))
        rows += [_loss(run, mdp, "") for run in results["literal"] if run["k"] == k]
    return _table(
        ("k", "", "C_DM", "same for all l", "NCP sum", "NCP mean", "NCP below MDP's"), rows
    )


def _loss(run: Numbers, mdp: Numbers, same: str) -> list[str]:
    below = 1 - run["ncp_mean"] / mdp["ncp_mean"]
    return [
        str(run["k"]),
        run["variant"],
        f"{run['c_dm']:,}",
        same,
        f"{run['ncp_sum']:,.0f}",
        f"{run['ncp_mean']:.4f}",
        "" if run is mdp else f"{below:.1%}",
    ]


_WHAT = {
    "error_mean": "R_error, mean over the queries:",
    "error_median": "R_error, median over the queries:",
    "error_range": "R_error without rounding (the range of the buckets alone), median:",
}


def _errors(grid: list[Numbers], measure: str) -> str:
    ls = sorted({run["l"] for run in grid})
    found = {(run["variant"], run["k"], run["l"]): run[measure] for run in grid}
    pairs = dict.fromkeys((variant, k) for variant, k, _ in found)
    rows = [[v, str(k), *(f"{found[v, k, each]:.3f}" for each in ls)] for v, k in pairs]
    return f"{_WHAT[measure]}\n\n" + _table(("", "k", *(f"l = {each}" for each in ls)), rows)


def _densities(runs: list[Numbers]) -> str:
    shares = sorted({run["density"] for run in runs})
    found = {(run["k"], run["l"], run["density"]): run for run in runs}
    rows = [
        [
            str(k),
            str(each),
            *(
                f"{found[k, each, share]['error_mean']:.2f} "
                f"({found[k, each, share]['error_median']:.3f})"
                for share in shares
            ),
        ]
        for k, each in sorted({(run["k"], run["l"]) for run in runs})
    ]
    table = _table(("k", "l", *(f"{share:.0%}" for share in shares)), rows)
    return f"R_error of MDP by the share of flagged cells, mean (median):\n\n{table}"


def _open_values(runs: list[Numbers]) -> str:
    names = list(runs[0]["cells"])
    rows = [
        [run["variant"], str(run["k"]), *(f"{run['cells'][name]:.1f}" for name in names)]
        + [f"{run['buckets'][name]:.1f}" for name in names]
        for run in runs
    ]
    header = ["", "k", *(f"{name}, cell" for name in names), *(f"{n}, bucket" for n in names)]
    said = f"Different values that a cell leaves open, on average (buckets at l = {runs[0]['l']}):"
    return f"{said}\n\n{_table(header, rows)}"


def _intervals(runs: list[Numbers]) -> str:
    k, ell = runs[0]["k"], runs[0]["l"]
    rows = [
        [
            run["variant"],
            f"{run['paper_holds']:.1%}",
            f"{run['paper_width']:.3f}",
            f"{run['bounds_hold']:.1%}",
            f"{run['bounds_width']:.3f}",
            f"{run['estimate_error']:.1%}",
        ]
        for run in runs
    ]
    header = (
        "",
        "paper's interval holds",
        "its width",
        "hard bounds hold",
        "their width",
        "error of the estimate",
    )
    said = f"Intervals at k = {k}, l = {ell} (widths and errors relative to the truth, medians):"
    return f"{said}\n\n{_table(header, rows)}"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])
