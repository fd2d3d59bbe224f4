"""The fewest rows to withhold so that no value of a sensitive attribute is too common."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import Infeasible, ParameterError
from sfumato.methods import Method
from sfumato.randomness import Randomness
from sfumato.schema import Columns, LazyTable
from sfumato.table import Table

Ints = npt.NDArray[np.int64]
Rows = TypeVar("Rows", pa.Table, LazyTable, Columns)


def most_kept(counts: Ints, share: Fraction) -> int:
    """Return how often a value may occur so that the most rows stay: 0 where no row can.

    With every count cut to at most m, the rows are eligible if m is at most that share of the sum
    of the cut counts. The difference of the two sides is concave in m and 0 at m = 0, so all m up
    to the largest one are eligible, and the largest keeps most.

    >>> counts = np.array([7, 2, 1])
    >>> most_kept(counts, Fraction(1, 2)), most_kept(counts, Fraction(1, 4))
    (3, 0)
    """
    low, high = 0, int(counts.max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        if middle * share.denominator <= share.numerator * int(np.minimum(counts, middle).sum()):
            low = middle
        else:
            high = middle - 1
    return low


def rows_to_withhold(
    table: Table, attribute: str, share: Fraction, *, rng: np.random.Generator
) -> Ints:
    """Return the fewest rows without which no value of `attribute` exceeds the share, ascending.

    They are chosen at random among the rows of each value that is too common; rows without a value
    always stay. *Refuses* (Infeasible) an attribute with too few different values.
    """
    column = table[attribute]
    counts = np.bincount(column.codes, minlength=column.null_code + 1)[: column.null_code]
    most = most_kept(counts, share)
    if most == 0:
        raise Infeasible(
            f"`{attribute}` has {column.cardinality} different values, so no rows would be left "
            f"if none may have more than {float(share):.4g} of them; "
            f"allow a share of {1 / max(column.cardinality, 1):.4g}, or l = {column.cardinality}"
        )
    withheld = [
        rng.choice(np.flatnonzero(column.codes == code), int(counts[code]) - most, replace=False)
        for code in np.flatnonzero(counts > most)
    ]
    return np.sort(np.concatenate(withheld)) if withheld else np.zeros(0, dtype=np.int64)


def withheld_rows(table: Table, method: Method, randomness: Randomness) -> Ints:
    """Return the rows to withhold so that a method can publish the rest; none if it cannot tell.

    *Refuses* (ParameterError) several sensitive attributes.
    """
    share = method.largest_share()
    # The methods that need values themselves refuse a table without a sensitive attribute.
    if share is None or not table.sensitive:
        return np.zeros(0, dtype=np.int64)
    if len(table.sensitive) > 1:
        raise ParameterError(
            "`on_infeasible: suppress` is for one sensitive attribute, and there are "
            f"{len(table.sensitive)}; use `error`"
        )
    rng = randomness.generator("withheld rows")
    return rows_to_withhold(table, table.sensitive[0].name, share, rng=rng)


def without(rows: Rows, withheld: Ints) -> Rows:
    """Return the other rows."""
    keep = np.ones(rows.num_rows, dtype=np.bool_)
    keep[withheld] = False
    return rows.filter(pa.array(keep))
