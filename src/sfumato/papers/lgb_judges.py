"""How numbers judge what the LGB paper claims of groups and of their loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.papers.claims import (
    Case,
    Judgement,
    always_less,
    open_question,
    verdict,
)
from sfumato.papers.grid import Numbers, Results

DENSITY = 0.2
# "About 14 % to 17 %": rounded to whole per cents, and read from a chart.
GAIN, ABOUT = (0.14, 0.17), 0.01


def grid_of(results: Results) -> dict[tuple[str, int, int], Numbers]:
    """Return the numbers by variant, k and l, with a fifth of the cells flagged."""
    return {
        (given["variant"], given["k"], given["l"]): found
        for given, found in results.all("queries", density=DENSITY)
    }


def values(found: Mapping[tuple[str, int, int], Any], place: int) -> list[int]:
    """Return the k (place 1) or l (place 2) of a grid, in order."""
    return sorted({int(key[place]) for key in found})


def letter(results: Results) -> dict[tuple[int, int], Numbers]:
    """Return the numbers of the greedy to the letter, by k and l."""
    return {(given["k"], given["l"]): found for given, found in results.all("to the letter")}


def keeps(results: Results) -> Judgement:
    """Judge that every release keeps all guarantees that it claims."""
    found = [numbers for _, numbers in (*results.all("queries"), *results.all("to the letter"))]
    claimed, kept = (sum(each[name] for each in found) for name in ("guarantees", "kept"))
    return verdict(
        claimed == kept,
        f"an audit found {kept} of {claimed} guarantees kept, in {len(found)} releases",
        "a release breaks what it claims",
        releases=len(found),
        guarantees=claimed,
        kept=kept,
    )


def same_for_all_l(results: Results) -> Judgement:
    """Judge that groups do not depend on l: C_DM and NCP are the same numbers."""
    found = grid_of(results)
    ls = values(found, 2)
    by: dict[tuple[str, int], set[tuple[float, float]]] = {}
    for (name, k, _), numbers in found.items():
        by.setdefault((name, k), set()).add((numbers["c_dm"], numbers["ncp_sum"]))
    differ = sum(len(each) > 1 for each in by.values())
    return verdict(
        len(ls) > 1 and not differ,
        f"C_DM and NCP are the same numbers for l = {', '.join(map(str, ls))} in "
        f"{len(by) - differ} of {len(by)} cases",
        "groups change with l",
        cases=len(by),
        exceptions=differ,
    )


def lower_c_dm(results: Results) -> Judgement:
    """Judge that C_DM of MDP is below that of NCP."""
    found = grid_of(results)
    ell = values(found, 2)[0]
    cases = [
        Case(f"k = {k}", found["MDP", k, ell]["c_dm"], found["NCP", k, ell]["c_dm"])
        for k in values(found, 1)
    ]
    judged = always_less(
        cases,
        ("C_DM of MDP", "NCP"),
        digits=0,
        why_not=(
            "where short sides are topped up, as Xu et al. have it, groups of NCP have few rows "
            "beyond k; splits that are given up leave large ones"
        ),
    )
    strict = letter(results)
    told = ", ".join(
        f"{strict[k, ell]['c_dm'] / found['MDP', k, ell]['c_dm']:.2f}" for k in values(found, 1)
    )
    return Judgement(
        judged.verdict,
        f"{judged.measured}; NCP to the letter has {told} times that of MDP",
        judged.numbers,
        judged.why,
    )


def lower_ncp(results: Results) -> Judgement:
    """Judge that NCP loses less than MDP, by NCP."""
    found = grid_of(results)
    ell = values(found, 2)[0]
    cases = [
        Case(f"k = {k}", found["NCP", k, ell]["ncp_mean"], found["MDP", k, ell]["ncp_mean"])
        for k in values(found, 1)
    ]
    judged = always_less(cases, ("mean NCP of NCP", "MDP"), digits=4)
    strict = letter(results)
    told = ", ".join(
        f"{strict[k, ell]['ncp_mean'] / found['MDP', k, ell]['ncp_mean'] - 1:+.1%}"
        for k in values(found, 1)
    )
    return Judgement(
        judged.verdict,
        f"{judged.measured}; NCP to the letter against MDP: {told}",
        judged.numbers,
        judged.why,
    )


def gains(results: Results) -> list[float]:
    """Return by which share NCP is below MDP, for every k."""
    found = grid_of(results)
    ell = values(found, 2)[0]
    return [
        1 - found["NCP", k, ell]["ncp_mean"] / found["MDP", k, ell]["ncp_mean"]
        for k in values(found, 1)
    ]


def size_of_gain(results: Results) -> Judgement:
    """Judge that the gain is about 14 to 17 %."""
    shares = gains(results)
    low, high = GAIN[0] - ABOUT, GAIN[1] + ABOUT
    why = "more than that" if min(shares) > high else "less" if max(shares) < low else "not always"
    return verdict(
        all(low <= share <= high for share in shares),
        f"below by {', '.join(f'{share:.1%}' for share in shares)} "
        f"for k = {', '.join(map(str, values(grid_of(results), 1)))}",
        why,
        least=min(shares),
        most=max(shares),
    )


def both_at_once(results: Results) -> Judgement:
    """Judge that one greedy has both: larger C_DM and smaller NCP than MDP."""
    found, strict = grid_of(results), letter(results)
    ell, ks = values(found, 2)[0], values(found, 1)
    greedy = {
        "NCP": {k: found["NCP", k, ell] for k in ks},
        "NCP to the letter": {k: strict[k, ell] for k in ks},
    }
    counts = {
        name: sum(
            by[k]["c_dm"] > found["MDP", k, ell]["c_dm"]
            and by[k]["ncp_mean"] < found["MDP", k, ell]["ncp_mean"]
            for k in ks
        )
        for name, by in greedy.items()
    }
    told = ", ".join(f"{name} in {count} of {len(ks)} cases" for name, count in counts.items())
    return verdict(
        max(counts.values()) == len(ks),
        f"larger C_DM with smaller NCP: {told}",
        "large groups lose much: a greedy that gives splits up has the one, a greedy that tops "
        "sides up has the other",
        most=max(counts.values()),
        cases=len(ks),
    )


def figures_alone(results: Results) -> Judgement:
    """Say that the heights of the paper's curves cannot be held against ours."""
    found = grid_of(results)
    k, ell = values(found, 1)[0], values(found, 2)[0]
    return open_question(
        "its figures are images without numbers, and its sample of the US Census is not named",
        f"MDP at k = {k}, l = {ell}: C_DM {found['MDP', k, ell]['c_dm']:,}, NCP "
        f"{found['MDP', k, ell]['ncp_sum']:,.0f}, R_error {found['MDP', k, ell]['error_mean']:.1f}",
    )
