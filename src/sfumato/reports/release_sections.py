"""The sections that every report has: what was published, its guarantees, its sizes, its limits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sfumato.audit import Verdict
from sfumato.markup import Html, details, join, table
from sfumato.reports.bars import size_chart
from sfumato.reports.facts import Facts
from sfumato.reports.guarantee_words import words_of
from sfumato.reports.method_words import (
    EVERYWHERE,
    LAYOUTS,
    limits_of_parameters,
    method_limits,
    method_words,
)
from sfumato.reports.metric_words import SIZES
from sfumato.reports.page import (
    Section,
    badge,
    bullets,
    cards,
    command,
    figure,
    figures,
    formula,
    heading,
    name,
    note,
    paragraph,
    section,
)
from sfumato.reports.statistics import WITHHELD, Column, Sizes

# Values and rows of a parameter that are shown; the manifest has all of them.
_LONGEST_PARAMETER = 120
_MOST_CHARTS = 8


def published(facts: Facts) -> Section:
    """Return what was published: method, layout, tables, and what became of each column."""
    manifest = facts.manifest
    numbers: list[tuple[object, object]] = [("records", f"{manifest.rows:,}")]
    groups = next((each for each in facts.sizes if each.what == "groups"), None)
    if groups is not None:
        numbers.append(("groups", f"{groups.count:,}"))
    numbers += [
        ("columns", f"{len(manifest.attributes):,}"),
        ("rows suppressed", f"{manifest.suppressed:,}"),
        ("published on", manifest.created.isoformat()),
    ]
    columns = table(
        ["column", "role", "kind", "where", "what became of its cells"],
        [[each.name, each.role, each.kind, _where(each), _forms(each)] for each in facts.columns],
        "columns of the release",
    )
    tables = table(
        ["table", "columns", "file"],
        [
            [entry.name, ", ".join(entry.columns(manifest.layout)), entry.file]
            for entry in manifest.tables
        ],
        "published tables",
    )
    return section(
        "published",
        "What was published",
        paragraph(
            method_words(manifest.method), " ", LAYOUTS[manifest.layout],
        ),
        cards(numbers),
        _remarks(facts),
        columns,
        formula(
            "how cells are counted",
            "Every published cell is read by the release's cell grammar: an exact value, a range "
            "[low, high], a label of a hierarchy, a set {a, b}, or * for a withheld one. Shares "
            "are of all cells of the column.",
        ),
        details("tables and files", tables),
        details("parameters that the manifest states", _parameters(manifest.parameters)),
    )  # fmt: skip


def _where(column: Column) -> str:
    return column.table if column.block is None else f"{column.table}, block {column.block}"


def _forms(column: Column) -> str:
    total = max(column.total, 1)
    return ", ".join(f"{form} {_share(count / total)}" for form, count in column.cells)


def _remarks(facts: Facts) -> Html:
    """Return what sets this release apart: weights, tokens, samples, fakes, households."""
    manifest, said = facts.manifest, []
    if facts.weight is not None:
        said.append(join(["Records have weights, as means of groups: ", name(facts.weight), "."]))
    if facts.pseudonyms:
        names = join((name(each) for each in facts.pseudonyms), ", ")
        said.append(
            join(
                [
                    "Tokens stand for people in ", names,
                    ": such data are pseudonymised, and law may treat them as personal data.",
                ]
            )
        )  # fmt: skip
    if manifest.parameters.get("household"):
        said.append(join(["Guarantees count households, not people."]))
    if linked := manifest.parameters.get("linked"):
        others = ", ".join(map(str, linked)) if isinstance(linked, list) else str(linked)
        said.append(join(["It is linked by tokens with other tables: ", name(others), "."]))
    if fakes := manifest.parameters.get("fakes"):
        said.append(join([f"{fakes:,} of the records are fakes, and belong to nobody."]))
    if (sample := manifest.parameters.get("sample")) not in (None, 1, 1.0):
        said.append(join([f"The records are a random sample of the share {sample}."]))
    return bullets(said)


def _parameters(parameters: Mapping[str, Any]) -> Html:
    if not parameters:
        return paragraph("The manifest states none.")
    rows = []
    for key, value in parameters.items():
        shown = json.dumps(value, ensure_ascii=False)
        if len(shown) > _LONGEST_PARAMETER:
            shown = shown[:_LONGEST_PARAMETER] + "… (more in manifest.json)"
        rows.append([key, shown])
    return table(["parameter", "value"], rows)


def guarantees(facts: Facts) -> Section:
    """Return every guarantee with the audit's verdict, meaning and formula."""
    rows = [
        [_claim(each), _verdict(each), _meaning(each), _worst(each)]
        for each in facts.audit.guarantees
    ]
    shown = (
        table(["guarantee", "audit", "what it means", "worst"], rows, "guarantees and verdicts")
        if rows
        else note("The release claims no guarantee.", kind="warning")
    )
    problems = bullets(facts.audit.problems)
    return section(
        "guarantees",
        "Guarantees",
        paragraph(
            "What files can show of each guarantee was derived anew from the published files "
            "alone. Unless its meaning says otherwise, a guarantee is about an adversary who has "
            "the release, knows the method, knows that a person is in the data, and knows that "
            "person's quasi-identifiers exactly."
        ),
        note(*_answer(facts)),
        shown,
        heading("What the audit remarks") if problems else None,
        problems or None,
    )


def _answer(facts: Facts) -> tuple[object, ...]:
    report = facts.audit
    if report.ok:
        return (badge("audit passed", "good"), " Every claim that files can show holds.")
    if report.guarantees and all(each.holds is None for each in report.guarantees):
        return (
            badge("not confirmed", "warning"),
            " Nothing was confirmed and nothing contradicted: files cannot show these guarantees.",
        )
    return (
        badge("audit not passed", "bad"),
        " Do not rely on this release; see the reasons below.",
    )


def _claim(verdict: Verdict) -> Html:
    claim = verdict.claim
    keys = {k: v for k, v in claim.items() if k not in ("model", "attribute")}
    listed = ", ".join(f"{key} = {value}" for key, value in keys.items())
    parts: list[object] = [str(claim["model"])]
    if "attribute" in claim:
        parts += [" of ", name(claim["attribute"])]
    return join([*parts, f" ({listed})" if listed else ""])


def _verdict(verdict: Verdict) -> Html:
    words, kind = {
        True: ("holds", "good"),
        False: ("does not hold", "bad"),
        None: ("not checked", "warning"),
    }[verdict.holds]
    return join([badge(words, kind), f" {verdict.note}" if verdict.note else ""])


def _meaning(verdict: Verdict) -> Html:
    words = words_of(verdict.claim)
    lines = [words.formula]
    if words.worst:
        lines.append(f"Worst: {words.worst}.")
    if words.leaves:
        lines.append(f"What it does not protect: {words.leaves}")
    return join([words.means, formula("formula and limits", *filter(None, lines))])


def _worst(verdict: Verdict) -> str | None:
    return None if verdict.worst is None else f"{verdict.worst:.4g}"


def sizes(facts: Facts) -> Section | None:
    """Return the sizes of groups, buckets and sets; None where there are none."""
    if not facts.sizes:
        return None
    shown = [each for each in facts.sizes if len(each.bars) > 1][:_MOST_CHARTS]
    rows = [
        [
            _title(each),
            f"{each.count:,}",
            f"{each.smallest:,}",
            f"{each.median:g}",
            f"{each.largest:,}",
        ]
        for each in facts.sizes
    ]
    return section(
        "sizes",
        "Sizes of groups and buckets",
        paragraph(
            "Protection comes from company: the smaller a group, the more its members stand out."
        ),
        figures(figure(size_chart(each), _title(each), _numbers(each)) for each in shown)
        if shown
        else None,
        table(["what", "number", "smallest", "median", "largest"], rows, "sizes in all"),
        formula("how sizes are counted", *SIZES),
    )


def _title(each: Sizes) -> str:
    about = "" if each.attribute is None else f" of '{each.attribute}'"
    return f"{each.what}{about}, by {each.of}"


def _numbers(each: Sizes) -> Html:
    rows = [[bar.label, f"{bar.groups:,}", f"{bar.held:,}"] for bar in each.bars if bar.groups]
    return details("the numbers", table(["size", each.what, f"{each.of} in them"], rows))


def withheld(facts: Facts) -> Section:
    """Return what is missing from the release: rows, cells, and what was recoded before."""
    manifest = facts.manifest
    all_rows = manifest.rows + manifest.suppressed
    said: list[object] = [
        f"{manifest.suppressed:,} rows were suppressed"
        + (f" ({_share(manifest.suppressed / all_rows)} of all)" if all_rows else "")
        + ("; some of them because of their values" if manifest.suppressed_by_value else "")
        + "."
    ]
    hidden = [(each, each.count(WITHHELD)) for each in facts.columns if each.count(WITHHELD)]
    if not hidden:
        said.append("No cell is withheld (*).")
    rows = [[each.name, f"{count:,}", _share(count / max(each.total, 1))] for each, count in hidden]
    recoding = manifest.parameters.get("recoding")
    steps: list[list[object]] = []
    if isinstance(recoding, Mapping):
        steps = [
            [column, json.dumps(what, ensure_ascii=False)] for column, what in recoding.items()
        ]
    return section(
        "withheld",
        "Withheld and recoded",
        bullets(said),
        table(["column", "withheld cells", "share"], rows, "cells that could be anything") if rows
        else None,
        formula(
            "how they are counted",
            "Suppressed rows: as the manifest states. Withheld cells: cells * in the files. Shares "
            "of rows are of published and suppressed ones together.",
        ),
        heading("Recoding before publication"),
        table(["column", "steps, in the words of a policy"], steps) if steps
        else paragraph("No column was recoded."),
    )  # fmt: skip


def limits(facts: Facts) -> Section:
    """Return the known limits that apply to this release."""
    manifest = facts.manifest
    return section(
        "limits",
        "Known limits",
        bullets(
            [
                *method_limits(manifest.method),
                *limits_of_parameters(manifest.parameters),
                *EVERYWHERE,
            ]
        ),
    )


def check_yourself(facts: Facts) -> Section:
    """Return how a reader repeats what the report says."""
    lines = [
        paragraph("With the folder of the release, here called RELEASE, anyone can repeat this:"),
        command("sfumato audit RELEASE"),
        command('sfumato query RELEASE "SELECT COUNT(*)"'),
        command("sfumato report RELEASE --audience public --out report.html"),
    ]
    if facts.audience == "steward":
        lines += [
            paragraph("With the original data, here called DATA, its steward can repeat the rest:"),
            command("sfumato attack RELEASE --original DATA"),
            command("sfumato utility RELEASE --original DATA"),
        ]
    return section("check", "Check it yourself", *lines)


def _share(share: float) -> str:
    return "<0.1%" if 0 < share < 0.0005 else f"{share:.1%}"
