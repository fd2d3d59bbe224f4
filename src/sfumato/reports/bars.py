"""Bars: sizes of groups, shares of values before and after, shares with their bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.markup import Html
from sfumato.reports.alone import Answered
from sfumato.reports.statistics import Sizes
from sfumato.reports.svg import INK, SERIES, inline, unique_cuts
from sfumato.utility.margins import Shares

WIDTH = 280
# Beside the long names of attacks, so that the whole still reads on a phone.
_NARROW = 200
# Values beyond the commonest are taken together in a chart.
MOST_VALUES = 12
OTHERS = "all others"
_DWARFS = 4
_BEFORE, _AFTER = "original", "release"


def size_chart(sizes: Sizes) -> Html:
    """Return how many groups have which size."""
    import altair as alt

    rows = [
        {"size": bar.label, "groups": bar.groups, "text": f"{bar.groups:,}" if bar.groups else ""}
        for bar in sizes.bars
    ]
    order = [bar.label for bar in sizes.bars]
    base = alt.Chart(alt.InlineData(values=rows), width=WIDTH + 60, height=170).encode(
        x=alt.X(
            "size:N",
            sort=order,
            title=f"size ({sizes.of} in it)",
            axis=alt.Axis(labelAngle=-45 if max(map(len, order)) > 3 else 0, grid=False),
        ),
        y=alt.Y(
            "groups:Q",
            title=f"number of {sizes.what}",
            axis=alt.Axis(format="~s", tickCount=4),
            # room for the number above the highest bar
            scale=alt.Scale(domain=[0, max(bar.groups for bar in sizes.bars) * 1.15]),
        ),
    )
    bars = base.mark_bar(color=SERIES[0])
    chart = (
        bars if len(rows) > 10 else bars + base.mark_text(dy=-7, color=INK).encode(text="text:N")
    )
    label = (
        f"bar chart: {sizes.count:,} {sizes.what} by size, from {sizes.smallest:,} to "
        f"{sizes.largest:,} {sizes.of}"
    )
    return inline(chart, label)


def before_after(name: str, shares: Shares) -> Html:
    """Return the shares of values in the original and in the release, side by side."""
    import altair as alt

    labels, before, after, _ = drawn_shares(shares)
    cuts = unique_cuts(labels)
    rows = [
        {"value": cuts[label], "side": side, "share": share}
        for label, one, other in zip(labels, before, after, strict=True)
        for side, share in ((_BEFORE, one), (_AFTER, other))
    ]
    chart = (
        alt.Chart(alt.InlineData(values=rows), width=WIDTH, height=alt.Step(10))
        .mark_bar()
        .encode(
            y=alt.Y("value:N", sort=[cuts[label] for label in labels], title=None),
            yOffset=alt.YOffset("side:N", sort=[_BEFORE, _AFTER]),
            x=alt.X(
                "share:Q",
                title="share of rows",
                axis=alt.Axis(format="~%", tickCount=4),
            ),
            color=alt.Color(
                "side:N",
                title=None,
                sort=[_BEFORE, _AFTER],
                scale=alt.Scale(domain=[_BEFORE, _AFTER], range=[SERIES[0], SERIES[1]]),
            ),
        )
    )
    return inline(chart, f"bar chart: shares of the values of {name}, original and release", cuts)


def drawn_shares(shares: Shares) -> tuple[list[str], list[float], list[float], bool]:
    """Return what is drawn of the shares, and whether all others were left out: where they are far
    more than any value, their bar would make the others unreadable."""
    labels, before, after = shown_shares(shares)
    own = [max(both) for label, *both in zip(labels, before, after, strict=True) if label != OTHERS]
    rest = [
        max(both) for label, *both in zip(labels, before, after, strict=True) if label == OTHERS
    ]
    if not own or not rest or rest[0] <= _DWARFS * max(own):
        return labels, before, after, False
    kept = [place for place, label in enumerate(labels) if label != OTHERS]
    return [labels[i] for i in kept], [before[i] for i in kept], [after[i] for i in kept], True


def shown_shares(shares: Shares) -> tuple[list[str], list[float], list[float]]:
    """Return the labels and both shares of what a chart shows: the rest is taken together."""
    entries = list(zip(shares.labels, shares.before, shares.after, strict=True))
    entries = [each for each in entries if each[1] > 0 or each[2] > 0]
    if not shares.is_line:
        entries.sort(key=lambda each: -each[1])
    if len(entries) > MOST_VALUES:
        entries, rest = entries[: MOST_VALUES - 1], entries[MOST_VALUES - 1 :]
        own = [each for each in entries if each[0] == OTHERS]
        entries = [each for each in entries if each[0] != OTHERS]
        sums = [sum(each[side] for each in (*rest, *own)) for side in (1, 2)]  # type: ignore[misc]
        entries.append((OTHERS, float(sums[0]), float(sums[1])))
    labels, before, after = zip(*entries, strict=True) if entries else ((), (), ())
    return list(labels), list(before), list(after)


def answered_chart(answered: Answered) -> Html:
    """Return the estimated shares of values with their bounds, from the release alone."""
    import altair as alt

    cuts = unique_cuts(list(answered.labels))
    total = max(answered.total, 1e-300)
    rows = [
        {
            "value": cuts[label],
            "share": each.value / total,
            "low": max(each.low, 0.0) / total,
            "high": min(each.high / total, 1.0),
        }
        for label, each in zip(answered.labels, answered.estimates, strict=True)
    ]
    base = alt.Chart(alt.InlineData(values=rows), width=WIDTH, height=alt.Step(18)).encode(
        y=alt.Y("value:N", sort=[cuts[label] for label in answered.labels], title=None)
    )
    bars = base.mark_bar(color=SERIES[1], size=11).encode(
        x=alt.X("share:Q", title="share of rows", axis=alt.Axis(format="~%", tickCount=4))
    )
    bounds = base.mark_rule(color=INK, strokeWidth=1.5).encode(x="low:Q", x2="high:Q")
    ends = [
        base.mark_tick(color=INK, size=8, thickness=1.5).encode(x=f"{end}:Q")
        for end in ("low", "high")
    ]
    label = f"bar chart: estimated shares of the values of {answered.attribute}, with bounds"
    return inline(alt.layer(bars, bounds, *ends), label, cuts)


def success_chart(rows: Sequence[dict[str, Any]], names: dict[str, str]) -> Html:
    """Return the success of attacks with their intervals, and what they are compared with.

    Rows have `attack`, `success`, `low`, `high`, `blind` and `control` (None without one).
    """
    import altair as alt

    order = [row["attack"] for row in rows]
    points = [
        {"attack": row["attack"], "who": who, "share": row[key]}
        for row in rows
        for who, key in (("attack", "success"), ("blind guess", "blind"), ("control", "control"))
        if row[key] is not None
    ]
    y = alt.Y("attack:N", sort=order, title=None)
    spans = (
        alt.Chart(alt.InlineData(values=list(rows)), width=_NARROW, height=alt.Step(20))
        .mark_rule(color=SERIES[2], strokeWidth=2)
        .encode(y=y, x=alt.X("low:Q", title="people for whom it is right (share)"), x2="high:Q")
    )
    marks = (
        alt.Chart(alt.InlineData(values=points))
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            y=y,
            x=alt.X(
                "share:Q",
                title="people for whom it is right (share)",
                axis=alt.Axis(format="~%", tickCount=5),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=alt.Color(
                "who:N",
                title=None,
                sort=["attack", "blind guess", "control"],
                scale=alt.Scale(
                    domain=["attack", "blind guess", "control"],
                    range=[SERIES[2], SERIES[0], SERIES[3]],
                ),
            ),
            shape=alt.Shape(
                "who:N",
                title=None,
                sort=["attack", "blind guess", "control"],
                scale=alt.Scale(
                    domain=["attack", "blind guess", "control"],
                    range=["circle", "square", "triangle-up"],
                ),
            ),
        )
    )
    label = "chart: success of each attack with its 95 % interval, blind guess and control"
    return inline(alt.layer(spans, marks), label, names)
