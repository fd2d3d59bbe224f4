"""The quick reader of cells reads what the grammar's own reader reads, and refuses the same."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from sfumato.audit.spelling import exact_texts, named_values
from sfumato.errors import ReleaseDamaged
from sfumato.release import cells

texts = st.text(alphabet="aA0 .,-[]{}|\"*\\nul'=\n\u00a0é", max_size=8)
cell_texts = texts | st.one_of(
    texts.map(cells.quote),
    st.tuples(texts, texts).map(lambda ends: cells.range_cell(*ends)),
    st.lists(texts, min_size=1, max_size=3).map(cells.set_cell),
    st.sampled_from(["null", "*", "[null, a]", "[a, a]", "[a, b]", "[0, 17]", "Asia", "-5", "a b"]),
    st.tuples(texts, texts).map(lambda ends: f"[{ends[0]}, {ends[1]}]"),
)
LABELS = frozenset({"Asia", "[0, 17]", "a"})


def slowly(spelled: list[str], labels) -> tuple[list[str], list[tuple[str, str]]] | None:
    exact, ranges = [], []
    for cell in spelled:
        try:
            read = cells.parse(cell, labels)
        except ReleaseDamaged:
            return None
        match read:
            case cells.Exact(text):
                exact.append(text)
            case cells.ValueSet(members):
                exact.extend(members)
            case cells.Range(low, high):
                ranges.append((low, high))
            case cells.Null():  # which belongs inside a set
                return None
    return sorted(exact), sorted(ranges)


def quickly(spelled: list[str], labels) -> tuple[list[str], list[tuple[str, str]]] | None:
    try:
        found = named_values(pa.array(spelled, pa.string()), labels)
    except ReleaseDamaged:
        return None
    ranges = zip(found.lows.to_pylist(), found.highs.to_pylist(), strict=True)
    return sorted(found.exact.to_pylist()), sorted(ranges)


@given(st.lists(cell_texts, max_size=4), st.sampled_from([frozenset(), LABELS]))
@example(["[null, b]"], frozenset())
@example(["[0, 17]"], LABELS)
@example(["[a, a]"], frozenset())
@example([], frozenset())
def test_generalised_cells_are_read_alike(spelled, labels):
    assert quickly(spelled, labels) == slowly(spelled, labels)


@given(st.lists(cell_texts, max_size=4))
@example(["null"])
def test_exact_cells_are_read_alike(spelled):
    try:
        read = [cells.parse(cell) for cell in spelled]
    except ReleaseDamaged:
        expected = "refused"
    else:
        exact = all(isinstance(cell, cells.Exact) for cell in read)
        expected = [cell.text for cell in read] if exact else None
    try:
        found = exact_texts(pa.array(spelled, pa.string()))
        answer = None if found is None else found.to_pylist()
    except ReleaseDamaged:
        answer = "refused"
    assert answer == expected
