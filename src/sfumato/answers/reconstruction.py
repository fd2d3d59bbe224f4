"""The way in to reconstruction: the cross table behind randomised sets, from the release alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import prod
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers import set_estimators
from sfumato.answers.set_axes import RECORDS, Axis, read_axis
from sfumato.answers.set_counts import containing
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.release import Release
from sfumato.schema.text import to_texts

Reals = npt.NDArray[np.float64]
Method = Literal["bayes", "inverse", "value-adding", "random"]
METHODS: tuple[Method, ...] = get_args(Method)

# What rests on sets having been drawn at random, and makers who draw them otherwise.
_BY_CHANCE: tuple[Method, ...] = ("bayes", "inverse")
_OTHER_MAKERS = ("rating",)
# Cells of a cross table. The work takes about five tables of eight bytes a cell.
MOST_CELLS = 50_000_000
COUNT = "count"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reconstruction:
    """An estimated cross table: how many records have each combination of values.

    `counts` has an axis an attribute, along which its `values` stand in the order of the domain (a
    missing value is null). `se` are standard errors, of the randomness of the sets alone, where
    the method has any. `records` is the number of records in the release, `steps` that of the
    steps that `bayes` made, and `settled` says whether it came to rest.
    """

    attributes: tuple[str, ...]
    values: tuple[pa.Array, ...]
    counts: Reals
    se: Reals | None
    method: Method
    records: int
    steps: int | None = None
    settled: bool = True

    @property
    def labels(self) -> tuple[tuple[str | None, ...], ...]:
        """The texts of the values."""
        return tuple(tuple(to_texts(values).to_pylist()) for values in self.values)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What should be known before the counts are used."""
        if self.settled:
            return ()
        return (f"bayes ended after {self.steps} steps, before they had become small",)

    def largest(self, number: int) -> list[tuple[tuple[str | None, ...], float, float | None]]:
        """Return the labels, count and standard error of the largest counts, the largest first."""
        counts, labels = self.counts.ravel(), self.labels
        found = []
        for cell in np.argsort(-counts, kind="stable")[:number]:
            places = np.unravel_index(cell, self.counts.shape)
            own = tuple(names[place] for names, place in zip(labels, places, strict=True))
            se = None if self.se is None else float(self.se.ravel()[cell])
            found.append((own, float(counts[cell]), se))
        return found

    def to_table(self) -> pa.Table:
        """Return one row a combination: its values, `count`, and `se` where there are any."""
        places = np.indices(self.counts.shape, np.int32, sparse=True)
        columns = {
            name: values.take(pa.array(np.broadcast_to(place, self.counts.shape).ravel()))
            for name, values, place in zip(self.attributes, self.values, places, strict=True)
        }
        columns[COUNT] = pa.array(self.counts.ravel())
        if self.se is not None:
            # unlike `count`, this may be the name of an attribute
            columns["se" if "se" not in columns else "count se"] = pa.array(self.se.ravel())
        return pa.table(columns)


def reconstruct(
    release: Release,
    attributes: Sequence[str],
    method: Method = "bayes",
    rng: np.random.Generator | None = None,
) -> Reconstruction:
    """Return the estimated cross table of some attributes of a release with the layout `sets`.

    `bayes` and `value-adding` are the paper's; `inverse` is unbiased and has standard errors, but
    may be negative; `random` is the paper's baseline and needs `rng`. Attributes that were not
    randomised take part with the values that they have.

    Refuses (ParameterError) other layouts, attributes that are not published, cross tables of more
    than 50 million cells, `bayes` and `inverse` of sets that are not random; (ReleaseDamaged) cells
    that are not what the manifest says.

    Source: the sensitive-QID paper, section V-D.
    """
    if release.manifest.layout != "sets":
        raise ParameterError(
            "cross tables are reconstructed from the layout sets only, and this release has "
            f"{release.manifest.layout}; a later version may do it for other layouts"
        )
    if method not in METHODS:
        raise ParameterError(f"there is no method `{method}`; there are: {', '.join(METHODS)}")
    if method == "random" and rng is None:
        raise ParameterError("the method `random` needs a generator, `rng`")
    if release.manifest.method in _OTHER_MAKERS and method in _BY_CHANCE:
        raise ParameterError(
            f"the sets of {release.manifest.method} were not drawn at random, which `{method}` "
            "rests on; use the method `value-adding`"
        )
    axes = _axes(release, tuple(attributes))
    rows = release.tables[RECORDS].num_rows
    se = steps = None
    settled = True
    if method == "random":
        assert rng is not None
        table = set_estimators.random(tuple(axis.size for axis in axes), rows, rng)
    else:
        counts = containing(axes).astype(np.float64)
        if method == "inverse":
            table, variance = set_estimators.inverse(axes, counts)
            se = np.sqrt(np.maximum(variance, 0.0))
        elif method == "value-adding":
            table = set_estimators.value_adding(axes, counts, rows)
        else:
            table, steps, settled = set_estimators.bayes(axes, counts)
    values = tuple(axis.values for axis in axes)
    return Reconstruction(tuple(attributes), values, table, se, method, rows, steps, settled)


def _axes(release: Release, names: tuple[str, ...]) -> list[Axis]:
    if not names:
        raise ParameterError("name at least one attribute to reconstruct")
    if len(set(names)) < len(names):
        raise ParameterError("an attribute is named twice")
    if RECORDS not in release.tables:
        raise ReleaseDamaged(f"a release of the layout sets has a table '{RECORDS}'")
    published = release.manifest.table(RECORDS).attributes
    for name in names:
        if name not in published:
            close = get_close_matches(name, published, n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"known are {', '.join(published)}"
            raise ParameterError(f"the release has no attribute '{name}'; {hint}")
    axes: list[Axis] = []
    for name in names:
        axes.append(read_axis(release, name))
        if prod(axis.size for axis in axes) > MOST_CELLS:
            raise ParameterError(
                f"the cross table of {len(names)} attributes has more than {MOST_CELLS} cells; "
                "ask for fewer attributes, or for ones with fewer values"
            )
    return axes
