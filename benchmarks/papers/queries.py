"""Random SUM queries as section 4.2 of the LGB paper generates them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.answers import Count, Sum
from sfumato.table import Table
from sfumato.utility.workload import Probe, workload

CONDITIONS = 4


def random_queries(
    table: Table, names: Sequence[str], summed: str | None, count: int
) -> list[Probe]:
    """Return queries with four conditions on different attributes each, always the same ones.

    Queries whose true sum (or count) is 0 are drawn anew, since the relative error divides by it.
    """
    return workload(
        table,
        names,
        queries=count,
        dimension=CONDITIONS,
        selectivity=None,
        aggregate=Count() if summed is None else Sum(summed),
        nonzero=True,
        rng=np.random.Generator(np.random.PCG64(42)),
    )
