"""Cells that would join an incompatible pair, generalised within their group until plausible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.publish.exact import dictionary_column, exact_column
from sfumato.publish.generalize import GeneralizedColumn, generalize
from sfumato.release import cells
from sfumato.schema.distinct import count_codes
from sfumato.schema.text import to_texts
from sfumato.table import Column, Groups
from sfumato.table.groups import spread

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
_WINDOWS = 1 << 20


@numba.njit(cache=True, nogil=True)
def _windows(
    codes: Ints,
    sizes: Ints,
    starts: Ints,
    group: Ints,
    place: Ints,
    bad: Bools,
    bad_row: Ints,
    k: int,
) -> Ints:
    """Return for each cell the codes (first, end) that cover it; first = -1 if none do.

    The different codes of a group lie from `starts` on, in order, with the rows that have them in
    `sizes`. From its `place` a window grows towards the nearer code until it has k rows and a code
    that is not in row `bad_row` of `bad`.
    """
    found = np.empty((len(group), 2), np.int64)
    for i in range(len(group)):
        first, last = starts[group[i]], starts[group[i] + 1] - 1
        low = high = place[i]
        own, rows = codes[low], sizes[low]
        is_plausible = not bad[bad_row[i], own]
        while rows < k or not is_plausible:
            if low == first and high == last:
                break
            downward = low > first and (
                high == last or own - codes[low - 1] <= codes[high + 1] - own
            )
            if downward:
                low -= 1
            else:
                high += 1
            taken = low if downward else high
            rows += sizes[taken]
            is_plausible = is_plausible or not bad[bad_row[i], codes[taken]]
        found[i, 0] = low if is_plausible else -1
        found[i, 1] = high + 1
    return found


def plausible_cells(
    column: Column,
    groups: Groups,
    rows: Codes,
    ids: Codes,
    hidden: Mapping[str, Codes],
    pairs: Mapping[str, Bools],
    *,
    k: int,
    rng: np.random.Generator,
) -> tuple[pa.Array, GeneralizedColumn]:
    """Return the published cells of a column, and what they show of it.

    Cell i has the value of row `rows[i]`, is published in group `ids[i]`, and in one record with
    the codes `hidden[name][i]` of each sensitive attribute; `pairs[name]` says of which codes it
    is incompatible with. Where it is, the cell covers the values of the k rows of its group that
    are nearest, and of more until one of them is compatible; where none is, it is withheld (`*`).
    """
    codes = column.codes[rows]
    bad_cell = np.zeros(len(rows), np.bool_)
    for name, matrix in pairs.items():
        bad_cell |= matrix[codes, hidden[name]]
    wrong = np.flatnonzero(bad_cell)
    if len(wrong) == 0:
        return exact_column(column, codes), _exact(column, codes)
    # what each wrong cell must not be alone: one line for every combination of sensitive codes
    kinds = Groups.of_equal([hidden[name][wrong] for name in pairs])
    some = wrong[kinds.order[kinds.offsets[:-1]]]
    bad = np.zeros((kinds.count, column.null_code + 1), np.bool_)
    for name, matrix in pairs.items():
        bad |= matrix[:, hidden[name][some]].T
    width = column.null_code + 1
    # mostly few groups have wrong cells, and all others need not be sorted
    is_meant = np.zeros(groups.count, np.bool_)
    is_meant[ids[wrong]] = True
    meant = np.flatnonzero(is_meant[groups.ids])
    keys, sizes = np.unique(
        groups.ids[meant].astype(np.int64) * width + column.codes[meant], return_counts=True
    )
    held = keys % width
    windows = _windows(
        held,
        sizes,
        np.searchsorted(keys, np.arange(groups.count + 1) * width),
        ids[wrong].astype(np.int64),
        np.searchsorted(keys, ids[wrong].astype(np.int64) * width + codes[wrong]),
        bad,
        kinds.ids.astype(np.int64),
        k,
    )
    covered = windows[:, 0] >= 0
    general = _over_windows(column, held, windows[covered], rng)
    return _joined(column, codes, wrong, covered, general)


def _over_windows(
    column: Column, held: Ints, windows: Ints, rng: np.random.Generator
) -> GeneralizedColumn | None:
    """Return the least general cells over the codes of each window."""
    if len(windows) == 0:
        return None
    # many cells of a large group have the same window
    keys, which = np.unique(windows[:, 0] * (len(held) + 1) + windows[:, 1], return_inverse=True)
    first, end = np.divmod(keys, len(held) + 1)
    # some at a time: windows overlap, and together have many more codes than the groups
    general = _united(
        [
            _over_some(column, held, first[i : i + _WINDOWS], end[i : i + _WINDOWS], rng)
            for i in range(0, len(keys), _WINDOWS)
        ]
    )
    return replace(general, cell_of_group=general.cell_of_group[which])


def _over_some(
    column: Column, held: Ints, first: Ints, end: Ints, rng: np.random.Generator
) -> GeneralizedColumn:
    of, at = spread(first, end)
    within = Groups(of.astype(np.int32), len(first))
    codes = held[at].astype(np.int32)
    return generalize(replace(column, codes=codes), within, rng=rng)


def _united(parts: list[GeneralizedColumn]) -> GeneralizedColumn:
    """Return the cells of the parts one after the other."""
    if len(parts) == 1:
        return parts[0]
    texts: dict[str, int] = {}
    chosen = []
    for part in parts:
        places = [texts.setdefault(text, len(texts)) for text in part.texts]
        chosen.append(np.array([*places, -1], np.int32)[part.cell_of_group])
    return GeneralizedColumn(
        replace(parts[0].column, codes=np.zeros(0, np.int32)),
        list(texts),
        np.concatenate(chosen),
        np.unique(np.concatenate([part.named for part in parts])),
        all(part.is_exact for part in parts),
        frozenset[str]().union(*(part.labels for part in parts)),
    )


def _joined(
    column: Column,
    codes: Codes,
    wrong: Ints,
    covered: Bools,
    general: GeneralizedColumn | None,
) -> tuple[pa.Array, GeneralizedColumn]:
    """Return exact cells with the wrong ones replaced by general ones, or withheld."""
    exact = [cells.quote(text) for text in to_texts(column.values).to_pylist()]
    texts = [*exact, cells.STAR, *(() if general is None else general.texts)]
    chosen = np.where(codes == column.null_code, -1, codes)
    chosen[wrong[~covered]] = len(exact)
    width = column.null_code + 1
    others = count_codes(codes, width) - count_codes(codes[wrong], width)
    named, labels = np.flatnonzero(others[:-1]), frozenset[str]()
    if column.tree is not None:
        labels = frozenset(column.tree.labels[code] for code in named.tolist())
    if general is not None:
        own = general.cell_of_group
        chosen[wrong[covered]] = np.where(own < 0, -1, own + len(exact) + 1)
        named, labels = np.union1d(named, general.named), labels | general.labels
    shown = GeneralizedColumn(column, texts, chosen, named.astype(np.int32), False, labels)
    return dictionary_column(chosen, texts), shown


def _exact(column: Column, codes: Codes) -> GeneralizedColumn:
    counts = count_codes(codes, column.null_code + 1)
    named, labels = np.flatnonzero(counts[:-1]).astype(np.int32), frozenset[str]()
    if column.tree is not None:
        labels = frozenset(column.tree.labels[code] for code in named.tolist())
    return GeneralizedColumn(column, [], codes, named, True, labels)
