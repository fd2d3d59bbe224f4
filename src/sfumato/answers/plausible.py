"""Cross tables as the mean over tables that a release may have come from, of any layout but `sets`.

A generalised cell is each of its values equally often, and tables, blocks and buckets are dealt at
random within their groups, as everywhere in this room. The mean over some such tables is the
expected count; how far they are apart tells how much the release leaves open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.answers.microdata import plausible_table
from sfumato.answers.randomized import share_of
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.release import AttributeEntry, Manifest, Release
from sfumato.release.microaggregated import microaggregated
from sfumato.release.transitions import read_transitions
from sfumato.schema.attribute import Role
from sfumato.schema.distinct import distinct
from sfumato.schema.kinds import comparable_type
from sfumato.schema.text import to_texts

Reals = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]

TABLES = 10
MOST_TABLES = 1_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Counted:
    """The expected cross table: an axis an attribute with its values, a missing one as null.

    `se` are standard errors, None where nothing tells them; `notes` say why, and what was assumed.
    """

    values: tuple[pa.Array, ...]
    counts: Reals
    se: Reals | None
    notes: tuple[str, ...]


def plausible_counts(
    release: Release,
    attributes: Sequence[str],
    tables: int,
    most_cells: int,
    rng: np.random.Generator,
) -> Counted:
    """Return the mean over so many plausible tables of how many people have each combination.

    On each axis stand the values that one of the tables has: in the order of the domain where the
    manifest lists one, else ascending. Fake records are taken off as if any record could be one;
    a sample is scaled up; cells that were redrawn at random are taken off by what they add in
    expectation, which may leave less than nothing.

    The standard error of a cell is that of taking the mean for the table behind the release: the
    spread s of the tables, widened by that of the mean, s·√(1 + 1/T); and that of the fakes and of
    the sampling. It covers what the release leaves open *if* it is left open evenly, and not that
    real values are spread unevenly. Not known are those of noisy counts, of redrawn cells, of
    samples of people with several rows, and of a single table.

    Refuses (ParameterError) numbers of tables that make no sense, and more than `most_cells`
    combinations; (ReleaseDamaged) cells or parameters that are not what the manifest says.
    """
    if isinstance(tables, bool) or not isinstance(tables, int) or not 1 <= tables <= MOST_TABLES:
        raise ParameterError(f"the mean is over 1 to {MOST_TABLES} plausible tables")
    chance = _Chance.of(release.manifest)
    drawn: dict[str, list[pa.Array]] = {name: [] for name in attributes}
    for _ in range(tables):
        _refuse_many((len(own[0].dictionary) for own in drawn.values() if own), most_cells)
        table = plausible_table(release, attributes, rng, redealt=True)
        for name in attributes:
            # many rows, few values: texts by the million would fill the memory
            drawn[name].append(table[name].combine_chunks().dictionary_encode())
    values, codes = [], []
    for name in attributes:
        own, of_row = _axis(pa.chunked_array(drawn.pop(name)), release.manifest.attribute(name))
        values.append(own)
        codes.append(of_row)
    shape = tuple(map(len, values))
    _refuse_many(shape, most_cells)
    total, squares = np.zeros(prod(shape)), np.zeros(prod(shape))
    rows = len(codes[0]) // tables
    for number in range(tables if rows else 0):
        part = slice(number * rows, (number + 1) * rows)
        cells = np.ravel_multi_index(tuple(each[part] for each in codes), shape)
        counts = np.bincount(cells, minlength=prod(shape)).astype(np.float64)
        total += counts
        squares += counts**2
    mean = (total / tables).reshape(shape)
    # exact for whole numbers, so that equal tables have no spread at all
    spread = (tables * squares - total**2).reshape(shape) / (tables * max(tables - 1, 1))
    variance = spread * (1 + 1 / tables)
    mean, variance = chance.corrected(mean, variance, attributes)
    notes = chance.notes(attributes)
    se = None if notes or tables == 1 else np.sqrt(variance)
    return Counted(tuple(values), mean, se, notes)


def _refuse_many(sizes: Iterable[int], most: int) -> None:
    if prod(sizes) > most:
        raise ParameterError(
            f"the cross table has more than {most} cells; "
            "ask for fewer attributes, or for ones with fewer values"
        )


def _axis(column: pa.ChunkedArray, entry: AttributeEntry) -> tuple[pa.Array, Codes]:
    """Return the values that occur, in order, and each row's place among them."""
    found = distinct(column, entry.name)
    order = _order(found.values, entry)
    places = np.empty(len(order) + 1, np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    places[-1] = len(order)
    values = found.values.take(pa.array(order))
    if (found.codes == len(order)).any():
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    return values, places[found.codes]


def _order(values: pa.Array, entry: AttributeEntry) -> npt.NDArray[np.int64]:
    if not isinstance(entry.domain, tuple):
        indices = pc.sort_indices(values.cast(comparable_type(values.type)))
        return np.asarray(indices.to_numpy().astype(np.int64))
    listed = pa.array(entry.domain, pa.string())
    places = pc.index_in(to_texts(values), value_set=listed).fill_null(len(listed)).to_numpy()
    return np.asarray(np.argsort(places, kind="stable"))


@dataclass(frozen=True, slots=True)
class _Chance:
    """What of a release is not people's: fakes, what a sample lacks, redrawn and noisy cells."""

    rows: int
    fakes: int
    sample: float
    perturb: float
    is_noisy: bool
    of_people: bool
    redrawn: frozenset[str]
    replaced: frozenset[str] = frozenset()
    means: frozenset[str] = frozenset()

    @classmethod
    def of(cls, manifest: Manifest) -> _Chance:
        fakes = manifest.parameters.get("fakes", 0)
        if isinstance(fakes, bool) or not isinstance(fakes, int) or not 0 <= fakes <= manifest.rows:
            raise ReleaseDamaged("the number of fake records is none that the release can have")
        sample, perturb = share_of(manifest, "sample", 1.0), share_of(manifest, "perturb", 0.0)
        if sample == 0 or perturb == 1:
            raise ReleaseDamaged("the release says that nothing of it comes from the data")
        return cls(
            manifest.rows,
            fakes,
            sample,
            perturb,
            any(claim.get("model") == "differential-privacy" for claim in manifest.guarantees),
            sample < 1 and any(table.name == "units" for table in manifest.tables),
            frozenset(
                e.name for e in manifest.attributes if perturb > 0 and e.role is Role.SENSITIVE
            ),
            frozenset(read_transitions(manifest)),
            microaggregated(manifest),
        )

    def corrected(
        self, counts: Reals, variance: Reals, attributes: Sequence[str]
    ) -> tuple[Reals, Reals]:
        """Return the counts of the people behind the records, and their variances."""
        rows = max(self.rows, 1)
        for place, name in enumerate(attributes):
            if name in self.redrawn:
                rest = tuple(axis for axis in range(counts.ndim) if axis != place)
                by_chance = counts.sum(axis=place, keepdims=True) * (
                    counts.sum(axis=rest, keepdims=True) / rows
                )
                counts = (counts - self.perturb * by_chance) / (1 - self.perturb)
        share = np.clip(counts / rows, 0.0, 1.0)
        genuine = 1 - self.fakes / rows
        if self.fakes:
            taken = self.fakes * genuine * share * (1 - share) * rows / max(rows - 1, 1)
            counts, variance = counts * genuine, variance * genuine**2 + taken
        if self.sample < 1:
            lacking = rows * genuine * share * (1 - share) * (1 - self.sample)
            counts, variance = counts / self.sample, (variance + lacking) / self.sample**2
        return counts, variance

    def notes(self, attributes: Sequence[str]) -> tuple[str, ...]:
        """Return why there are no standard errors, nothing where there are."""
        notes = []
        if not self.replaced.isdisjoint(attributes):
            notes.append(
                "no standard errors: cells were replaced at random, and are drawn attribute by "
                "attribute here, which weakens what goes together; use the method `inverse`"
            )
        if not self.means.isdisjoint(attributes):
            notes.append(
                "no standard errors: cells are means of groups, and so nobody's own values; counts "
                "are those of the means"
            )
        if self.is_noisy:
            notes.append("no standard errors: the counts of this release are noisy")
        if self.of_people:
            notes.append("no standard errors: the sample is of people with several rows")
        if not self.redrawn.isdisjoint(attributes):
            notes.append(
                "no standard errors: some sensitive cells were redrawn at random; what they add "
                "is taken off in expectation, which may leave counts below 0"
            )
        return tuple(notes)
