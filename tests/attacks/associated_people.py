"""Tables of people whose attributes go together as much as asked for."""

from __future__ import annotations

import numpy as np
import pyarrow as pa


def people(
    rows: int, strength: float, *, values: int = 8, known: int = 3, seed: int = 0
) -> pa.Table:
    """Return people with `known` attributes a0, a1, … and a secret, all with so many values.

    A known attribute says the secret with the probability `strength`, and is random otherwise.
    """
    rng = np.random.default_rng(seed)
    secret = rng.integers(0, values, rows)
    columns = {}
    for place in range(known):
        telling = rng.random(rows) < strength
        columns[f"a{place}"] = np.where(telling, secret, rng.integers(0, values, rows))
    columns["secret"] = secret
    return pa.table({name: pa.array([f"v{c}" for c in codes]) for name, codes in columns.items()})
