"""The parts of the page of a hierarchy: what it makes of values, and the forms that change it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

from sfumato.markup import Html, details, join, table, tag, text
from sfumato.reports.page import bullets, name, note
from sfumato.schema import HierarchyReport
from sfumato.web import frame
from sfumato.web.bench import Visit
from sfumato.web.builder_form import BUILDERS, DATE_PARTS, NUMBERS
from sfumato.web.count_words import counted
from sfumato.web.hierarchy_levels import Levels
from sfumato.web.tree_edit import LONGEST_LABEL, Rows

MOST_TICKED: Final = 1_000
_LISTED: Final = 200
_SHOWN_AT_ONCE: Final = 20


def level_tables(levels: Levels) -> Html:
    """Return what the levels make of the values."""
    last = len(levels.levels) - 1
    rows = [
        [
            "values as they are" if number == 0 else "everything" if number == last else number,
            f"{level.labels:,}",
            f"{level.fewest_rows:,}",
            _most_common(level.largest, level.labels),
        ]
        for number, level in enumerate(levels.levels)
    ]
    heads = ["value", *(f"level {n}" for n in range(1, last)), "everything"][: last + 1]
    return join(
        [
            table(
                ["Level", "Different labels", "Rows of the rarest", "Most common"],
                rows,
                caption="What each level makes of the values",
            ),
            details(
                f"The way up of {counted(len(levels.paths), 'value')}",
                table(heads, levels.paths, caption="Values and what they become"),
            ),
        ]
    )


def _most_common(largest: Iterable[tuple[str, int]], labels: int) -> Html:
    shown = [join([name(label), f" ({rows:,})"]) for label, rows in largest]
    more = [f"and {labels - len(shown):,} more"] if labels > len(shown) else []
    return join([*shown, *more], ", ")


def lacks(here: Visit, report: HierarchyReport, values: int, action: str) -> Html:
    """Return the values that a file has no line for, with a way to mend that; and wrong labels."""
    parts: list[object] = []
    if report.missing:
        count = len(report.missing)
        has, they = ("has", "it has") if count == 1 else ("have", "they have")
        parts += [
            note(
                f"{count:,} of {counted(values, 'value')} {has} no line in the hierarchy. "
                f"Publishing is refused until {they} one.",
                kind="bad",
            ),
            tag(
                "details",
                join(
                    [
                        tag("summary", f"The values without a line{_cut(count)}"),
                        _listed(report.missing),
                    ]
                ),
                open="" if count <= _SHOWN_AT_ONCE else None,
            ),
            here.form(
                action,
                frame.entry(
                    "label",
                    "A label for all of them",
                    "Other",
                    hint="one that the first level has already, or a new one",
                    maxlength=LONGEST_LABEL,
                    required="",
                ),
                frame.button("Put them under this label", name="do", value="fill", kind="plain"),
            ),
        ]
    if report.wrong_intervals:
        count = len(report.wrong_intervals)
        pairs = [(value, label) for value, label in report.wrong_intervals[:_LISTED]]
        parts += [
            note(
                f"{counted(count, 'label')} read as intervals that do not hold their value, and "
                "count as names only.",
                kind="warning",
            ),
            details(f"These values{_cut(count)}", table(["Value", "Label"], pairs)),
        ]
    return join(parts, "\n")


def _cut(count: int) -> str:
    return f" (the first {_LISTED})" if count > _LISTED else ""


def _listed(values: Iterable[str]) -> Html:
    return bullets(name(value) for value in list(values)[:_LISTED])


def builder_forms(
    here: Visit,
    action: str,
    offered: Iterable[str],
    fields: Mapping[str, str],
    problem: tuple[str, str] | None,
) -> Html:
    """Return a form for everything that can be built; `problem` is (builder, what is wrong)."""
    cards = []
    for kind in offered:
        title, words = BUILDERS[kind]
        own = fields if fields.get("builder") == kind else {}
        said = problem[1] if problem is not None and problem[0] == kind else None
        cards.append(
            here.form(
                action,
                tag("h3", title),
                tag("p", words),
                frame.hidden("builder", kind),
                *_fields(kind, own, said is not None),
                tag("p", said, class_="box bad", role="alert", id=f"problem-{kind}")
                if said
                else "",
                frame.button("Try", name="do", value="try", kind="plain"),
                Html(" "),
                frame.button("Use it", name="do", value="save"),
                class_="card",
                aria_label=title,
            )
        )
    return tag("div", join(cards, "\n"), class_="ways")


def _fields(kind: str, own: Mapping[str, str], is_wrong: bool) -> list[Html]:
    wrong: dict[str, Any] = (
        {"aria_invalid": "true", "aria_describedby": f"problem-{kind}"} if is_wrong else {}
    )
    if kind == "bins":
        area = tag(
            "textarea", Html(_lines(own.get("edges", ""))), name_="edges", rows=3, cols=30, **wrong
        )
        words = "Edges, fine to coarse: one line a level"
        hint = tag("small", "a coarser line takes its edges from the finer one above it")
        return [tag("label", join([tag("span", words), area, hint], " "), class_="entry")]
    if kind == "mask":
        sides = {"right": "from the right", "left": "from the left"}
        return [
            frame.select("side", sides, own.get("side", "right"), label="Hidden"),
            frame.entry(
                "char", "Character to write", own.get("char", ""), hint="* if empty", maxlength=1,
                **wrong,
            ),
        ]  # fmt: skip
    if kind == "dates":
        chosen = [part for part in DATE_PARTS if own.get(part) == "yes"]
        ticked = chosen or ["month", "quarter", "year"]
        boxes = [checkbox(part, "yes", part, part in ticked) for part in DATE_PARTS]
        return [tag("fieldset", join([tag("legend", "Levels"), *boxes], " "))]
    step = "any" if kind == "width" else "1"
    least = None if kind == "width" else 2
    return [
        frame.entry(
            "number", NUMBERS[kind], own.get("number", ""), type="number", step=step, min=least,
            required="", **wrong,
        ),
        frame.entry(
            "levels", "Levels", own.get("levels", ""), type="number", step=1, min=1,
            hint="empty: until one interval holds everything",
        ),
    ]  # fmt: skip


def _lines(value: str) -> str:
    # the first line break of a textarea is not part of it
    return "\n" + "\n".join(text(line) for line in value.splitlines())


def checkbox(field: str, value: str, words: object, is_on: bool) -> Html:
    """Return a labelled box to tick."""
    on = " checked" if is_on else ""
    box = Html(f'<input type="checkbox" name="{text(field)}" value="{text(value)}"{on}>')
    return tag("label", join([box, " ", tag("bdi", words)]), class_="tick")


def items_at(rows: Rows, level: int) -> dict[str, str]:
    """Return what can be put into groups of a level, each with the group that it is in."""
    return {row[level - 1]: row[level] if level < len(row) else row[level - 1] for row in rows}


def stamp_of(items: Iterable[str]) -> str:
    """Return a mark by which a form is known to be about these items, in this order."""
    return sha256("\0".join(items).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def tree_form(here: Visit, action: str, rows: Rows, level: int) -> Html:
    """Return the form that groups values (or groups of the level below) under a label."""
    items = items_at(rows, level)
    if len(items) > MOST_TICKED:
        words = f"{len(items):,} are too many to group by hand: build the levels, or upload a file."
        return tag("p", words)
    groups: dict[str, list[tuple[int, str]]] = {}
    for place, (item, group) in enumerate(items.items()):
        groups.setdefault("" if group == item else group, []).append((place, item))
    boxes = []
    for group, members in groups.items():
        legend = join(["In ", name(group)]) if group else "In no group"
        ticks = [checkbox(f"item-{place}", "yes", item, False) for place, item in members]
        boxes.append(tag("fieldset", join([tag("legend", legend), *ticks], "\n"), class_="ticks"))
    return here.form(
        action,
        frame.hidden("level", level),
        frame.hidden("stamp", stamp_of(items)),
        *boxes,
        frame.entry("label", "Label of the group", "", maxlength=LONGEST_LABEL),
        frame.button("Group what is ticked", name="do", value="group"),
        Html(" "),
        frame.button("Take it out of its group", name="do", value="release", kind="plain"),
        data_guard="",
    )


def level_links(here: Visit, address: str, width: int, level: int) -> Html:
    """Return the way to the other levels of the tree."""
    links = [
        tag(
            "li",
            tag(
                "a",
                f"Level {each}" + (" (new)" if each == width else ""),
                href=f"{address}?level={each}#tree",
                aria_current="true" if each == level else None,
            ),
        )
        for each in range(1, width + 1)
    ]
    return tag("nav", tag("ul", join(links)), aria_label="Levels of the tree")


def upload_form(here: Visit, action: str, most: int) -> Html:
    """Return the form that takes a hierarchy file."""
    return here.form(
        action,
        tag(
            "label",
            join(
                [
                    tag("span", "Choose a file, or drop it here"),
                    Html(
                        '<input type="file" name="file" required accept=".csv,.txt,.tsv" '
                        f'data-most="{most}">'
                    ),
                    tag(
                        "small",
                        "CSV without a header, one line a value: value;level 1;level 2;*. "
                        "Files of ARX are read as they are.",
                    ),
                ]
            ),
            class_="drop",
        ),
        frame.button("Upload and check"),
        class_="card",
        enctype="multipart/form-data",
    )
