"""The Merging paper, section 5: its grid, and how a point is measured."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from statistics import fmean, median
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers import Answerer, Count, to_microdata
from sfumato.attacks import compose
from sfumato.attacks.narrowed import narrowed
from sfumato.errors import Infeasible
from sfumato.methods import DP, Composition, Hybrid, Merging, Method, Mondrian, Probabilistic
from sfumato.papers.data import Data, complete
from sfumato.papers.grid import Numbers, Point, points
from sfumato.papers.merging_claims import CLAIMS
from sfumato.papers.merging_shown import FIGURES, tables
from sfumato.papers.paper import Measure, Paper
from sfumato.predicates import And, evaluate
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.release.origin import fakes_of
from sfumato.schema import Attribute, Hierarchy, Role, Schema
from sfumato.table import encode
from sfumato.utility import distortion_ratio, learning_accuracy
from sfumato.utility.workload import random_condition

DEGREES = (4, 6)  # its k and its l
SECRETS = ("occupation", "education")
OVERLAPS = (100, 200, 300, 400, 500)
SET_ROWS, SETS = 4_000, 5
EPSILON = 0.3
QUERIES, FOLDS, ROUNDS = 300, 10, 5
WIDTHS = (1, 2, 3, 4, 5)
SIZES = (5_000, 10_000, 20_000, 40_000)


def _grouped(name: str, **labels: Sequence[str]) -> Hierarchy:
    """Return a hierarchy of two levels: values under their labels."""
    rows = [(value, label) for label, values in labels.items() for value in values]
    return Hierarchy.from_rows(rows, name)


def _ages(name: str) -> Hierarchy:
    """Return years in fives, tens and twenties."""
    rows = [
        [str(age), *(f"{age // n * n}-{age // n * n + n - 1}" for n in (5, 10, 20))]
        for age in range(120)
    ]
    return Hierarchy.from_rows(rows, name)


@dataclass(frozen=True, slots=True)
class Attributes:
    """The six quasi-identifiers of its Table 9, some with hierarchies, and a target to learn."""

    quasi: tuple[str, ...]
    target: str
    hierarchies: Mapping[str, Hierarchy]


ATTRIBUTES: Mapping[str, Attributes] = {
    "adult": Attributes(
        ("age", "sex", "marital-status", "workclass", "relationship", "salary-class"),
        "relationship",
        {
            "age": _ages("age"),
            "marital-status": _grouped(
                "marital-status",
                together=("Married-civ-spouse", "Married-AF-spouse"),
                alone=(
                    *("Never-married", "Divorced", "Separated", "Widowed"),
                    "Married-spouse-absent",
                ),
            ),
            "workclass": _grouped(
                "workclass",
                private=("Private", "Self-emp-not-inc", "Self-emp-inc"),
                government=("Federal-gov", "Local-gov", "State-gov"),
                unpaid=("Without-pay", "Never-worked"),
            ),
        },
    ),
    "census": Attributes(
        ("age", "sex", "marital_status", "employment", "relationship", "birthplace"),
        "relationship",
        {
            "age": _ages("age"),
            "marital_status": _grouped(
                "marital_status",
                together=("Married",),
                alone=("Never married", "Divorced", "Separated", "Widowed"),
            ),
            "employment": _grouped(
                "employment",
                working=("Employee", "Self-employed"),
                other=("Retired", "Student", "Unemployed", "Homemaker"),
            ),
        },
    ),
}


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


@dataclass(frozen=True, slots=True, eq=False)
class Sets:
    """Rows without missing values, cut into disjoint sets and a pool of further rows.

    Every person has a number. A missing value is not protected, so nothing is said of it.
    """

    about: Attributes
    rows: pa.Table
    order: npt.NDArray[np.int64] = field(repr=False)

    @classmethod
    def of(cls, data: Data) -> Sets:
        """Return the sets of the data, always the same ones."""
        about = ATTRIBUTES[data.about.key]
        rows = complete(data.rows, [*about.quasi, *SECRETS])
        order = repeatable(6).permutation(rows.num_rows)
        return cls(about, rows.append_column("person", pa.array(range(rows.num_rows))), order)

    def set_of(self, number: int, overlap: int, secret: str, rows: int) -> pa.Table:
        """Return a disjoint set with so many rows of the pool, which all sets have in common."""
        own = self.order[number * rows : (number + 1) * rows]
        common = self.order[::-1][:overlap]  # the pool begins at the other end
        return self.rows.select(["person", *self.about.quasi, secret]).take(np.append(own, common))

    def schema(self, secret: str, *, identified: bool = True) -> Schema:
        """Return the roles, with hierarchies and the domains that differential privacy needs."""
        attributes = [Attribute("person", Role.IDENTIFIER)] if identified else []
        for name in (*self.about.quasi, secret):
            role = Role.SENSITIVE if name == secret else Role.QUASI_IDENTIFIER
            if name in self.about.hierarchies:
                hierarchy = self.about.hierarchies[name]
                attributes.append(Attribute(name, role, hierarchy=hierarchy))
                continue
            values = sorted(self.rows[name].unique().to_pylist())
            attributes.append(Attribute(name, role, domain=tuple(values)))
        return Schema(tuple(attributes))


def bench(data: Data) -> Measure:
    """Return the function from a point to its numbers."""
    sets = Sets.of(data)

    def measure(point: Point) -> Numbers:
        given: Any = dict(point.parameters)
        return {
            "risk": risks,
            "loss": losses,
            "queries": query_errors,
            "learning": learned,
            "time": seconds_of_merging,
        }[point.experiment](sets, **given)

    return measure


def methods(degree: int) -> dict[str, list[Method]]:
    """Return the methods; of several, the first that is feasible is taken."""
    return {
        "Merging": [
            Merging(l=degree, k=degree, variant=variant, expected=expected)  # type: ignore[arg-type]
            for variant in ("frequency", "distinct")
            for expected in (5.0, None)
        ],
        "Merging, literal": [
            Merging(l=degree, k=degree, variant="distinct", expected=None, collapse=None)
        ],
        "Mondrian": [Mondrian(k=degree)],
        "Composition": [Composition(k=degree)],
        "Probabilistic": [Probabilistic(k=degree)],
        "Hybrid": [Hybrid(k=degree)],
        "DP": [DP(epsilon=EPSILON, cells=500)],
    }


def published(
    asked: Sequence[Method], rows: pa.Table, schema: Schema, seed: int
) -> tuple[Release, Method]:
    """Return the release of the first method that is feasible, and that method."""
    table = encode(rows, schema)
    for method in asked[:-1]:
        try:
            return method.release(table, Randomness.test(seed)), method
        except Infeasible:
            continue
    return asked[-1].release(table, Randomness.test(seed)), asked[-1]


def risks(
    data: Sets, *, secret: str, degree: int, overlap: int, sets: int, set_rows: int
) -> dict[str, Any]:
    """Return what the composition attack finds in all pairs of sets, by method."""
    schema = data.schema(secret)
    rows = [data.set_of(number, overlap, secret, set_rows) for number in range(sets)]
    return {
        name: _attacked(asked, rows, schema, secret, degree, overlap)
        for name, asked in methods(degree).items()
    }


def _attacked(
    asked: Sequence[Method],
    rows: Sequence[pa.Table],
    schema: Schema,
    secret: str,
    degree: int,
    overlap: int,
) -> dict[str, Any]:
    made = [
        published(asked, each, schema, 1000 * overlap + number) for number, each in enumerate(rows)
    ]
    common = rows[0].slice(rows[0].num_rows - overlap)
    found: dict[str, list[float]] = {
        key: [] for key in ("classes", "records", "disclosed", "people", "fewer", "left", "guess")
    }
    for one, other in combinations(range(len(rows)), 2):
        people = compose(
            [made[one][0], made[other][0]],
            secret,
            originals=[rows[one], rows[other]],
            identifier="person",
        )[secret].people
        narrow = narrowed(made[one][0], [made[other][0]], common, secret, degree)
        assert people is not None
        assert narrow is not None
        found["classes"].append(people.matches.risk or 0.0)
        found["records"].append(people.matches.record_risk or 0.0)
        found["disclosed"].append(people.disclosed)
        found["people"].append(people.examined)
        found["fewer"].append(narrow.broken)
        found["left"].append(people.after)
        found["guess"].append(people.guess)
    groups = [int(each.tables["records"]["group"].to_numpy().max()) for each, _ in made]
    people_seen = sum(found["people"])
    return {
        "parameters": _parameters(made[0][1]),
        "groups": fmean(groups),
        "records": fmean(each.manifest.rows for each, _ in made),
        "fakes": fmean(fakes_of(each.manifest) for each, _ in made),
        "class_risk": fmean(found["classes"]),
        "record_risk": fmean(found["records"]),
        "disclosed": int(sum(found["disclosed"])),
        "people": int(people_seen),
        "fewer_than_l": sum(found["fewer"]) / people_seen,
        "candidates_left": fmean(found["left"]),
        "guess": fmean(found["guess"]),
    }


def _parameters(method: Method) -> str:
    if not isinstance(method, Merging):
        return repr(method)
    return f"{method.variant}, expected={method.expected}, collapse={method.collapse}"


def losses(
    data: Sets, *, secret: str, degree: int, overlap: int, sets: int, set_rows: int
) -> dict[str, float]:
    """Return the mean distortion ratio of the sets, by method."""
    schema = data.schema(secret)
    rows = [data.set_of(number, overlap, secret, set_rows) for number in range(sets)]
    return {
        name: fmean(
            distortion_ratio(published(asked, each, schema, number)[0], data.about.hierarchies)
            for number, each in enumerate(rows)
        )
        for name, asked in methods(degree).items()
    }


def query_errors(
    data: Sets,
    *,
    secret: str,
    degree: int,
    attributes: int,
    queries: int,
    set_rows: int,
    overlap: int,
) -> dict[str, Any]:
    """Return the relative error of counts over some quasi-identifiers and the secret, by method."""
    schema, rows = data.schema(secret), data.set_of(0, overlap, secret, set_rows)
    table = encode(rows, schema)
    rng = repeatable(8, attributes)
    quasi = data.about.quasi
    asked_of: list[tuple[And, int]] = []
    while len(asked_of) < queries:
        chosen = rng.choice(len(quasi), attributes, replace=False)
        parts = [random_condition(table[quasi[i]], rng) for i in chosen]
        predicate = And((*parts, random_condition(table[secret], rng)))
        true = int(evaluate(predicate, table).sum())
        if true:
            asked_of.append((predicate, true))
    found: dict[str, Any] = {}
    compared = methods(degree) | {
        "Merging, no fakes": [replace(methods(degree)["Merging, literal"][0], fakes=0)]
    }
    for name, asked in compared.items():
        answerer = Answerer(published(asked, rows, schema, 1)[0])
        errors = [
            abs(answerer.answer(Count(), predicate).value - true) / true
            for predicate, true in asked_of
        ]
        found[name] = {"mean": fmean(errors), "median": median(errors)}
    return found


def learned(
    data: Sets, *, target: str, degree: int, folds: int, set_rows: int, overlap: int
) -> dict[str, Any]:
    """Return the accuracy of trees that learn from releases of the education data, by method."""
    rows = data.set_of(0, overlap, "education", set_rows).drop_columns(["person"])
    schema = data.schema("education", identified=False)
    features = [name for name in rows.column_names if name != target]
    found: dict[str, Any] = {}
    for name, asked in methods(degree).items():

        def publish(part: pa.Table, asked: Sequence[Method] = asked) -> Release:
            return published(asked, part, schema, 1)[0]

        result = learning_accuracy(
            rows,
            publish,
            target,
            features=features,
            rows_of=to_microdata,
            rng=repeatable(9),
            folds=folds,
        )
        found[name] = result.mean
        found["original"], found["majority"] = result.original, result.baseline
    found["tested"] = rows.num_rows
    return found


def seconds_of_merging(data: Sets, *, rows: int, rounds: int) -> dict[str, Any]:
    """Return the processor's seconds of Merging with l = 6, the least of some rounds."""
    schema = data.schema("occupation")
    names = ["person", *data.about.quasi, "occupation"]
    sample = data.rows.select(names).take(data.order[:rows])
    table = encode(sample, schema)
    chosen = {
        name: published(methods(DEGREES[-1])[name], sample, schema, 0)[1]
        for name in ("Merging", "Merging, literal")
    }
    found: dict[str, float] = {}
    for number in range(rounds):
        for name, method in chosen.items():
            start = time.process_time()
            method.release(table, Randomness.test(number))
            seconds = time.process_time() - start
            found[name] = min(seconds, found.get(name, seconds))
    return {"rows": table.rows, "seconds": found}


PAPER = Paper(
    key="merging",
    title="Merging",
    source=("Hasan, Jiang, Chen, Wang, “An Effective Approach”"),
    version="1",
    real=("adult",),
    synthetic={"census": (60_000, 4_000)},
    about_data={"adult": "", "census": ""},
    grid=grid,
    bench=bench,
    claims=CLAIMS,
    figures=FIGURES,
    tables=tables,
)
