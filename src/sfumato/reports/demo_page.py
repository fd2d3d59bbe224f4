"""The page of the demonstration: what was there, what became of it, and what it is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from sfumato.markup import Html, details, join, table, tag
from sfumato.reports.comparison import columns_meaning, comparison_table, risk_utility_figure
from sfumato.reports.comparison_words import (
    SHORT_HEADERS,
    of_the_stated,
    parameters,
    short_cells,
    strongest,
)
from sfumato.reports.guarantee_words import words_of
from sfumato.reports.method_words import LAYOUTS, method_limits, method_words
from sfumato.reports.page import (
    Section,
    badge,
    bullets,
    cards,
    command,
    heading,
    name,
    note,
    page,
    paragraph,
    section,
)

Facts = Mapping[str, Any]

TITLE: Final = "One table, seven ways to publish it"
# Tables by the beginning of their names.
_TABLES: Final = {
    "records": "Records",
    "qi": "Known attributes of a group",
    "sensitive": "Sensitive values of the same group",
}
_LISTED: Final = 5


@dataclass(frozen=True, slots=True)
class Published:
    """Some rows of each table that a method published, and where the report on it lies."""

    method: str
    rows: Mapping[str, pa.Table]
    report: str | None


def demo_page(found: Facts, published: Sequence[Published], before: pa.Table, data: str) -> str:
    """Return the page of a demonstration, which fetches nothing.

    `found` is the comparison as plain facts, `before` some rows of the file `data`.
    """
    trials = {trial["method"]: trial for trial in found["trials"]}
    lead = [
        tag(
            "p",
            f"{found['of_rows']:,} made-up hospital stays were published by "
            f"{len(trials)} methods. Each release was audited from its published files alone, "
            "attacked, and asked questions whose true answers are known.",
            class_="lead",
        )
    ]
    if not found["ok"]:
        lead.append(note("The audit of a release failed: see the table.", kind="bad"))
    return page(
        TITLE,
        [
            section("data", "The data", *_data(found, before)),
            section("comparison", "What came out", *_comparison(found)),
            *(
                _method(trials[each.method], each, number)
                for number, each in enumerate(published, start=1)
            ),
            section("next", "What to do next", *_next(published, data)),
        ],
        lead=lead,
        banner="Made-up people: nobody in this demonstration exists",
        footer=[
            paragraph(
                "This page fetches nothing and runs nothing. Attacks are simulated, on a sample of "
                "the people: that one fails shows that this attack fails, and no more."
            )
        ],
    )


def _data(found: Facts, before: pa.Table) -> list[Html]:
    blind = next((each["blind"] for t in found["trials"] if (each := strongest(t))), None)
    numbers: list[tuple[object, object]] = [
        ("people", f"{found['of_rows']:,}"),
        ("methods", len(found["trials"])),
        ("people attacked", f"{found['people']:,}"),
        ("COUNT queries asked", f"{found['queries']:,}"),
    ]
    guess = (
        ""
        if blind is None
        else f" Whoever names the commonest disease for everybody is right for {blind:.1%}."
    )
    return [
        paragraph(
            "A hospital wants to share who came with what. Names go, but that is not enough: "
            "whoever knows somebody's age, sex, zip code, occupation and day of admission finds "
            "the one row that fits, and reads the disease."
        ),
        _rows(before, "The first rows of the data"),
        cards(numbers),
        paragraph(
            "Asked of every method, as far as it can be asked: nobody can be told from 9 others "
            "(k = 10), and no disease is that of more than a fifth of a group (l = 5)." + guess
        ),
    ]


def _comparison(found: Facts) -> list[Html]:
    return [
        paragraph(
            "Every method gives up something else. Those that coarsen what others know hide who a "
            "record is of; those that keep it exact answer questions better, and hide only what "
            "the person has."
        ),
        table(SHORT_HEADERS, [short_cells(trial) for trial in found["trials"]]),
        paragraph(
            "Keeps: which of k 10 and l 5 the audit confirms. Re-id: the chance that whoever knows "
            "all but the disease picks the right record. Guessed: diseases that the strongest "
            "attack gets right. COUNT error: how far answers are off, mean and median."
        ),
        details("every number", comparison_table(found["trials"]), columns_meaning()),
        risk_utility_figure(found),
    ]


def _method(trial: Facts, shown: Published, number: int) -> Section:
    title = f"{number}. {trial['method']}"
    if trial["refused"]:
        return section(
            f"by-{trial['method']}",
            title,
            paragraph(method_words(trial["method"])),
            note("Nothing was published: ", trial["refused"], kind="warning"),
        )
    verdict = (
        badge("the audit found it broken", "bad")
        if trial["audit"] == "broken"
        else badge("the audit stands by it", "good")
    )
    inferred = strongest(trial)
    said = []
    if trial["linkage"] is not None:
        said.append(
            "Whoever knows all about a person but the disease finds the right record with a "
            f"chance of {trial['linkage']['mean']:.1%} in the mean, "
            f"{trial['linkage']['highest']:.1%} at most."
        )
    if inferred is not None:
        said.append(
            f"The strongest attack ({inferred['attack']}) guesses {inferred['success']:.1%} of "
            f"diseases rightly, where naming the commonest is right for {inferred['blind']:.1%}."
        )
    if trial["utility"] and trial["utility"]["count_mean"] is not None:
        said.append(
            f"Answers to COUNT queries are off by {trial['utility']['count_mean']:.1%} in the mean."
        )
    said += [f"To know: {each}." for each in trial["notes"]]
    parts = [
        paragraph(method_words(trial["method"]), " ", LAYOUTS.get(str(trial["layout"]), "")),
        *(_rows(rows, _caption(called, rows)) for called, rows in shown.rows.items()),
        heading("What it promises"),
        paragraph(verdict, _kept(of_the_stated(trial))),
        bullets(words_of(claim).means for claim in trial["guarantees"]),
        heading("What it came to"),
        bullets(said),
    ]
    if limits := method_limits(trial["method"]):
        parts += [heading("Its limits"), bullets(limits)]
    links = [f"Parameters: {parameters(trial)}. "]
    if shown.report is not None:
        whole = tag("a", "The whole report on this release", href=shown.report)
        parts.append(paragraph(*links, whole, "."))
    else:
        parts.append(paragraph(*links))
    return section(f"by-{trial['method']}", title, *parts)


def _caption(called: str, rows: pa.Table) -> str:
    words = _TABLES.get(called.partition("_")[0], called)
    return (
        f"{words} of one group" if called == "records" and "group" in rows.schema.names else words
    )


def _kept(kept: str) -> str:
    """Return which part of what was asked for a method keeps."""
    if kept == "all":
        return " It keeps all that was asked for:"
    if kept == "nothing":
        return " It promises something else than was asked for:"
    return f" Of what was asked for it keeps {kept}:"


def _next(published: Sequence[Published], data: str) -> list[Html]:
    first = next((each.method for each in published if each.rows), None)
    if first is None:
        return [paragraph("No method published anything.")]
    return [
        paragraph("In the folder of this page:"),
        command(f"sfumato audit {first}"),
        command(f"sfumato query {first} \"SELECT COUNT(*) WHERE age > 60 AND disease = 'Flu'\""),
        command(f"sfumato attack {first} --original {data}"),
        paragraph("And with data of your own:"),
        command("sfumato init patients.csv -o policy.yaml"),
        command("sfumato compare patients.csv --policy policy.yaml --methods all --out compared"),
        paragraph(
            "Each policy beside this page is a place to start from: ",
            join((name(f"{each.method}.yaml") for each in published), ", "),
            ".",
        ),
    ]


def _rows(rows: pa.Table, caption: str) -> Html:
    lines = [[_shown(value) for value in record.values()] for record in rows.to_pylist()]
    return table(rows.column_names, lines, caption)


def _shown(value: Any) -> object:
    """Return a cell as it is read: sets in braces, long ones cut."""
    if isinstance(value, Mapping):
        return " to ".join(str(each) for each in value.values())
    if isinstance(value, list):
        listed = ", ".join(map(str, value[:_LISTED]))
        more = len(value) - _LISTED
        return f"{{{listed}{f' and {more} more' if more > 0 else ''}}}"
    return value
