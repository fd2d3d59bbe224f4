"""What every publishing method is: parameters in, a release of a table out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, ClassVar

from sfumato.errors import ParameterError
from sfumato.predicates.flags import flagged
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import Role, Schema, as_arrow
from sfumato.table import Table, encode


class Method(ABC):
    """A publishing method; subclasses are frozen dataclasses whose fields are its parameters."""

    name: ClassVar[str]
    handles: ClassVar[frozenset[Role]] = frozenset(
        {Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.INSENSITIVE}
    )
    counts_missing: ClassVar[bool] = False  # can protect that a sensitive value is missing

    def publish(
        self, data: Any, schema: Schema, *, randomness: Randomness | None = None
    ) -> Release:
        """Return a release of the data: any frame that Arrow can read.

        *Refuses* (`SfumatoError`): data that do not fit the schema, and guarantees that no release
        of the table can meet. `randomness` defaults to the operating system's.
        """
        rows = as_arrow(data)
        return self.release(flagged(encode(rows, schema), rows), randomness or Randomness.fresh())

    def largest_share(self) -> Fraction | None:
        """Return the share of the rows that no sensitive value may exceed; None if there is none.

        Rows can then be withheld until none does.
        """
        return None

    def doubts(self, table: Table) -> tuple[str, ...]:
        """Return what is legal and probably not meant, about a table."""
        return ()

    def coarser(self) -> Method | None:
        """Return the method with larger groups and the same claims or more; None if it has none."""
        return None

    def release(self, table: Table, randomness: Randomness) -> Release:
        """Return a release of a coded table."""
        self.refuse_roles(table)
        return self._release(table, randomness)

    def refuse_roles(self, table: Table) -> None:
        """Refuse (ParameterError) attributes of roles that the method cannot protect."""
        for attribute in table.schema:
            if attribute.role not in self.handles:
                raise ParameterError(
                    f"{self.name} cannot protect '{attribute.name}', which is {attribute.role}; "
                    "choose another method or role"
                )
            is_secret = attribute.role in (Role.SENSITIVE, Role.SEMI_SENSITIVE)
            if is_secret and attribute.missing == "value" and not self.counts_missing:
                raise ParameterError(
                    f"{self.name} does not count missing values of '{attribute.name}'; "
                    "leave `missing` excluded, or use mondrian"
                )

    @abstractmethod
    def _release(self, table: Table, randomness: Randomness) -> Release:
        """Return the release; roles have been checked."""
