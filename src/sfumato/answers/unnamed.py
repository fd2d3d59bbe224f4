"""Values that a column names nowhere: what a cell that tells nothing may hold besides the named."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sfumato.answers.number_line import NumberLine
from sfumato.answers.pieces import NEXT, piece_starts, text_starts
from sfumato.answers.slots import Slots
from sfumato.predicates.expression import Predicate
from sfumato.schema.attribute import Kind
from sfumato.schema.kinds import is_text


def unnamed_values(slots: Slots, predicates: Sequence[Predicate | None]) -> pa.Array | None:
    """Return values that are named nowhere, one at least for all of which predicates say the same.

    None where they are not known to be all.
    """
    line, dtype = slots.line, slots.entry.dtype
    if line is not None and not pa.types.is_temporal(dtype):
        return _numbers(slots, line, predicates)
    if slots.entry.kind is Kind.ORDINAL or not is_text(dtype):
        return None
    return _texts(slots, predicates)


def _numbers(slots: Slots, line: NumberLine, predicates: Sequence[Predicate | None]) -> pa.Array:
    low, high = line.reach
    starts = piece_starts(slots, line, predicates, low, high)
    named = set(line.ticks(slots.values).tolist())
    ends = [*(start - 1 for start in starts[1:]), high]
    left = [a for a, b in zip(starts, ends, strict=True) if a < b or a not in named]
    is_small = low >= -(2**63) and high < 2**63
    found = line.values(np.array(left, np.int64 if is_small else object))
    if pa.types.is_floating(line.dtype):  # beyond all ticks
        found = pa.concat_arrays([found, pa.array(np.array([-np.inf, np.inf]), found.type)])
    return found


def _texts(slots: Slots, predicates: Sequence[Predicate | None]) -> pa.Array:
    """Return the first text of each piece that is named nowhere, where there is one."""
    starts, found = text_starts(predicates), []
    for start, end in zip(starts, [*starts[1:], None], strict=True):
        text = start
        while text in slots.named:
            text += NEXT
        if end is None or text < end:
            found.append(text)
    return pa.array(found, slots.values.type)
