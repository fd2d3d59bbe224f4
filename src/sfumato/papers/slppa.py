"""The SLPPA paper, section 6: its grid, and the data of a point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.jobs.suppress import rows_to_withhold
from sfumato.models.model import exact_share
from sfumato.papers.data import Data, complete
from sfumato.papers.grid import Numbers, Point, points
from sfumato.papers.paper import Measure, Paper
from sfumato.papers.slppa_claims import CLAIMS
from sfumato.papers.slppa_measured import (
    BETA,
    DELTA,
    TABLES,
    changed,
    commonest,
    compare,
    division,
    loose,
    methods,
    refusal,
    relaxed,
)
from sfumato.papers.slppa_shown import FIGURES, tables
from sfumato.randomness import Randomness, repeatable
from sfumato.schema import Schema
from sfumato.table import Table, encode

QUERIES, DRAWS = 250, 2
# Of many rows all take long, and chance does less.
QUERIES_OF_ALL, DRAWS_OF_ALL = 150, 1
CHANGES: Mapping[str, Mapping[str, float]] = {  # its Table 8
    "alpha = 0.05": {"alpha": 0.05},
    "beta = 0.1": {"beta": 0.1},
    "gamma = 0.01": {"gamma": 0.01},
    "delta = 0.02": {"delta": 0.02},
}
_WARM_ROWS = 400  # enough to load or compile every kernel


@dataclass(frozen=True, slots=True)
class Attributes:
    """The quasi-identifiers of its tables, those that it adds, the sensitive one; and the sizes."""

    quasi: tuple[str, ...]
    extra: tuple[str, ...]
    sensitive: str
    sizes: tuple[int, ...]
    quick: tuple[int, ...]

    def chosen(self, which: str) -> tuple[str, ...]:
        """Return the quasi-identifiers, with the added ones if `more` are wanted."""
        return (*self.quasi, *self.extra) if which == "more" else self.quasi


ATTRIBUTES: Mapping[str, Attributes] = {
    "adult": Attributes(
        (
            *("age", "workclass", "education", "marital-status", "occupation", "relationship"),
            *("race", "sex", "hours-per-week"),
        ),
        ("fnlwgt", "education-num", "capital-gain", "capital-loss"),
        "native-country",
        (5_000, 10_000, 15_000, 20_000, 25_000),
        (2_000, 4_000),
    ),
    "census-income": Attributes(
        (
            *("age", "class-of-worker", "detailed-industry-recode", "education", "wage-per-hour"),
            *("marital-stat", "major-industry-code", "race", "sex"),
            "full-or-part-time-employment-stat",
        ),
        ("capital-losses", "tax-filer-stat", "dividends-from-stocks"),
        "capital-gains",
        (50_000, 100_000, 150_000, 190_000),
        (10_000, 20_000),
    ),
    "census": Attributes(
        (
            *("age", "sex", "marital_status", "relationship", "education", "employment"),
            *("occupation", "household_size"),
        ),
        ("zipcode", "salary"),
        "birthplace",
        (5_000, 10_000, 15_000, 20_000, 25_000),
        (2_000, 4_000),
    ),
}


def grid(data: str, quick: bool) -> list[Point]:
    """Return the points: the sizes are the data's own."""
    about = ATTRIBUTES[data]
    sizes = about.quick if quick else about.sizes
    some: dict[str, Any] = (
        {"queries": 10, "draws": 1} if quick else {"queries": QUERIES, "draws": DRAWS}
    )
    fewer = some if quick else {"queries": QUERIES_OF_ALL, "draws": DRAWS_OF_ALL}
    last = {"rows": sizes[-1]} | some
    rounds: dict[str, Any] = {"rounds": 1 if quick else 9}
    return [
        *points("as given", {"rows": sizes[-1]}),
        *points(
            "table division",
            *(
                {"rows": n, "attributes": "paper", "tables": TABLES} | rounds
                for n in sizes[: None if quick else -1]
            ),
            *(
                {"rows": sizes[-1], "attributes": which, "tables": tables} | rounds
                for which in ("paper", "more")
                for tables in ((3, 4) if quick else (2, 3, 4, 5, 6))
                if not (quick and which == "paper" and tables == TABLES)
            ),
        ),
        *points("withheld", *({"rows": n, "attributes": "paper"} | some for n in sizes)),
        *points(
            "withheld", *({"rows": n, "attributes": "more"} | some for n in (sizes[0], sizes[-1]))
        ),
        *points("all rows", *({"rows": n} | fewer for n in sizes)),
        *points("parameters", *({"change": change} | last for change in CHANGES)),
        *points("by tables", *({"tables": k} | last for k in ((1, 3) if quick else range(1, 6)))),
        *points(
            "by group size",
            *({"beta": beta} | last for beta in ((0.2, 0.05) if quick else (0.25, 0.2, 0.1, 0.05))),
        ),
    ]


def bench(data: Data) -> Measure:
    """Return the function from a point to its numbers."""
    about = ATTRIBUTES[data.about.key]
    names = [*about.chosen("more"), about.sensitive]
    rows = complete(data.rows, names)
    order = repeatable(5).permutation(rows.num_rows)

    def schema(which: str) -> Schema:
        roles = dict.fromkeys(about.chosen(which), "quasi-identifier")
        return Schema.of(roles | {about.sensitive: "sensitive"})

    @cache
    def sample(count: int, which: str) -> Table:
        """Return the first rows of a fixed shuffle: a larger sample holds the smaller ones."""
        chosen = rows.select([*about.chosen(which), about.sensitive]).take(order[:count])
        return encode(chosen, schema(which))

    @cache
    def rest(count: int, which: str) -> Table:
        """Return the sample without the fewest rows that make beta feasible."""
        table = sample(count, which)
        rng = Randomness.test(1).generator("withheld rows")
        withheld = rows_to_withhold(table, about.sensitive, exact_share(BETA), rng=rng)
        keep = np.ones(table.rows, np.bool_)
        keep[withheld] = False
        kept = rows.select([*about.chosen(which), about.sensitive]).take(order[:count])
        return encode(kept.filter(pa.array(keep)), schema(which))

    def measure(point: Point) -> Numbers:
        given: Any = point.parameters
        count, which = given["rows"], given.get("attributes", "paper")
        if point.experiment == "as given":
            found = refusal(sample(count, which), methods({})["SLPPA"])
            return {"commonest": commonest(sample(count, which), about.sensitive)} | found
        if point.experiment == "table division":
            return division(
                sample(count, which).quasi_identifiers, given["tables"], given["rounds"]
            )
        compared = partial(compare, queries=given["queries"], draws=given["draws"])
        if point.experiment == "all rows":
            table = sample(count, which)
            share = commonest(table, about.sensitive)
            beta = float(np.ceil(share * 1000) / 1000)
            return {"beta": beta, "kept": table.rows, "methods": compared(table, relaxed(beta))}
        table = rest(count, which)
        if point.experiment == "by tables":
            asked = {"SLPPA": loose(BETA, DELTA, given["tables"])}
        elif point.experiment == "by group size":
            asked = {"SLPPA": loose(given["beta"], given["beta"], TABLES)}
        else:
            asked = changed(CHANGES[given["change"]]) if "change" in given else methods({})
        return {
            "kept": table.rows,
            "withheld": count - table.rows,
            "methods": compared(table, asked),
        }

    compare(rest(sample(_WARM_ROWS * 10, "paper").rows, "paper"), methods({}), queries=2, draws=1)
    return measure


PAPER = Paper(
    key="slppa",
    title="SLPPA",
    source=(
        "Yao, Chen, Wang, Liu, Wu, “Sensitive Label Privacy Preservation with Anatomization for "
        "Data Publishing”, section 6"
    ),
    version="1",
    real=("adult", "census-income"),
    synthetic={"census": (30_000, 5_000)},
    about_data={
        "adult": (
            "Complete rows with the ten attributes of its Table 5, native-country sensitive. A "
            "smaller sample is part of the larger ones."
        ),
        "census-income": (
            "Complete rows with the eleven attributes of its Table 6 (industry by its detailed "
            "code, the second by its major one), capital-gains sensitive. A smaller sample is "
            "part of the larger ones."
        ),
        "census": (
            "Complete rows with eight quasi-identifiers, birthplace sensitive (its commonest value "
            "is far rarer than in the paper's data). A smaller sample is part of the larger ones."
        ),
    },
    compared=(
        "*SLPPA*, *Slicing* and *ASN* (a table for every attribute) with the parameters of its "
        "Table 7: α = 0.5, β = 0.05, γ = 0.005, δ = 0.05, l = 20, three tables. No release of "
        "these data keeps that β (see the first claim), so there are two ways on: *withheld*, "
        "where the fewest rows are left out that make it feasible, the same for all three; and "
        "*all rows*, with β the least that is feasible, and l distinct values for Slicing. "
        "*QIs*: quasi-identifiers. *RECQ*: the relative error of COUNT queries on 1 to 3, 4 to 6, "
        "or 7 and more QIs and the sensitive attribute; those that no row meets are drawn anew. "
        "It is the mean over 250 queries of each kind and two draws, with all rows over 150 and "
        "one; claims about it are judged by the mean over all sizes. "
        "Seconds are those of the processor, the least of the draws."
    ),
    grid=grid,
    bench=bench,
    claims=CLAIMS,
    figures=FIGURES,
    tables=tables,
)
