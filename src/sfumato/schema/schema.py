"""The schema of a table: the role of every column, and whose privacy counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from sfumato.errors import SchemaError
from sfumato.schema.attribute import Attribute, Role
from sfumato.schema.headers import listed_names, look_like_cells


@dataclass(frozen=True, slots=True)
class Schema:
    """The attributes of a table; `unit` names the column whose distinct values are the people.

    Without `unit` every row is a person of its own, and encoding refuses a table whose identifiers
    say otherwise. `weight` names the column that says how many people a row stands for, `household`
    the one that says who lives together; neither needs a role.

    >>> schema = Schema.of(name="identifier", age="quasi-identifier", disease="sensitive")
    >>> [attribute.name for attribute in schema.quasi_identifiers]
    ['age']
    """

    attributes: tuple[Attribute, ...]
    unit: str | None = None
    weight: str | None = None
    household: str | None = None

    def __post_init__(self) -> None:
        if not self.attributes:
            raise SchemaError("the schema has no attributes; give every column a role")
        twice = [name for name, uses in Counter(self.names).items() if uses > 1]
        if twice:
            raise SchemaError(
                f"columns with two roles: {listed_names(twice, ())}; keep one of them"
            )
        if self.unit is not None and self.unit not in self.names:
            raise SchemaError(
                f"the unit is column '{self.unit}', which {_absent(self.unit, self.names)}"
            )
        if self.unit is not None and self[self.unit].is_published:
            raise SchemaError(
                f"the unit is column '{self.unit}', which is {self[self.unit].role} and published; "
                "people are told apart by an identifier, or by an insensitive column that is not "
                "kept"
            )
        self._check_weight_and_household()
        self._check_pseudonyms()

    def _check_pseudonyms(self) -> None:
        if len(self.pseudonyms) > 1:
            raise SchemaError(
                f"columns {listed_names([each.name for each in self.pseudonyms], ())} are "
                "pseudonyms; keep one"
            )
        for attribute in self.pseudonyms:
            if self.unit not in (None, attribute.name):
                raise SchemaError(
                    f"column '{attribute.name}' is a pseudonym and does not tell people apart, "
                    f"which '{self.unit}' does: only the `unit` can be published as tokens"
                )

    def _check_weight_and_household(self) -> None:
        if self.weight is not None and self.weight in (self.unit, self.household):
            raise SchemaError(
                f"column '{self.weight}' cannot hold weights and also say who a row is of"
            )
        for key, name in (("weight", self.weight), ("household", self.household)):
            if name is None or name not in self.names:
                continue
            role = self[name].role
            if self[name].is_published:
                raise SchemaError(
                    f"the {key} is column '{name}', which is {role} and published; "
                    "give it no role of its own"
                )
        if self.household is not None and self.pseudonyms:
            raise SchemaError(
                "households are counted, and a pseudonym tells their members apart; leave out "
                "`household` or `pseudonym`"
            )

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def __len__(self) -> int:
        return len(self.attributes)

    def __getitem__(self, name: str) -> Attribute:
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise SchemaError(f"column '{name}' {_absent(name, self.names)}")

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names, in order."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def quasi_identifiers(self) -> tuple[Attribute, ...]:
        """The attributes that are quasi-identifiers in every cell, and nothing else."""
        return self.with_role(Role.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> tuple[Attribute, ...]:
        """The attributes that are sensitive in every cell, and nothing else."""
        return self.with_role(Role.SENSITIVE)

    @property
    def pseudonyms(self) -> tuple[Attribute, ...]:
        """The identifiers that are published as tokens."""
        return tuple(each for each in self.attributes if each.pseudonym is not None)

    def with_role(self, *roles: Role) -> tuple[Attribute, ...]:
        """Return the attributes that have one of the roles, in order."""
        return tuple(attribute for attribute in self.attributes if attribute.role in roles)

    def aligned(self, columns: Iterable[str]) -> Schema:
        """Return the schema in the order of a table's columns.

        Refuses (SchemaError) columns without a role and roles without a column.

        >>> Schema.of(age="quasi-identifier", name="identifier").aligned(["name", "age"]).names
        ('name', 'age')
        """
        columns = tuple(columns)
        for name in self.names:
            if name not in columns:
                raise SchemaError(f"column '{name}' {_absent(name, columns)}")
        known = {attribute.name: attribute for attribute in self.attributes}
        for attribute in self.attributes:
            if attribute.flag is not None and attribute.flag not in columns:
                raise SchemaError(
                    f"the flags of column '{attribute.name}' are column '{attribute.flag}', which "
                    f"{_absent(attribute.flag, columns)}"
                )
            if attribute.flag in known and known[attribute.flag].is_published:
                raise SchemaError(
                    f"column '{attribute.flag}' holds flags and is never published; "
                    "give it no role of its own"
                )
        for key, named in (("weights are", self.weight), ("households are", self.household)):
            if named is not None and named not in columns:
                raise SchemaError(f"the {key} column '{named}', which {_absent(named, columns)}")
        served = {attribute.flag for attribute in self.attributes} | {self.weight, self.household}
        forgotten = [name for name in columns if name not in known and name not in served]
        if forgotten:
            raise SchemaError(
                f"columns without a role: {listed_names(forgotten, list(columns))}; "
                "give each one (`insensitive` leaves a column out)"
            )
        return replace(self, attributes=tuple(known[name] for name in columns if name in known))

    @classmethod
    def of(cls, roles: Mapping[str, str] | None = None, /, **more: str) -> Schema:
        """Return a schema that gives roles and leaves everything else to the data.

        >>> Schema.of({"marital-status": "quasi-identifier"}, disease="sensitive").names
        ('marital-status', 'disease')
        """
        pairs = [*(roles or {}).items(), *more.items()]
        return cls(tuple(Attribute(name, _role(role, name)) for name, role in pairs))

    @classmethod
    def infer(cls, data: Any) -> Schema:
        """Return a first proposal for a table, to be reviewed: `propose` gives the reasons.

        >>> import pyarrow as pa
        >>> Schema.infer(pa.table({"age": [33, 41], "disease": ["Flu", "Fever"]})).sensitive[0].name
        'disease'
        """
        from sfumato.schema.frames import as_arrow
        from sfumato.schema.infer import propose, propose_unit

        table = as_arrow(data)
        proposals = propose(table)
        attributes = tuple(proposal.attribute for proposal in proposals)
        return cls(attributes, propose_unit(table, attributes))


def _role(role: str, column: str) -> Role:
    try:
        return Role(role)
    except ValueError:
        names = [str(known) for known in Role]
        raise SchemaError(
            f"column '{column}': there is no role '{role}'; {_nearest(str(role), names)}"
        ) from None


def _absent(name: str, present: Iterable[str]) -> str:
    header = list(present)
    if look_like_cells(header):
        return f"is not in the table, which has {listed_names(header, header)}"
    return f"is not in the table; {_nearest(name, header)}"


def _nearest(name: str, known: list[str]) -> str:
    close = get_close_matches(name, known, n=1, cutoff=0.5)
    return f"did you mean '{close[0]}'?" if close else f"known are {listed_names(known, ())}"
