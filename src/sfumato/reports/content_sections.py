"""What the release says of the data: distributions and associations, beside the original or not."""

from __future__ import annotations

from sfumato.answers.estimate import Estimate
from sfumato.markup import Html, details, join, table
from sfumato.reports.alone import MISSING, Alone, Answered, Pair
from sfumato.reports.bars import answered_chart, before_after, drawn_shares, shown_shares
from sfumato.reports.facts import Facts
from sfumato.reports.heat import MOST_ATTRIBUTES, association_chart
from sfumato.reports.metric_words import ANSWERS, ASSOCIATION, DISTANCES
from sfumato.reports.page import (
    Section,
    bullets,
    figure,
    figures,
    formula,
    heading,
    name,
    paragraph,
    section,
)
from sfumato.utility.margins import Margin
from sfumato.utility.overview import Utility

MOST_CHARTS = 24
_MOST_LISTED = 20


def distributions(facts: Facts) -> Section | None:
    """Return the distribution of each attribute: before and after, or as the release says."""
    if facts.compared is not None and facts.compared.margins:
        return _compared(facts.compared)
    return None if facts.alone is None else _alone(facts.alone)


def _compared(found: Utility) -> Section:
    shown = [each for each in found.margins if each.shares is not None][:MOST_CHARTS]
    rows = [
        [each.attributes[0], f"{each.l1:.4f}", f"{each.l2:.4f}", f"{each.hellinger:.4f}"]
        for each in found.margins
    ]
    return section(
        "distributions",
        "Distributions, before and after",
        paragraph(
            "Shares of values in the original and in the release. Where the release is coarse, its "
            "side is an estimate."
        ),
        figures(map(_figure, shown)),
        _left_out(len(found.margins) - len(shown)),
        table(["column", "L1", "L2", "Hellinger"], rows, "distances of distributions, 0 if equal"),
        formula("formulas", *DISTANCES),
        bullets(each for each in found.notes if "distributions" in each or "recoded" in each),
    )


def _figure(each: Margin) -> Html:
    assert each.shares is not None
    labels, before, after = shown_shares(each.shares)
    numbers = [
        [label, f"{one:.2%}", f"{other:.2%}"]
        for label, one, other in zip(labels, before, after, strict=True)
    ]
    undrawn = "; all others are in the numbers only" if drawn_shares(each.shares)[3] else ""
    caption = join([name(each.attributes[0]), f" (L1 distance {each.l1:.3f}{undrawn})"])
    below = details("the numbers", table(["value", "original", "release"], numbers))
    return figure(before_after(each.attributes[0], each.shares), caption, below)


def _left_out(count: int) -> Html | None:
    return paragraph(f"{count} further columns are in the table only.") if count > 0 else None


def _alone(found: Alone) -> Section:
    shown = found.answers[:MOST_CHARTS]
    refused = [join([name(each), f": {why}"]) for each, why in found.undefined]
    return section(
        "distributions",
        "Distributions, as the release tells them",
        paragraph(
            "Bars are estimates from the release alone; the thin line spans the lower and upper "
            "bound, which hold for every original that the release may have come from."
        ),
        figures(map(_answered, shown)),
        _left_out(len(found.answers) - len(shown)),
        formula("formulas", *ANSWERS),
        bullets(refused) or None,
    )


def _answered(each: Answered) -> Html:
    rows = [
        [label, *_numbers(own, each.total)]
        for label, own in zip(each.labels, each.estimates, strict=True)
    ]
    listed = sum(label != MISSING for label in each.labels)
    rest = f" (the {listed} commonest values; {each.left_out:,} others are not drawn)"
    caption = join([name(each.attribute), rest if each.left_out else ""])
    numbers = table(["value", "estimate", "low", "high", "share", "standard error"], rows)
    return figure(answered_chart(each), caption, details("the numbers", numbers))


def _numbers(own: Estimate, total: float) -> list[str | None]:
    return [
        f"{own.value:,.1f}",
        f"{own.low:,.1f}",
        f"{own.high:,.1f}",
        f"{own.value / total:.2%}" if total else None,
        None if own.se is None else f"{own.se:,.1f}",
    ]


def associations(facts: Facts) -> Section | None:
    """Return how strongly attributes go together; None where nothing tells."""
    compared = facts.compared
    if compared is not None and compared.pairs:
        pairs = [
            Pair((each.attributes[0], each.attributes[1]), *each.association)
            for each in compared.pairs
            if each.association is not None
        ]
    else:
        pairs = [] if facts.alone is None else list(facts.alone.pairs)
    if not pairs:
        return None
    is_beside = pairs[0].original is not None
    names = list(dict.fromkeys(each for pair in pairs for each in pair.attributes))
    caption = (
        "above the diagonal: the original; below it: the release"
        if is_beside
        else "by one plausible table drawn from the release (the same one every time)"
    )
    ordered = sorted(pairs, key=lambda each: -(each.original or each.release))[:_MOST_LISTED]
    rows = [
        [" and ".join(each.attributes)]
        + ([f"{each.original:.3f}"] if each.original is not None else [])
        + [f"{each.release:.3f}"]
        for each in ordered
    ]
    headers = ["pair", *(["original"] if is_beside else []), "release"]
    more = len(names) - MOST_ATTRIBUTES
    return section(
        "associations",
        "How attributes go together",
        paragraph("0: knowing one tells nothing of the other; 1: it tells the other exactly."),
        figure(association_chart(pairs, names), caption),
        paragraph(f"{more} further columns are not in the chart.") if more > 0 else None,
        details(f"the {len(rows)} strongest pairs", table(headers, rows)),
        formula("formula", *ASSOCIATION),
        _correlations(compared),
    )


def _correlations(compared: Utility | None) -> Html | None:
    pairs = [each for each in (compared.pairs if compared else ()) if each.correlation is not None]
    if not pairs:
        return None
    rows = []
    for each in pairs[:_MOST_LISTED]:
        assert each.correlation is not None
        before, after = each.correlation
        rows.append([" and ".join(each.attributes), f"{before:.3f}", f"{after:.3f}"])
    shown = table(["numbers", "original", "release"], rows, "Pearson's correlation")
    return join(
        [
            heading("Correlations of numbers"),
            shown,
            formula("formula", "r = cov(x, y) / (sd(x) · sd(y)), over rows that have both numbers"),
        ]
    )
