"""How numbers judge what the Merging paper claims."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from statistics import fmean
from typing import Any

from sfumato.attacks import wilson
from sfumato.papers.claims import (
    Case,
    Judgement,
    always_less,
    open_question,
    verdict,
)
from sfumato.papers.grid import NotMeasured, Results

OURS, LITERAL, UNFAKED = "Merging", "Merging, literal", "Merging, no fakes"
OTHERS = ("Mondrian", "Composition", "Probabilistic", "Hybrid", "DP")
# "Almost identical" is not said in numbers; lines of the paper's charts touch up to this share.
ALMOST = 0.1
# A difference below this share is none. A choice: what other sets or queries change of a mean was
# not measured.
CHANCE = 0.05
# Two standard errors of an accuracy that is tested on 4,500 rows.
LUCK = 0.014
# "Scales well": time grows with rows to a power well below that of all pairs of rows.
EXPONENT = 1.5


def _risks(results: Results) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Return where, the parameters, and the numbers by method, of all points of the attack."""
    for given, found in results.all("risk"):
        where = f"{given['secret']}, l = {given['degree']}, {given['overlap']} people"
        yield where, given, found


def risk_below(name: str, others: tuple[str, ...], why_not: str) -> Callable[..., Judgement]:
    """Return the judge that a method has a lower risk than each of the others."""

    def judge(results: Results) -> Judgement:
        cases = [
            Case(
                f"{other}, {where}",
                100 * found[name]["record_risk"],
                100 * found[other]["record_risk"],
            )
            for where, _, found in _risks(results)
            for other in others
        ]
        told = others[0] if len(others) == 1 else "each other"
        names = (f"percent of true matches of {name}", f"of {told}")
        return always_less(cases, names, slack=CHANCE, why_not=why_not)

    return judge


def like_hybrid(name: str, why_not: str) -> Callable[[Results], Judgement]:
    """Return the judge that a method has almost the risk of Hybrid."""

    def judge(results: Results) -> Judgement:
        ratios = {
            where: found[name]["record_risk"] / found["Hybrid"]["record_risk"]
            for where, _, found in _risks(results)
            if found["Hybrid"]["record_risk"]
        }
        if not ratios:
            raise NotMeasured("no true matches with Hybrid")
        low, high = min(ratios.values()), max(ratios.values())
        return verdict(
            low >= 1 - ALMOST and high <= 1 + ALMOST,
            f"{low:.2f} to {high:.2f} times Hybrid's, in {len(ratios)} cases",
            why_not,
            least=low,
            most=high,
        )

    return judge


def grows_with_people(results: Results) -> Judgement:
    """Judge that the risk grows with the number of people that sets share."""
    first: dict[str, dict[int, float]] = {}
    for _, given, found in _risks(results):
        for name in (OURS, LITERAL, *OTHERS):
            key = f"{name}, {given['secret']}, l = {given['degree']}"
            first.setdefault(key, {})[given["overlap"]] = 100 * found[name]["record_risk"]
    cases = [Case(key, by[min(by)], by[max(by)]) for key, by in first.items() if len(by) > 1]
    return always_less(cases, ("percent of true matches with the fewest people", "the most"))


def keeps_l(name: str, why_not: str) -> Callable[[Results], Judgement]:
    """Return the judge that two releases leave l candidates to everybody."""

    def judge(results: Results) -> Judgement:
        shares, disclosed, people = {}, 0, 0
        for where, _, found in _risks(results):
            shares[where] = found[name]["fewer_than_l"]
            disclosed += found[name]["disclosed"]
            people += found[name]["people"]
        worst = max(shares, key=lambda where: shares[where])
        low, high = wilson(disclosed, people)
        return verdict(
            shares[worst] == 0,
            f"up to {shares[worst]:.1%} of the people have fewer than l candidates left ({worst}), "
            f"at least {min(shares.values()):.1%}; {disclosed:,} of {people:,} are given away "
            f"({low:.2%} to {high:.2%})",
            why_not,
            worst=shares[worst],
            disclosed=disclosed,
            people=people,
        )

    return judge


def least_loss(name: str) -> Callable[[Results], Judgement]:
    """Return the judge that a method distorts least."""

    def judge(results: Results) -> Judgement:
        cases = [
            Case(
                f"{other}, {given['secret']}, l = {given['degree']}",
                found[name],
                found[other],
            )
            for given, found in results.all("loss")
            for other in OTHERS
        ]
        judged = always_less(cases, (f"distortion of {name}", "each other"), digits=4)
        told = ". The ratio looks at single cells, and permuted cells are exact"
        return Judgement(judged.verdict, judged.measured + told, judged.numbers, judged.why)

    return judge


def least_error(name: str, measure: str, why_not: str) -> Callable[[Results], Judgement]:
    """Return the judge that a method has the smallest errors of counts."""

    def judge(results: Results) -> Judgement:
        cases = [
            Case(
                f"{other}, {given['secret']}, l = {given['degree']}, {given['attributes']} QIs",
                found[name][measure],
                found[other][measure],
            )
            for given, found in results.all("queries")
            for other in OTHERS
        ]
        names = (f"{measure} error of {name}", "each other")
        return always_less(cases, names, slack=CHANCE, why_not=why_not)

    return judge


def fakes(results: Results) -> Judgement:
    """Judge that fakes hurt nothing: counts are as good with them as without."""
    found = [each for _, each in results.all("queries")]
    with_them = fmean(each[LITERAL]["mean"] for each in found)
    without = fmean(each[UNFAKED]["mean"] for each in found)
    some = [each[LITERAL]["fakes"] / each[LITERAL]["records"] for _, _, each in _risks(results)]
    return verdict(
        with_them <= without * (1 + ALMOST),
        f"mean error {with_them:.4f} with them and {without:.4f} without; at most {max(some):.3%} "
        "of the released records are fakes, and counts take them off",
        f"worse by more than {ALMOST:.0%}",
        with_fakes=with_them,
        without=without,
    )


def _accuracies(results: Results, which: str) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Return the points of trees that learn the sensitive attribute, or else the other one."""
    return [
        (given, found)
        for given, found in results.all("learning")
        if (given["target"] == "education") == (which == "sensitive")
    ]


def best_learned(name: str, which: str, why_not: str) -> Callable[[Results], Judgement]:
    """Return the judge that trees learn most from a method; open where nothing is learned."""

    def judge(results: Results) -> Judgement:
        points = _accuracies(results, which)
        if not points:
            raise NotMeasured("learning")
        cases = [
            Case(f"{other}, l = {given['degree']}", 100 * found[other], 100 * found[name])
            for given, found in points
            for other in OTHERS
        ]
        judged = always_less(
            cases, ("percent right from each other", f"from {name}"), digits=1, why_not=why_not
        )
        near = sum(abs(case.greater - case.smaller) < 100 * LUCK for case in cases)
        last = points[-1][1]
        told = (
            f"{judged.measured}; from the originals {100 * last['original']:.1f}, always the "
            f"commonest value {100 * last['majority']:.1f}; in {near} of {len(cases)} cases the "
            f"two are less than {100 * LUCK:g} apart, which luck can do"
        )
        if any(found["original"] < found["majority"] + LUCK for _, found in points):
            return open_question(
                "a tree learns next to nothing from the originals, and what is left is chance", told
            )
        return Judgement(judged.verdict, told, judged.numbers, judged.why)

    return judge


def learnable(which: str, said: str, why_not: str) -> Callable[[Results], Judgement]:
    """Return the judge that the originals teach a tree more than the commonest value."""

    def judge(results: Results) -> Judgement:
        cases = [
            Case(
                f"l = {given['degree']}", 100 * (found["majority"] + LUCK), 100 * found["original"]
            )
            for given, found in _accuracies(results, which)
        ]
        judged = always_less(
            cases,
            ("percent right with always the commonest value, and luck", "with a tree"),
            digits=1,
            why_not=why_not,
        )
        return Judgement(judged.verdict, f"{judged.measured}; {said}", judged.numbers, judged.why)

    return judge


def dp_last(results: Results) -> Judgement:
    """Judge that trees learn least from DP."""
    cases = [
        Case(
            f"{other}, {given['target']}, l = {given['degree']}",
            100 * found["DP"],
            100 * found[other],
        )
        for given, found in results.all("learning")
        for other in (OURS, LITERAL, *OTHERS[:-1])
    ]
    return always_less(cases, ("percent right from DP", "from each other"), digits=1)


def scales(results: Results) -> Judgement:
    """Judge that time grows with rows to a power well below two."""
    by = results.along("time", "rows")
    if len(by) < 2:
        raise NotMeasured("one size")
    few, many = min(by), max(by)
    powers = {
        name: math.log(by[many]["seconds"][name] / by[few]["seconds"][name]) / math.log(many / few)
        for name in (OURS, LITERAL)
    }
    told = "; ".join(
        f"{name} {by[few]['seconds'][name]:.3f} s for {few:,} rows, "
        f"{by[many]['seconds'][name]:.3f} s for {many:,} (to the power {power:.2f})"
        for name, power in powers.items()
    )
    return verdict(
        max(powers.values()) < EXPONENT, told, f"a power of {EXPONENT} or more", **powers
    )


def absolute(results: Results) -> Judgement:
    """Say that the numbers of the paper's charts cannot be held against ours."""
    where, _, found = list(_risks(results))[-1]
    return open_question(
        "the charts are images without numbers, and the paper does not say what it counts as a "
        "match: pairs of records and pairs of classes give other numbers",
        f"{100 * found[LITERAL]['record_risk']:.2f} % of matching records and "
        f"{100 * found[LITERAL]['class_risk']:.1f} % of matching classes here ({where})",
    )
