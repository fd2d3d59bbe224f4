"""Predicates on the cells of one row, as values: what a rule or a WHERE clause says.

The leaves compare one attribute with literals. Missing cells follow SQL: a comparison with one is
neither true nor false, and a row satisfies a predicate only where it is true.

A leaf that was read from a text also knows where its literals begin there (`places`, in their
order), for messages. That is no part of what it says: equal leaves may stand in different places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from difflib import get_close_matches
from math import isfinite
from typing import Any, Literal, TypeAlias

from sfumato.errors import ParameterError

# Words that only stand for a column when they are quoted.
RESERVED_WORDS = frozenset(
    ("AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "ESCAPE", "IS", "NULL", "TRUE", "FALSE")
)

# How far a number's first digit may be from its point: enough for any type of number, and few
# enough digits to calculate with.
MAX_MAGNITUDE = 400

Operator: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">="]
Value: TypeAlias = bool | int | Decimal | str | date  # a datetime is a date, too

OPPOSITE: dict[Operator, Operator] = {
    "=": "!=",
    "!=": "=",
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
}

_BARE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ESCAPE = "!"


@dataclass(frozen=True, slots=True)
class Comparison:
    """That the attribute's cell stands in the relation to the literal.

    >>> str(Comparison("marital-status", "!=", "Divorced"))
    '"marital-status" != \\'Divorced\\''
    """

    attribute: str
    operator: Operator
    value: Value
    places: tuple[int, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.operator not in OPPOSITE:
            raise ParameterError(f"column '{self.attribute}': operators are {', '.join(OPPOSITE)}")
        object.__setattr__(self, "value", _literal(self.value, self.attribute))

    @property
    def attributes(self) -> frozenset[str]:
        """The names of the columns that it reads."""
        return frozenset((self.attribute,))

    def __str__(self) -> str:
        return f"{_name(self.attribute)} {self.operator} {_text(self.value)}"


@dataclass(frozen=True, slots=True)
class OneOf:
    """That the attribute's cell is one of the literals."""

    attribute: str
    values: tuple[Value, ...]
    places: tuple[int, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.values:
            raise ParameterError(f"column '{self.attribute}': IN needs at least one literal")
        literals = tuple(_literal(value, self.attribute) for value in self.values)
        object.__setattr__(self, "values", literals)

    @property
    def attributes(self) -> frozenset[str]:
        """The names of the columns that it reads."""
        return frozenset((self.attribute,))

    def __str__(self) -> str:
        return f"{_name(self.attribute)} IN ({', '.join(map(_text, self.values))})"


@dataclass(frozen=True, slots=True)
class Between:
    """That the attribute's cell lies between the literals, or at one of them."""

    attribute: str
    low: Value
    high: Value
    places: tuple[int, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", _literal(self.low, self.attribute))
        object.__setattr__(self, "high", _literal(self.high, self.attribute))

    @property
    def attributes(self) -> frozenset[str]:
        """The names of the columns that it reads."""
        return frozenset((self.attribute,))

    def __str__(self) -> str:
        return f"{_name(self.attribute)} BETWEEN {_text(self.low)} AND {_text(self.high)}"


@dataclass(frozen=True, slots=True)
class Prefix:
    """That the attribute's text begins with the prefix.

    >>> str(Prefix("share", "50%")), str(Prefix("job", "Nurse"))
    ("share LIKE '50!%%' ESCAPE '!'", "job LIKE 'Nurse%'")
    """

    attribute: str
    prefix: str
    places: tuple[int, ...] = field(default=(), compare=False, repr=False)

    @property
    def attributes(self) -> frozenset[str]:
        """The names of the columns that it reads."""
        return frozenset((self.attribute,))

    def __str__(self) -> str:
        column = _name(self.attribute)
        if not re.search("[%_]", self.prefix):
            return f"{column} LIKE {_text(self.prefix + '%')}"
        escaped = re.sub(f"[%_{_ESCAPE}]", rf"{_ESCAPE}\g<0>", self.prefix)
        return f"{column} LIKE {_text(escaped + '%')} ESCAPE '{_ESCAPE}'"


@dataclass(frozen=True, slots=True)
class IsMissing:
    """That the attribute's cell is missing; the one predicate that is never unknown."""

    attribute: str

    @property
    def attributes(self) -> frozenset[str]:
        """The names of the columns that it reads."""
        return frozenset((self.attribute,))

    def __str__(self) -> str:
        return f"{_name(self.attribute)} IS NULL"


@dataclass(frozen=True, slots=True)
class And:
    """That all parts hold; parts that are conjunctions themselves are taken apart.

    >>> str(And((IsMissing("age"), Or((IsMissing("sex"), Prefix("job", "N"))))))
    "age IS NULL AND (sex IS NULL OR job LIKE 'N%')"
    """

    parts: tuple[Predicate, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", _flat(self.parts, And))

    @property
    def attributes(self) -> frozenset[str]:
        """The names of the columns that it reads."""
        return frozenset().union(*(part.attributes for part in self.parts))

    def __str__(self) -> str:
        return " AND ".join(
            f"({part})" if isinstance(part, Or) else str(part) for part in self.parts
        )


@dataclass(frozen=True, slots=True)
class Or:
    """That at least one part holds; parts that are disjunctions themselves are taken apart."""

    parts: tuple[Predicate, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", _flat(self.parts, Or))

    @property
    def attributes(self) -> frozenset[str]:
        """The names of the columns that it reads."""
        return frozenset().union(*(part.attributes for part in self.parts))

    def __str__(self) -> str:
        return " OR ".join(
            f"({part})" if isinstance(part, And) else str(part) for part in self.parts
        )


@dataclass(frozen=True, slots=True)
class Not:
    """That the part is false: where it is unknown, so is its negation."""

    part: Predicate

    @property
    def attributes(self) -> frozenset[str]:
        """The names of the columns that it reads."""
        return self.part.attributes

    def __str__(self) -> str:
        if isinstance(self.part, IsMissing):
            return f"{_name(self.part.attribute)} IS NOT NULL"
        return f"NOT ({self.part})" if isinstance(self.part, And | Or) else f"NOT {self.part}"


Leaf: TypeAlias = Comparison | OneOf | Between | Prefix | IsMissing
Predicate: TypeAlias = Leaf | And | Or | Not


def negation_normal_form(predicate: Predicate) -> Predicate:
    """Return an equivalent predicate in which NOT stands only before IN, LIKE and IS NULL.

    Equivalent for missing cells, too. What is left is monotone in its leaves, so that a row
    satisfies it exactly if it does with every unknown leaf taken as false.

    >>> str(negation_normal_form(Not(And((Between("age", 18, 65), Comparison("sex", "=", "F"))))))
    "age < 18 OR age > 65 OR sex != 'F'"
    """
    return _normal(predicate, negated=False)


def _normal(predicate: Predicate, negated: bool) -> Predicate:
    match predicate:
        case Not(part):
            return _normal(part, not negated)
        case And(parts) | Or(parts):
            is_and = isinstance(predicate, And) is not negated
            return (And if is_and else Or)(tuple(_normal(part, negated) for part in parts))
        case _ if not negated:
            return predicate
        case Comparison(attribute, operator, value, places):
            return Comparison(attribute, OPPOSITE[operator], value, places)
        case Between(attribute, low, high, places):
            below = Comparison(attribute, "<", low, places[:1])
            return Or((below, Comparison(attribute, ">", high, places[1:])))
    return Not(predicate)


def unknown_column(name: str, known: Iterable[str]) -> str:
    """Return how to say that there is no such column, with the nearest name that there is.

    >>> unknown_column("Age", ["age", "sex"])
    "there is no column 'Age'; did you mean 'age'?"
    """
    by_folded = {column.casefold(): column for column in known}
    near = get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.5)
    hint = f"did you mean '{by_folded[near[0]]}'?" if near else "compare it with the schema"
    return f"there is no column '{name}'; {hint}"


def _flat(parts: Iterable[Predicate], kind: type[And | Or]) -> tuple[Predicate, ...]:
    flat: list[Predicate] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, kind) else (part,))
    if len(flat) < 2:
        raise ParameterError(f"{kind.__name__} joins at least two predicates, not {len(flat)}")
    return tuple(flat)


def _literal(value: Any, attribute: str) -> Value:
    """Return the value if it can be a literal; a float as the decimal that it is written as."""
    if isinstance(value, float) and isfinite(value):
        return Decimal(repr(value))
    if isinstance(value, bool | str | date):
        return value
    if isinstance(value, int) and abs(value) < 10 ** (MAX_MAGNITUDE + 1):
        return value
    is_finite = isinstance(value, Decimal) and value.is_finite()
    if is_finite and abs(value.adjusted()) <= MAX_MAGNITUDE:
        return value  # type: ignore[no-any-return]
    raise ParameterError(
        f"column '{attribute}': a literal is a text, a truth value, a date or a number within "
        f"{MAX_MAGNITUDE} digits around the point; this {type(value).__name__} is none"
    )


def _name(attribute: str) -> str:
    if _BARE_NAME.fullmatch(attribute) and attribute.upper() not in RESERVED_WORDS:
        return attribute
    return '"' + attribute.replace('"', '""') + '"'


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | Decimal):
        return f"{value:f}" if isinstance(value, Decimal) else str(value)
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    return "'" + value.replace("'", "''") + "'"
