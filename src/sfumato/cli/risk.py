"""`sfumato risk`: how exposed are the people of a table, before anything is published?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import (
    Data,
    FromQuery,
    FromTable,
    Json,
    PolicyFile,
)
from sfumato.cli.progress import terminal_progress
from sfumato.cli.show import one_line, show_json, show_table
from sfumato.cli.source import source

if TYPE_CHECKING:
    from sfumato.risk import Levels, Risk

EXAMPLE = "Example: sfumato risk patients.csv --policy policy.yaml --fraction 0.1"

Fraction = Annotated[
    float | None, typer.Option(help="The share of the population that the data are a sample of.")
]
Population = Annotated[
    str | None, typer.Option(metavar="FILE", help="A table of the whole population.")
]
PopulationSize = Annotated[int | None, typer.Option(help="How many people the population has.")]
MaxSize = Annotated[int, typer.Option(help="The most columns in a combination.")]
Recoded = Annotated[
    bool, typer.Option("--recoded", help="Measure after the policy's recoding steps.")
]
Chart = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw charts into this .svg, .png or .html.")
]

_LISTED = 5  # combinations of each size


def risk(
    data: Data,
    policy: PolicyFile,
    fraction: Fraction = None,
    population: Population = None,
    population_size: PopulationSize = None,
    max_size: MaxSize = 3,
    recode_first: Recoded = False,
    chart: Chart = None,
    table: FromTable = None,
    query: FromQuery = None,
    as_json: Json = False,
) -> None:
    """Measure the risk of a table before anything is published.

    DATA is a file, a folder or a 'pattern*' of files, or a database's address (--table, --query).
    """
    from sfumato.jobs.risk import risk as run

    with terminal_progress() as progress:
        found = run(
            source(data, table, query),
            policy,
            population=population,
            population_size=population_size,
            fraction=fraction,
            max_size=max_size,
            recode_first=recode_first,
            chart=chart,
            progress=progress,
        )
    if as_json:
        show_json(found.to_dict() | {"chart": None if chart is None else str(chart)})
        return
    _show(found)
    if chart is not None:
        print(one_line(f"wrote {chart}"))


def _show(found: Risk) -> None:
    print(
        one_line(
            f"{found.records:,} records of {found.people:,} people, by what may be known of them: "
            + ", ".join(found.columns)
        )
    )
    print(_population(found))
    _show_classes(found)
    _show_adversaries(found)
    if found.sampling.source != "none":
        _show_population(found)
    if found.households is not None:
        _show_households(found)
    _show_uniques(found)
    for note in found.notes:
        print(one_line(f"note: {note}"))


def _population(found: Risk) -> str:
    sampling = found.sampling
    if sampling.fraction is None or sampling.population is None:
        return "population: not stated"
    sources = {
        "table": "counted in its table",
        "size": "its size as stated",
        "fraction": "from the stated fraction",
        "weights": "from the weights",
    }
    return (
        f"population: {sampling.population:,} records, of which the data are "
        f"{sampling.fraction:.4g} ({sources[sampling.source]})"
    )


def _show_classes(found: Risk) -> None:
    print(f"\nClasses of equal records: {found.classes:,}, the smallest of {found.smallest:,}")
    headers = ["people in the class", "records", "share"]
    rows = [
        [
            "1 (unique)" if each.k == 2 else f"fewer than {each.k}",
            f"{each.records:,}",
            f"{each.share:.2%}",
            *([] if each.weighted_share is None else [f"{each.weighted_share:.2%}"]),
        ]
        for each in found.below
    ]
    show_table([*headers, "share, weighted"] if found.is_weighted else headers, rows)


def _show_adversaries(found: Risk) -> None:
    from sfumato.risk.assess import UPPER_BOUND

    print("\nRisk that a record is recognised")
    rows = [["prosecutor (knows who is in the data)", *_levels(found.prosecutor)]]
    for how, each in found.journalist.items():
        name = how if how in ("counted", UPPER_BOUND) else f"estimate: {how}"
        rows.append([f"journalist ({name})", *_levels(each)])
    above = [f"above 1/{k}" for k in found.prosecutor.above]
    weighted = ["mean, weighted"] if found.is_weighted else []
    show_table(["adversary", "highest", "mean", *weighted, *above], rows)
    most = "at most " if UPPER_BOUND in found.journalist else ""
    print(f"marketer: {most}{found.marketer:.2%} of the records expected to be recognised")


def _levels(each: Levels) -> list[str]:
    weighted = [] if each.weighted_mean is None else [f"{each.weighted_mean:.4f}"]
    shares = [f"{share:.1%}" for share in each.above.values()]
    return [f"{each.highest:.4f}", f"{each.mean:.4f}", *weighted, *shares]


def _show_population(found: Risk) -> None:
    print("\nUnique in the population")
    rows = []
    if found.population_uniques is not None and found.uniques_in_sample is not None:
        people = found.sampling.population or 1
        rows.append(
            [
                "counted",
                f"{found.population_uniques:,}",
                f"{found.population_uniques / people:.2%}",
                f"{found.uniques_in_sample:,}",
            ]
        )
    for each in found.estimates:
        name = f"estimate: {each.estimator}"
        if each.uniques is None or each.share is None or each.in_sample is None:
            rows.append([name, f"none: {each.reason}", "", ""])
        else:
            rows.append(
                [name, f"{each.uniques:,.0f}", f"{each.share:.2%}", f"{each.in_sample:,.0f}"]
            )
    show_table(["how", "records", "of the population", "of them in the data"], rows)
    if found.k_map:
        print("\nk-map: records with fewer than k people in the population")
        ks = list(found.k_map[0].below)
        rows = [
            [
                each.how if each.how == "counted" else f"estimate: {each.how}",
                "" if each.smallest is None else f"{each.smallest:,}",
                *(f"{each.below[k]:.1%}" for k in ks),
            ]
            for each in found.k_map
        ]
        show_table(["how", "smallest", *(f"k = {k}" for k in ks)], rows)


def _show_households(found: Risk) -> None:
    households = found.households
    assert households is not None
    share = households.unique / households.count
    print(f"\nHouseholds: {households.count:,} (risks of members: {households.members})")
    above = [f"above 1/{k}" for k in households.risk.above]
    show_table(["", "highest", "mean", *above], [["risk", *_levels(households.risk)]])
    print(f"unique by their composition: {households.unique:,} ({share:.1%})")


def _show_uniques(found: Risk) -> None:
    uniques = found.uniques
    print("\nColumns: records that are unique by them, and their part in minimal uniques")
    rows = [
        [each.columns[0], f"{each.uniques:,}", f"{uniques.contributions[each.columns[0]]:.1%}"]
        for each in uniques.of_size(1)
    ]
    rows.sort(key=lambda row: -uniques.contributions[row[0]])
    show_table(["column", "unique by it", "share of SUDA scores"], rows)
    for size in range(2, uniques.max_size + 1):
        most = uniques.of_size(size)[:_LISTED]
        print(f"\nCombinations of {size}: the {len(most)} that single out most")
        show_table(
            ["columns", "unique by them", "minimal"],
            [[" + ".join(c.columns), f"{c.uniques:,}", f"{c.minimal:,}"] for c in most],
        )
    sizes = ", ".join(f"{uniques.with_msu.get(s, 0):,}" for s in range(1, uniques.max_size + 1))
    print(
        f"records whose smallest minimal unique has 1 to {uniques.max_size} columns: {sizes}; "
        f"highest SUDA score {uniques.highest_score:,.0f}, mean {uniques.mean_score:,.1f}"
    )
