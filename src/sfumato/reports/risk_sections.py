"""What needs the original: attacks on the release, and what the release is worth."""

from __future__ import annotations

from typing import Any

from sfumato.attacks import AttackReport, Outcome, Rate
from sfumato.attacks.outcome import percent
from sfumato.markup import Html, details, join, table
from sfumato.reports.bars import success_chart
from sfumato.reports.facts import Facts
from sfumato.reports.metric_words import ATTACKS, ERRORS, words_of_metric
from sfumato.reports.page import (
    Section,
    badge,
    bullets,
    figure,
    formula,
    heading,
    name,
    paragraph,
    section,
)
from sfumato.reports.svg import unique_cuts
from sfumato.utility.overview import Utility, missed_bounds

_KINDS = {"risk": "bad", "inconclusive": "warning", "not judged": "warning"}
_MOST_SHOWN = 20


def attacks(facts: Facts) -> Section:
    """Return what came of simulated attacks; without the original, why there are none."""
    found = facts.attacked
    if found is None:
        return section(
            "attacks",
            "Simulated attacks",
            paragraph(
                "Attacks are counted by who is right, which takes the original: they are in the "
                "report that its steward makes with the original, and not in this one."
            ),
        )
    headers = [
        "attack", "verdict", "success", "95 % interval", "blind guess", "control",
        "worst tenth",
    ]  # fmt: skip
    sentences = [each.sentence() for each in found.outcomes if each.verdict != "at chance"]
    return section(
        "attacks",
        "Simulated attacks",
        paragraph(found.sentence() + "."),
        heading("Three questions of data protection"),
        bullets(each.sentence() for each in found.gdpr),
        _chart(found),
        table(headers, [_row(each) for each in found.outcomes], "outcomes of attacks"),
        formula("how an attack is judged", *ATTACKS),
        details(f"the {len(sentences)} outcomes in words", bullets(sentences)) if sentences
        else None,
        details("how each attack is run", bullets(_how(found))),
        bullets(_asides(found)) or None,
    )  # fmt: skip


def _row(outcome: Outcome) -> list[object]:
    low, high = outcome.success.interval
    about = outcome.attribute or outcome.where
    return [
        join([outcome.attack, " of " if about else "", name(about) if about else ""]),
        badge(outcome.verdict, _KINDS.get(outcome.verdict, "note")),
        _share(outcome.success),
        f"{low * 100:.1f}–{high:.1%}" if outcome.success.tried else None,
        _share(outcome.blind),
        None if outcome.control is None else _share(outcome.control),
        None if outcome.worst is None else f"{outcome.worst:.1%}",
    ]


def _share(rate: Rate) -> str | None:
    return percent(rate.share) if rate.tried else None


def _chart(found: AttackReport) -> Html | None:
    """Return the attacks that lie furthest above a blind guess, as a chart."""
    tried = [each for each in found.outcomes if each.success.tried]
    tried.sort(key=lambda each: each.blind.share - each.success.share)
    chosen = tried[:_MOST_SHOWN]
    if not chosen:
        return None
    # one secret goes without saying, and names of attacks must not be cut where they differ
    is_one = len({each.attribute for each in chosen if each.attribute}) < 2
    short = {id(each): each.attack if is_one else _short(each) for each in chosen}
    names = unique_cuts(list(dict.fromkeys(short.values())), 34 if is_one else 46)
    rows: list[dict[str, Any]] = []
    seen: set[str] = set()
    for each in chosen:
        if (
            short[id(each)] in seen
        ):  # the same attack by someone who knows more: the furthest is shown
            continue
        seen.add(short[id(each)])
        low, high = each.success.interval
        control = each.control if each.control is not None and each.control.tried else None
        rows.append(
            {
                "attack": names[short[id(each)]],
                "success": each.success.share,
                "low": low,
                "high": high,
                "blind": each.blind.share if each.blind.tried else None,
                "control": None if control is None else control.share,
            }
        )
    caption = f"the {len(rows)} attacks that lie furthest above a blind guess"
    return figure(success_chart(rows, names), caption)


def _short(outcome: Outcome) -> str:
    about = outcome.attribute or ""
    return f"{outcome.attack}: {about}" if about else outcome.attack


def _how(found: AttackReport) -> list[str]:
    told = {outcome.how: outcome.attack for outcome in reversed(found.outcomes)}
    return [f"{attack}: {how}" for how, attack in reversed(told.items())]


def _asides(found: AttackReport) -> list[str]:
    said = list(found.notes)
    if found.without_outcome:
        said.append(f"nothing to attack in this release for: {', '.join(found.without_outcome)}")
    return said


def worth(facts: Facts) -> Section | None:
    """Return the utility metrics and the errors of answers; None without the original."""
    found = facts.compared
    if found is None:
        return None
    rows = _metrics(found)
    return section(
        "utility",
        "What the release is worth",
        table(["metric", "value", "what it says"], rows, "losses") if rows else None,
        _undefined(found),
        _queries(found),
        bullets(missed_bounds(found)) or None,
        bullets(found.notes) or None,
    )


def _metrics(found: Utility) -> list[list[object]]:
    rows: list[list[object]] = []
    for key, value in found.metrics.items():
        title, means, how = words_of_metric(key)
        said = join([means, formula("formula", how)]) if how else means
        if not isinstance(value, dict):
            rows.append([title, _number(value), said])
            continue
        rows.append([f"{title}, mean", _number(value["mean"]), said])
        own = value.get("by_attribute", {})
        rows += [[f"{title} of '{each}'", _number(part), ""] for each, part in own.items()]
    return rows


def _undefined(found: Utility) -> Html | None:
    if not found.undefined:
        return None
    rows = [[words_of_metric(key)[0], why] for key, why in found.undefined.items()]
    shown = table(["metric", "why it has no value here"], rows)
    return details(f"metrics that are not defined for this release ({len(rows)})", shown)


def _queries(found: Utility) -> Html | None:
    if not found.queries:
        return None
    headers = [
        "query", "conditions", "asked", "mean error", "median error", "90 % below", "in bounds",
        "median width", "trivial bounds",
    ]  # fmt: skip
    rows = [
        [
            each.aggregate, each.dimension, each.queries, _percent(each.mean),
            _percent(each.median), _percent(each.percentile_90), _percent(each.coverage),
            _percent(each.width), _percent(each.trivial),
        ]
        for each in found.queries
    ]  # fmt: skip
    return join(
        [
            heading("Answers to random queries"),
            paragraph(f"Each query is about {found.selectivity:.0%} of the rows."),
            table(headers, rows, "errors relative to the truth"),
            formula("formulas", *ERRORS),
        ]
    )


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def _percent(value: float | None) -> str | None:
    return None if value is None else f"{value:.1%}"
