"""GROUP BY: the same question once for every combination of values that rows may have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import prod

import pyarrow as pa

from sfumato.answers.estimate import Asked, Count, Estimate, Label, Query, Row
from sfumato.answers.published import MOST_GROUPS, Published, Values
from sfumato.errors import ParameterError
from sfumato.predicates.expression import And, Comparison, IsMissing, Predicate, Value
from sfumato.predicates.places import placed
from sfumato.schema.kinds import is_text
from sfumato.schema.text import to_texts

Ask = Callable[[Asked, Predicate | None], Estimate]


@dataclass(frozen=True, slots=True)
class _Group:
    """Values of the first group columns, and the predicate that says so and what was asked."""

    labels: tuple[Label, ...]
    predicate: Predicate | None
    count: Estimate


def grouped(
    ask: Ask, cells: Published, query: Query, withheld: int = 0, count_rows: Ask | None = None
) -> tuple[list[Row], list[str]]:
    """Return a row for every group that may have rows, and the columns with further values.

    Without group columns all rows are one group, which is there even if it is empty. So many rows
    of which nothing is known were `withheld`: groups that may have no others are left out. Rows
    are counted by `count_rows`, if `ask` does not.

    A group is a combination of values of the group columns, a missing one counting as a value.
    Columns are joined one after the other, and what no row can be is left out at once, so that
    the full table of combinations is not gone through where most of it is empty. Values that the
    release does not name are in no group: these columns are named.

    Refuses (ParameterError) more than 10,000 combinations, and values that cannot be listed.
    """
    if not query.group_by:
        return [Row((), ask(query.aggregate, query.where))], []
    values = {}
    for number, name in enumerate(query.group_by):
        with placed(query.places, number):
            values[name] = cells.values(name, query.where)
    _refuse_many(values, query.places)
    count = ask if count_rows is None else count_rows
    found = [_Group((), query.where, count(Count(), query.where))]
    for name, own in values.items():
        found = [
            group
            for before in found
            for group in _divided(count, before, name, _choices(name, own), withheld)
        ]
    rows = [
        Row(
            group.labels,
            group.count
            if isinstance(query.aggregate, Count) and count_rows is None
            else ask(query.aggregate, group.predicate),
        )
        for group in found
    ]
    return rows, [name for name, own in values.items() if own.is_open]


def _refuse_many(values: Mapping[str, Values], places: Sequence[int]) -> None:
    combinations = prod(map(len, values.values()))
    if combinations <= MOST_GROUPS:
        return
    sizes = ", ".join(f"'{name}' {len(own)}" for name, own in values.items())
    first = min(range(len(places)), key=places.__getitem__, default=0)
    with placed(places, first):
        raise ParameterError(
            f"there are {combinations} combinations of values ({sizes}), more than {MOST_GROUPS}; "
            "group by fewer columns, or narrow them after WHERE"
        )


def _divided(
    ask: Ask, group: _Group, name: str, choices: list[tuple[Label, Predicate]], withheld: int
) -> list[_Group]:
    """Return the groups that one more column makes of a group, without those that are empty.

    Every group may have the `withheld` rows: one that has no more than these at most is empty.
    """
    parts = []
    for label, leaf in choices:
        predicate = leaf if group.predicate is None else And((group.predicate, leaf))
        count = ask(Count(), predicate)
        if count.high > withheld:
            parts.append(_Group((*group.labels, label), predicate, count))
    return parts


def _choices(name: str, values: Values) -> list[tuple[Label, Predicate]]:
    """Return each value as it is shown, with the predicate that a row has it."""
    choices: list[tuple[Label, Predicate]] = [
        (label, Comparison(name, "=", literal)) for label, literal in literals(values.known)
    ]
    return [*choices, (None, IsMissing(name))] if values.may_miss else choices


def literals(values: pa.Array) -> list[tuple[Label, Value]]:
    """Return each value for people, and as a literal that compares with its column."""
    dtype = values.type
    if pa.types.is_boolean(dtype) or pa.types.is_integer(dtype):
        return [(value, value) for value in values.to_pylist()]
    if pa.types.is_floating(dtype):
        return [(value, Decimal(repr(value))) for value in values.to_pylist()]
    texts = to_texts(values.cast(pa.string()) if is_text(dtype) else values).to_pylist()
    if pa.types.is_decimal(dtype):
        return [(text, Decimal(text)) for text in texts]
    if pa.types.is_duration(dtype):
        return [(text, int(text)) for text in texts]
    return [(text, text) for text in texts]
