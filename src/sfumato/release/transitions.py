"""What a manifest says of cells that were replaced at random: `parameters.transitions`.

For each such attribute there are the texts of its values, a missing one being null, and the matrix
of how likely a true value (rows) was published as each value (columns).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.errors import ReleaseDamaged
from sfumato.measures.transitions import Matrix, inverse, problem
from sfumato.release.manifest import Manifest

TRANSITIONS = "transitions"
# A larger matrix would take long to look at, and is no matrix that people read.
LARGEST = 1_000


@dataclass(frozen=True, eq=False)
class Transition:
    """How one attribute's cells were replaced: the texts of its values, and the matrix."""

    values: tuple[str | None, ...]
    matrix: Matrix

    @property
    def size(self) -> int:
        """The number of values, a missing one among them."""
        return len(self.values)

    @cached_property
    def inverse(self) -> Matrix:
        """The inverse of the matrix."""
        return inverse(self.matrix)


def is_randomised(manifest: Manifest) -> bool:
    """Return whether cells of a release were replaced at random, and are not to be read as true."""
    return TRANSITIONS in manifest.parameters


def read_transitions(manifest: Manifest) -> dict[str, Transition]:
    """Return how cells were replaced, by attribute; nothing where they were not.

    Refuses (ReleaseDamaged) anything that is not a matrix of transitions for each attribute named.
    """
    stated = manifest.parameters.get(TRANSITIONS, {})
    if not isinstance(stated, Mapping):
        raise ReleaseDamaged(f"the parameter '{TRANSITIONS}' does not tell of attributes by name")
    return {name: _read(manifest, name, own) for name, own in stated.items()}


def _read(manifest: Manifest, name: str, stated: Any) -> Transition:
    if name not in [entry.name for entry in manifest.attributes]:
        raise ReleaseDamaged(f"the parameter '{TRANSITIONS}' names what is not published")
    if not isinstance(stated, Mapping) or stated.keys() != {"values", "matrix"}:
        raise _damage(name, "needs the keys `values` and `matrix`, and no others")
    values, lines = stated["values"], stated["matrix"]
    is_listed = isinstance(values, list | tuple) and 0 < len(values) <= LARGEST
    if not is_listed or not all(value is None or isinstance(value, str) for value in values):
        raise _damage(name, "has values that are not a list of texts")
    if len(set(values)) < len(values):
        raise _damage(name, "lists a value twice")
    if not isinstance(lines, list | tuple) or not all(_is_line(e, len(values)) for e in lines):
        raise _damage(name, "has a matrix that is not one of numbers")
    if len(lines) != len(values):
        raise _damage(name, "has a matrix of another size than its values")
    matrix = np.array(lines, np.float64)
    wrong = problem(matrix)
    if wrong is not None:
        raise _damage(name, f"has a matrix that {wrong}")
    return Transition(tuple(values), matrix)


def _is_line(line: Any, size: int) -> bool:
    is_number = isinstance(line, list | tuple) and all(
        isinstance(each, int | float) and not isinstance(each, bool) for each in line
    )
    return is_number and len(line) == size


def _damage(name: str, what: str) -> ReleaseDamaged:
    return ReleaseDamaged(f"the parameter '{TRANSITIONS}' of '{name}' {what}")
