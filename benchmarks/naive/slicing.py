"""Slicing (Li, Li, Zhang, Molloy 2012): l-diverse buckets, each block of columns permuted."""

from __future__ import annotations

import pandas as pd

from benchmarks.naive.mondrian import partition


def is_diverse(rows: pd.DataFrame, sensitive: str, l: int) -> bool:  # noqa: E741
    """Return whether no value has more than 1/l of the rows."""
    return bool(rows[sensitive].value_counts().max() * l <= len(rows))


def publish(data: pd.DataFrame, quasi_identifiers: list[str], sensitive: str) -> list[pd.DataFrame]:
    """Return the buckets with two blocks of columns and the sensitive one permuted; l = 5."""
    buckets = partition(data, quasi_identifiers, lambda rows: is_diverse(rows, sensitive, 5))
    half = len(quasi_identifiers) // 2
    blocks = [quasi_identifiers[:half], quasi_identifiers[half:], [sensitive]]
    return [
        pd.concat([group[b].sample(frac=1).reset_index(drop=True) for b in blocks], axis=1)
        for group in buckets
    ]
