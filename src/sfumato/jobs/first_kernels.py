"""What `ahead` has compiled beside a machine's first run, on a small synthetic table.

python -m sfumato.jobs.first_kernels merging
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np

from sfumato.datasets import census
from sfumato.datasets.schemas import census_schema
from sfumato.models import LDiversity
from sfumato.models.model import BoundModel, rule_book
from sfumato.randomness import repeatable
from sfumato.rows.axes import axes_of
from sfumato.rows.cut_loss import cut_losses, gather_spans
from sfumato.rows.eligibility import bind_to_table
from sfumato.rows.exclusion_kernels import Allowance, Held, Missed, surely_hold
from sfumato.rows.exclusions import Exclusions
from sfumato.rows.fakes import with_fakes
from sfumato.rows.feasible import is_whole, sides_hold
from sfumato.rows.local_buckets import unique_buckets
from sfumato.rows.mondrian_kernel import new_scratch
from sfumato.rows.span_losses import span_losses
from sfumato.rows.working import WorkingRows
from sfumato.table import Groups, Table, encode

_ROWS = 50


def compile_kernels(method: str) -> None:
    """Compile what a method needs beside, or after, what its run compiles first."""
    table = encode(census(_ROWS), census_schema())
    (hidden,) = table.sensitive
    if method == "lgb":
        unique_buckets(hidden.codes, hidden.cardinality, 1, rng=repeatable(0))
    else:
        bound = bind_to_table(table, [LDiversity(hidden.name, 2, "frequency")])
        _compile_cuts(method, table, bound)


def _compile_cuts(method: str, table: Table, bound: tuple[BoundModel, ...]) -> None:
    """Compile parts of Mondrian under models as a method calls it, and what comes after it.

    Checks of models come first: they are a chain, each link of which needs the one before, and the
    longest of all, and the run comes to them last; but for their first link, `holds`, which
    Merging compiles before all else, so that it mostly lies in the cache by then.
    """
    columns, (hidden,) = table.quasi_identifiers, table.sensitive
    exclusions = None
    if method == "merging":
        some = np.eye(columns[0].null_code + 1, hidden.null_code + 1) > 0
        exclusions = Exclusions.of(table, {(columns[0].name, hidden.name): some})
    working = WorkingRows.of(columns, table, None, exclusions)
    axes, work, layout, known = axes_of(columns), working.matrix, working.layout, working.known()
    scratch = new_scratch(axes, span_losses(axes), layout, working.unit_count, working.pair_count)
    tally, blocks, losses = scratch.tally, scratch.blocks, scratch.losses
    book = rule_book(bound, (hidden.name,))
    side = np.zeros(table.rows, np.uint8)
    if known is not None:
        one = np.zeros(1, np.int64)
        held = Held(one, one, one, 1, 1, 1, 1)
        common, most = Missed(-1, 0.0, 0.0), Allowance(0, 0, 0.0)
        surely_hold(known.excluded, 0, 0, held, common, book, most, known.dropping)
    is_whole(work, 0, 0, layout, book, tally)
    sides_hold(work, 0, 0, side, layout, book, tally, known)
    cut_losses(axes, 0, 0, 0, 1, blocks, losses)
    gather_spans(work, 0, 0, axes, 0, 0, blocks, losses)
    if method == "merging":
        whole = Groups(np.zeros(table.rows, np.int32), 1)
        with_fakes(table, whole, 1, l=1, exclusions=exclusions, rng=repeatable(0))


def end_with_input() -> None:
    """Have this process end as soon as its input does: whoever started it is no more."""

    def wait() -> None:
        sys.stdin.buffer.read()
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


def give_way() -> None:
    """Have this process give way: where cores are busy, and where memory runs short."""
    if hasattr(os, "nice"):
        os.nice(10)
    with suppress(OSError):  # Linux alone has it
        Path("/proc/self/oom_score_adj").write_text("1000", "ascii")


if __name__ == "__main__":
    end_with_input()
    give_way()
    compile_kernels(sys.argv[1])
