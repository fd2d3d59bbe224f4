"""The table of holders against a dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.rows.holders import EMPTY, NOBODY, hold, holder, release, stretches


@settings(max_examples=200)
@given(st.integers(1, 40), st.lists(st.integers(1, 5), min_size=1, max_size=3), st.data())
def test_the_table_knows_what_a_dictionary_knows(blocks, counts, data):
    counts = [min(count, blocks) for count in counts]
    start = stretches(np.array(counts), np.full(len(counts), blocks))
    assert start[-1] <= 2 * sum(counts)
    places = np.full(start[-1], EMPTY)
    known: dict[tuple[int, int], int] = {}
    for row in range(data.draw(st.integers(0, 30))):
        value = data.draw(st.integers(0, len(counts) - 1))
        held = sorted(block for v, block in known if v == value)
        if held and (len(held) == counts[value] or data.draw(st.booleans())):
            block = data.draw(st.sampled_from(held))
            if data.draw(st.booleans()):
                release(start, places, value, block, blocks)
                del known[value, block]
            else:
                hold(start, places, value, block, row)
                known[value, block] = row
        else:
            block = data.draw(st.integers(0, blocks - 1))
            hold(start, places, value, block, row)
            known[value, block] = row
        for v in range(len(counts)):
            for b in range(blocks):
                assert holder(start, places, v, b) == known.get((v, b), NOBODY)
