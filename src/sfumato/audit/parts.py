"""The audit of a release that is too large for one machine: part by part.

A part has whole groups, so every check of a group is the same; only what is compared with the whole
release (t-closeness and the like) needs its totals, which are the sums of what the parts show.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.audit.claims import judge
from sfumato.audit.layouts import examine
from sfumato.audit.report import Verdict
from sfumato.audit.statistics import Evidence, SensitiveValues
from sfumato.release import Release

Ints = npt.NDArray[np.int64]
# An attribute, and whether its values are meant that stand in buckets.
Place = tuple[str, bool]


@dataclass(frozen=True, slots=True, eq=False)
class ShownValues:
    """Values of sensitive attributes and how many people have each; the last count is of none."""

    values: Mapping[Place, tuple[pa.Array, Ints]] = field(repr=False)


def shown_values(release: Release) -> ShownValues:
    """Return the sensitive values of a part; ReleaseDamaged where it contradicts itself."""
    evidence = examine(release)
    return ShownValues(
        {
            (name, in_buckets): (found.values, found.totals)
            for in_buckets, each in ((False, evidence.sensitive), (True, evidence.buckets))
            for name, found in each.items()
        }
    )


def added(parts: Iterable[ShownValues]) -> ShownValues:
    """Return the values of all parts together."""
    known: dict[Place, list[tuple[pa.Array, Ints]]] = {}
    for part in parts:
        for place, found in part.values.items():
            known.setdefault(place, []).append(found)
    return ShownValues({place: _added(found) for place, found in known.items()})


def judge_part(release: Release, whole: ShownValues) -> tuple[Verdict, ...]:
    """Return a verdict on every claim of a release, from a part of it and the whole's totals.

    Refuses (ReleaseDamaged) what the audit of the whole would refuse of this part.
    """
    evidence = _within(examine(release), whole)
    return tuple(judge(claim, evidence) for claim in release.manifest.guarantees)


def _within(evidence: Evidence, whole: ShownValues) -> Evidence:
    def placed(
        found: Mapping[str, SensitiveValues], in_buckets: bool
    ) -> dict[str, SensitiveValues]:
        return {
            name: values.within(*whole.values[name, in_buckets]) for name, values in found.items()
        }

    return replace(
        evidence,
        sensitive=placed(evidence.sensitive, False),
        buckets=placed(evidence.buckets, True),
    )


def _added(found: list[tuple[pa.Array, Ints]]) -> tuple[pa.Array, Ints]:
    values = pa.chunked_array([each for each, _ in found]).dictionary_encode().combine_chunks()
    codes = values.indices.to_numpy(zero_copy_only=False)
    counts = np.concatenate([each[:-1] for _, each in found])
    sums = np.zeros(len(values.dictionary) + 1, np.int64)
    np.add.at(sums, codes, counts)
    sums[-1] = sum(int(each[-1]) for _, each in found)
    return values.dictionary, sums
