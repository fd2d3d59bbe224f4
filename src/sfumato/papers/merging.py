"""The Merging paper, section 5: its grid, and which experiment measures a point."""

from __future__ import annotations

from collections.abc import Callable

from sfumato.papers.data import Data
from sfumato.papers.grid import Numbers, Point, points
from sfumato.papers.merging_claims import CLAIMS
from sfumato.papers.merging_measured import (
    DEGREES,
    learned,
    losses,
    query_errors,
    risks,
    seconds_of_merging,
)
from sfumato.papers.merging_sets import ATTRIBUTES, SECRETS, Sets
from sfumato.papers.merging_shown import FIGURES, tables
from sfumato.papers.paper import Measure, Paper

OVERLAPS = (100, 200, 300, 400, 500)
SET_ROWS, SETS = 4_000, 5
QUERIES, FOLDS, ROUNDS = 300, 10, 5
WIDTHS = (1, 2, 3, 4, 5)
SIZES = (5_000, 10_000, 20_000, 40_000)


def grid(data: str, quick: bool) -> list[Point]:
    """Return the points; every set of data has the same."""
    degrees = DEGREES[:1] if quick else DEGREES
    overlaps = (50, 100) if quick else OVERLAPS
    sets, rows = (2, 500) if quick else (SETS, SET_ROWS)
    queries, folds, rounds = (15, 2, 1) if quick else (QUERIES, FOLDS, ROUNDS)
    shape = {"sets": sets, "set_rows": rows}
    one = {"set_rows": rows, "overlap": overlaps[-1]}
    cases = [{"secret": s, "degree": d} for s in SECRETS for d in degrees]
    return [
        *points("risk", *(case | {"overlap": n} | shape for case in cases for n in overlaps)),
        *points("loss", *(case | {"overlap": overlaps[-1]} | shape for case in cases)),
        *points(
            "queries",
            *(
                case | {"attributes": width, "queries": queries} | one
                for case in cases
                for width in ((1, 3) if quick else WIDTHS)
            ),
        ),
        *points(
            "time",
            *({"rows": n, "rounds": rounds} for n in ((1_000, 2_000) if quick else SIZES)),
        ),
        *points(
            "learning",
            *(
                {"target": target, "degree": d, "folds": folds} | one
                for target in ("education", ATTRIBUTES[data].target)
                for d in degrees
            ),
        ),
    ]


def bench(data: Data) -> Measure:
    """Return the function from a point to its numbers."""
    sets = Sets.of(data)
    experiments: dict[str, Callable[..., Numbers]] = {
        "risk": risks,
        "loss": losses,
        "queries": query_errors,
        "learning": learned,
        "time": seconds_of_merging,
    }

    def measure(point: Point) -> Numbers:
        return experiments[point.experiment](sets, **point.parameters)

    return measure


PAPER = Paper(
    key="merging",
    title="Merging",
    source=(
        "Hasan, Jiang, Chen, Wang, “A New Approach to Privacy-Preserving Multiple Independent Data "
        "Publishing” (2018), section 5"
    ),
    version="1",
    real=("adult",),
    synthetic={"census": (60_000, 4_000)},
    about_data={
        "adult": (
            "Rows without missing values in the eight attributes of its Table 9: five disjoint "
            "sets of 4,000 rows (the paper: ten), each with the same 100 to 500 further rows, "
            "which are the people that all sets share. Occupation or education is sensitive. The "
            "attack is on all ten pairs of sets; numbers are means over them."
        ),
        "census": (
            "Complete rows with age, sex, marital status, employment, relationship and birthplace, "
            "cut into disjoint sets, each with the same further rows, which are the people that "
            "all sets share. Occupation or education is sensitive. The attack is on all pairs."
        ),
    },
    compared=(
        "*Merging, literal* (“as published” below): l *distinct* values a class, one fake, nothing "
        "else; that is what its text asks for. *Merging* (“as here”): the default of this project, "
        "where no value is above 1/l, also after a person's impossible values are dropped, with "
        "`collapse: 0.05`; where that is infeasible, distinct values, or no pairs that are never "
        "seen together. *Mondrian*, *Composition*, *Probabilistic* and *Hybrid* with k = l; *DP* "
        "with ε = 0.3 and at most 500 counts, cuts and counts paid for (OpenDP, the extra `dp`: "
        "its noise takes no seed, so that another run has other numbers for it). *Records*: the "
        "share of "
        "true matches among the pairs of records that may be of one person, their classes "
        "overlapping and their values the same; *classes match*: of pairs of classes that share a "
        "value. *Given away*: people in both sets of whom one candidate is left, their own (with a "
        "95 % interval). *Guessed*: the mean chance to guess right. Counts: 300 random queries on "
        "each number of quasi-identifiers (QIs) and the sensitive attribute, which some row meets. "
        "Trees: scikit-learn's (the extra `learning`), entropy, at least ten rows a leaf, ten "
        "folds; each learns from a release of nine and is tested on original rows of the tenth."
    ),
    grid=grid,
    bench=bench,
    claims=CLAIMS,
    figures=FIGURES,
    tables=tables,
)
