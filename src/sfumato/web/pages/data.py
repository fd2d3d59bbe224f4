"""The data of a project: what every column holds, and the first rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from starlette.responses import Response
from starlette.routing import BaseRoute

from sfumato.errors import InputError
from sfumato.markup import Html, details, join, table, tag, text
from sfumato.web import frame
from sfumato.web.bench import Visit, done, shown, to, told
from sfumato.web.count_words import counted
from sfumato.web.forms import Form
from sfumato.web.pages.progress import progress_box
from sfumato.web.runs import Kind, Run
from sfumato.web.work.names import SEEN

_WIDTH, _HEIGHT, _GAP = 132, 32, 1
# From which shares of missing cells on a scale changes its colour.
_SOME, _MANY = 0.05, 0.25


def data(here: Visit) -> Response:
    """Return the page of the data; while they are looked at, what is known of them so far."""
    profile, run = here.profile()
    if profile is None:
        if run is None:
            run = here.bench.runner.submit(here.here, Kind.INSPECT)
        return here.page(
            "Data",
            *progress_box(here, run, "Looking at the data"),
            _so_far(here, run),
            step="data",
            refresh=2,
            message=told(here),
        )
    return here.page(
        "Data",
        tag(
            "p",
            f"{counted(profile['rows'], 'row')} and "
            f"{counted(len(profile['columns']), 'column')} of "
            f"{here.here.source}.",
        ),
        frame.link_button("Next: roles", here.address("roles")),
        *_tables(profile),
        _removal(here),
        step="data",
        message=told(here),
    )


def _so_far(here: Visit, run: Run) -> Html:
    """Return what is known while columns are counted; the script fills in what is waited for."""
    seen = None if run.status.state.is_over else run.result(SEEN)
    if seen is None:
        return tag("section", "", id="seen", data_waiting="", hidden="")
    rows = "" if seen["rows"] is None else f"{counted(seen['rows'], 'row')} and "
    words = (
        f"{rows}{counted(len(seen['columns']), 'column')} of {here.here.source}. Columns are still "
        "being counted; roles can be chosen once that is done."
    )
    return tag("section", join([tag("p", words), *_tables(seen)], "\n"), id="seen")


def _tables(seen: dict[str, Any]) -> list[Html]:
    """Return the columns and the first rows; cells that are not counted yet say so."""
    lines = [
        [each["name"], *(_cell(key, place, each, seen["rows"]) for key in _COUNTED)]
        for place, each in enumerate(seen["columns"])
    ]
    preview = seen["preview"]
    return [
        table(["Column", *(name for name, _ in _COUNTED.values())], lines, caption="Columns"),
        tag("h2", f"The first {counted(len(preview['rows']), 'row')}"),
        _rows(preview),
    ]


# What is said of a column: the head of the table's column, and the fact without which it waits.
_COUNTED: Final = {
    "type": ("Type", "type"),
    "missing": ("Missing", "missing"),
    "different": ("Different", "missing"),
    "spread": ("Spread", "missing"),
}


def _cell(key: str, place: int, column: dict[str, Any], rows: int | None) -> Html:
    own, needed = f"{key}-{place}", _COUNTED[key][1]
    if column.get(needed) is None:
        return tag("span", "…", id=own, data_waiting="", title="being counted", class_="soft")
    content: object
    match key:
        case "type":
            content = column["type"]
        case "missing":
            content = _missing(column["missing"], rows or 0, column["name"])
        case "different":
            content = _count(column["distinct"])
        case _:
            content = _spread(column)
    return tag("div", content, id=own)


def bars(column: dict[str, Any]) -> Html:
    """Return how the values of a column are spread, as bars and as words."""
    counted: Sequence[tuple[str, int]] = column["bars"]
    if not counted:
        return Html("–")
    most = max(count for _, count in counted) or 1
    wide = _WIDTH / len(counted)
    drawn = join(
        tag(
            "rect",
            tag("title", f"{label}: {count:,}"),
            x=f"{place * wide:.1f}",
            y=f"{_HEIGHT * (1 - count / most):.1f}",
            width=f"{wide - _GAP:.1f}",
            height=f"{_HEIGHT * count / most:.1f}",
        )
        for place, (label, count) in enumerate(counted)
    )
    first, last = counted[0], counted[-1]
    if column.get("is_range"):
        words = f"from {first[0]}, in {len(counted)} steps of equal width to above {last[0]}"
    else:
        words = f"most often {first[0]} ({first[1]:,})"
    svg = tag(
        "svg",
        drawn,
        class_="bars",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        width=_WIDTH,
        height=_HEIGHT,
        role="img",
        aria_label=words,
    )
    return join([svg, tag("small", words)])


def _spread(column: dict[str, Any]) -> Html:
    """Return the bars of a column, and the counts behind them one click away."""
    counted = [(label, f"{count:,}") for label, count in column["bars"]]
    if not counted:
        return Html("–")
    if column["others"] and not column.get("is_range") and column["bars"][0][1] == 1:
        return tag("small", "no value twice")
    if column["others"]:
        counted.append(("all others", f"{column['others']:,}"))
    head = "From" if column.get("is_range") else "Value"
    hidden = tag("span", f" of {column['name']}", class_="unseen")
    caption = f"How {column['name']} is spread"
    return join(
        [
            bars(column),
            details(join(["Counts", hidden]), table([head, "Rows"], counted, caption=caption)),
        ]
    )


def _missing(count: int, rows: int, name: str) -> Html:
    """Return how many cells are missing, as a number and as a share on a scale."""
    if not count:
        return text("0")
    share = f"{count / rows:.1%}"
    scale = tag(
        "meter",
        share,
        min=0,
        low=rows * _SOME,
        high=rows * _MANY,
        optimum=0,
        max=rows,
        value=count,
        aria_label=f"Missing of {name}: {share}",
    )
    return join([f"{count:,} ", tag("small", join([scale, " ", share]))])


def _rows(preview: dict[str, Any]) -> Html:
    """Return the first rows, numbered."""
    numbered = [[place, *row] for place, row in enumerate(preview["rows"], start=1)]
    return table(["Row", *preview["names"]], numbered, caption="As they stand in the file")


def _count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def _removal(here: Visit) -> Html:
    return details(
        "Remove this project",
        here.form(
            here.address("remove"),
            tag("p", "Its runs and releases, and the copy of its data, are deleted for good."),
            tag(
                "label",
                join(
                    [
                        Html('<input type="checkbox" name="sure" value="yes" required>'),
                        text(" Yes, delete them"),
                    ]
                ),
            ),
            frame.button("Remove", kind="danger"),
        ),
    )


def remove(here: Visit, form: Form) -> Response:
    """Remove the project if someone is sure."""
    if form.text("sure") != "yes":
        raise InputError("tick that you are sure")
    here.bench.runner.end_all(here.here)
    here.bench.workspace.discard(here.here.folder)
    return to("/")


ROUTES: Final[list[BaseRoute]] = [
    shown("/p/{project}/data", data),
    done("/p/{project}/remove", remove, data),
]
