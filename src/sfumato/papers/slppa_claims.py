"""What the SLPPA paper claims, and how numbers judge it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from statistics import fmean, pstdev
from typing import Any

import numpy as np

from sfumato.papers.claims import (
    Case,
    Claim,
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
# What another draw, or other queries of the same kind, change of a mean RECQ.
CHANCE = 0.05
# "A small difference", "no obvious difference": not said in numbers; bars of a chart of the
# paper's size look alike up to this.
SMALL = 0.1
# Seconds of the processor on a shared machine: a difference below this share is none.
NOISE = 0.1
_SETS_OF_GROUPS = 3  # through two numbers of groups there is always a straight line


def _runs(results: Results, *ways: str, attributes: str = "paper") -> Iterator[tuple[str, Any]]:
    """Return where, and the numbers of the methods, for all sizes of the ways."""
    for way in ways:
        more = {"attributes": attributes} if way == "withheld" else {}
        for given, found in results.all(way, **more):
            yield f"{way}, {given['rows']:,} rows", found["methods"]


def _recq(found: Mapping[str, Any], name: str, kind: str) -> float:
    return float(found[name]["recq"][kind]["mean"])


def _recq_cases(
    results: Results, smaller: str, greater: str, *ways: str, attributes: str = "paper"
) -> list[Case]:
    return [
        Case(f"{at}, {kind} QIs", _recq(found, smaller, kind), _recq(found, greater, kind))
        for at, found in _runs(results, *ways, attributes=attributes)
        for kind in KINDS
    ]


def feasible(results: Results) -> Judgement:
    """Judge that the parameters of Table 7 can be met on the whole table."""
    ((given, found),) = results.all("as given")
    told = found.get("refused", "a release was made")
    return verdict(
        "refused" not in found,
        f"{given['rows']:,} rows, of which {found['commonest']:.1%} have one sensitive value: {told}",
        "β is never below the largest share of a value. Its Algorithm 1 stops there (“break and "
        "reset β or δ”), and no reset is reported",
        commonest=found["commonest"],
    )


def keeps_all_four(results: Results) -> Judgement:
    """Judge that groups of SLPPA keep all four shares, and those of the others do not."""
    most = {
        name: {
            key: max(found[name]["reached"][key] for _, found in _runs(results, "withheld"))
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


def _group_time(
    smaller: tuple[str, ...], greater: tuple[str, ...], why_not: str
) -> Callable[..., Judgement]:
    def judge(results: Results) -> Judgement:
        cases = [
            Case(f"{one}, {other}, {at}", *(found[n]["division_seconds"] for n in (one, other)))
            for at, found in _runs(results, *WAYS)
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
        for at, found in _runs(results, *WAYS)
        for other in ("SLPPA", "Slicing")
    ]
    bad = [each for each in cases if each.smaller > each.greater]
    alike = sum(each.smaller == each.greater - 0.5 for each in cases)
    ends = [found for _, found in _runs(results, *WAYS)]
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
        *_, (at, found) = _runs(results, way)
        cases.append(Case(at, found["Slicing"]["groups"], found["SLPPA"]["groups"]))
    return always_less(cases, ("groups of Slicing", "SLPPA"), digits=0)


def _groups_of(results: Results, way: str, name: str) -> tuple[list[float], list[float]]:
    runs = list(_runs(results, way))
    more = {"attributes": "paper"} if way == "withheld" else {}
    return (
        [float(found["kept"]) for _, found in results.all(way, **more)],
        [float(found[name]["groups"]) for _, found in runs],
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


def asn_worst(results: Results) -> Judgement:
    """Judge that ASN has the largest RECQ."""
    cases = [
        case for other in ("SLPPA", "Slicing") for case in _recq_cases(results, other, "ASN", *WAYS)
    ]
    return always_less(cases, ("RECQ of SLPPA and Slicing", "ASN"), slack=CHANCE)


def slicing_best(results: Results) -> Judgement:
    """Judge that Slicing has the smallest RECQ."""
    cases = _recq_cases(results, "Slicing", "SLPPA", *WAYS)
    return always_less(cases, ("RECQ of Slicing", "SLPPA"), slack=CHANCE)


def _close(way: str, why_not: str) -> Callable[[Results], Judgement]:
    def judge(results: Results) -> Judgement:
        cases = _recq_cases(results, "SLPPA", "Slicing", way)
        return always_less(cases, ("RECQ of SLPPA", "Slicing"), slack=SMALL, why_not=why_not)

    return judge


def grows_with_width(results: Results) -> Judgement:
    """Judge that RECQ grows with the number of QIs in the queries."""
    cases = [
        Case(f"{name}, {at}, {one} and {two} QIs", _recq(found, name, one), _recq(found, name, two))
        for at, found in _runs(results, *WAYS)
        for name in METHODS
        for one, two in (("1-3", "4-6"), ("4-6", "7+"))
    ]
    return always_less(cases, ("RECQ with fewer QIs", "with more"), slack=CHANCE)


def more_attributes(results: Results) -> Judgement:
    """Judge that with more QIs in the table ASN is the worst and Slicing the best, too."""
    cases = [
        case
        for one, other in (("SLPPA", "ASN"), ("Slicing", "ASN"), ("Slicing", "SLPPA"))
        for case in (
            Case(f"{one}, {other}, {each.at}", each.smaller, each.greater)
            for each in _recq_cases(results, one, other, "withheld", attributes="more")
        )
    ]
    return always_less(cases, ("RECQ of the better scheme", "the worse"), slack=CHANCE)


def alpha(results: Results) -> Judgement:
    """Judge that alpha = 0.05 can be met."""
    found = results.one("parameters", change="alpha = 0.05")["methods"]["SLPPA"]
    return verdict(
        "refused" not in found,
        str(found.get("refused", f"a release with {found.get('groups', 0):,.0f} groups")),
        "so its Fig. 8(a)(b) cannot be of this α and these tables",
        refused=float("refused" in found),
    )


def _unchanged(name: str, why_not: str = "") -> Callable[[Results], Judgement]:
    def judge(results: Results) -> Judgement:
        *_, (_, base) = _runs(results, "withheld")
        changes = {
            f"{given['change']}, {kind} QIs": _recq(found["methods"], name, kind)
            / _recq(base, name, kind)
            - 1
            for given, found in results.all("parameters")
            for kind in KINDS
            if name in found["methods"] and "refused" not in found["methods"][name]
        }
        if not changes:
            raise NotMeasured(f"no change of {name} that is feasible")
        at = max(changes, key=lambda each: abs(changes[each]))
        return verdict(
            abs(changes[at]) <= SMALL,
            f"RECQ changes by {changes[at]:+.1%} at most ({at}), of {len(changes)} changes",
            why_not or f"more than {SMALL:.0%}",
            greatest=changes[at],
        )

    return judge


def _series(results: Results, experiment: str, parameter: str) -> dict[str, list[float]]:
    by = results.along(experiment, parameter)
    return {
        f"{kind} QIs": [_recq(found["methods"], "SLPPA", kind) for found in by.values()]
        for kind in KINDS
    }


def _grows(experiment: str, parameter: str) -> Callable[[Results], Judgement]:
    def judge(results: Results) -> Judgement:
        series = _series(results, experiment, parameter)
        slack = CHANCE * fmean(value for values in series.values() for value in values)
        return always_grows(series, slack=slack)

    return judge


def absolute(results: Results) -> Judgement:
    """Say that the numbers of the paper's charts cannot be held against ours."""
    *_, (at, found) = _runs(results, "withheld")
    told = ", ".join(f"{name} {_recq(found, name, '4-6'):.3f}" for name in METHODS)
    return open_question(
        "the charts are images without numbers; seconds are of another machine, language and "
        "database",
        f"RECQ with 4-6 QIs here ({at}): {told}",
    )


CLAIMS = (
    Claim(
        "feasible",
        "The three schemes run on these data with α = 0.5, β = 0.05, γ = 0.005, δ = 0.05",
        "6.1, Table 7",
        feasible,
    ),
    Claim(
        "four",
        "Groups of SLPPA keep all four requirements, those of Slicing and ASN do not",
        "6, 6.2 (summary)",
        keeps_all_four,
    ),
    Claim("even", "SLPPA spreads attributes over tables more evenly", "6.1, Fig. 3", even),
    Claim(
        "sizes",
        "SLPPA's three tables of Adult have 2, 3 and 4 attributes",
        "6.1, Fig. 3a",
        sizes_of_adult,
    ),
    Claim(
        "division-time",
        "SLPPA takes slightly less time for table division than Slicing",
        "6.1, Fig. 2a, 2b",
        division_time,
        timed=True,
    ),
    Claim(
        "division-rows",
        "Table division takes longer with more rows, for both",
        "6.1, Fig. 2a, 2b",
        division_grows,
        timed=True,
    ),
    Claim(
        "division-falls",
        "SLPPA's table division gets faster with more tables",
        "6.1, Fig. 2c, 2d",
        division_falls,
        timed=True,
    ),
    Claim(
        "division-flat",
        "Slicing's table division takes the same time for any number of tables",
        "6.1, Fig. 2c, 2d",
        division_flat,
        timed=True,
    ),
    Claim(
        "time-slicing",
        "Slicing takes the most time for group division",
        "6.1, Fig. 4",
        _group_time(
            ("SLPPA", "ASN"),
            ("Slicing",),
            "a compiled Mondrian is not slow, and where values cannot all differ, finding how many "
            "even groups keep β and δ takes longer",
        ),
        timed=True,
    ),
    Claim(
        "time-asn",
        "ASN takes the least time for group division",
        "6.1, Fig. 4",
        _group_time(
            ("ASN",),
            ("SLPPA", "Slicing"),
            "its merging counts a table for every attribute, where the others have three",
        ),
        timed=True,
    ),
    Claim("most-groups", "ASN has the most groups", "6.1, Fig. 5a, 5b", most_groups),
    Claim(
        "more-groups",
        "SLPPA has more groups than Slicing when the data are large",
        "6.1, Fig. 5c, 5d",
        more_groups,
    ),
    Claim(
        "regular",
        "The number of SLPPA's groups grows regularly with the rows",
        "6.1, Fig. 5c, 5d",
        regular_groups,
    ),
    Claim(
        "fluctuates",
        "The number of Slicing's groups fluctuates more",
        "6.1, Fig. 5c, 5d",
        steadier,
    ),
    Claim("asn-recq", "ASN has the largest RECQ", "6.2, Fig. 6", asn_worst),
    Claim("slicing-recq", "Slicing has the smallest RECQ", "6.2, Fig. 6", slicing_best),
    Claim(
        "close",
        "SLPPA's RECQ is only a little larger than Slicing's: rows withheld",
        "6.2, Fig. 6",
        _close(
            "withheld", "Slicing keeps most attributes, and so their joint counts, in one table"
        ),
    ),
    Claim(
        "close-all",
        "SLPPA's RECQ is only a little larger than Slicing's: all rows",
        "6.2, Fig. 6",
        _close(
            "all rows",
            "20 distinct values are a far weaker demand than δ, and Mondrian's groups are of rows "
            "that are alike",
        ),
    ),
    Claim(
        "width", "RECQ grows with the number of QIs in the queries", "6.2, Fig. 6", grows_with_width
    ),
    Claim(
        "more-qis",
        "With more QIs in the table the order of the three is the same",
        "6.2, Fig. 7",
        more_attributes,
    ),
    Claim("alpha", "SLPPA with α = 0.05 is as good", "6.2, Fig. 8a, 8b, Table 8", alpha),
    Claim(
        "changes-slppa",
        "Other β, γ and δ make no obvious difference to RECQ of SLPPA",
        "6.2, Fig. 8, Table 8",
        _unchanged("SLPPA"),
    ),
    Claim(
        "changes-asn",
        "Other β and γ make no obvious difference to RECQ of ASN",
        "6.2, Fig. 8, Table 8",
        _unchanged("ASN"),
    ),
    Claim(
        "changes-slicing",
        "l = 10 makes no obvious difference to RECQ of Slicing",
        "6.2, Fig. 8, Table 8",
        _unchanged("Slicing", "with l = 20 there is one group, with l = 10 Mondrian can cut"),
    ),
    Claim(
        "tables",
        "RECQ grows with the number of tables",
        "6.2, Fig. 9",
        _grows("by tables", "tables"),
    ),
    Claim(
        "size",
        "RECQ grows with the size of groups (β from 0.25 down)",
        "6.2, Fig. 10",
        _grows("by group size", "beta"),
    ),
    Claim(
        "absolute", "The seconds and errors of its figures", "Fig. 2 to 10", absolute, timed=True
    ),
)
