"""What cells that were replaced at random have lost, against the original."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.answers.reconstruction import reconstruct
from sfumato.answers.transition_axes import TransitionAxis, read_transition_axis
from sfumato.errors import ParameterError
from sfumato.measures.distances import l1
from sfumato.measures.transitions import estimated_shares
from sfumato.release import Release
from sfumato.release.transitions import Transition, read_transitions
from sfumato.schema.text import to_texts
from sfumato.table import Column, Table

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


def changed_cells(release: Release, original: Table) -> dict[str, Any]:
    """Return the share of cells that are expected to show another value than their own.

    By the stated matrices and the original's values: which row was whose nobody can tell any more.
    """

    def changed(axis: TransitionAxis, own: Transition, before: Reals) -> float:
        return float(before @ (1 - np.diagonal(own.matrix)))

    return _by_attribute(release, original, changed)


def published_distance(release: Release, original: Table) -> dict[str, Any]:
    """Return the L1 distance of published shares of values from the original's."""
    return _by_attribute(
        release, original, lambda axis, own, before: l1(_shares(axis.counts), before)
    )


def estimated_distance(release: Release, original: Table) -> dict[str, Any]:
    """Return the L1 distance of shares that are estimated from the published ones, none of them
    below 0, from the original's."""
    return _by_attribute(
        release,
        original,
        lambda axis, own, before: l1(estimated_shares(axis.counts, own.matrix), before),
    )


class Estimated:
    """An original, and the cross tables that are estimated from replaced cells; see
    `margins.Sides`."""

    def __init__(self, original: Table, release: Release) -> None:
        self._original = original
        self._release = release

    def counts(self, names: Sequence[str]) -> tuple[Reals, Reals]:
        """Return both cross tables over the release's values; estimates below 0 count as 0."""
        found = reconstruct(self._release, names)
        codes = [
            _codes(self._original[name], labels)
            for name, labels in zip(names, found.labels, strict=True)
        ]
        shape = found.counts.shape
        counts = np.bincount(np.ravel_multi_index(tuple(codes), shape), minlength=found.counts.size)
        return counts.astype(np.float64).reshape(shape), np.maximum(found.counts, 0.0)

    def correlation(self, names: Sequence[str]) -> tuple[float, float] | None:
        """Return None: rows of replaced cells do not go together as people's do."""
        return None

    def labels(self, name: str) -> tuple[str | None, ...]:
        """Return the release's values."""
        return reconstruct(self._release, [name]).labels[0]


def _by_attribute(
    release: Release,
    original: Table,
    measure: Callable[[TransitionAxis, Transition, Reals], float],
) -> dict[str, Any]:
    transitions = read_transitions(release.manifest)
    found = {}
    for name, own in transitions.items():
        axis = read_transition_axis(release, transitions, name)
        codes = _codes(original[name], to_texts(axis.values).to_pylist())
        before = _shares(np.bincount(codes, minlength=axis.size))
        found[name] = measure(axis, own, before)
    return {"mean": float(np.mean(list(found.values()))), "by_attribute": found}


def _codes(column: Column, labels: Sequence[str | None]) -> Ints:
    """Return each row's place among the release's values."""
    place = {text: number for number, text in enumerate(labels)}
    texts = [*to_texts(column.values).to_pylist(), None]
    codes = np.array([place.get(text, -1) for text in texts], np.int64)[column.codes]
    if len(codes) and codes.min() < 0:
        raise ParameterError(
            f"the original has values of '{column.name}' that the release does not list: is it "
            "the table that the release was made from?"
        )
    return codes


def _shares(counts: Ints) -> Reals:
    return np.asarray(counts / max(counts.sum(), 1))
