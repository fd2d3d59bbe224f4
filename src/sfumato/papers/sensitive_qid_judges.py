"""How numbers judge what the sensitive-QID paper claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from sfumato.papers.claims import (
    Case,
    Judgement,
    always_less,
    open_question,
    verdict,
)
from sfumato.papers.grid import NotMeasured, Results

DISTANCES = ("L1", "L2", "Hellinger")
# What another draw of the sets changes of a mean L1: five of them have a standard deviation of 1 to
# 5 % on Adult (ten queries) and of 4 to 16 % on the census (four). A step of less, against the
# claim, is chance.
CHANCE = 0.1
# "Small" is not said in numbers: a tenth of the most that L1 can be, two a person.
SMALL = 0.2
# "About 50 %", as a chart of the paper's size shows it.
HALF = (0.4, 0.6)
# "Similar": by less than this share of the larger one.
SIMILAR = 0.2
# "Almost perfectly": not more than this share of the people in a wrong cell.
ALMOST = 0.05
MOST_SECONDS = 600  # its 10 minutes
TENS_OF_SECONDS = 100
PAPER_ROWS = 2_458_285


def cells(
    results: Results, experiment: str
) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Yield where, the parameters and the numbers by method of an experiment's points."""
    parameter = experiment.removeprefix("by ")
    for given, numbers in results.all(experiment):
        where = f"q′ = {given['width']}, {parameter} = {given[parameter]}"
        yield where, {**given, "people": numbers["people"]}, numbers["methods"]


def lowest(experiment: str, *rivals: str) -> Callable[[Results], Judgement]:
    """Return the judge that `bayes` is nearer to the truth than rivals, by all three distances.

    Where all attributes are published as they are (l = 1 for two values), all are 0.
    """

    def judge(results: Results) -> Judgement:
        exceptions, compared, shares = [], 0, []
        for where, _, found in cells(results, experiment):
            for rival in rivals:
                for name in DISTANCES:
                    mine, other = found["bayes"][name], found[rival][name]
                    compared += 1
                    if mine >= other and mine > 0:
                        exceptions.append(f"{rival} by {name} ({where})")
            least = min(found[rival]["L1"] for rival in rivals)
            if least > 0:
                shares.append(found["bayes"]["L1"] / least)
        told = f", but not than {exceptions[0]}" if exceptions else ""
        if shares:  # not all rivals are exact
            told += f"; L1 is {min(shares):.1%} to {max(shares):.0%} of the best rival's"
        return verdict(
            not exceptions,
            f"lower in {compared - len(exceptions)} of {compared} comparisons{told}",
            _why_not_lowest(exceptions),
            compared=compared,
            exceptions=len(exceptions),
        )

    return judge


def _why_not_lowest(exceptions: list[str]) -> str:
    if all(each.startswith("rating") for each in exceptions):
        return (
            "where no value is too common for groups of l, Rating keeps the counts of a single "
            "attribute as they are, and random sets do not"
        )
    return "with few records and many cells there is more chance than can be reconstructed"


def _shares(results: Results, experiment: str) -> dict[str, list[float]]:
    """Return L1 of `bayes` a person, along l or t, by the number of attributes."""
    found: dict[str, list[float]] = {}
    for _, given, numbers in cells(results, experiment):
        share = numbers["bayes"]["L1"] / given["people"]
        found.setdefault(f"q′ = {given['width']}", []).append(share)
    return found


def along(experiment: str, *, falls: bool = False) -> Callable[[Results], Judgement]:
    """Return the judge that L1 of `bayes` grows with l, or falls with t."""

    def judge(results: Results) -> Judgement:
        told, against, ends, steps, outright = [], 0.0, True, 0, 0
        for width, shares in _shares(results, experiment).items():
            values = shares[::-1] if falls else shares
            changes = [after / before - 1 for before, after in pairwise(values) if before > 0]
            against = max(against, -min(changes, default=0.0))
            steps, outright = steps + len(changes), outright + sum(each >= 0 for each in changes)
            ends = ends and values[-1] > values[0]
            told.append(f"{shares[0]:.3f} to {shares[-1]:.3f} ({width})")
        if not steps:
            raise NotMeasured("fewer than two points of a series")
        way = "down" if falls else "up"
        others = f", the others back by {against:.1%} at most" if outright < steps else ""
        return verdict(
            ends and against <= CHANCE,
            f"L1 a person {', '.join(told)}; {outright} of {steps} steps {way}{others}",
            f"a step the other way of more than {CHANCE:.0%}, or no change in the end",
            steps=steps,
            outright=outright,
            against=against,
        )

    return judge


def small(results: Results) -> Judgement:
    """Judge that distances are small even for the least t."""
    shares = {width: values[0] for width, values in _shares(results, "by t").items()}
    least = min(given["t"] for _, given, _ in cells(results, "by t"))
    told = ", ".join(f"{share:.3f} ({width})" for width, share in shares.items())
    return verdict(
        max(shares.values()) <= SMALL,
        f"t = {least}: L1 a person {told}; 2 is the most there can be",
        f"above {SMALL} for some q′; the paper's p is larger, and not safe for every subset",
        **{f"width_{width[-1]}": share for width, share in shares.items()},
    )


def alike(results: Results) -> Judgement:
    """Judge that ValueAdding and Rating have similar distances."""
    apart = []
    for where, _, found in cells(results, "by l"):
        for name in ("L1", "L2"):
            one, two = found["value-adding"][name], found["rating"][name]
            if max(one, two) > 0:
                apart.append((abs(one - two) / max(one, two), where, name, one, two))
    worst, where, name, one, two = max(apart)
    near = sum(each[0] <= SIMILAR for each in apart)
    better = sum(each[4] < each[3] for each in apart)
    return verdict(
        near == len(apart),
        f"within {SIMILAR:.0%} in {near} of {len(apart)} comparisons; at most {worst:.0%} apart: "
        f"{one:,.0f} and {two:,.0f} ({name}, {where}); Rating is the nearer one in {better}",
        "what Rating adds follows the data",
        near=near,
        compared=len(apart),
        most=worst,
    )


def half(experiment: str, *rivals: str) -> Callable[[Results], Judgement]:
    """Return the judge that rivals are half as far as Random, for a small l or a large t."""

    def judge(results: Results) -> Judgement:
        found = list(cells(results, experiment))
        name = experiment.removeprefix("by ")
        end = (min if name == "l" else max)(given[name] for _, given, _ in found)
        shares = {
            (rival, given["width"], distance): numbers[rival][distance]
            / numbers["random"][distance]
            for _, given, numbers in found
            if given[name] == end
            for rival in rivals
            for distance in ("L1", "L2")
        }
        told = "; ".join(
            f"{rival} "
            + ", ".join(
                f"{share:.2f}"
                for (who, _, distance), share in shares.items()
                if (who, distance) == (rival, "L1")
            )
            for rival in rivals
        )
        return verdict(
            all(HALF[0] <= share <= HALF[1] for share in shares.values()),
            f"{name} = {end}, L1 over that of Random, q′ = "
            f"{', '.join(str(g['width']) for _, g, _ in found if g[name] == end)}: {told}",
            f"not always between {HALF[0]} and {HALF[1]}: it depends on the rival and on q′",
            least=min(shares.values()),
            most=max(shares.values()),
        )

    return judge


def variants(results: Results) -> Judgement:
    """Judge that entropy diversity gives the same as frequency diversity."""
    found = [numbers for _, numbers in results.all("entropy")]
    apart = max(
        abs(each["entropy"] - each["frequency"]) / max(each["entropy"], each["frequency"], 1)
        for each in found
    )
    return verdict(
        apart <= SIMILAR,
        f"L1 of bayes apart by {apart:.1%} at most, in {len(found)} cases",
        f"more than {SIMILAR:.0%} apart",
        apart=apart,
    )


def rating_slower(results: Results) -> Judgement:
    """Judge that publishing takes less time than by Rating."""
    cases = [
        Case(f"l = {given['l']}", found["sets_seconds"], found["rating_seconds"])
        for given, found in results.all("publishing")
    ]
    return always_less(cases, ("seconds to publish", "by Rating"), digits=2)


def tens_of_seconds(results: Results) -> Judgement:
    """Judge that all records of the census are published in tens of seconds."""
    given, found = max(results.all("publishing"), key=lambda each: each[1]["sets_seconds"])
    if found["attributes"] != 68:
        raise NotMeasured("the census of 1990, with 68 attributes")
    whole = found["sets_seconds"] * PAPER_ROWS / given["rows"]
    return verdict(
        whole < TENS_OF_SECONDS,
        f"{found['sets_seconds']:.1f} s for {given['rows']:,} rows (l = {given['l']}), without "
        f"writing them: {whole:.0f} s for {PAPER_ROWS:,}",
        "longer than that",
        seconds=found["sets_seconds"],
        whole=whole,
    )


def reading_slower(results: Results) -> Judgement:
    """Judge that reconstructing takes longer than by ValueAdding."""
    by: dict[int, list[tuple[float, float]]] = {}
    for _, given, found in cells(results, "by l"):
        pair = found["value-adding"]["seconds"], found["bayes"]["seconds"]
        by.setdefault(given["width"], []).append(pair)
    cases = [
        Case(f"q′ = {width}", sum(a for a, _ in pairs), sum(b for _, b in pairs))
        for width, pairs in by.items()
    ]
    return always_less(cases, ("seconds of ValueAdding, over all l,", "bayes"))


def within_minutes(results: Results) -> Judgement:
    """Judge that reconstructing takes less than ten minutes, however many attributes."""
    times = [
        (found["bayes"]["seconds"], where)
        for experiment in ("by l", "by t")
        for where, _, found in cells(results, experiment)
    ]
    most, where = max(times)
    return verdict(
        most < MOST_SECONDS, f"at most {most:.2f} s ({where})", "longer than that", most=most
    )


def same_sum(results: Results) -> Judgement:
    """Judge that the reconstructed counts of all methods sum to the number of records."""
    found = results.all("histogram")[0][1]
    people = found["original"]["sum"]
    sums = {name: found[name]["sum"] for name in ("bayes", "ValueAdding", "Rating")}
    worst = max(abs(each / people - 1) for each in sums.values())
    told = ", ".join(f"{name} {each:,.1f}" for name, each in sums.items())
    return verdict(worst < 1e-6, f"{people:,.0f} people; {told}", "they differ", worst=worst)


def nearly_perfect(results: Results) -> Judgement:
    """Judge that the cross table of age and occupation is reconstructed almost perfectly."""
    found = results.all("histogram")[0][1]
    told = ", ".join(
        f"{name} {found[name]['misplaced']:.1%}" for name in ("bayes", "ValueAdding", "Rating")
    )
    return verdict(
        found["bayes"]["misplaced"] <= ALMOST,
        f"people in a wrong cell: {told}",
        f"more than {ALMOST:.0%}",
        misplaced=found["bayes"]["misplaced"],
    )


def flattened(results: Results) -> Judgement:
    """Judge that ValueAdding and Rating draw counts towards the mean."""
    found = results.all("histogram")[0][1]
    shares = {name: found[name]["flattened"] for name in ("ValueAdding", "Rating", "bayes")}
    told = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
    return verdict(
        min(shares["ValueAdding"], shares["Rating"]) > 0.9,
        f"cells that are drawn towards the mean: {told}",
        "not nine cells in ten",
        **{name.lower(): share for name, share in shares.items()},
    )


def confidence(results: Results) -> Judgement:
    """Judge that nobody gives a person's own value more than 1/l."""
    given, found = results.all("attack")[0]
    told = "; ".join(
        f"{name}: {each['fewest']:.0%} to {each['most']:.0%}" for name, each in found.items()
    )
    most = max(each["most"] for each in found.values())
    return verdict(
        most == 0,
        f"l = {given['l']}, people whose own value has more than 1/{given['l']}, by attribute: "
        f"{told}",
        "diversity bounds what somebody learns to whom all values are equally likely; margins can "
        "be reconstructed from the release, and other values of a person may be known",
        most=most,
    )


def sufficiently(results: Results) -> Judgement:
    """Say that the paper does not tell when its steps end."""
    del results
    return open_question(
        "the paper does not say how small; steps that go on follow the noise, and here they end "
        "where chance explains what is left (`answers/set_estimators.py`)"
    )
