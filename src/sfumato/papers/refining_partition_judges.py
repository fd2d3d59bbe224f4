"""How numbers judge what the refining-partition paper claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sfumato.papers.claims import (
    Case,
    Judgement,
    always_grows,
    always_less,
    open_question,
    verdict,
)
from sfumato.papers.grid import Results

PAPERS_OWN = ("AT", "AIP", "ARP", "NG")
# "Almost the same in statistical sense" is not said in numbers; a chart of the paper's size shows
# no smaller difference.
ALMOST = 0.02
# What another five draws of the same partition change of GLP.
CHANCE = 0.003
# Seconds of the processor on a shared machine: a difference below this share is none.
NOISE = 0.1
EXPERIMENTS = ("by l", "by rows", "by attributes")


def _cases(results: Results) -> list[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Return where, the parameters and the methods' numbers of all points of the figures.

    What is a point of several figures is there once.
    """
    found: dict[str, tuple[str, Mapping[str, Any], Mapping[str, Any]]] = {}
    for experiment in EXPERIMENTS:
        for given, numbers in results.all(experiment):
            width = given["attributes"]
            where = f"l = {given['l']}, n = {given['rows']:,}, {width} NSA{'s' * (width > 1)}"
            found.setdefault(where, (where, given, numbers["methods"]))
    return list(found.values())


def less(
    smaller: str, greater: str, measure: str = "glp", *, why_not: str = "", slack: float = 0.0
) -> Callable[[Results], Judgement]:
    """Return the judge that the first method is below the second everywhere."""

    def judge(results: Results) -> Judgement:
        cases = [
            Case(where, found[smaller][measure], found[greater][measure])
            for where, _, found in _cases(results)
        ]
        names = (f"{measure.upper() if measure == 'glp' else measure} of {smaller}", greater)
        chance = CHANCE if measure == "glp" else 0.0
        return always_less(cases, names, why_not=why_not, slack=slack, chance=chance)

    return judge


def probability(results: Results) -> Judgement:
    """Judge that refining raises the mean probability of one's own value."""
    cases = [
        Case(where, found["AIP"]["mean_probability"], found["ARP"]["mean_probability"])
        for where, _, found in _cases(results)
    ]
    return always_less(cases, ("mean probability before", "after refining"))


def bounded(results: Results) -> Judgement:
    """Judge that RE is within 1 + r/(n(l - 1)) of its lower bound, r being rows beyond l."""
    names = ("ARP, literal", "ARP", "ARP, pooled", "ARP on Mondrian")
    excess = most = plain = 0.0
    for _, given, found in _cases(results):
        for name in names:
            ratio = found[name]["re_ratio"]
            limit = 1 + found[name]["beyond"] / (given["rows"] * (given["l"] - 1))
            excess, most = max(excess, ratio - limit), max(most, ratio)
        plain = max(plain, found["AIP"]["re_ratio"])
    return verdict(
        excess < 1e-9,
        f"at most {most:.4f} times n(1 − 1/l) after refining (never above what Property 8 "
        f"allows), up to {plain:.2f} times before",
        "blocks hold a value twice",
        most=most,
        before=plain,
        excess=excess,
    )


def almost_alike(results: Results) -> Judgement:
    """Judge that the GLP of ARP and NG are almost the same."""
    apart = [
        (abs(found["ARP"]["glp"] - found["NG"]["glp"]), where, found)
        for where, _, found in _cases(results)
    ]
    worst, where, found = max(apart, key=lambda each: each[0])
    measured = (
        f"apart by {worst:.3f} at most: {found['ARP']['glp']:.3f} and {found['NG']['glp']:.3f} "
        f"({where})"
    )
    return verdict(worst <= ALMOST, measured, f"more than {ALMOST} apart", apart=worst)


def at_greatest(results: Results) -> Judgement:
    """Judge that the GLP of AT is always the greatest of the four."""
    cases = _cases(results)
    above: dict[str, int] = {
        name: sum(found[name]["glp"] > found["AT"]["glp"] + CHANCE for _, _, found in cases)
        for name in ("AIP", "ARP", "NG")
    }
    ends = [case for case in cases if case[1]["attributes"] == 7]
    where, _, found = max(ends, key=lambda case: case[2]["AIP"]["glp"] - case[2]["AT"]["glp"])
    told = ", ".join(f"{name} above AT in {count}" for name, count in above.items())
    return verdict(
        not any(above.values()),
        f"of {len(cases)} cases, {told} (by more than {CHANCE}): "
        f"AIP {found['AIP']['glp']:.3f} and AT {found['AT']['glp']:.3f} ({where})",
        "the groups that frequency l-diversity allows are few and large, so that a person's own "
        "value has a smaller share in them than 1/l, which it has in AT's",
        **{f"{name.lower()}_above": float(count) for name, count in above.items()},
    )


def grows(experiment: str, parameter: str, measure: str, **how: Any) -> Callable[..., Judgement]:
    """Return the judge that a measure grows with a parameter, for the paper's four methods."""

    def judge(results: Results) -> Judgement:
        fixed = {"l": 5} if experiment == "by attributes" else {}
        by = results.along(experiment, parameter, **fixed)
        series = {
            name: [found["methods"][name][measure] for found in by.values()] for name in PAPERS_OWN
        }
        return always_grows(series, **how)

    return judge


def time_grows(parameter: str, experiment: str) -> Callable[[Results], Judgement]:
    """Return the judge that the last point takes longer than the first, for every method."""

    def judge(results: Results) -> Judgement:
        by = list(results.along(experiment, parameter).values())
        cases = [
            Case(name, by[0]["methods"][name]["seconds"], by[-1]["methods"][name]["seconds"])
            for name in PAPERS_OWN
        ]
        return always_less(
            cases,
            ("seconds at the least " + parameter, "at the most"),
            why_not=(
                "groups are found by compiled passes over all rows, which take no longer for a "
                "larger l"
                if parameter == "l"
                else "times of this size are noise"
            ),
        )

    return judge


def one_attribute(results: Results) -> Judgement:
    """Judge that GLP is 0 with one NSA (which is then the order of the partition)."""
    found = {ell: results.one("by attributes", attributes=1, l=ell)["methods"] for ell in (3, 5)}
    worst = max(by[name]["glp"] for by in found.values() for name in ("AIP", "ARP", "NG"))
    told = "; ".join(
        f"l = {ell}: " + ", ".join(f"{name} {by[name]['glp']:.4f}" for name in PAPERS_OWN)
        for ell, by in found.items()
    )
    return verdict(
        worst < 5e-4,
        told,
        "where a value of the attribute is not l-diverse, its rows are joined with those of "
        "another, and share values that they do not have",
        greatest=worst,
    )


def on_top(results: Results) -> Judgement:
    """Judge that refining lowers the loss of partitions that others made."""
    found = {(given["initial"], given["l"]): each for given, each in results.all("refining")}
    cases = [
        Case(f"{initial}, l = {ell}", each["glp_after"], each["glp_before"])
        for (initial, ell), each in found.items()
        if not initial.startswith("anatomy")
    ]
    judged = always_less(cases, ("GLP after refining", "before"))
    changes = [
        each["glp_after"] / each["glp_before"] - 1
        for (initial, _), each in found.items()
        if initial == "anatomy"
    ]
    told = f"; Anatomy's own groups, which have l rows, change by {max(changes, key=abs):+.1%}"
    return Judgement(judged.verdict, judged.measured + told, judged.numbers, judged.why)


def queries(results: Results) -> Judgement:
    """Judge that refining lowers the errors of COUNT queries."""
    cases = [
        Case(f"{given['initial']}, l = {given['l']}", each["error_after"], each["error_before"])
        for given, each in results.all("refining")
        if not str(given["initial"]).startswith("anatomy")
    ]
    return always_less(cases, ("median error after refining", "before"), digits=4)


def tailored(results: Results) -> Judgement:
    """Judge that the correlation-ordered partition, refined, loses less than others refined."""
    cases = [
        Case(f"l = {given['l']}", found["methods"]["ARP"]["glp"], found["methods"][other]["glp"])
        for given, found in results.all("by l")
        for other in ("ARP on Mondrian",)
    ]
    return always_less(
        cases,
        ("GLP of ARP on its own partition", "on Mondrian's"),
        why_not="Mondrian looks at all attributes at once and finds smaller groups",
    )


def flat(results: Results) -> Judgement:
    """Judge that AT takes the same time for any number of NSAs."""
    by = results.along("by attributes", "attributes", l=5)
    times = [found["methods"]["AT"]["seconds"] for found in by.values()]
    ratio = max(times) / min(times)
    return verdict(
        ratio < 1 + 2 * NOISE,
        f"{min(times):.3f} to {max(times):.3f} s, {ratio:.1f} times",
        "what is measured goes up to the release, into which every NSA is written",
        ratio=ratio,
    )


def absolute_times(results: Results) -> Judgement:
    """Say that the seconds of the paper's figures cannot be held against ours."""
    by = results.along("by l", "l")
    last = list(by.values())[-1]["methods"]["ARP"]["seconds"]
    return open_question(
        "the figures are images without numbers, made on another machine and in another language",
        f"ARP takes {last:.3f} s here",
    )
