"""How numbers judge what the SLPPA paper claims of tables and groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import pstdev
from typing import Any

import numpy as np

from sfumato.papers.claims import (
    Case,
    Judgement,
    always_grows,
    always_less,
    open_question,
    verdict,
)
from sfumato.papers.grid import NotMeasured, Results

METHODS = ("SLPPA", "Slicing", "ASN")
KINDS = ("1-3", "4-6", "7+")
WAYS = ("withheld", "all rows")
LIMITS = {"alpha": 0.5, "beta": 0.05, "gamma": 0.005, "delta": 0.05}  # its Table 7
# Seconds of the processor on a shared machine: a difference below this share is none.
NOISE = 0.1
_SETS_OF_GROUPS = 3  # through two numbers of groups there is always a straight line


def runs(results: Results, *ways: str, attributes: str = "paper") -> Iterator[tuple[str, Any]]:
    """Return where, and the numbers of the methods, for all sizes of the ways."""
    for way in ways:
        more = {"attributes": attributes} if way == "withheld" else {}
        for given, found in results.all(way, **more):
            yield f"{way}, {given['rows']:,} rows", found["methods"]


def feasible(results: Results) -> Judgement:
    """Judge that the parameters of Table 7 can be met on the whole table."""
    ((given, found),) = results.all("as given")
    told = found.get("refused", "a release was made")
    return verdict(
        "refused" not in found,
        f"{given['rows']:,} rows, {found['commonest']:.1%} of which have the same value: {told}",
        "β is never below the largest share of a value. Its Algorithm 1 stops there (“break and "
        "reset β or δ”), and no reset is reported",
        commonest=found["commonest"],
    )


def keeps_all_four(results: Results) -> Judgement:
    """Judge that groups of SLPPA keep all four shares, and those of the others do not."""
    most = {
        name: {
            key: max(found[name]["reached"][key] for _, found in runs(results, "withheld"))
            for key in LIMITS
        }
        for name in METHODS
    }
    broken = {
        name: [key for key, limit in LIMITS.items() if most[name][key] > limit * (1 + 1e-9)]
        for name in METHODS
    }
    told = "; ".join(
        f"{name} " + ", ".join(f"{key} {value:.4g}" for key, value in most[name].items())
        for name in METHODS
    )
    return verdict(
        not broken["SLPPA"] and bool(broken["Slicing"]) and bool(broken["ASN"]),
        f"greatest of all groups, rows withheld: {told}",
        "; ".join(
            f"{name} keeps {'not ' + ', '.join(keys) if keys else 'all four'}"
            for name, keys in broken.items()
        ),
        **{f"{name.lower()}_broken": float(len(keys)) for name, keys in broken.items()},
    )


def even(results: Results) -> Judgement:
    """Judge that the numbers of attributes in SLPPA's tables differ less than in Slicing's."""
    cases, told = [], []
    for given, found in results.all("table division"):
        sizes = {name: found["methods"][name]["sizes"] for name in ("SLPPA", "Slicing")}
        if given["tables"] not in (3, 4):
            continue
        at = f"{found['attributes']} QIs, {given['tables']} tables, {given['rows']:,} rows"
        cases.append(Case(at, pstdev(sizes["SLPPA"]), pstdev(sizes["Slicing"])))
        if (text := f"{sizes['SLPPA']} against {sizes['Slicing']}") not in told:
            told.append(text)
    judged = always_less(cases, ("standard deviation of SLPPA's sizes", "Slicing's"), digits=2)
    return Judgement(
        judged.verdict, f"{judged.measured}. Sizes: {'; '.join(told)}", judged.numbers, judged.why
    )


def sizes_of_adult(results: Results) -> Judgement:
    """Judge that the three tables have 2, 3 and 4 of Adult's nine attributes."""
    if results.about.key != "adult":
        return open_question("it is said of Adult only")
    found = [
        numbers["methods"]
        for _, numbers in results.all("table division", attributes="paper", tables=3)
    ]
    literal = {tuple(each["SLPPA"]["sizes"]) for each in found}
    capped = {tuple(each["SLPPA, even"]["sizes"]) for each in found}
    return verdict(
        literal == {(2, 3, 4)},
        f"{' or '.join(map(str, sorted(literal)))} by its rule; with the cap that is the default "
        f"here {' or '.join(map(str, sorted(capped)))}",
        "the rule puts most attributes to the one that they go with best",
        sizes=len(literal),
    )


def division_time(results: Results) -> Judgement:
    """Judge that SLPPA divides tables in less time than Slicing."""
    cases = [
        Case(
            f"{given['rows']:,} rows",
            numbers["methods"]["SLPPA"]["seconds"],
            numbers["methods"]["Slicing"]["seconds"],
        )
        for given, numbers in results.all("table division", attributes="paper", tables=3)
    ]
    return always_less(
        cases,
        ("seconds of SLPPA", "Slicing"),
        digits=4,
        why_not="both count contingency tables, which takes nearly all the time",
    )


def division_grows(results: Results) -> Judgement:
    """Judge that table division takes longer with more rows, for both."""
    by = list(results.along("table division", "rows", attributes="paper", tables=3).values())
    cases = [
        Case(name, by[0]["methods"][name]["seconds"], by[-1]["methods"][name]["seconds"])
        for name in ("SLPPA", "Slicing")
    ]
    return always_less(cases, ("seconds at the fewest rows", "at the most"), digits=4)


def _by_number_of_tables(results: Results, name: str) -> dict[int, float]:
    rows = results.all("table division", attributes="paper")[-1][0]["rows"]
    by = results.along("table division", "tables", attributes="paper", rows=rows)
    return {tables: found["methods"][name]["seconds"] for tables, found in by.items()}


def division_falls(results: Results) -> Judgement:
    """Judge that SLPPA divides faster into more tables."""
    by = _by_number_of_tables(results, "SLPPA")
    seconds = list(by.values())
    return always_grows(
        {f"SLPPA, {min(by)} to {max(by)} tables": seconds},
        falls=True,
        digits=4,
        slack=NOISE * max(seconds),
        why_not="the tables that each attribute is held against are more, though the attributes "
        "are fewer",
    )


def division_flat(results: Results) -> Judgement:
    """Judge that Slicing takes the same time for any number of tables."""
    by = _by_number_of_tables(results, "Slicing")
    if len(by) < 2:
        raise NotMeasured("one number of tables")
    ratio = max(by.values()) / min(by.values())
    return verdict(
        ratio < 1 + 2 * NOISE,
        f"{min(by.values()):.4f} to {max(by.values()):.4f} s, {ratio:.2f} times",
        "times of this size are noise",
        ratio=ratio,
    )


def group_time(
    smaller: tuple[str, ...], greater: tuple[str, ...], why_not: str
) -> Callable[..., Judgement]:
    """Return the judge that some schemes divide rows into groups faster than others."""

    def judge(results: Results) -> Judgement:
        cases = [
            Case(f"{one}, {other}, {at}", *(found[n]["division_seconds"] for n in (one, other)))
            for at, found in runs(results, *WAYS)
            for one in smaller
            for other in greater
        ]
        names = (f"seconds of {' and '.join(smaller)}", " and ".join(greater))
        return always_less(cases, names, digits=4, slack=NOISE, why_not=why_not)

    return judge


def most_groups(results: Results) -> Judgement:
    """Judge that no scheme has more groups than ASN."""
    cases = [
        Case(f"{other}, {at}", found[other]["groups"], found["ASN"]["groups"] + 0.5)
        for at, found in runs(results, *WAYS)
        for other in ("SLPPA", "Slicing")
    ]
    bad = [each for each in cases if each.smaller > each.greater]
    alike = sum(each.smaller == each.greater - 0.5 for each in cases)
    ends = [found for _, found in runs(results, *WAYS)]
    told = "; ".join(
        f"{name} {min(f[name]['groups'] for f in ends):,.0f} to "
        f"{max(f[name]['groups'] for f in ends):,.0f}"
        for name in METHODS
    )
    return verdict(
        not bad,
        f"in {len(cases) - len(bad)} of {len(cases)} comparisons ASN has no fewer, in {alike} just "
        f"as many; groups: {told}",
        f"{bad[0].at} has more" if bad else "",
        comparisons=len(cases),
        exceptions=len(bad),
        alike=alike,
    )


def more_groups(results: Results) -> Judgement:
    """Judge that SLPPA has more groups than Slicing in the largest sample."""
    cases = []
    for way in WAYS:
        *_, (at, found) = runs(results, way)
        cases.append(Case(at, found["Slicing"]["groups"], found["SLPPA"]["groups"]))
    return always_less(
        cases,
        ("groups of Slicing", "of SLPPA"),
        digits=0,
        why_not="with all rows there are only as many groups as the shares of all values allow",
    )


def _groups_of(results: Results, way: str, name: str) -> tuple[list[float], list[float]]:
    sizes = list(runs(results, way))
    more = {"attributes": "paper"} if way == "withheld" else {}
    return (
        [float(found["kept"]) for _, found in results.all(way, **more)],
        [float(found[name]["groups"]) for _, found in sizes],
    )


def regular_groups(results: Results) -> Judgement:
    """Judge that the number of SLPPA's groups grows with every step of the sample's size."""
    return always_grows(
        {f"SLPPA, {way}": _groups_of(results, way, "SLPPA")[1] for way in WAYS},
        digits=0,
        why_not="where values cannot all differ, how many even groups keep β and δ depends on how "
        "the shares of all values divide, and jumps from one sample to the next",
    )


def fluctuation(kept: list[float], groups: list[float]) -> float:
    """Return how far numbers of groups are from a straight line over the rows, as a share of them.

    >>> fluctuation([1, 2, 3], [10, 20, 30])
    0.0
    """
    if len(kept) < _SETS_OF_GROUPS:
        raise NotMeasured(f"fewer than {_SETS_OF_GROUPS} sizes")
    line = np.polyval(np.polyfit(kept, groups, 1), kept)
    return round(float(np.mean(np.abs(groups - line)) / np.mean(groups)), 9)


def steadier(results: Results) -> Judgement:
    """Judge that the number of Slicing's groups strays more from growing with the rows."""
    cases = [
        Case(way, *(fluctuation(*_groups_of(results, way, name)) for name in ("SLPPA", "Slicing")))
        for way in WAYS
    ]
    return always_less(
        cases,
        ("mean distance from a straight line, as a share, of SLPPA's groups", "Slicing's"),
        why_not="with rows withheld Slicing has one group, always; with all rows its distinct "
        "values leave Mondrian regular groups, and SLPPA's even groups jump",
    )
