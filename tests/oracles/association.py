"""The SLPPA paper's definitions, literally: what each group of several tables reaches.

Yao, Chen, Wang, Liu, Wu, "Sensitive Label Privacy Preservation with Anatomization for Data
Publishing", Definitions 1 to 4 and equations 3, 5, 7 and 8; and its table division (section
4.3.1). Everything but entropies is exact, in fractions. A missing sensitive value counts for
nothing in beta, delta and the sensitive factor of gamma; of a group in which every value is
missing nothing can be said, and so no claim holds.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from . import people
from .models import exact, is_missing
from .refining import phi_squared
from .release import Published, group_values

MODEL = "alpha-beta-gamma-delta"
KEYS = ("alpha", "beta", "gamma", "delta")
CHECKED = {MODEL: {"attribute", *KEYS}}
NEAR = 1e-12  # entropies that differ by less are equal

Values = Sequence[Any]
Row = Mapping[str, Any]


class Reached(NamedTuple):
    """The least parameters for which a group holds."""

    alpha: Fraction
    beta: Fraction
    gamma: Fraction
    delta: Fraction


# --- a group --------------------------------------------------------------------------------------


def largest_share(items: Sequence[Hashable]) -> Fraction:
    """Return c / n: the part that the commonest of the items has.

    >>> largest_share("aab")
    Fraction(2, 3)
    """
    return Fraction(max(items.count(item) for item in items), len(items))


def reached(
    tables: Sequence[Sequence[Hashable]], values: Values, everywhere: Values
) -> Reached | None:
    """Return what a group reaches, None where every sensitive value is missing.

    `tables` has for each quasi-identifier table what it shows of every person of the group,
    `values` their sensitive values, `everywhere` those of the whole table.

    >>> reached(["aabc", "pqrs"], ["x", "x", "y", None], ["x", "x", "y", None, "z", "z"])
    Reached(alpha=Fraction(1, 2), beta=Fraction(2, 3), gamma=Fraction(1, 12), delta=Fraction(2, 5))
    """
    here = [value for value in values if not is_missing(value)]
    known = [value for value in everywhere if not is_missing(value)]
    if not here:
        return None
    shares = [largest_share(list(table)) for table in tables]
    beta = largest_share(here)
    return Reached(
        max(shares),  # equation 3
        beta,  # equation 5
        math.prod(shares, start=beta),  # equation 7
        max(  # equation 8, for values that the group lacks too
            abs(Fraction(known.count(value), len(known)) - Fraction(here.count(value), len(here)))
            for value in set(known)
        ),
    )


def within(found: Reached | None, parameters: Mapping[str, Any]) -> bool:
    """Whether a group that reaches this keeps all four parameters.

    A float means the decimal number that it prints as.
    """
    if found is None:
        return False
    return all(getattr(found, key) <= exact(parameters[key]) for key in KEYS)


# --- rows and releases ----------------------------------------------------------------------------


def of_rows(
    rows: Sequence[Row],
    groups: Sequence[int],
    divided: Sequence[Sequence[str]],
    attribute: str,
) -> dict[int, Reached | None]:
    """Return what each group of original rows reaches, `divided` being the tables' attributes."""
    everywhere = [row[attribute] for row in rows]
    found = {}
    for group in sorted(set(groups)):
        members = [row for row, its in zip(rows, groups, strict=True) if its == group]
        tables = [[tuple(row[name] for name in table) for row in members] for table in divided]
        found[group] = reached(tables, [row[attribute] for row in members], everywhere)
    return found


def of_release(release: Published, attribute: str) -> dict[int, Reached | None]:
    """Return what each group of a published release reaches, counts spelt out."""
    values = group_values(release, attribute)
    everywhere = [value for group in values.values() for value in group]
    shown = [_by_group(release, entry) for entry in _quasi_tables(release.manifest)]
    return {
        group: reached([table[group] for table in shown], its_values, everywhere)
        for group, its_values in sorted(values.items())
    }


def claim_holds(release: Published, claim: Mapping[str, Any]) -> bool:
    """Whether every group of a release keeps what is claimed of an attribute."""
    return all(within(found, claim) for found in of_release(release, claim["attribute"]).values())


def manifest_problems(manifest: Mapping[str, Any]) -> list[str]:
    """Return where the model is claimed of what it says nothing about.

    It is about a sensitive attribute and quasi-identifiers in tables of their own, with one row a
    person; its parameters are shares, none of which can be nothing.
    """
    found = []
    roles = {each["name"]: each["role"] for each in manifest["attributes"]}
    for claim in manifest["guarantees"]:
        if claim["model"] != MODEL:
            continue
        if manifest["layout"] != "anatomized" or not _quasi_tables(manifest):
            found.append("a claim about tables of quasi-identifiers, which there are not")
        if any(entry["name"].split("_")[0] != "qi" for entry in _quasi_tables(manifest)):
            found.append("a table of quasi-identifiers under another name")
        if people.split_tables(manifest)[1]:
            found.append("a claim about single rows, where people have several")
        if roles.get(claim.get("attribute"), "") != "sensitive":
            found.append("a claim about an attribute that is not sensitive")
        numbers = [claim.get(key) for key in KEYS]
        if any(isinstance(n, bool) or not isinstance(n, int | float) for n in numbers) or not all(
            0 < n <= 1 for n in numbers
        ):
            found.append("a claim of no share, or of more than all")
    return found


def _quasi_tables(manifest: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the entries of the tables that show a quasi-identifier."""
    roles = {each["name"]: each["role"] for each in manifest["attributes"]}
    return [
        entry
        for entry in manifest["tables"]
        if any(roles.get(name) == "quasi-identifier" for name in entry["attributes"])
    ]


def _by_group(release: Published, entry: Mapping[str, Any]) -> dict[int, list[Hashable]]:
    shown: dict[int, list[Hashable]] = {}
    for row in release.tables[entry["name"]]:
        combination = tuple(row[name] for name in entry["attributes"])
        shown.setdefault(row[entry["group"]], []).extend([combination] * row[entry["count"]])
    return shown


# --- table division -------------------------------------------------------------------------------


def entropy(values: Values) -> float:
    """Return equation 9, in nats; a missing value is one of its own.

    >>> round(entropy("aab"), 4)
    0.6365
    """
    shares = [Fraction(n, len(values)) for n in Counter(values).values()]
    return -sum(float(share) * math.log(share) for share in shares)


Division = tuple[tuple[int, ...], ...]  # the columns' positions, as they joined each table


def divisions(
    columns: Sequence[Values], coarse: Sequence[Values], tables: int, most: int | None
) -> set[Division]:
    """Return every division by the rule of section 4.3.1, all the ways that ties may go.

    Weights are those of the `columns`, associations those of the `coarse` ones (numbers with many
    values by intervals). `most` is how many columns a table may have, None for any number.

    >>> columns = ["abcd", "xxyy", "ppqr"]
    >>> divisions(columns, columns, 2, None) == {((0, 1), (2,)), ((0,), (2, 1))}
    True
    """
    weights = [entropy(values) for values in columns]
    found: set[Division] = set()
    for order in _descending(weights):
        opened = tuple((i,) for i in order[:tables])
        states = {opened}
        for i in order[tables:]:
            states = {
                (*state[:place], (*state[place], i), *state[place + 1 :])
                for state in states
                for place in _strongest(i, state, coarse, most)
            }
        found |= states
    return found


def _descending(weights: Sequence[float]) -> list[tuple[int, ...]]:
    """Return the orders from the largest weight to the smallest."""
    orders: list[tuple[int, ...]] = [()]
    for _ in weights:
        longer = []
        for order in orders:
            left = [i for i in range(len(weights)) if i not in order]
            largest = max(weights[i] for i in left)
            longer += [(*order, i) for i in left if weights[i] >= largest - NEAR]
        orders = longer
    return orders


def _strongest(
    column: int,
    state: Sequence[Sequence[int]],
    coarse: Sequence[Values],
    most: int | None,
) -> list[int]:
    """Return the tables with room whose columns the column goes with most, on average."""
    mean = {
        place: sum((phi_squared(coarse[column], coarse[other]) for other in table), Fraction(0))
        / len(table)
        for place, table in enumerate(state)
        if most is None or len(table) < most
    }
    largest = max(mean.values())
    return [place for place, strength in mean.items() if strength == largest]
