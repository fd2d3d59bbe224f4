"""`sfumato utility`: what is a release worth, beside the data it was made from?"""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options import (
    Json,
    ReleasePlace,
    TestSeed,
)
from sfumato.cli.progress import terminal_progress
from sfumato.cli.show import one_line, show_json, show_table, show_warnings

if TYPE_CHECKING:
    from sfumato.utility.overview import Utility
    from sfumato.utility.query_errors import QueryErrors

EXAMPLE = "Example: sfumato utility release --original patients.csv --policy policy.yaml"

Original = Annotated[
    str, typer.Option("--original", metavar="DATA", help="The data that the release was made from.")
]
OptionalPolicy = Annotated[
    Path | None,
    typer.Option("--policy", help="The policy file, for hierarchies that are not published whole."),
]
Queries = Annotated[int, typer.Option(help="How many random queries of each kind to ask.")]
Selectivity = Annotated[
    float, typer.Option(help="The share of the rows that a query is to meet, about.")
]
Learn = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Also how well a tree predicts this; needs --policy."),
]


def utility(
    release: ReleasePlace,
    original: Original,
    policy: OptionalPolicy = None,
    queries: Queries = 100,
    selectivity: Selectivity = 0.1,
    learn: Learn = None,
    test_seed: TestSeed = None,
    as_json: Json = False,
) -> None:
    """Measure what a release is worth: losses, distances of distributions, errors of answers.

    RELEASE is the folder of a release. Exits 1 if an answer's bounds do not contain the truth.
    """
    from sfumato.jobs.utility import utility as run
    from sfumato.randomness import Randomness
    from sfumato.utility.overview import missed_bounds

    with terminal_progress() as progress:
        found = run(
            release,
            original,
            policy=policy,
            queries=queries,
            selectivity=selectivity,
            learn=learn,
            randomness=None if test_seed is None else Randomness.test(test_seed),
            progress=progress,
        )
    if as_json:
        show_json(found.to_dict())
    else:
        _show(found)
    show_warnings(missed_bounds(found))
    raise typer.Exit(0 if found.missed == 0 else 1)


def _show(found: Utility) -> None:
    print(
        one_line(
            f"{found.method} ({found.layout}): {found.rows} records of {found.original_rows} rows"
        )
    )
    show_table(["metric", "value"], _metrics(found))
    if found.margins:
        print("\nDistributions: distances of shares, 0 where equal (L1 2 at most, Hellinger 1)")
        show_table(
            ["attribute", "L1", "L2", "Hellinger"],
            [
                [each.attributes[0], f"{each.l1:.4f}", f"{each.l2:.4f}", f"{each.hellinger:.4f}"]
                for each in found.margins
            ],
        )
    if found.pairs:
        _show_pairs(found)
    if found.queries:
        print(
            f"\nAnswers to random queries, each of about {found.selectivity:.0%} of the rows: "
            "errors relative to the truth"
        )
        show_table(_HEADERS, [_query(each) for each in found.queries])
    for note in found.notes:
        print(one_line(note))


_HEADERS = [
    "query",
    "conditions",
    "asked",
    "truth 0",
    "mean",
    "median",
    "90 %",
    "in bounds",
    "width",
    "trivial",
    "within 2 se",
]


def _query(each: QueryErrors) -> list[str]:
    return [
        each.aggregate,
        str(each.dimension),
        str(each.queries),
        str(each.zeros),
        _share(each.mean),
        _share(each.median),
        _share(each.percentile_90),
        _share(each.coverage),
        _width(each.width),
        _share(each.trivial),
        _share(each.within_2_se),
    ]


def _metrics(found: Utility) -> list[list[str]]:
    rows = []
    for name, value in found.metrics.items():
        if isinstance(value, dict):  # NCP, with its parts
            rows += [[f"{name} (mean)", _number(value["mean"])]]
            if value.get("mean_published", value["mean"]) != value["mean"]:
                rows += [[f"{name} (mean, withheld left out)", _number(value["mean_published"])]]
            rows += [[f"{name} of {n}", _number(v)] for n, v in value["by_attribute"].items()]
        else:
            rows.append([name.replace("_", " "), _number(value)])
    if found.learned is not None:
        learned = found.learned
        rows += [
            ["predicted right, learnt from releases", f"{learned.mean:.1%}"],
            ["predicted right, learnt from the original", f"{learned.original:.1%}"],
            ["predicted right, always the most frequent", f"{learned.baseline:.1%}"],
        ]
    rows += [[name.replace("_", " "), f"none: {why}"] for name, why in found.undefined.items()]
    return rows


def _show_pairs(found: Utility) -> None:
    from sfumato.utility.margins import summary

    print(f"\nPairs of attributes: {len(found.pairs)} of {found.all_pairs}")
    rows = []
    for name, each in summary(found.pairs).items():
        if "mean" in each:
            mean, largest = _number(each["mean"]), _number(each["largest"])
            rows.append([f"{name}, mean", mean])
            rows.append([f"{name}, largest", largest])
        else:
            rows.append([f"{name}, mean in the original", _number(each["original_mean"])])
            rows.append([f"{name}, mean in the release", _number(each["release_mean"])])
            rows.append([f"{name}, mean change", _number(each["mean_change"])])
    show_table(["distance or association", "value"], rows)


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def _share(value: float | None) -> str:
    return "" if value is None or not isfinite(value) else f"{value:.1%}"


def _width(value: float | None) -> str:
    """Return how wide bounds are; most of them may be none.

    >>> _width(0.25), _width(float("inf")), _width(None)
    ('25.0%', 'no bound', '')
    """
    return "no bound" if value is not None and not isfinite(value) else _share(value)
