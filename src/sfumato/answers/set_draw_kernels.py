"""Loops over records of sets, each of which draws its values; see `set_microdata.py`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


@loop
def draw_cells(
    members: Codes,
    firsts: Ints,
    sizes: Ints,
    gains: Reals,
    outsides: Reals,
    table: Reals,
    chances: Reals,
    starts: Ints,
    weights: Reals,
    out: Codes,
) -> None:
    """Fill in the codes of a cell for each record, drawn by its weight among all that may be its.

    The set of axis j is in the columns `firsts[j]` to `firsts[j + 1]`. `table` has, flat, one place
    more on each axis than the `sizes[j]` values: the sum over them, which stands for any value. A
    member weighs `gains[j]`, and any value `outsides[j]`. `chances` are a random number from 0 to 1
    for each record, and one more for each axis; `starts` and `weights` are scratch with room for
    all combinations of members and "any".
    """
    axes = len(sizes)
    for row in range(len(members)):
        starts[0] = 0
        weights[0] = 1.0
        count = 1
        for axis in range(axes):
            first, width = firsts[axis], firsts[axis + 1] - firsts[axis]
            choices = width + (1 if outsides[axis] > 0 else 0)
            # from the end, so that none is overwritten before it is read
            for place in range(count - 1, -1, -1):
                base = starts[place] * (sizes[axis] + 1)
                weight = weights[place]
                for member in range(width):
                    starts[place * choices + member] = base + members[row, first + member]
                    weights[place * choices + member] = weight * gains[axis]
                if choices > width:
                    starts[place * choices + width] = base + sizes[axis]
                    weights[place * choices + width] = weight * outsides[axis]
            count *= choices
        total = 0.0
        for place in range(count):
            weights[place] *= table[starts[place]]
            total += weights[place]
        left = chances[row, 0] * total
        chosen = 0
        while chosen < count - 1 and left >= weights[chosen]:
            left -= weights[chosen]
            chosen += 1
        cell = starts[chosen]
        # "any" becomes a value, by what the table has beside the values of the other axes
        stride = 1
        for axis in range(axes - 1, -1, -1):
            code = (cell // stride) % (sizes[axis] + 1)
            if code == sizes[axis]:
                base = cell - code * stride
                left = chances[row, axis + 1] * table[cell]
                code = 0
                while code < sizes[axis] - 1 and left >= table[base + code * stride]:
                    left -= table[base + code * stride]
                    code += 1
                cell = base + code * stride
            out[row, axis] = code
            stride *= sizes[axis] + 1
