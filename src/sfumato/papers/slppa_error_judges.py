"""How numbers judge what the SLPPA paper claims of errors of counts (RECQ)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import fmean
from typing import Any

from sfumato.papers.claims import (
    Case,
    Judgement,
    always_grows,
    always_less,
    open_question,
    verdict,
)
from sfumato.papers.grid import NotMeasured, Results
from sfumato.papers.slppa_judges import KINDS, METHODS, WAYS, runs

# Another draw changes a mean RECQ by 1 % (standard deviation, Adult, rows withheld). Other queries
# change it more, by how much was not measured: the rest is a choice.
CHANCE = 0.05
# "A small difference", "no obvious difference": not said in numbers; bars of a chart of the
# paper's size look alike up to this.
SMALL = 0.1


def _recq(found: Mapping[str, Any], name: str, kind: str) -> float:
    return float(found[name]["recq"][kind]["mean"])


def _mean_recq(
    results: Results, name: str, kind: str, way: str, attributes: str = "paper"
) -> float:
    """Return the mean over all sizes: at one of them a few queries can decide."""
    return fmean(_recq(found, name, kind) for _, found in runs(results, way, attributes=attributes))


def _recq_cases(
    results: Results, smaller: str, greater: str, *ways: str, attributes: str = "paper"
) -> list[Case]:
    return [
        Case(
            f"{smaller}, {greater}, {way}, {kind} QIs",
            _mean_recq(results, smaller, kind, way, attributes),
            _mean_recq(results, greater, kind, way, attributes),
        )
        for way in ways
        for kind in KINDS
    ]


def asn_worst(results: Results) -> Judgement:
    """Judge that ASN has the largest RECQ."""
    cases = [
        case for other in ("SLPPA", "Slicing") for case in _recq_cases(results, other, "ASN", *WAYS)
    ]
    return always_less(cases, ("mean RECQ of SLPPA and Slicing", "of ASN"), slack=CHANCE)


def slicing_best(results: Results) -> Judgement:
    """Judge that Slicing has the smallest RECQ."""
    cases = _recq_cases(results, "Slicing", "SLPPA", *WAYS)
    return always_less(
        cases,
        ("mean RECQ of Slicing", "of SLPPA"),
        slack=CHANCE,
        why_not="with rows withheld Slicing has one group for all, and one large table beside two "
        "small ones",
    )


def close_by(way: str, why_not: str) -> Callable[[Results], Judgement]:
    """Return the judge that SLPPA's RECQ is at most a little above Slicing's."""

    def judge(results: Results) -> Judgement:
        cases = _recq_cases(results, "SLPPA", "Slicing", way)
        names = ("mean RECQ of SLPPA", "of Slicing")
        return always_less(cases, names, slack=SMALL, why_not=why_not)

    return judge


def grows_with_width(results: Results) -> Judgement:
    """Judge that RECQ grows with the number of QIs in the queries."""
    series = {
        f"{name}, {way}": [_mean_recq(results, name, kind, way) for kind in KINDS]
        for way in WAYS
        for name in METHODS
    }
    return always_grows(
        series,
        why_not="with all rows a few queries that hardly any row meets make most of a mean",
    )


def more_attributes(results: Results) -> Judgement:
    """Judge that with more QIs in the table ASN is the worst and Slicing the best, too."""
    cases = [
        case
        for one, other in (("SLPPA", "ASN"), ("Slicing", "ASN"), ("Slicing", "SLPPA"))
        for case in _recq_cases(results, one, other, "withheld", attributes="more")
    ]
    return always_less(
        cases,
        ("mean RECQ of the better", "of the worse"),
        slack=CHANCE,
        why_not="Slicing's one large table is of no use to a query that asks for attributes of two",
    )


def alpha(results: Results) -> Judgement:
    """Judge that alpha = 0.05 can be met."""
    found = results.one("parameters", change="alpha = 0.05")["methods"]["SLPPA"]
    return verdict(
        "refused" not in found,
        str(found.get("refused", f"a release with {found.get('groups', 0):,.0f} groups")),
        "so its Fig. 8(a)(b) cannot be of this α and these tables",
        refused=float("refused" in found),
    )


def unchanged(name: str, why_not: str = "") -> Callable[[Results], Judgement]:
    """Return the judge that other parameters hardly change the RECQ of a scheme."""

    def judge(results: Results) -> Judgement:
        *_, (_, base) = runs(results, "withheld")
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


def grows_along(experiment: str, parameter: str) -> Callable[[Results], Judgement]:
    """Return the judge that the RECQ of SLPPA grows along a parameter."""

    def judge(results: Results) -> Judgement:
        series = _series(results, experiment, parameter)
        slack = CHANCE * fmean(value for values in series.values() for value in values)
        return always_grows(series, slack=slack)

    return judge


def absolute(results: Results) -> Judgement:
    """Say that the numbers of the paper's charts cannot be held against ours."""
    *_, (at, found) = runs(results, "withheld")
    told = ", ".join(f"{name} {_recq(found, name, '4-6'):.3f}" for name in METHODS)
    return open_question(
        "the charts are images without numbers; seconds are of another machine, language and "
        "database",
        f"RECQ with 4-6 QIs here ({at}): {told}",
    )
