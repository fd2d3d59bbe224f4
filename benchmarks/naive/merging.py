"""Merging (Hasan, Jiang, Chen, Wang 2018): l-diverse classes with a fake, blocks permuted, and
cells of pairs that never occur generalised over their class."""

from __future__ import annotations

import pandas as pd

from benchmarks.naive.mondrian import partition
from benchmarks.naive.slicing import is_diverse


def publish(data: pd.DataFrame, quasi_identifiers: list[str], sensitive: str) -> list[pd.DataFrame]:
    """Return the classes; l = 5, one fake."""
    seen = {name: set(zip(data[name], data[sensitive], strict=True)) for name in quasi_identifiers}
    fake = pd.DataFrame(
        {name: [data[name].sample(1).iloc[0]] for name in [*quasi_identifiers, sensitive]}
    )
    data = pd.concat([data[[*quasi_identifiers, sensitive]], fake], ignore_index=True)
    classes = partition(data, quasi_identifiers, lambda rows: is_diverse(rows, sensitive, 5))
    half = len(quasi_identifiers) // 2
    blocks = [quasi_identifiers[:half], quasi_identifiers[half:], [sensitive]]
    published = []
    for group in classes:
        cells = pd.concat(
            [group[b].sample(frac=1).reset_index(drop=True) for b in blocks], axis=1
        ).astype(object)
        for name in quasi_identifiers:
            values = "{" + ", ".join(sorted(cells[name].astype(str).unique())) + "}"
            for row in cells.index:
                if (cells.at[row, name], cells.at[row, sensitive]) not in seen[name]:
                    cells.at[row, name] = values
        published.append(cells)
    return published
