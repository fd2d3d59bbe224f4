"""One attribute (column) of a table: its role in privacy, its kind, how it may be generalised."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from sfumato.errors import SchemaError
from sfumato.schema.binning import EqualWidth, Quantiles

if TYPE_CHECKING:
    from sfumato.schema.builders import HierarchyBuilder
    from sfumato.schema.hierarchy import Hierarchy


class Role(StrEnum):
    """What an attribute is to an adversary."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    SEMI_SENSITIVE = "semi-sensitive"
    SENSITIVE_QUASI_IDENTIFIER = "sensitive-quasi-identifier"
    INSENSITIVE = "insensitive"


# Roles of attributes whose cells are, or may be, what somebody keeps to themselves.
SECRET_ROLES = (Role.SENSITIVE, Role.SEMI_SENSITIVE, Role.SENSITIVE_QUASI_IDENTIFIER)


class Kind(StrEnum):
    """How the values of an attribute relate to each other."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    CATEGORICAL = "categorical"


Missing = Literal["excluded", "value"]

# Names that the release format uses for itself.
RESERVED_NAMES = frozenset({"group", "count"})
RESERVED_SUFFIX = ".bucket"


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute with its role; `kind` None means "as the column's data type suggests".

    `order` lists an ordinal attribute's values from low to high. `domain` is a domain that the
    policy states: {"min", "max"} bounds for numeric kinds, or the values for the others.
    `missing` says whether a missing sensitive value counts as a value. `min_width` is the width
    that the values of a group must span (a share of the range when below 1).

    Of a quasi-identifier, `loss_weight` says how much its generalisation counts when a method
    chooses what to generalise, `max_level` how high in its hierarchy a published cell may stand,
    and `max_width` how far apart the ends of a published range may lie (steps of an order; days
    for dates, seconds for times).

    A semi-sensitive attribute says which of its cells are sensitive: by a boolean column (`flag`),
    by a rule on other columns (`when`), or at random with a given `density`, for experiments.

    An identifier with a `pseudonym` is published as tokens; those of columns with the same word are
    the same for the same value, in this table and in others.
    """

    name: str
    role: Role
    kind: Kind | None = None
    hierarchy: Hierarchy | HierarchyBuilder | None = None
    order: tuple[Any, ...] | None = None
    domain: tuple[Any, ...] | None = None
    missing: Missing = "excluded"
    keep: bool = False
    min_width: float | None = None
    flag: str | None = None
    when: str | None = None
    density: float | None = None
    loss_weight: float = 1.0
    max_level: int | None = None
    max_width: float | None = None
    pseudonym: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "role", _member(Role, self.role, self.name, "role"))
        if self.kind is not None:
            object.__setattr__(self, "kind", _member(Kind, self.kind, self.name, "kind"))
        if self.missing not in ("excluded", "value"):
            raise SchemaError(f"column '{self.name}': `missing` is `excluded` or `value`")
        if self.min_width is not None and not _is_positive(self.min_width):
            raise SchemaError(f"column '{self.name}': `min_width` must be a number above 0")
        if not self.name:
            raise SchemaError("an attribute needs a name; give every column a header")
        if self.name in RESERVED_NAMES or self.name.endswith(RESERVED_SUFFIX):
            raise SchemaError(
                f"column '{self.name}': the release format uses this name itself; rename the column"
            )
        if self.keep and self.role is not Role.INSENSITIVE:
            raise SchemaError(
                f"column '{self.name}': `keep` is for insensitive columns, "
                f"and this one is {self.role}"
            )
        if self.order is not None and len(set(self.order)) != len(self.order):
            raise SchemaError(f"column '{self.name}': `order` lists a value twice")
        if self.order is not None and self.kind not in (None, Kind.ORDINAL):
            raise SchemaError(f"column '{self.name}': `order` is for ordinal attributes")
        if self.pseudonym is not None and self.role is not Role.IDENTIFIER:
            raise SchemaError(
                f"column '{self.name}': `pseudonym` is for identifiers, and this one is {self.role}"
            )
        if self.pseudonym == "":
            raise SchemaError(f"column '{self.name}': the word of `pseudonym` is empty")
        self._check_flags()
        self._check_control()

    def _check_control(self) -> None:
        """Refuse control over generalisation that makes no sense, or is not of generalisation."""
        if not _is_positive(self.loss_weight):
            raise SchemaError(f"column '{self.name}': `loss_weight` must be a number above 0")
        is_level = isinstance(self.max_level, int) and not isinstance(self.max_level, bool)
        if self.max_level is not None and not (is_level and self.max_level >= 0):
            raise SchemaError(
                f"column '{self.name}': `max_level` must be a whole number of at least 0"
            )
        if self.max_width is not None and not _is_positive(self.max_width):
            raise SchemaError(f"column '{self.name}': `max_width` must be a number above 0")
        if self.control and self.role is not Role.QUASI_IDENTIFIER:
            raise SchemaError(
                f"column '{self.name}': `{self.control[0]}` is for quasi-identifiers, "
                f"and this one is {self.role}"
            )
        if self.max_width is not None and self.hierarchy is not None:
            raise SchemaError(
                f"column '{self.name}': `max_width` is for ranges, and this column has a "
                "hierarchy; use `max_level`"
            )

    @property
    def control(self) -> tuple[str, ...]:
        """The keys by which generalisation is controlled, of those that say anything."""
        said = {"loss_weight": self.loss_weight != 1, "max_level": self.max_level is not None}
        said["max_width"] = self.max_width is not None
        return tuple(key for key, is_said in said.items() if is_said)

    def _check_flags(self) -> None:
        given = [key for key in ("flag", "when", "density") if getattr(self, key) is not None]
        if self.role is Role.SEMI_SENSITIVE and len(given) != 1:
            raise SchemaError(
                f"column '{self.name}' is semi-sensitive: say which cells are sensitive by one of "
                "`flag` (a boolean column), `when` (a rule) or `density` (experiments only)"
            )
        if self.role is not Role.SEMI_SENSITIVE and given:
            raise SchemaError(
                f"column '{self.name}': `{given[0]}` is for semi-sensitive columns, "
                f"and this one is {self.role}"
            )
        if self.flag is not None and self.flag == self.name:
            raise SchemaError(
                f"column '{self.name}' cannot hold its own flags; let `flag` name the boolean "
                "column that says which of its cells are sensitive"
            )
        if self.role is Role.SEMI_SENSITIVE and _follows_data(self.hierarchy):
            raise SchemaError(
                f"column '{self.name}' is semi-sensitive: intervals that follow the data would "
                "tell of cells that are withheld; state `bins`, or `width` and `levels`"
            )
        if self.density is not None and not 0 <= self.density <= 1:
            raise SchemaError(f"column '{self.name}': `density` must lie between 0 and 1")

    @property
    def is_published(self) -> bool:
        """Whether any form of the column's cells appears in a release."""
        if self.role is Role.IDENTIFIER:
            return False
        return self.role is not Role.INSENSITIVE or self.keep


_Member = TypeVar("_Member", Role, Kind)


def _member(words: type[_Member], given: Any, column: str, key: str) -> _Member:
    """Return the role or kind that a word stands for: what is compared must be the member."""
    try:
        return words(given)
    except ValueError:
        known = ", ".join(str(word) for word in words)
        raise SchemaError(f"column '{column}': unknown {key}; known are {known}") from None


def _follows_data(hierarchy: object) -> bool:
    """Whether the ends of a builder's intervals, or how far they reach, come from the data."""
    if isinstance(hierarchy, EqualWidth):
        return hierarchy.width is None or hierarchy.levels is None
    return isinstance(hierarchy, Quantiles)


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf
