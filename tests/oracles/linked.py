"""The join of published tables over their tokens, and what somebody who knows people makes of it.

Read literally from the promise: whoever knows all of a person's rows in all tables looks for tokens
that may be theirs. Nothing here looks at how the tables were made, nor trusts a group's number: two
tokens are alike if their rows have the same cells, equally often, in every table.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .cells import Exact, covers
from .points import Point, point_of_value
from .release import Published

Linked = Mapping[str, Published]
Look = tuple[tuple[str, tuple[str, ...], int], ...]
Rows = Mapping[str, Sequence[Mapping[str, Any]]]  # by table: rows, column -> value

_SIZE = "number of people in the crowd"


def token_column(release: Published) -> str:
    """Return the one column of tokens, which only the records may have."""
    (records,) = [e for e in release.manifest["tables"] if e.get("pseudonyms")]
    assert records["name"] == "records"
    (name,) = records["pseudonyms"]
    return name


def is_token(text: Any) -> bool:
    """Whether a cell is 26 signs of lower-case base32."""
    signs = string.ascii_lowercase + "234567"
    return isinstance(text, str) and len(text) == 26 and all(sign in signs for sign in text)


def rows_by_token(tables: Linked) -> dict[str, dict[str, list[Mapping[str, Any]]]]:
    """Return the join: of every token the rows that it has in each table, none in some."""
    joined: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for name, release in tables.items():
        column = token_column(release)
        for row in release.tables["records"]:
            joined.setdefault(row[column], {each: [] for each in tables})[name].append(row)
    return joined


def looks(tables: Linked) -> dict[str, Look]:
    """Return what shows of every token: cells of quasi-identifiers, and how often in each table."""
    found = {}
    for token, rows in rows_by_token(tables).items():
        seen = Counter(
            (name, tuple(repr(row[qi]) for qi in tables[name].with_role("quasi-identifier")))
            for name, own in rows.items()
            for row in own
        )
        found[token] = tuple(sorted((name, cells, n) for (name, cells), n in seen.items()))
    return found


def smallest_crowd(tables: Linked) -> int:
    """Return how many tokens at least look like any one of them; 0 where there are none."""
    return min(Counter(looks(tables).values()).values(), default=0)


def suspects(tables: Linked, known: Rows, *, withheld: bool) -> set[str]:
    """Return the tokens that may be a person's of whom all rows are known.

    `known` has the person's own rows, before publishing. A token may be theirs if its rows can be
    paired with different rows of theirs that the cells cover; if nothing is `withheld`, with all.
    """
    return {
        token
        for token, rows in rows_by_token(tables).items()
        if all(
            len(rows[name]) <= len(known[name])
            and (withheld or len(rows[name]) == len(known[name]))
            and _can_be_paired(rows[name], known[name], _fits(tables[name]))
            for name in tables
        )
    }


def _fits(release: Published) -> Callable[[Mapping[str, Any], Mapping[str, Any]], bool]:
    names = release.with_role("quasi-identifier")

    def fits(published: Mapping[str, Any], own: Mapping[str, Any]) -> bool:
        return all(
            covers(published[name], point_of_value(own[name]), release.readings[name])
            for name in names
        )

    return fits


def _can_be_paired(
    published: Sequence[Any], own: Sequence[Any], fits: Callable[[Any, Any], bool]
) -> bool:
    """Whether every published row finds an own row of its own, trying all ways."""
    if not published:
        return True
    return any(
        fits(published[0], row) and _can_be_paired(published[1:], [*own[:i], *own[i + 1 :]], fits)
        for i, row in enumerate(own)
    )


def values_of_crowds(tables: Linked, table: str, attribute: str) -> list[Counter[Point | None]]:
    """Return, of each crowd of tokens that look alike, how many tokens have each value.

    A token with several rows has each of its values once, and None only if it has no other; crowds
    without any row in the table have no place here.
    """
    joined = rows_by_token(tables)
    crowds: dict[Look, Counter[Point | None]] = {}
    for token, look in looks(tables).items():
        cells = [row[attribute] for row in joined[token][table]]
        if not cells:
            continue
        assert all(isinstance(cell, Exact) for cell in cells)
        own = {cell.point for cell in cells}
        crowds.setdefault(look, Counter()).update(own - {None} or {None})
        crowds[look][_SIZE] += 1
    return list(crowds.values())


def crowd_is_diverse(values: Counter[Point | None], l: int) -> bool:  # noqa: E741
    """Whether no value is that of more than one in l of the crowd's people who have any."""
    present = values[_SIZE] - values[None]
    known = [n for value, n in values.items() if value not in (None, _SIZE)]
    return all(n * l <= present for n in known)


def come_down(counts: Sequence[Sequence[int]], k: int) -> list[tuple[int, ...]]:
    """Return how many rows everybody keeps, by the plainest rule that works.

    Numbers that k people have are kept. Others go to the largest such numbers that they can reach
    by losing rows; those who reach none take the least that all of them have, if they are k.
    """
    own = [tuple(line) for line in counts]
    often = Counter(own)
    kept: dict[int, tuple[int, ...]] = {}
    for i, line in enumerate(own):
        reached = [v for v, n in often.items() if n >= k and any(v) and _is_below(v, line)]
        if often[line] >= k or not any(line):
            kept[i] = line
        elif reached:
            kept[i] = max(reached, key=sum)
    left = [i for i in range(len(own)) if i not in kept]
    least = tuple(min(own[i][t] for i in left) for t in range(len(own[0]))) if left else ()
    for i in left:
        kept[i] = least if len(left) >= k else (0,) * len(least)
    return [kept[i] for i in range(len(own))]


def _is_below(one: Sequence[int], other: Sequence[int]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))
