"""From published groups to the statistics that privacy models look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.audit.coded import comparable
from sfumato.audit.domains import Domain
from sfumato.measures.set_randomization import Masses, Randomization
from sfumato.models import GroupStatistics, Histogram, Total
from sfumato.release.transitions import Transition
from sfumato.schema.attribute import Kind
from sfumato.schema.distinct import looked_up
from sfumato.schema.text import to_texts

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class SensitiveValues:
    """How many people of each group have each value of a sensitive attribute.

    Codes of `histogram` are positions in `values`, `len(values)` being a missing one. The values
    ascend: as numbers, as the domain lists them (ordinal), or by text. `whole` has by code how
    many people of the whole release have each value, where the groups are of a part of it.
    """

    domain: Domain
    values: pa.Array
    histogram: Histogram
    whole: Ints | None = None

    @classmethod
    def count(
        cls,
        domain: Domain,
        values: pa.Array,
        groups: Codes,
        codes: Codes,
        counts: Codes,
        total: int,
    ) -> SensitiveValues:
        """Return the values in order with their counts in `total` groups; codes as in `values`."""
        order = _order(domain, values)
        arranged = looked_up(_ranks(order).astype(np.int32), codes)
        histogram = Histogram.count(groups, arranged, counts, total, len(values))
        return cls(domain, values.take(pa.array(order)), histogram)

    def within(self, values: pa.Array, counts: Ints) -> SensitiveValues:
        """Return the same groups as part of a whole, of which all values and counts are given.

        The last of `counts` is that of missing values.
        """
        order = _order(self.domain, values)
        ranks = _ranks(order)
        places = pc.index_in(to_texts(self.values), to_texts(values)).to_numpy()
        code_of = ranks[np.append(places, len(values)).astype(np.int64)]
        return SensitiveValues(
            self.domain,
            values.take(pa.array(order)),
            _recoded(self.histogram, code_of),
            np.append(counts[order], counts[-1]),
        )

    @cached_property
    def totals(self) -> Ints:
        """How many people have each value, the last of them none."""
        sums = np.bincount(self.histogram.codes, self.histogram.counts, len(self.values) + 1)
        return sums.astype(np.int64)

    @property
    def sizes(self) -> Ints:
        """How many people each group counts, with a value or without."""
        owners = np.repeat(np.arange(len(self.histogram.present)), np.diff(self.histogram.offsets))
        return np.bincount(owners, self.histogram.counts, len(self.histogram.present)).astype(
            np.int64
        )


class WhenAsked(Mapping[str, SensitiveValues]):
    """Sensitive values by attribute, counted when a claim first asks for them, or found before."""

    def __init__(
        self,
        counts: Mapping[str, Callable[[], SensitiveValues]],
        found: Mapping[str, SensitiveValues],
    ) -> None:
        self._counts = counts
        self._found = dict(found)

    def __getitem__(self, name: str) -> SensitiveValues:
        if name not in self._found:
            self._found[name] = self._counts[name]()
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in self._counts

    def __iter__(self) -> Iterator[str]:
        return iter(self._counts)

    def __len__(self) -> int:
        return len(self._counts)


@dataclass(frozen=True, slots=True)
class SetEvidence:
    """How an attribute's randomised sets were drawn, and between which masses they are said to lie.

    `has_order` says that one value can be more than another.
    """

    randomization: Randomization
    masses: Masses | None
    has_order: bool


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What the published tables show of their groups, all consistent.

    `sizes` counts people a group; `crowds` how many of them cannot be told apart by their
    quasi-identifiers; `repeats`, where these stand in tables of their own, how many share the
    commonest combination, by table. `buckets` has the sensitive values by bucket, where a layout
    has buckets; `sets` how those of attributes were drawn whose cells are sets; `transitions` how
    cells are said to have been replaced at random. `note` says what had to be taken on trust,
    `remarks` what must be said although the claims may stand.
    """

    sizes: Ints
    crowds: Ints
    sensitive: Mapping[str, SensitiveValues]
    note: str = ""
    buckets: Mapping[str, SensitiveValues] = field(default_factory=dict)
    repeats: Ints | None = None
    sets: Mapping[str, SetEvidence] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    transitions: Mapping[str, Transition] = field(default_factory=dict)


def statistics_of(
    sizes: Ints, attribute: str, found: SensitiveValues, *, by_hierarchy: bool
) -> tuple[GroupStatistics, dict[str, Total]]:
    """Return the statistics of all groups (or buckets) and the totals, for a model of an attribute.

    `by_hierarchy` says that the model needs the values in the order of the hierarchy's leaves.
    """
    histogram, kind = found.histogram, found.domain.entry.kind
    tree = None
    if by_hierarchy and found.domain.hierarchy is not None:
        tree = found.domain.hierarchy.bind(to_texts(found.values).to_pylist())
        histogram = _recoded(histogram, _ranks(tree.order))
    totals, present = found.totals, int(histogram.present.sum())
    if found.whole is not None:
        totals, present = found.whole, int(found.whole[:-1].sum())
    total = Total(
        totals if tree is None else np.append(totals[tree.order], totals[-1]),
        present,
        ordered=tree is None and found.domain.has_order,
        tree=tree,
        points=_points(found.values) if tree is None and kind is Kind.NUMERIC else None,
    )
    return GroupStatistics(sizes, {attribute: histogram}), {attribute: total}


def _order(domain: Domain, values: pa.Array) -> Ints:
    """Return the positions of the values from low to high."""
    if domain.entry.kind is Kind.ORDINAL and domain.listed is not None:
        places = pc.index_in(to_texts(values), domain.listed)
    else:
        places = comparable(values)
    return np.asarray(pc.array_sort_indices(places).to_numpy(), dtype=np.int64)


def _ranks(order: Ints) -> Ints:
    """Return the new code of every old one; that of a missing value stays the last."""
    ranks = np.empty(len(order) + 1, dtype=np.int64)
    ranks[order] = np.arange(len(order))
    ranks[-1] = len(order)
    return ranks


def _recoded(histogram: Histogram, code_of: Ints) -> Histogram:
    """Return the histogram with other codes, ascending again within each group."""
    codes = code_of[histogram.codes]
    owners = np.repeat(np.arange(len(histogram.present)), np.diff(histogram.offsets))
    place = np.argsort(owners * (int(code_of.max()) + 1) + codes)
    return Histogram(histogram.offsets, codes[place], histogram.counts[place], histogram.present)


def _points(values: pa.Array) -> npt.NDArray[np.float64]:
    """Return positions on the number line; dates and times count in the unit of their type."""
    if pa.types.is_date32(values.type) or pa.types.is_time32(values.type):
        values = values.cast(pa.int32())
    elif pa.types.is_temporal(values.type):
        values = values.cast(pa.int64())
    return np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
