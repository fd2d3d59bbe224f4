"""Sensitive quasi-identifiers: every cell becomes a random set of l values, its own among them."""

from __future__ import annotations

import random

import pandas as pd


def publish(data: pd.DataFrame, quasi_identifiers: list[str], sensitive: str) -> list[pd.DataFrame]:
    """Return the table of sets; l = 3."""
    published = {}
    for name in [*quasi_identifiers, sensitive]:
        domain = sorted(data[name].dropna().unique())
        size = min(3, len(domain))
        column = []
        for value in data[name]:
            others = random.sample([other for other in domain if other != value], size - 1)
            column.append(tuple(sorted([*others, value], key=str)))
        published[name] = column
    return [pd.DataFrame(published)]
