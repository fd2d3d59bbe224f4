"""What every publishing method is: parameters in, a release of a table out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.methods.splitting import Splitting, unavailable
from sfumato.predicates.flags import flagged
from sfumato.publish.households import with_households
from sfumato.randomness import Randomness
from sfumato.recoding.pseudonyms import refuse_linking, with_tokens
from sfumato.release import Release
from sfumato.schema import Role, Schema, as_columns
from sfumato.table import Table, encode

Ints = npt.NDArray[np.int64]


class Method(ABC):
    """A publishing method; subclasses are frozen dataclasses whose fields are its parameters."""

    name: ClassVar[str]
    handles: ClassVar[frozenset[Role]] = frozenset(
        {Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.INSENSITIVE}
    )
    counts_missing: ClassVar[bool] = False  # can protect that a sensitive value is missing
    tells_people_apart: ClassVar[bool] = False  # its records are people's own, and may have tokens
    weighs: ClassVar[bool] = False  # its records are people's own, and may have weights
    counts_units: ClassVar[bool] = False  # counts people or households who have several rows
    controlled: ClassVar[bool] = False  # heeds `loss_weight`, `max_level` and `max_width`

    def publish(
        self,
        data: Any,
        schema: Schema,
        *,
        randomness: Randomness | None = None,
        key: bytes | None = None,
    ) -> Release:
        """Return a release of the data: any frame that Arrow can read.

        *Refuses* (`SfumatoError`): data that do not fit the schema, and guarantees that no release
        of the table can meet. `randomness` defaults to the operating system's; `key` is the secret
        of pseudonyms, if the schema has any.
        """
        rows = as_columns(data)
        table = with_tokens(flagged(encode(rows, schema), rows), rows, key)
        return self.release(table, randomness or Randomness.fresh())

    def largest_share(self) -> Fraction | None:
        """Return the share of the rows that no sensitive value may exceed; None if there is none.

        Rows can then be withheld until none does.
        """
        return None

    def doubts(self, table: Table) -> tuple[str, ...]:
        """Return what is legal and probably not meant, about a table."""
        return ()

    def withheld(self, table: Table) -> Ints:
        """Return the rows that a release of the table withholds, ascending: never to be told."""
        return np.zeros(0, dtype=np.int64)

    def coarser(self) -> Method | None:
        """Return the method with larger groups and the same claims or more; None if it has none."""
        return None

    def joints(self, frame: Table) -> tuple[tuple[str, ...], ...]:
        """Return the combinations of columns of whose joint counts in the whole a part must know.

        `frame` is a table without rows.
        """
        return ()

    def splitting(self, frame: Table) -> Splitting:
        """Return how the method may be run on parts of a table.

        `frame` is a table without rows, whose `whole` has the counts that `joints` names.
        *Refuses* (EngineUnavailable): what runs on one machine only.
        """
        raise unavailable(self.name)

    def for_shard(self, before: int, rows: int, whole: int) -> Method:
        """Return the method for a part of so many rows, so many being in the parts before it.

        Numbers that are of the whole table are shared out, so that those of all parts add up.
        """
        return self

    def release(self, table: Table, randomness: Randomness) -> Release:
        """Return a release of a coded table."""
        self.refuse_roles(table)
        self._refuse_tokens(table)
        return with_households(self._release(table, randomness), table)

    def refuse_roles(self, table: Table) -> None:
        """Refuse (ParameterError) roles that the method cannot protect, weights and households."""
        for attribute in table.schema:
            if attribute.role not in self.handles:
                raise ParameterError(
                    f"{self.name} cannot protect '{attribute.name}', which is {attribute.role}; "
                    "choose another method or role"
                )
            if attribute.control and not self.controlled:
                raise ParameterError(
                    f"{self.name} does not know `{attribute.control[0]}` of '{attribute.name}'; "
                    "use mondrian or full-domain, or remove it"
                )
            is_secret = attribute.role in (Role.SENSITIVE, Role.SEMI_SENSITIVE)
            if is_secret and attribute.missing == "value" and not self.counts_missing:
                raise ParameterError(
                    f"{self.name} does not count missing values of '{attribute.name}'; "
                    "leave `missing` excluded, or use mondrian"
                )
        self._refuse_surveys(table)

    def _refuse_tokens(self, table: Table) -> None:
        """Refuse (ParameterError) pseudonyms that cannot be published, or that protect nobody."""
        for attribute in table.schema.pseudonyms:
            if not self.tells_people_apart:
                raise ParameterError(
                    f"{self.name} cannot publish '{attribute.name}' as a pseudonym: its records "
                    "are not people's own; use mondrian, top-down or full-domain"
                )
            if attribute.name not in table.tokens:
                raise ParameterError(
                    f"column '{attribute.name}' is published as a pseudonym, which needs a key"
                )
        refuse_linking(table)

    def _refuse_surveys(self, table: Table) -> None:
        """Refuse (ParameterError) weights and households that the method cannot heed."""
        if table.weights is not None and not self.weighs:
            raise ParameterError(
                f"{self.name} cannot publish the weights of '{table.schema.weight}': its records "
                "are not people's own; use mondrian, full-domain, top-down, mdav or "
                "local-suppression, or leave `weight` out"
            )
        if table.schema.household is not None and table.units is not None and not self.counts_units:
            raise ParameterError(
                f"{self.name} counts rows, and some households have several; use mondrian or "
                "full-domain, or leave `household` out"
            )

    @abstractmethod
    def _release(self, table: Table, randomness: Randomness) -> Release:
        """Return the release; roles have been checked."""
