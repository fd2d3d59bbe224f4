"""Arbitrary nested hierarchies, as rows `leaf, level 1, ..., *`."""

from __future__ import annotations

import hypothesis.strategies as st


@st.composite
def nested_labels(draw, leaves: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return rows `leaf, level 1, ..., *` of a random nested hierarchy, of one to four levels.

    A node that only continues the one below it keeps its label or takes a new one.
    """
    paths: dict[str, list[str]] = {leaf: [leaf] for leaf in leaves}
    for level in range(draw(st.integers(0, 3))):
        tops = sorted({path[-1] for path in paths.values()})
        parents = draw(st.lists(st.integers(0, 2), min_size=len(tops), max_size=len(tops)))
        above = dict(zip(tops, parents, strict=True))
        repeats = draw(st.booleans())
        for path in paths.values():
            alone = parents.count(above[path[-1]]) == 1
            path.append(path[-1] if alone and repeats else f"{level}/{above[path[-1]]}")
    return tuple((*path, "*") for path in paths.values())
