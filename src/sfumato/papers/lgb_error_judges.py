"""How numbers judge what the LGB paper claims of answers to queries."""

from __future__ import annotations

from collections.abc import Mapping

from sfumato.papers.claims import Case, Judgement, always_grows, always_less, verdict
from sfumato.papers.grid import Numbers, Results
from sfumato.papers.lgb_judges import grid_of, values

PAPERS_OWN = ("MDP", "NCP")
# "Very equal" is not said in numbers; a chart of the paper's size shows no smaller difference.
ALIKE = 0.05


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
