"""Weighted answers by the book: every original behind a few records, and every way to weigh them.

A group's records may have any values that their cells allow, and share the group's total weight in
any way; here in whole steps of it, with none left out. That some record weighs nothing is a limit:
in truth it weighs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

Value = int | str | None
Row = Mapping[str, Value]
# The values that each attribute of a record may have.
Open = Mapping[str, Sequence[Value]]


def originals(records: Sequence[Open]) -> Iterator[list[Row]]:
    """Yield every table that may stand behind the records of a group."""
    each = [[dict(zip(r, values, strict=True)) for values in product(*r.values())] for r in records]
    for rows in product(*each):
        yield list(rows)


def shared_out(total: int, count: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to share whole steps among so many."""
    if count == 1:
        yield (total,)
        return
    for own in range(total + 1):
        for rest in shared_out(total - own, count - 1):
            yield (own, *rest)


def of_group(
    records: Sequence[Open],
    total: int,
    holds: Callable[[Row], bool],
    attribute: str | None,
) -> set[tuple[Fraction, Fraction]]:
    """Return every sum that a group may have, with the weight that goes with it.

    Without an attribute the sum is that weight; a missing number adds nothing, and has no weight.
    """
    found = set()
    for rows in originals(records):
        for weights in shared_out(total, len(rows)):
            pairs = [
                (weight, 1 if attribute is None else row[attribute])
                for weight, row in zip(weights, rows, strict=True)
                if holds(row)
            ]
            known = [(weight, number) for weight, number in pairs if number is not None]
            found.add(
                (
                    sum((Fraction(weight) * number for weight, number in known), Fraction(0)),
                    sum((Fraction(weight) for weight, _ in known), Fraction(0)),
                )
            )
    return found


def of_groups(found: Sequence[set[tuple[Fraction, Fraction]]]) -> set[tuple[Fraction, Fraction]]:
    """Return every sum with its weight that groups may have together."""
    together = {(Fraction(0), Fraction(0))}
    for own in found:
        together = {(a + c, b + d) for a, b in together for c, d in own}
    return together
