"""Distance-based linkage: the groups whose means are nearest to what is known of people.

Means are nobody's own values, so nobody fits a record of means by equality. Whoever knows a
person's numbers looks for the nearest mean instead, each attribute in units of the deviation that
the published means have.

*Source*: distance-based record linkage, as in Domingo-Ferrer and Torra, "Disclosure risk assessment
in statistical data protection", JCAM 2004.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.attacks.fits import Fits
from sfumato.attacks.stage import Side
from sfumato.attacks.view import View
from sfumato.errors import ParameterError
from sfumato.release import Manifest
from sfumato.release.microaggregated import microaggregated
from sfumato.schema.distinct import distinct

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

_TIE = 1e-9  # relative: distances that differ less are the same
_PEOPLE = 50_000  # at a time


@dataclass(frozen=True, slots=True, eq=False)
class _Axis:
    """Where people's ranks lie on one attribute, NaN for a missing value."""

    ranks: Ints
    places: Reals

    def of(self, ranks: Ints) -> Reals:
        return self.places[np.searchsorted(self.ranks, ranks)]


class NearestFitter:
    """Finds the groups that are nearest to people; stands in for a `Fitter` where cells are means.

    Of a person with missing values only groups are looked at that miss the same, as groups of means
    are made of people who do. Several groups at the same distance all fit.

    Refuses (ParameterError) quasi-identifiers of which some are means and others are not.
    """

    def __init__(self, manifest: Manifest, view: View, side: Side) -> None:
        if set(view.known) - microaggregated(manifest) or len(view.blocks) != 1:
            raise ParameterError(
                "a release is attacked if all quasi-identifiers are means, or none"
            )
        (block,) = view.blocks
        self.names, self.groups = block.names, view.groups
        self.size = np.bincount(block.group, block.count, minlength=view.groups).astype(np.int64)
        means, self._axes = np.empty((len(self.names), len(block.group))), {}
        assert side.original is not None
        for a, name in enumerate(self.names):
            cells = np.append(_numbers(view.published[name].cells), [np.nan, np.nan])
            means[a] = cells[block.cells[:, a]]
            told = ~np.isnan(means[a])
            weight = self.size[block.group] * told
            centre = float(np.nan_to_num(means[a]) @ weight) / max(float(weight.sum()), 1.0)
            square = float(np.nan_to_num(means[a] - centre) ** 2 @ weight)
            unit = np.sqrt(square / max(float(weight.sum()), 1.0)) or 1.0
            means[a] = (means[a] - centre) / unit
            found = distinct(side.original[name], name)
            places = (np.append(_numbers(found.values), np.nan) - centre) / unit
            ranks, first = np.unique(side.people[name][:], return_index=True)
            self._axes[name] = _Axis(ranks, places[found.codes[first]])
        self._means, self._group = means, block.group

    def in_parts(self, people: Mapping[str, Ints]) -> Iterator[tuple[slice, Fits]]:
        """Return the groups of people, whose ranks are given by attribute, some at a time."""
        count = len(people[self.names[0]])
        for at in range(0, max(count, 1), _PEOPLE):
            own = {name: ranks[at : at + _PEOPLE] for name, ranks in people.items()}
            start, place, _ = self._found(own)
            group = self._group[place]
            yield slice(at, min(at + _PEOPLE, count)), Fits(start, group, self.size[group] * 1.0)

    def distances(self, people: Mapping[str, Ints]) -> Reals:
        """Return how far the nearest mean is; infinity where there is none to compare with."""
        return np.asarray(np.sqrt(self._found(people)[2]))

    def _found(self, people: Mapping[str, Ints]) -> tuple[Ints, Ints, Reals]:
        places = np.stack([self._axes[name].of(people[name]) for name in self.names])
        best = np.empty(places.shape[1])
        counts = np.zeros(places.shape[1] + 1, np.int64)
        find_nearest(self._means, places, best, counts[1:])
        start = np.cumsum(counts)
        place = np.empty(start[-1], np.int64)
        fill_nearest(self._means, places, best, start, place)
        return start, place, best


def _numbers(values: pa.Array) -> Reals:
    """Return values on the number line; dates and times in the unit of their type."""
    if pa.types.is_temporal(values.type):
        narrow = pa.types.is_date32(values.type) or pa.types.is_time32(values.type)
        values = values.cast(pa.int32() if narrow else pa.int64())
    numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(numbers, np.float64)


@numba.njit(cache=True, nogil=True)
def _distance(means: Reals, group: int, places: Reals, person: int, limit: float) -> float:
    """Return the squared distance; infinity beyond the limit, or where one misses what one has."""
    total = 0.0
    for a in range(means.shape[0]):
        gap = means[a, group] - places[a, person]
        if np.isnan(gap):
            if np.isnan(means[a, group]) != np.isnan(places[a, person]):
                return np.inf
            continue
        total += gap * gap
        if total > limit:
            return np.inf
    return total


@numba.njit(cache=True, nogil=True)
def find_nearest(means: Reals, places: Reals, best: Reals, counts: Ints) -> None:
    """Write the squared distance of each person's nearest group, and how many are as near."""
    for person in range(places.shape[1]):
        least = np.inf
        for group in range(means.shape[1]):
            least = min(least, _distance(means, group, places, person, least))
        best[person] = least
        if least < np.inf:
            for group in range(means.shape[1]):
                limit = least * (1 + _TIE)
                counts[person] += _distance(means, group, places, person, limit) < np.inf


@numba.njit(cache=True, nogil=True)
def fill_nearest(means: Reals, places: Reals, best: Reals, start: Ints, place: Ints) -> None:
    """Write the groups that are as near as the nearest, person by person."""
    for person in range(places.shape[1]):
        at = start[person]
        if start[person + 1] == at:
            continue
        for group in range(means.shape[1]):
            if _distance(means, group, places, person, best[person] * (1 + _TIE)) < np.inf:
                place[at] = group
                at += 1


def refuse_other_means(side: Side, view: View, population: int) -> None:
    """Refuse (ParameterError) an original whose columns do not have the means of the release."""
    (block,) = view.blocks
    assert side.original is not None
    for a, name in enumerate(block.names):
        cells = np.append(_numbers(view.published[name].cells), [np.nan, np.nan])
        means = cells[block.cells[:, a]]
        told = ~np.isnan(means)
        found = distinct(side.original[name].slice(0, population), name)
        numbers = np.append(_numbers(found.values), np.nan)[found.codes]
        own = numbers[~np.isnan(numbers)]
        if not len(own) and not told.any():
            continue
        ours = float(np.average(means[told], weights=block.count[told])) if told.any() else np.nan
        width = float(np.ptp(own)) if len(own) else 0.0
        slack = 1e-6 * width + 1.0 * pa.types.is_temporal(found.values.type)
        if not len(own) or not abs(float(own.mean()) - ours) <= slack + 1e-9 * abs(ours):
            raise ParameterError(
                f"the mean of '{name}' is not that of the release; give the table that the release "
                "was made from"
            )
