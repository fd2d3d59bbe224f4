"""Privacy models as their papers define them, on plain lists of values.

`values` are one group's values of a sensitive attribute, `table` those of the whole table; None
or NaN is a missing value. `units` (and `table_units`), when given, say whose value each one is:
then the count of a value is the number of distinct units that have it, and sizes count units.

`missing="excluded"` leaves missing values out of every count; `missing="value"` counts them as one
more value. A group in which no value counts tells nothing: frequency, t-closeness, beta-likeness
and alpha hold there, while distinct and entropy diversity fail for l > 1 and recursive always.

A float parameter means the decimal number it prints as (0.3 is 3/10), so that ties are ties.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from typing import Any

from .transport import cheapest_transport, transport_by_pot

_MISSING_KEY = ("missing",)  # where a missing value counts; a tuple, so no value equals it

Values = Sequence[Any]
Units = Sequence[Hashable] | None
Number = int | float | Fraction


def exact(number: Number) -> Fraction:
    """Return the decimal number that a parameter was written as.

    >>> exact(0.3)
    Fraction(3, 10)
    """
    return Fraction(str(number)) if isinstance(number, float) else Fraction(number)


def is_missing(value: Any) -> bool:
    """Whether a value is missing: None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _pairs(values: Values, units: Units, missing: str) -> set[tuple[Hashable, Hashable]]:
    """Return who has which value, among the values that count, each pair once."""
    if missing not in ("excluded", "value"):
        raise ValueError(f"missing is 'excluded' or 'value', not {missing!r}")
    owners: Sequence[Hashable] = range(len(values)) if units is None else units
    return {
        (owner, _MISSING_KEY if is_missing(value) else value)
        for owner, value in zip(owners, values, strict=True)
        if missing == "value" or not is_missing(value)
    }


def counts(values: Values, *, units: Units = None, missing: str = "excluded") -> dict[Any, int]:
    """Return how many units have each value that counts.

    >>> counts(["flu", "flu", None])
    {'flu': 2}
    >>> counts(["flu", "flu", "cold"], units=[1, 1, 1]) == {"flu": 1, "cold": 1}
    True
    """
    result: dict[Any, int] = {}
    for _, value in _pairs(values, units, missing):
        result[value] = result.get(value, 0) + 1
    return result


def size(values: Values, *, units: Units = None) -> int:
    """Return the number of units in the group, missing value or not."""
    return len(values) if units is None else len(set(units))


def counted(values: Values, *, units: Units = None, missing: str = "excluded") -> int:
    """Return the number of units with at least one value that counts."""
    return len({owner for owner, _ in _pairs(values, units, missing)})


def distribution(
    values: Values, *, units: Units = None, missing: str = "excluded"
) -> dict[Any, Fraction]:
    """Return each value's count as a part of the sum of all counts."""
    having = counts(values, units=units, missing=missing)
    return {value: Fraction(n, sum(having.values())) for value, n in having.items()}


# --- k-anonymity (Samarati 2001, Sweeney 2002) ---------------------------------------------------


def k_anonymity(values: Values, k: int, *, units: Units = None) -> bool:
    """Whether at least k units are in the group."""
    return size(values, units=units) >= k


# --- l-diversity (Machanavajjhala et al. 2006; frequency: Xiao and Tao 2006) ---------------------


def distinct_diversity(
    values: Values, ell: Number, *, units: Units = None, missing: str = "excluded"
) -> bool:
    """Whether at least l different values occur (l = 1 asks for nothing)."""
    return ell <= 1 or len(counts(values, units=units, missing=missing)) >= exact(ell)


def frequency_diversity(
    values: Values, ell: Number, *, units: Units = None, missing: str = "excluded"
) -> bool:
    """Whether no value belongs to more than one in l of the units that have a value."""
    having = counts(values, units=units, missing=missing)
    whole = counted(values, units=units, missing=missing)
    return all(n * exact(ell) <= whole for n in having.values())


def entropy(values: Values, *, units: Units = None, missing: str = "excluded") -> float:
    """Return the entropy in nats of the distribution of the values; 0 for none."""
    shares = distribution(values, units=units, missing=missing).values()
    return -sum(float(share) * math.log(share) for share in shares)


def entropy_diversity(
    values: Values, ell: Number, *, units: Units = None, missing: str = "excluded"
) -> bool:
    """Whether the entropy is at least ln l, decided in integers.

    With counts c of sum N, H = ln N - (1/N) sum c ln c, hence H >= ln l if and only if
    N^N >= l^N * prod c^c.
    """
    having = counts(values, units=units, missing=missing)
    whole = sum(having.values())
    if not whole:
        return ell <= 1
    product = math.prod(n**n for n in having.values())
    return whole**whole >= exact(ell) ** whole * product


def recursive_diversity(
    values: Values, ell: int, c: Number, *, units: Units = None, missing: str = "excluded"
) -> bool:
    """Whether r_1 < c (r_l + ... + r_m), for the counts r_1 >= r_2 >= ... >= r_m.

    With fewer than l values the sum on the right is empty, and the condition fails.
    """
    ranked = sorted(counts(values, units=units, missing=missing).values(), reverse=True)
    return len(ranked) >= max(ell, 1) and ranked[0] < exact(c) * sum(ranked[ell - 1 :])


# --- l-unique groups (Xiao and Tao 2006, Anatomy) ------------------------------------------------


def l_unique(values: Values, ell: int, *, units: Units = None) -> bool:
    """Whether the non-missing values all differ and there are at least l of them."""
    having = counts(values, units=units)
    return len(having) >= ell and all(n == 1 for n in having.values())


# --- t-closeness (Li, Li and Venkatasubramanian 2007) --------------------------------------------

GroundDistance = Callable[[Any, Any], Fraction]


def equal_distance(a: Any, b: Any) -> Fraction:
    """Return 1 for different values, 0 for the same."""
    return Fraction(a != b)


def ordered_distance(order: Sequence[Any]) -> GroundDistance:
    """Return |i - j| / (m - 1) between the i-th and the j-th of the m values in `order`.

    A missing value, where it counts, has no place in the order: it is at distance 1 of all others.
    """
    rank = {value: i for i, value in enumerate(order)}

    def between(a: Any, b: Any) -> Fraction:
        if a == b:
            return Fraction(0)
        if _MISSING_KEY in (a, b):
            return Fraction(1)
        return Fraction(abs(rank[a] - rank[b]), len(order) - 1)

    return between


def hierarchical_distance(rows: Sequence[Sequence[Any]]) -> GroundDistance:
    """Return the height of the lowest common ancestor over the height of the hierarchy.

    `rows` are those of a hierarchy file: leaf, level 1, level 2, ..., root. The height of the
    lowest common ancestor of two different leaves is the number of the first level at which their
    rows agree, and the height of the hierarchy is the number of levels above the leaves. A missing
    value, where it counts, is a child of the root: at distance 1 of all others.
    """
    path = {row[0]: list(row[1:]) for row in rows}

    def between(a: Any, b: Any) -> Fraction:
        if a == b:
            return Fraction(0)
        if _MISSING_KEY in (a, b):
            return Fraction(1)
        levels = zip(path[a], path[b], strict=True)
        first = next(i for i, (one, other) in enumerate(levels, start=1) if one == other)
        return Fraction(first, len(path[a]))

    return between


def ground_distance(
    name: str,
    table: Values,
    *,
    order: Sequence[Any] | None = None,
    hierarchy: Sequence[Sequence[Any]] | None = None,
) -> GroundDistance:
    """Return the ground distance of that name.

    `ordered` ranks the distinct values that occur in the table, in ascending order, or in the
    order given (values that do not occur in the table take no rank). `hierarchical` needs the rows
    of the hierarchy file.
    """
    if name == "equal":
        return equal_distance
    if name == "ordered":
        occurring = {value for value in table if not is_missing(value)}
        ranked = sorted(occurring) if order is None else [v for v in order if v in occurring]
        return ordered_distance(ranked)
    if name == "hierarchical":
        if hierarchy is None:
            raise ValueError("the hierarchical distance needs a hierarchy")
        return hierarchical_distance(hierarchy)
    raise ValueError(f"unknown distance {name!r}")


def emd(
    values: Values,
    table: Values,
    distance: GroundDistance = equal_distance,
    *,
    units: Units = None,
    table_units: Units = None,
    missing: str = "excluded",
    by_pot: bool = False,
) -> Fraction | float:
    """Return the earth mover's distance from the group's distribution to the table's.

    It is 0 for a group in which no value counts. `by_pot` asks the POT library instead.
    """
    here = distribution(values, units=units, missing=missing)
    whole = distribution(table, units=table_units, missing=missing)
    if not here:
        return Fraction(0)
    return (transport_by_pot if by_pot else cheapest_transport)(here, whole, distance)


def t_closeness(
    values: Values,
    table: Values,
    t: Number,
    distance: GroundDistance = equal_distance,
    *,
    units: Units = None,
    table_units: Units = None,
    missing: str = "excluded",
) -> bool:
    """Whether the earth mover's distance to the whole table is at most t, exactly."""
    moved = emd(values, table, distance, units=units, table_units=table_units, missing=missing)
    return moved <= exact(t)


# --- (alpha, k)-anonymity (Wong et al. 2006, for every sensitive value) --------------------------


def alpha_k_anonymity(
    values: Values, alpha: Number, k: int, *, units: Units = None, missing: str = "excluded"
) -> bool:
    """Whether the group has k units and no value more than the share alpha of those with one."""
    having = counts(values, units=units, missing=missing)
    whole = counted(values, units=units, missing=missing)
    few = all(n <= exact(alpha) * whole for n in having.values())
    return few and k_anonymity(values, k, units=units)


# --- beta-likeness (Cao and Karras 2012) ---------------------------------------------------------


def relative_gains(
    values: Values,
    table: Values,
    *,
    units: Units = None,
    table_units: Units = None,
    missing: str = "excluded",
) -> dict[Any, tuple[Fraction, Fraction]]:
    """Return (table share p, gain (q - p) / p) for every value whose share q in the group is more.

    A value of the group that the table lacks has no gain: the group is not part of the table.
    """
    here = distribution(values, units=units, missing=missing)
    whole = distribution(table, units=table_units, missing=missing)
    return {
        value: (whole[value], (q - whole[value]) / whole[value])
        for value, q in here.items()
        if q > whole[value]
    }


def beta_likeness(
    values: Values,
    table: Values,
    beta: Number,
    variant: str = "basic",
    *,
    units: Units = None,
    table_units: Units = None,
    missing: str = "excluded",
) -> bool:
    """Whether every relative gain is at most beta (enhanced: at most min(beta, -ln p))."""
    if variant not in ("basic", "enhanced"):
        raise ValueError(f"unknown variant {variant!r}")
    gains = relative_gains(
        values, table, units=units, table_units=table_units, missing=missing
    ).values()
    if any(gain > exact(beta) for _, gain in gains):
        return False
    return variant == "basic" or all(gain <= _minus_log(p) for p, gain in gains)


def _minus_log(share: Fraction) -> Fraction:
    """Return -ln share to fifty digits: a rational is never equal to it, so no tie is lost."""
    with localcontext() as context:
        context.prec = 60
        return -Fraction((Decimal(share.numerator) / Decimal(share.denominator)).ln())


# --- (d, alpha)-linkability (after Sattar et al. 2014) --------------------------------------------


def likely_shared(
    values: Values,
    table: Values,
    d: int,
    *,
    units: Units = None,
    table_units: Units = None,
) -> Fraction:
    """Return the chance that a like group shares d values with this one beside a person's own.

    Each further value stands in the like group, whose size - 1 other people have values as in the
    table (a missing one among them), on its own. The least chance counts, over whose value is the
    person's own; sets of shared values are tried one by one. It is 1 where no value counts.
    """
    everywhere = distribution(table, units=table_units, missing="value")
    others = size(values, units=units) - 1
    there = {value: 1 - (1 - everywhere[value]) ** others for value in counts(values, units=units)}
    least = Fraction(1)
    for own in there:
        further = [chance for value, chance in there.items() if value != own]
        enough = Fraction(0)
        for shared in range(d, len(further) + 1):
            for chosen in combinations(range(len(further)), shared):
                enough += math.prod(
                    chance if i in chosen else 1 - chance for i, chance in enumerate(further)
                )
        least = min(least, enough)
    return least


def linkable(
    values: Values,
    table: Values,
    d: int,
    alpha: Number,
    *,
    units: Units = None,
    table_units: Units = None,
) -> bool:
    """Whether a like group shares d further values with a chance of at least alpha."""
    return likely_shared(values, table, d, units=units, table_units=table_units) >= exact(alpha)


# --- any of them, by the words of a manifest -----------------------------------------------------


def holds(
    claim: Mapping[str, Any],
    group: Sequence[Mapping[str, Any]],
    table: Sequence[Mapping[str, Any]],
    *,
    unit: str | None = None,
    order: Sequence[Any] | None = None,
    hierarchy: Sequence[Sequence[Any]] | None = None,
) -> bool:
    """Whether a guarantee, in the words of the release format, holds for a group of rows.

    `order` and `hierarchy` belong to the claim's attribute; `unit` names the column of the units.

    >>> rows = [{"sex": "f"}, {"sex": "m"}]
    >>> holds({"model": "t-closeness", "attribute": "sex", "distance": "equal", "t": 0}, rows, rows)
    True
    """
    attribute = claim.get("attribute")
    values = [row[attribute] if attribute else None for row in group]
    everywhere = [row[attribute] if attribute else None for row in table]
    here: dict[str, Any] = {"units": [row[unit] for row in group] if unit else None}
    both = here | {"table_units": [row[unit] for row in table] if unit else None}
    rule = {"missing": claim.get("missing", "excluded")}
    match claim["model"], claim.get("variant"):
        case "k-anonymity", _:
            return k_anonymity(values, claim["k"], **here)
        case "l-diversity", "distinct":
            return distinct_diversity(values, claim["l"], **here, **rule)
        case "l-diversity", "frequency":
            return frequency_diversity(values, claim["l"], **here, **rule)
        case "l-diversity", "entropy":
            return entropy_diversity(values, claim["l"], **here, **rule)
        case "l-diversity", "recursive":
            return recursive_diversity(values, claim["l"], claim["c"], **here, **rule)
        case "l-unique-groups", _:
            return l_unique(values, claim["l"], **here)
        case "t-closeness", _:
            name = claim["distance"]
            ground = ground_distance(name, everywhere, order=order, hierarchy=hierarchy)
            return t_closeness(values, everywhere, claim["t"], ground, **both, **rule)
        case "alpha-k-anonymity", _:
            return alpha_k_anonymity(values, claim["alpha"], claim["k"], **here, **rule)
        case "beta-likeness", variant:
            return beta_likeness(values, everywhere, claim["beta"], variant, **both, **rule)
        case "linkable", _:
            return linkable(values, everywhere, claim["d"], claim["alpha"], **both)
    raise ValueError(f"no oracle for {claim['model']!r}")
