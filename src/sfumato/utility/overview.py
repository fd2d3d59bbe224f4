"""All that can be said of a release's use, against the original: metrics, margins, queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from sfumato.answers import Answerer
from sfumato.answers.estimate import Asked, Average, Count, Sum
from sfumato.answers.microdata import coded_microdata
from sfumato.errors import ParameterError, SchemaError
from sfumato.markup import join, table
from sfumato.release import Release
from sfumato.release.microaggregated import microaggregated
from sfumato.release.transitions import is_randomised
from sfumato.release.weights import weight_of
from sfumato.schema.attribute import Kind, Role
from sfumato.schema.hierarchy import Hierarchy
from sfumato.table import Table
from sfumato.utility.correspondence import glp, mean_probability, reconstruction_error
from sfumato.utility.discernibility import discernibility
from sfumato.utility.distortion import distortion_ratio
from sfumato.utility.information_loss import information_loss
from sfumato.utility.learning import Learned
from sfumato.utility.margins import Margin, Rows, Sides, margin, summary
from sfumato.utility.ncp import ncp
from sfumato.utility.original import original_names
from sfumato.utility.query_errors import QueryErrors, query_errors
from sfumato.utility.recoded import Reconstructed, recoded
from sfumato.utility.transitions import (
    Estimated,
    changed_cells,
    estimated_distance,
    published_distance,
)
from sfumato.utility.workload import can_be_asked, numbers_of, workload

QUERIES = 100
SELECTIVITY = 0.1
DIMENSIONS = (1, 2, 3)
# Bounds of averages take long: of more records than this, a tenth as many are asked for.
MANY_ROWS, FEWER = 100_000, 10
# Pairs of attributes that are looked at; of more, a random sample. One of sets takes longer.
MOST_PAIRS, MOST_SET_PAIRS = 100, 30
# Cells of a pair's cross table, if it is reconstructed from sets.
MOST_SET_CELLS = 1_000_000


@dataclass(slots=True)
class Utility:
    """What a release is worth beside its original; `undefined` says why a metric has no value.

    `metrics` are numbers by name; `margins` and `pairs` say how far the distributions are from the
    original's, of single attributes and of `pairs` of the `all_pairs` that there are; `queries`
    summarise the answers to random queries, each of about the share `selectivity` of the rows.
    `notes` say how it was compared.
    """

    method: str
    layout: str
    rows: int
    original_rows: int
    selectivity: float
    metrics: dict[str, Any] = field(default_factory=dict)
    undefined: dict[str, str] = field(default_factory=dict)
    margins: list[Margin] = field(default_factory=list)
    pairs: list[Margin] = field(default_factory=list)
    all_pairs: int = 0
    queries: list[QueryErrors] = field(default_factory=list)
    learned: Learned | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def missed(self) -> int:
        """How many bounds do not contain the truth: none, or there is a fault."""
        return sum(each.missed for each in self.queries)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "ok": self.missed == 0,
            "method": self.method,
            "layout": self.layout,
            "rows": self.rows,
            "original_rows": self.original_rows,
            "metrics": self.metrics,
            "undefined": self.undefined,
            "margins": [each.to_dict() for each in self.margins],
            "pairs": {
                "examined": len(self.pairs),
                "of": self.all_pairs,
                "summary": summary(self.pairs),
                "each": [each.to_dict() for each in self.pairs],
            },
            "selectivity": self.selectivity,
            "queries": [each.to_dict() for each in self.queries],
            "learning": None if self.learned is None else asdict(self.learned),
            "notes": self.notes,
        }

    def _repr_html_(self) -> str:
        """Return the metrics, and how far distributions are from the original's, for notebooks."""
        metrics = []
        for name, value in self.metrics.items():
            whole = value["mean"] if isinstance(value, dict) else value
            shown = f"{whole:,}" if isinstance(whole, int) else f"{whole:.4f}"
            metrics.append([name.replace("_", " "), shown])
        margins = [
            [each.attributes[0], f"{each.l1:.4f}", f"{each.l2:.4f}", f"{each.hellinger:.4f}"]
            for each in self.margins
        ]
        headers = ["attribute", "L1", "L2", "Hellinger"]
        title = f"{self.method} ({self.layout}): {self.rows:,} records"
        return join([table(["metric", "value"], metrics, title), table(headers, margins)])

    def take(self, name: str, measure: Callable[[], Any]) -> None:
        """Take down a metric, or why the release has none."""
        try:
            self.metrics[name] = measure()
        except (ParameterError, SchemaError) as error:
            self.undefined[name] = str(error)


def overview(
    release: Release,
    original: Table,
    *,
    queries: int = QUERIES,
    selectivity: float = SELECTIVITY,
    rng: np.random.Generator,
) -> Utility:
    """Return every metric that applies to the layout of a release, beside its original.

    `original` is coded as the release describes it (`coded_original`). Distributions are those of
    one plausible table (`to_microdata`), or for sets those that `reconstruct` finds. `queries` are
    asked of each kind: counts with one to three conditions, sums and averages with two (of
    averages a tenth as many where there are more than 100,000 records).

    Refuses (ParameterError) numbers that make no sense; (ReleaseDamaged) a release that is not
    what its manifest says.
    """
    if queries < 1 or not 0 < selectivity <= 1:
        raise ParameterError("ask for 1 query or more, with a selectivity above 0 and up to 1")
    found = without_queries(release, original, selectivity=selectivity, rng=rng)
    _queries(found, release, original, queries, rng)
    if (weight := weight_of(release.manifest)) is not None:
        found.notes.append(f"distributions, answers and truths are weighted by '{weight}'")
    return found


def without_queries(
    release: Release,
    original: Table,
    *,
    selectivity: float = SELECTIVITY,
    rng: np.random.Generator,
) -> Utility:
    """Return the metrics and the distances of distributions alone, as `overview` has them."""
    manifest = release.manifest
    found = Utility(
        manifest.method, manifest.layout, manifest.rows, original.rows, selectivity=selectivity
    )
    beside = ThreadPoolExecutor(1)
    try:
        metrics = beside.submit(_metrics, found, release, original)  # which draw nothing
        undefined = _distributions(found, release, original, rng)
        metrics.result()
    finally:  # who interrupts need not wait
        beside.shutdown(wait=False, cancel_futures=True)
    if undefined is not None:
        found.undefined["margins"] = undefined
    return found


def _distributions(
    found: Utility, release: Release, original: Table, rng: np.random.Generator
) -> str | None:
    """Take down the distances of distributions; return why there are none, None if there are."""
    manifest = release.manifest
    try:
        sides: Sides
        if manifest.layout == "sets":
            counted = recoded(original, release)
            sides = Reconstructed(counted, release, rng)
        elif is_randomised(manifest):
            counted = original
            sides = Estimated(original, release)
        else:
            counted = original
            sides = Rows(original, coded_microdata(release, rng), weight_of(manifest))
        _margins(found, release, counted, sides, rng)
    except (ParameterError, SchemaError) as error:
        return str(error)
    return None


def _metrics(found: Utility, release: Release, original: Table) -> None:
    if is_randomised(release.manifest):
        found.take("changed_cells", lambda: changed_cells(release, original))
        found.take("l1_of_published_shares", lambda: published_distance(release, original))
        found.take("l1_of_estimated_shares", lambda: estimated_distance(release, original))
        return
    hierarchies = {}
    for name in release.hierarchies:
        known = original[name].attribute.hierarchy
        if isinstance(known, Hierarchy):
            hierarchies[name] = known

    def refuse_unknown() -> None:
        """Refuse to read labels that only the policy explains."""
        orders = (
            entry.name
            for entry in release.manifest.attributes
            if entry.kind is Kind.ORDINAL and original[entry.name].kind is not Kind.ORDINAL
        )
        unknown = [name for name in release.hierarchies if name not in hierarchies] + [*orders]
        if unknown:
            raise ParameterError(
                f"the hierarchy or order of '{unknown[0]}' is published without all of the "
                "original's values; give the policy"
            )

    def loss() -> dict[str, Any]:
        if release.manifest.layout in ("generalized", "local"):
            refuse_unknown()
        return asdict(ncp(release, original))

    def distortion() -> float:
        if release.manifest.layout != "sets":
            refuse_unknown()
        return distortion_ratio(release, hierarchies)

    if microaggregated(release.manifest):
        found.take("information_loss", lambda: asdict(information_loss(release, original)))
    found.take("ncp", loss)
    found.take("discernibility", lambda: discernibility(release))
    found.take("distortion", distortion)
    for entry in release.manifest.attributes:
        if entry.role is Role.SENSITIVE:
            _correspondence(found, release, original, entry.name)


def _correspondence(found: Utility, release: Release, original: Table, name: str) -> None:
    probability = cache(lambda: mean_probability(release, name))
    measures: dict[str, Callable[[], float]] = {
        "mean_probability": probability,
        "reconstruction_error": lambda: reconstruction_error(
            release, name, probability=probability()
        ),
        "glp": lambda: glp(release, original, name),
    }
    for key, measure in measures.items():
        found.take(f"{key} of {name}", measure)


def _margins(
    found: Utility, release: Release, original: Table, sides: Sides, rng: np.random.Generator
) -> None:
    names = [entry.name for entry in release.manifest.attributes]
    found.margins = [margin(sides, [name]) for name in names]
    is_sets = release.manifest.layout == "sets"
    pairs = list(combinations(names, 2))
    found.all_pairs = len(pairs)
    if is_sets:
        sizes = {name: original[name].cardinality + 1 for name in names}
        pairs = [pair for pair in pairs if prod(sizes[name] for name in pair) <= MOST_SET_CELLS]
    most = MOST_SET_PAIRS if is_sets else MOST_PAIRS
    if len(pairs) > most:
        chosen = sorted(rng.choice(len(pairs), most, replace=False).tolist())
        pairs = [pairs[i] for i in chosen]
    found.pairs = [margin(sides, pair) for pair in pairs]
    if len(found.pairs) < found.all_pairs:
        found.notes.append(
            f"{len(found.pairs)} of {found.all_pairs} pairs of attributes were looked at"
        )
    found.notes.append(
        "distributions are those that `reconstruct` finds in the sets"
        if is_sets
        else "distributions are those that `reconstruct` estimates from the replaced cells"
        if is_randomised(release.manifest)
        else "distributions are those of one plausible table drawn from the release"
    )


def _queries(
    found: Utility, release: Release, original: Table, queries: int, rng: np.random.Generator
) -> None:
    published = original_names(release.manifest)
    names = [name for name in published if can_be_asked(original[name])]
    dimensions = [each for each in DIMENSIONS if each <= len(names)]
    kinds: list[tuple[Asked, int]] = [(Count(), each) for each in dimensions]
    summed = _summed(original, names)
    if summed is not None and dimensions:
        kinds += [(Sum(summed), min(2, len(names))), (Average(summed), min(2, len(names)))]
    try:
        answerer = Answerer(release)
    except ParameterError as error:
        found.undefined["queries"] = str(error)
        return
    is_slow = release.manifest.rows > MANY_ROWS
    for aggregate, dimension in kinds:
        try:
            probes = workload(
                original,
                names,
                queries=-(-queries // FEWER)
                if is_slow and isinstance(aggregate, Average)
                else queries,
                dimension=dimension,
                selectivity=found.selectivity,
                aggregate=aggregate,
                rng=rng,
            )
            found.queries.append(query_errors(answerer, original, probes))
        except ParameterError as error:
            found.undefined[f"{aggregate} with {dimension} conditions"] = str(error)
    _comparison_notes(found, release)


def _comparison_notes(found: Utility, release: Release) -> None:
    if any(each.with_se for each in found.queries):
        found.notes.append("standard errors cover the layout's own randomness only")
    if microaggregated(release.manifest):
        found.notes.append(
            "quasi-identifiers are means of groups: their distributions are those of the means, "
            "few of which are anybody's value"
        )
    if release.manifest.suppressed:
        found.notes.append(
            f"{release.manifest.suppressed} rows were suppressed: truths and answers are about all "
            "rows; estimates take those to be like the others, and sums and averages have no bounds"
        )


def _summed(original: Table, names: Sequence[str]) -> str | None:
    """Return the first attribute with numbers, sensitive ones before others."""
    columns = sorted(
        (original[name] for name in names),
        key=lambda column: column.attribute.role is not Role.SENSITIVE,
    )
    for column in columns:
        try:
            numbers_of(column)
        except ParameterError:
            continue
        if column.kind is Kind.NUMERIC:
            return column.name
    return None


def missed_bounds(found: Utility) -> Sequence[str]:
    """Return what to say of bounds that do not contain the truth, nothing where all do."""
    if not found.missed:
        return ()
    asked = sum(each.bounded for each in found.queries)
    return (
        f"{found.missed} of {asked} bounds do not contain the truth; if this is the table that the "
        "release was made from, that is a fault of sfumato: please report it",
    )
