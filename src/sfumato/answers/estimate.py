"""What may be asked of a release, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import Any, TypeAlias

from sfumato.errors import ParameterError
from sfumato.markup import join, table, tag
from sfumato.predicates.expression import Predicate


@dataclass(frozen=True, slots=True)
class Count:
    """How many rows there are."""

    def __str__(self) -> str:
        return "COUNT(*)"


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of an attribute's numbers; missing ones add nothing, and no rows sum to 0.

    `place` is where the attribute begins in the text of a query, for messages.
    """

    attribute: str
    place: int | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"SUM({_quoted(self.attribute)})"


@dataclass(frozen=True, slots=True)
class Average:
    """The mean of an attribute's numbers; missing ones do not count, and no numbers have none.

    `place` is where the attribute begins in the text of a query, for messages.
    """

    attribute: str
    place: int | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"AVG({_quoted(self.attribute)})"


Aggregate: TypeAlias = Count | Sum  # what a layout answers by itself
Asked: TypeAlias = Aggregate | Average


@dataclass(frozen=True, slots=True)
class Query:
    """One aggregate over the rows that satisfy `where` (None: all), for each group of rows.

    `places` are where the group columns begin after GROUP BY in the text of a query, for messages.

    >>> from sfumato.predicates import parse
    >>> print(Query(Average("age"), ("sex",), parse("job = 'Nurse'")))
    SELECT "sex", AVG("age") WHERE job = 'Nurse' GROUP BY "sex"
    """

    aggregate: Asked
    group_by: tuple[str, ...] = ()
    where: Predicate | None = None
    places: tuple[int, ...] = field(default=(), compare=False, repr=False)

    @property
    def attributes(self) -> frozenset[str]:
        """The names of the columns that it reads."""
        summed = () if isinstance(self.aggregate, Count) else (self.aggregate.attribute,)
        return frozenset((*summed, *self.group_by)) | (
            frozenset() if self.where is None else self.where.attributes
        )

    def __str__(self) -> str:
        names = [_quoted(name) for name in self.group_by]
        where = "" if self.where is None else f" WHERE {self.where}"
        groups = f" GROUP BY {', '.join(names)}" if names else ""
        return f"SELECT {', '.join([*names, str(self.aggregate)])}{where}{groups}"


@dataclass(frozen=True, slots=True)
class Estimate:
    """An expected value, and bounds that hold for every original the release may have come from.

    All rows of the original are meant, those that were suppressed, too: nothing is known of them.
    `se` is the standard error, None where the layout's own randomness does not give one. All
    numbers of an average that surely has no rows are NaN.
    """

    value: float
    low: float
    high: float
    se: float | None = None

    def _repr_html_(self) -> str:
        """Return the numbers as a table, for notebooks."""
        return table(_NUMBERS, [_shown(self)])


_NUMBERS = ("value", "low", "high", "se")

Label: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Row:
    """The estimate for one group of rows; `group` has a value a group column, None if missing."""

    group: tuple[Label, ...]
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to a query: a row a group (or one in all), and what should be known about it."""

    group_by: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """Return a line a group as a table, for notebooks."""
        rows = [[*map(_label, row.group), *_shown(row.estimate)] for row in self.rows]
        notes = join(tag("p", note) for note in self.notes)
        return join([table([*self.group_by, *_NUMBERS], rows), notes])

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, in which what is not a finite number is None.

        Refuses (ParameterError) group columns that are named like one of the numbers.
        """
        rows = []
        for row in self.rows:
            found = row.estimate
            numbers = {"value": found.value, "low": found.low, "high": found.high, "se": found.se}
            for name in self.group_by:
                if name in numbers:
                    raise ParameterError(
                        f"the group column '{name}' has the name of a number of the result, which "
                        "JSON cannot tell apart; ask without JSON, or group by another column"
                    )
            labels = dict(zip(self.group_by, map(_plain, row.group), strict=True))
            rows.append(labels | {name: _plain(number) for name, number in numbers.items()})
        return {"rows": rows, "notes": list(self.notes)}


def within(value: float, low: float, high: float) -> Estimate:
    """Return the estimate; what is taken as independent may carry it beyond what is possible."""
    return Estimate(min(max(value, low), high), low, high)


def _shown(found: Estimate) -> list[str | None]:
    numbers = found.value, found.low, found.high, found.se
    return [None if each is None else f"{each:,.6g}" for each in numbers]


def _label(value: Label) -> str:
    return "null" if value is None else str(value)


def _plain(value: Label) -> Label:
    return None if isinstance(value, float) and not isfinite(value) else value


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
