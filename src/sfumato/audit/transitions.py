"""Releases whose cells were replaced at random: what the stated matrices give, and what they allow.

That a matrix was applied cannot be seen from files. What can: that it is one, that all cells are
among its values, what epsilon follows from it, and that the published shares are possible under
it: no true value may have been held by fewer than nobody.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.audit.coded import Coded, coded
from sfumato.audit.domains import Domain
from sfumato.audit.number_line import read_values
from sfumato.audit.report import Verdict
from sfumato.audit.statistics import Evidence
from sfumato.audit.structure import check_roles
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.measures.transitions import epsilon, largest_posterior
from sfumato.release import AttributeEntry, Release, TableEntry
from sfumato.release.transitions import Transition, read_transitions
from sfumato.schema.attribute import Role
from sfumato.schema.text import to_texts

Ints = npt.NDArray[np.int64]

KINDS = ("uniform", "proportional", "invariant")
# Estimated counts of true values leave their margins once in so many releases, at most.
ONCE_IN = 10**12
# An epsilon is worked out again, and may differ by rounding.
_TOLERANCE = 1e-9


def examine_transitions(release: Release) -> Evidence:
    """Return how cells are said to have been replaced; ReleaseDamaged where that cannot be.

    A record is a group of its own: it shares with nobody.
    """
    manifest = release.manifest
    check_roles(manifest)
    table = release.tables[_records(release).name]
    if table.num_rows != manifest.rows:
        raise ReleaseDamaged(
            f"table 'records' holds {table.num_rows} records, and the manifest says {manifest.rows}"
        )
    if manifest.parameters.get("kind", KINDS[0]) not in KINDS:
        raise ReleaseDamaged("the parameter 'kind' is no kind of matrix")
    transitions = read_transitions(manifest)
    if not transitions:
        raise ReleaseDamaged("the parameter 'transitions' names no attribute")
    for entry in manifest.attributes:
        domain, column = Domain.of(entry, None), coded(table[entry.name])
        if entry.name not in transitions:
            if entry.role is Role.QUASI_IDENTIFIER:
                raise _damage(entry, "is a quasi-identifier, and its cells were not replaced")
            domain.check_values(column)
            continue
        own = transitions[entry.name]
        _check_values(entry, domain, own)
        counts = _counted(entry, domain, column, own)
        if _is_impossible(counts, own):
            raise _damage(entry, "has shares that no original has under the stated matrix")
    alone = np.ones(manifest.rows, dtype=np.int64)
    return Evidence(alone, alone, {}, remarks=_remarks(manifest), transitions=transitions)


def judge_transitions(claim: Mapping[str, Any], transitions: Mapping[str, Transition]) -> Verdict:
    """Return what the stated matrix gives: it may contradict the claim, and never confirms it.

    Refuses (ParameterError) a claim with other keys, or about what was not replaced.
    """
    if claim.keys() != {"model", "attribute", "epsilon"}:
        raise ParameterError(f"{claim['model']} needs `attribute` and `epsilon`, and no others")
    name, stated = claim["attribute"], claim["epsilon"]
    is_number = isinstance(stated, int | float) and not isinstance(stated, bool)
    if not is_number or not 0 <= stated < math.inf:
        raise ParameterError(f"{claim['model']}: `epsilon` must be a number, 0 or more")
    if name not in transitions:
        raise ParameterError(f"{claim['model']} is about '{name}', whose cells were not replaced")
    matrix = transitions[name].matrix
    found, likeliest = epsilon(matrix), largest_posterior(matrix)
    if found > stated + _TOLERANCE:
        return Verdict(claim, False, found, f"the stated matrix has an epsilon of {found:.4g}")
    note = (
        f"declared: the stated matrix has an epsilon of {found:.4g}, and makes no value likelier "
        f"than {likeliest:.3g} if all were equally likely before; that it was applied, files "
        "cannot show"
    )
    return Verdict(claim, None, found, note)


def _records(release: Release) -> TableEntry:
    manifest = release.manifest
    names = [entry.name for entry in manifest.attributes]
    tables = manifest.tables
    if [table.name for table in tables] != ["records"]:
        raise ReleaseDamaged("a release of replaced cells has one table 'records', and no others")
    (table,) = tables
    if table.group is not None or table.count is not None:
        raise ReleaseDamaged("table 'records' has groups or counts, and replaced cells have none")
    if sorted(table.attributes) != sorted(names):
        raise ReleaseDamaged("table 'records' does not hold each attribute once")
    if release.hierarchies:
        raise ReleaseDamaged("a release of replaced cells generalises nothing, and has hierarchies")
    return table


def _check_values(entry: AttributeEntry, domain: Domain, own: Transition) -> None:
    """Refuse values of a matrix that are not of the type, or not in the domain."""
    texts = pa.array([text for text in own.values if text is not None], pa.string())
    values = read_values(texts, entry.dtype)
    if values is None or not len(values):
        raise _damage(entry, "has a matrix of values that are not of its type")
    if len(coded(pa.chunked_array([values])).cells) < len(values):  # 0 and -0 are one number
        raise _damage(entry, "has a matrix that lists a value twice")
    domain.check_exact(values)


def _counted(entry: AttributeEntry, domain: Domain, column: Coded, own: Transition) -> Ints:
    """Return how many cells hold each value of the matrix; ReleaseDamaged where one holds none."""
    texts = to_texts(domain.exact_values(column))
    known = pa.concat_arrays([texts.cast(pa.string()), pa.nulls(1, pa.string())])
    places = pc.index_in(known, value_set=pa.array(own.values, pa.string())).fill_null(-1)
    place = places.to_numpy(zero_copy_only=False).astype(np.int64)
    held = np.bincount(column.codes, minlength=len(known))
    if (held[place < 0] > 0).any():
        raise _damage(entry, "has cells that its matrix does not list")
    counts = np.zeros(own.size, np.int64)
    np.add.at(counts, place[place >= 0], held[place >= 0])
    return counts


def _is_impossible(counts: Ints, own: Transition) -> bool:
    """Whether some true value is estimated to be held by fewer than nobody, beyond chance.

    An estimate adds up, over rows drawn apart from each other, what the inverse has for the value;
    by Bernstein's inequality it leaves the margin once in 10**12 releases.
    """
    rows, back = int(counts.sum()), own.inverse
    estimates = counts @ back
    variance = np.maximum(own.matrix @ back**2 - np.eye(own.size), 0).max(axis=0)
    width = back.max(axis=0) - back.min(axis=0)
    level = math.log(own.size * ONCE_IN)
    first = width * level / 3
    margin = first + np.sqrt(first**2 + 2 * rows * variance * level)
    return bool((estimates < -margin - 1e-6 * max(rows, 1)).any())


def _remarks(manifest: Any) -> tuple[str, ...]:
    if manifest.parameters.get("kind", KINDS[0]) == KINDS[0]:
        return ()
    return ("the matrices follow the data: they tell the shares of values, rounded",)


def _damage(entry: AttributeEntry, problem: str) -> ReleaseDamaged:
    return ReleaseDamaged(f"attribute '{entry.name}' {problem}")
