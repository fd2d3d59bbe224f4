"""The way in to reconstruction: the cross table behind a release, from the release alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from math import prod
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers import set_estimators
from sfumato.answers.joint_parts import joints
from sfumato.answers.plausible import TABLES, plausible_counts
from sfumato.answers.set_axes import OTHER_MAKERS, Axis, read_axis, records_of_sets
from sfumato.answers.set_counts import containing
from sfumato.answers.set_parts import Parting, joint_axis
from sfumato.answers.transition_tables import inverse_table
from sfumato.errors import ParameterError
from sfumato.markup import table
from sfumato.release import Manifest, Release
from sfumato.release.transitions import is_randomised
from sfumato.schema.text import to_texts

Reals = npt.NDArray[np.float64]
Method = Literal["bayes", "inverse", "value-adding", "random", "plausible"]
METHODS: tuple[Method, ...] = get_args(Method)

# What is for sets alone; the one for all other layouts; and what draws at random.
OF_SETS: tuple[Method, ...] = ("bayes", "inverse", "value-adding", "random")
DRAWING: tuple[Method, ...] = ("random", "plausible")
# What rests on sets having been drawn at random.
_BY_CHANCE: tuple[Method, ...] = ("bayes", "inverse")
# Cells of a cross table. The work takes about five tables of eight bytes a cell.
MOST_CELLS = 50_000_000
COUNT = "count"
_SHOWN = 20  # counts in a notebook


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reconstruction:
    """An estimated cross table: how many records have each combination of values.

    `counts` has an axis an attribute, along which its `values` stand in the order of the domain (a
    missing value is null). `se` are standard errors where the method has any: of the randomness of
    the sets, or of what the release leaves open, alone. `records` is the number of records in the
    release, `steps` that of the steps that `bayes` made, and `settled` says whether it came to
    rest; `tables` is how many plausible ones there were. `notes` are for whoever uses the counts.
    """

    attributes: tuple[str, ...]
    values: tuple[pa.Array, ...]
    counts: Reals
    se: Reals | None
    method: Method
    records: int
    steps: int | None = None
    settled: bool = True
    tables: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[tuple[str | None, ...], ...]:
        """The texts of the values."""
        return tuple(tuple(to_texts(values).to_pylist()) for values in self.values)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What should be known before the counts are used."""
        if self.settled:
            return self.notes
        return (
            f"bayes ended after {self.steps} steps, before they had become small",
            *self.notes,
        )

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

    def _repr_html_(self) -> str:
        """Return the largest counts as a table, for notebooks."""
        rows = [
            [*("null" if each is None else each for each in labels), f"{count:,.1f}"]
            + ([] if se is None else [f"{se:,.1f}"])
            for labels, count, se in self.largest(_SHOWN)
        ]
        errors = [] if self.se is None else ["se"]
        title = f"the largest counts of {self.counts.size:,}, by {self.method}"
        return table([*self.attributes, COUNT, *errors], rows, title)

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


def default_method(manifest: Manifest) -> Method:
    """Return the method that is taken where none is asked for."""
    if is_randomised(manifest):
        return "inverse"
    if manifest.layout != "sets":
        return "plausible"
    return "value-adding" if manifest.method in OTHER_MAKERS else "bayes"


def reconstruct(
    release: Release,
    attributes: Sequence[str],
    method: Method | None = None,
    rng: np.random.Generator | None = None,
    tables: int = TABLES,
) -> Reconstruction:
    """Return the estimated cross table of some attributes; suppressed rows are in no count.

    From the layout `sets`: `bayes` (the default) and `value-adding` are the paper's; `inverse` is
    unbiased and has standard errors, but may be negative; `random` is the paper's baseline.
    Attributes that were not randomised take part with the values that they have. Of attributes
    that were randomised as one, `a & b`, each can be asked for: the other is summed out, and the
    standard errors of `inverse` are then not known.

    From cells that were replaced at random by published matrices (method `pram`): `inverse`, which
    is unbiased and has standard errors, but may be negative; or `plausible`.

    From other layouts: `plausible`, the mean over so many plausible `tables`, with standard errors
    of what the release leaves open if it does so evenly; see `answers/plausible.py`. It and
    `random` need `rng`.

    Refuses (ParameterError) methods of other layouts, attributes that are not published, cross
    tables of more than 50 million cells, `bayes` and `inverse` of sets that are not random;
    (ReleaseDamaged) cells that are not what the manifest says.

    Source: the sensitive-QID paper, section V-D.
    """
    manifest, names = release.manifest, tuple(attributes)
    method = default_method(manifest) if method is None else method
    _check_method(manifest, method, rng)
    _check_names(manifest, names)
    if is_randomised(manifest) and method == "inverse":
        values, counts, se = inverse_table(release, names, MOST_CELLS)
        return Reconstruction(names, values, counts, se, method, manifest.rows)
    if manifest.layout != "sets":
        assert rng is not None
        found = plausible_counts(release, names, tables, MOST_CELLS, rng)
        return Reconstruction(
            names,
            found.values,
            found.counts,
            found.se,
            method,
            manifest.rows,
            tables=tables,
            notes=found.notes,
        )
    rows = records_of_sets(release).num_rows
    # attributes that were randomised as one are counted as one, and taken apart afterwards
    counted = tuple(dict.fromkeys(joint_axis(manifest, name) for name in names))
    whole = of_sets(partial(read_axis, release), rows, counted, method, rng)
    return whole if counted == names else _taken_apart(manifest, whole, names)


def _check_method(manifest: Manifest, method: Method, rng: np.random.Generator | None) -> None:
    if method not in METHODS:
        raise ParameterError(f"there is no method `{method}`; there are: {', '.join(METHODS)}")
    if manifest.layout == "sets" and method not in OF_SETS:
        raise ParameterError(
            f"the method `{method}` is for other layouts than sets; use one of {', '.join(OF_SETS)}"
        )
    of_matrices: tuple[Method, ...] = ("inverse",) if is_randomised(manifest) else ()
    if manifest.layout != "sets" and method in OF_SETS and method not in of_matrices:
        raise ParameterError(
            f"the method `{method}` is for the layout sets, and this release has "
            f"{manifest.layout}; use {' or '.join(f'`{m}`' for m in (*of_matrices, 'plausible'))}"
        )
    if method in DRAWING and rng is None:
        raise ParameterError(f"the method `{method}` needs a generator, `rng`")
    if manifest.method in OTHER_MAKERS and method in _BY_CHANCE:
        raise ParameterError(
            f"the sets of {manifest.method} were not drawn at random, which `{method}` "
            "rests on; use the method `value-adding`"
        )


def of_sets(
    read: Callable[[str], Axis],
    rows: int,
    names: tuple[str, ...],
    method: Method,
    rng: np.random.Generator | None,
) -> Reconstruction:
    """Return the cross table of so many sets; `read` returns the axis of a published attribute."""
    axes = _axes(read, names)
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
    return Reconstruction(names, values, table, se, method, rows, steps, settled)


def _taken_apart(
    manifest: Manifest, whole: Reconstruction, names: tuple[str, ...]
) -> Reconstruction:
    """Return the cross table over parts of the joint attributes that were counted."""
    parting = Parting.of(manifest, whole.attributes, whole.values, names)
    se, notes = None, whole.notes
    if whole.se is not None and parting.is_whole:
        se = parting.summed(whole.se)
    elif whole.se is not None:
        together = ", ".join(f"'{name}'" for name in whole.attributes if name not in names)
        notes += (
            f"no standard errors: counts are sums over {together}, whose cells' errors hang "
            "together in a way that is not worked out; ask for all parts, or for the joint "
            "attribute",
        )
    counts = parting.summed(whole.counts)
    return replace(
        whole, attributes=names, values=parting.values, counts=counts, se=se, notes=notes
    )


def _axes(read: Callable[[str], Axis], names: tuple[str, ...]) -> list[Axis]:
    axes: list[Axis] = []
    for name in names:
        axes.append(read(name))
        if prod(axis.size for axis in axes) > MOST_CELLS:
            raise ParameterError(
                f"the cross table of {len(names)} attributes has more than {MOST_CELLS} cells; "
                "ask for fewer attributes, or for ones with fewer values"
            )
    return axes


def _check_names(manifest: Manifest, names: tuple[str, ...]) -> None:
    if not names:
        raise ParameterError("name at least one attribute to reconstruct")
    if len(set(names)) < len(names):
        raise ParameterError("an attribute is named twice")
    known = [entry.name for entry in manifest.attributes]
    if manifest.layout == "sets":
        known += [part for joint in joints(manifest) for part in joint.parts]
    for name in names:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"known are {', '.join(known)}"
            raise ParameterError(f"the release has no attribute '{name}'; {hint}")
        joint = joint_axis(manifest, name)
        if joint != name and joint in names:
            raise ParameterError(f"'{name}' is a part of '{joint}'; name one of them")
