"""Random queries that papers hold releases to, always the same ones."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.answers import Count, Sum
from sfumato.randomness import repeatable
from sfumato.table import Table
from sfumato.utility.workload import Probe, workload

CONDITIONS = 4


def random_queries(
    table: Table, names: Sequence[str], summed: str | None, count: int
) -> list[Probe]:
    """Return queries with four conditions on different attributes each, always the same ones.

    Queries whose true sum (or count) is 0 are drawn anew, since the relative error divides by it.
    *Source*: Li, He, Sun, "Local Generalization and Bucketization", section 4.2.
    """
    return workload(
        table,
        names,
        queries=count,
        dimension=CONDITIONS,
        selectivity=None,
        aggregate=Count() if summed is None else Sum(summed),
        nonzero=True,
        rng=repeatable(42),
    )
