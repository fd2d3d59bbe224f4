"""How numbers judge what the LGB paper claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.papers.claims import (
    Case,
    Judgement,
    always_grows,
    always_less,
    open_question,
    verdict,
)
from sfumato.papers.grid import Numbers, Results

DENSITY = 0.2
PAPERS_OWN = ("MDP", "NCP")
# "About 14 % to 17 %": rounded to whole per cents, and read from a chart.
GAIN, ABOUT = (0.14, 0.17), 0.01
# "Very equal" is not said in numbers; a chart of the paper's size shows no smaller difference.
ALIKE = 0.05


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


def grows_with_k(results: Results) -> Judgement:
    """Judge that the mean R_error grows with k, for every l."""
    found = grid_of(results)
    series = {
        f"{name} (l = {ell})": [found[name, k, ell]["error_mean"] for k in values(found, 1)]
        for name in PAPERS_OWN
        for ell in (values(found, 2)[0], values(found, 2)[-1])
    }
    return always_grows(series, digits=1)


def grows_with_l(results: Results) -> Judgement:
    """Judge that the mean R_error grows with l, for every k."""
    found = grid_of(results)
    ls = values(found, 2)
    series = {
        f"{name} (k = {k})": [found[name, k, ell]["error_mean"] for ell in ls]
        for name in PAPERS_OWN
        for k in (values(found, 1)[0], values(found, 1)[-1])
    }
    judged = always_grows(
        series,
        digits=1,
        why_not=(
            "the interval rounds the expected rows of every bucket up and down, and larger buckets "
            "are fewer"
        ),
    )
    ratios = [
        found[name, k, ls[-1]]["range_median"] / found[name, k, ls[0]]["range_median"]
        for name in PAPERS_OWN
        for k in values(found, 1)
    ]
    told = (
        f"; without rounding it grows {min(ratios):.1f} to {max(ratios):.1f} times, l = {ls[0]} to "
        f"{ls[-1]} (median)"
    )
    return Judgement(judged.verdict, judged.measured + told, judged.numbers, judged.why)


def more_by_k(results: Results) -> Judgement:
    """Judge that R_error changes more from the least k to the greatest than so for l."""
    found = grid_of(results)
    ks, ls = values(found, 1), values(found, 2)
    cases = []
    for name in PAPERS_OWN:
        start = found[name, ks[0], ls[0]]["error_mean"]
        by_l = abs(found[name, ks[0], ls[-1]]["error_mean"] / start - 1)
        by_k = abs(found[name, ks[-1], ls[0]]["error_mean"] / start - 1)
        cases.append(Case(name, by_l, by_k))
    return always_less(
        cases,
        (f"change with l ({ls[0]} to {ls[-1]})", f"with k ({ks[0]} to {ks[-1]})"),
    )


def lower_error(results: Results) -> Judgement:
    """Judge that R_error of MDP is below that of NCP where l is small."""
    found = grid_of(results)
    ell = values(found, 2)[0]
    cases = [
        Case(f"k = {k}", found["MDP", k, ell]["error_mean"], found["NCP", k, ell]["error_mean"])
        for k in values(found, 1)
    ]
    return always_less(
        cases,
        (f"R_error of MDP at l = {ell}", "NCP"),
        digits=1,
        why_not="cells of NCP are narrower, so that fewer rows are doubtful",
    )


def _gap(found: Mapping[tuple[str, int, int], Numbers], k: int, ell: int) -> float:
    mdp, greedy = (found[name, k, ell]["error_mean"] for name in PAPERS_OWN)
    return float(abs(mdp - greedy) / max(mdp, greedy))


def closer(results: Results) -> Judgement:
    """Judge that R_error of MDP and NCP come closer as l grows."""
    found = grid_of(results)
    ls = values(found, 2)
    cases = [
        Case(f"k = {k}", _gap(found, k, ls[-1]), _gap(found, k, ls[0])) for k in values(found, 1)
    ]
    return always_less(cases, (f"difference at l = {ls[-1]}, as a share,", f"at l = {ls[0]}"))


def equal_at_last(results: Results) -> Judgement:
    """Judge that R_error of MDP and NCP are alike for the largest l."""
    found = grid_of(results)
    ell = values(found, 2)[-1]
    shares = [_gap(found, k, ell) for k in values(found, 1)]
    return verdict(
        max(shares) <= ALIKE,
        f"apart by {', '.join(f'{share:.1%}' for share in shares)} at l = {ell}",
        f"more than {ALIKE:.0%} apart",
        most=max(shares),
    )


def inside(results: Results) -> Judgement:
    """Judge that the true sum is in the interval of every query."""
    shares = [found["holds"] for _, found in results.all("queries")]
    hard = [found["bounds_hold"] for _, found in results.all("intervals")]
    return verdict(
        min(shares) == 1.0,
        f"for {min(shares):.1%} to {max(shares):.1%} of the queries, by release; for "
        f"{min(hard):.1%} of them in the hard bounds that this project gives",
        "rounding the expected number of rows of a bucket bounds nothing: any number of them may "
        "satisfy the query",
        least=min(shares),
        bounds=min(hard),
    )


def _by_density(results: Results) -> dict[tuple[int, int], dict[float, float]]:
    """Return the mean R_error of MDP by k and l, then by the share of flagged cells."""
    found: dict[tuple[int, int], dict[float, float]] = {}
    for given, numbers in results.all("queries", variant="MDP"):
        cell = found.setdefault((given["k"], given["l"]), {})
        cell[given["density"]] = numbers["error_mean"]
    return {key: dict(sorted(cell.items())) for key, cell in found.items() if len(cell) > 1}


def falls_with_density(results: Results) -> Judgement:
    """Judge that R_error falls with the share of flagged cells."""
    return always_grows(
        {f"k = {k}, l = {ell}": list(by.values()) for (k, ell), by in _by_density(results).items()},
        falls=True,
        digits=1,
        why_not=(
            "a flagged cell may leave more values open than a generalised one, and there are more "
            "buckets to round"
        ),
    )


def most_reduction(results: Results) -> Judgement:
    """Judge that, from the least share to the greatest, it falls most for the greatest k and l."""
    by = _by_density(results)
    shares = sorted(next(iter(by.values())))
    changes = {cell: errors[shares[-1]] / errors[shares[0]] - 1 for cell, errors in by.items()}
    told = ", ".join(f"{change:+.1%} (k = {k}, l = {ell})" for (k, ell), change in changes.items())
    least = min(changes, key=lambda cell: changes[cell])
    return verdict(
        least == max(by) and changes[least] < 0,
        f"from {shares[0]:.0%} to {shares[-1]:.0%}: {told}",
        "it falls nowhere" if changes[least] >= 0 else "elsewhere it falls more",
        least=changes[least],
        at_last=changes[max(by)],
    )


def tells_more(results: Results) -> Judgement:
    """Judge that a cell in a bucket leaves fewer values open than a generalised one."""
    found = grid_of(results)
    ell = values(found, 2)[0]
    cases = [
        Case(f"{name}, k = {k}", opened["buckets"][name], opened["cells"][name])
        for k in values(found, 1)
        for opened in (found["MDP", k, ell]["open"],)
        for name in opened["cells"]
    ]
    return always_less(
        cases,
        (f"values that a bucket leaves open (l = {ell})", "a generalised cell"),
        digits=1,
        why_not="an attribute that groups hardly generalise is told better by its groups",
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
