"""Two runs side by side: what they promise, what attacks gain, what they are worth."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from starlette.responses import Response
from starlette.routing import BaseRoute

from sfumato.markup import Html, join, table, tag
from sfumato.reports.page import badge, name
from sfumato.web import frame
from sfumato.web.bench import Visit, shown, told
from sfumato.web.judgement import Judgement, Number, share_words
from sfumato.web.pages.runs import method_words, when
from sfumato.web.runs import Kind, runs_of

Pair = tuple[Judgement, Judgement]

_CHARTS: Final = ("sizes", "distributions")
_VERDICTS: Final = {
    True: ("holds", "good"),
    False: ("does not hold", "bad"),
    None: ("not checked", "warning"),
}
_ABOUT_CLAIMS: Final = ("model", "attribute")
_NOT_CLAIMED: Final = (*_ABOUT_CLAIMS, "holds", "worst", "note")


def compare(here: Visit) -> Response:
    """Return the comparison of the runs `a` and `b` of the address, or the choice of two."""
    finished = {
        run.id: judged
        for run in runs_of(here.here, Kind.PUBLISH)
        if (judged := Judgement.of(run)) is not None
    }
    chosen = [finished.get(here.query(side)) for side in ("a", "b")]
    content: list[Html] = [_choice(here, finished)]
    a, b = chosen
    if len(finished) < 2:
        content = [tag("p", "It takes two finished runs to compare."), _way_back(here)]
    elif a is None or b is None:
        content.append(tag("p", "Choose two runs."))
    else:
        content += _compared(here, (a, b))
    return here.page("Compare two runs", *content, step="runs", message=told(here))


def _way_back(here: Visit) -> Html:
    return frame.link_button("All runs", here.address("runs"), "plain")


def _choice(here: Visit, finished: Mapping[str, Judgement]) -> Html:
    words = {id: f"{when(each.run)}: {method_words(each.run)}" for id, each in finished.items()}
    ids = list(words)
    b = here.query("b") if here.query("b") in words else next(iter(ids), None)
    a = here.query("a") if here.query("a") in words else next(iter(ids[1:]), None)
    return tag(
        "form",
        join(
            [
                frame.select("a", words, a, label="Run A"),
                frame.select("b", words, b, label="Run B"),
                frame.button("Compare", kind="plain"),
            ],
            "\n",
        ),
        method="get",
        action=here.address("compare"),
        class_="asked",
    )


def _compared(here: Visit, pair: Pair) -> list[Html]:
    heads = ["A", "B"]
    parts = [
        table(["Side", *heads], _names(here, pair), "the runs"),
        tag("h2", "Numbers"),
        table(["Number", *heads, "Better", "What it is"], _numbers(pair), "less is better"),
        tag("h2", "Guarantees"),
        table(["Guarantee", *heads], _guarantees(pair), "as audited on the published files"),
    ]
    attacks = _attacks(pair)
    if attacks:
        headers = ["Attack", "A", "blind guess, A", "B", "blind guess, B"]
        parts += [
            tag("h2", "Attacks"),
            table(headers, attacks, "people for whom an attack is right"),
        ]
    distances = _distances(pair)
    if distances:
        parts += [
            tag("h2", "Distances of distributions"),
            table(
                ["Column", *heads], distances, "Hellinger distance from the original, 0 if equal"
            ),
        ]
    return [*parts, *_charts(pair)]


def _names(here: Visit, pair: Pair) -> list[list[object]]:
    links = [tag("a", when(each.run), href=here.address(f"runs/{each.run.id}")) for each in pair]
    return [
        ["Run", *links],
        ["Method", *(method_words(each.run) for each in pair)],
        ["Audit", *(each.badge for each in pair)],
    ]


def _numbers(pair: Pair) -> list[list[object]]:
    return [
        [one.name, one.text, other.text, _better(one, other), one.meaning]
        for one, other in zip(pair[0].numbers, pair[1].numbers, strict=True)
        if one.value is not None or other.value is not None
    ]


def _better(one: Number, other: Number) -> str | None:
    """Return which of two numbers is better, where that can be said and is seen."""
    if not one.compares or one.value is None or other.value is None:
        return None
    if one.text == other.text:
        return "alike"
    return "A" if one.value < other.value else "B"


def _side_by_side(
    pair: Pair, listed: Callable[[Judgement], Mapping[Any, Mapping[str, Any]]]
) -> dict[Any, tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]]:
    """Return what either run has, by what it is about, in the order of the first."""
    one, other = listed(pair[0]), listed(pair[1])
    return {key: (one.get(key), other.get(key)) for key in dict.fromkeys([*one, *other])}


def _guarantees(pair: Pair) -> list[list[object]]:
    def claims(judged: Judgement) -> dict[Any, Mapping[str, Any]]:
        listed = judged.content["audit"]["guarantees"]
        return {tuple(_key(each.get(key)) for key in _ABOUT_CLAIMS): each for each in listed}

    rows: list[list[object]] = []
    for (model, attribute), both in _side_by_side(pair, claims).items():
        about = join([model, " of " if attribute else "", name(attribute) if attribute else ""])
        rows.append([about, *(_claim(each) for each in both)])
    return rows


def _key(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _claim(claim: Mapping[str, Any] | None) -> object:
    if claim is None:
        return "not promised"
    keys = [f"{key} = {value}" for key, value in claim.items() if key not in _NOT_CLAIMED]
    return join([", ".join(keys), " ", badge(*_VERDICTS[claim["holds"]])])


def _attacks(pair: Pair) -> list[list[object]]:
    def outcomes(judged: Judgement) -> dict[Any, Mapping[str, Any]]:
        listed = (judged.content["attacks"] or {}).get("outcomes", [])
        return {
            (each["attack"], each["attribute"] or each["where"], each["knows"]): each
            for each in listed
            if each["success"]["tried"]
        }

    found = _side_by_side(pair, outcomes)
    alike = Counter((attack, about) for attack, about, _ in found)
    rows: list[list[object]] = []
    for (attack, about, knows), both in found.items():
        title = join([attack, " of " if about else "", name(about) if about else ""])
        cells: list[object] = []
        for each in both:
            cells += (
                [None, None] if each is None else [_share(each["success"]), _share(each["blind"])]
            )
        said = tag("small", f"knowing {knows}") if alike[attack, about] > 1 else ""
        rows.append([join([title, said], " "), *cells])
    return rows


def _share(rate: Mapping[str, Any]) -> str | None:
    return share_words(rate["share"]) if rate["tried"] else None


def _distances(pair: Pair) -> list[list[object]]:
    def margins(judged: Judgement) -> dict[Any, Mapping[str, Any]]:
        listed = (judged.content["utility"] or {}).get("margins", [])
        return {" and ".join(each["attributes"]): each for each in listed}

    return [
        [about, *(None if each is None else f"{each['hellinger']:.4f}" for each in both)]
        for about, both in _side_by_side(pair, margins).items()
    ]


def _charts(pair: Pair) -> list[Html]:
    """Return the charts of both runs, beside each other where the page is wide."""
    both = [each.sections() for each in pair]
    found = []
    for id in _CHARTS:
        sides = [
            tag("section", join([tag("h3", f"Run {letter}"), *_named(own[id][1], letter)]))
            for letter, own in zip("AB", both, strict=True)
            if id in own
        ]
        if sides:
            title = next(own[id][0] for own in both if id in own)
            found += [tag("h2", title), tag("div", join(sides), class_="sides")]
    return found


def _named(content: list[Html], letter: str) -> list[Html]:
    """Return pieces whose labels say of which run they are, since both have the same ones.

    Data cannot hold such an attribute: its quotes are escaped.
    """
    return [
        Html(piece.replace(' aria-label="', f' aria-label="Run {letter}: ')) for piece in content
    ]


ROUTES: Final[list[BaseRoute]] = [shown("/p/{project}/compare", compare)]
