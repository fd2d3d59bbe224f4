"""Which columns of each set of data stand for the LGB paper's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.datasets import census_schema
from sfumato.papers.data import Data, complete
from sfumato.schema import Attribute, Role, Schema


@dataclass(frozen=True, slots=True)
class Roles:
    """Which columns stand for the paper's; `sensitive` is summed.

    `occupation` is one of the semi-sensitive ones; its l is fixed. `codes` are numbers that name
    categories; `keep` chooses the rows that the experiments are about.
    """

    quasi: tuple[str, ...]
    semi: tuple[str, ...]
    occupation: str
    sensitive: str
    codes: tuple[str, ...] = ()
    keep: Callable[[pa.Table], pa.Table] = lambda rows: rows

    @property
    def asked(self) -> tuple[str, ...]:
        """The attributes that queries are about."""
        return (*self.quasi, *self.semi)


def _paid_by_the_hour(rows: pa.Table) -> pa.Table:
    return rows.filter(pc.greater(rows["wage-per-hour"], 0))


ROLES: Mapping[str, Roles] = {
    "adult": Roles(
        ("relationship", "marital-status", "race", "education", "hours-per-week"),
        ("sex", "age", "occupation"),
        "occupation",
        "fnlwgt",
    ),
    "census-income": Roles(
        (
            *("detailed-household-and-family-stat", "marital-stat", "race", "education"),
            "weeks-worked-in-year",
        ),
        ("sex", "age", "detailed-occupation-recode"),
        "detailed-occupation-recode",
        "wage-per-hour",
        codes=("detailed-occupation-recode",),
        keep=_paid_by_the_hour,
    ),
    "census": Roles(
        ("relationship", "marital_status", "birthplace", "education", "hours_per_week"),
        ("sex", "age", "occupation"),
        "occupation",
        "salary",
    ),
}


def chosen_rows(data: Data, roles: Roles) -> pa.Table:
    """Return the complete rows that the experiments are about, with the columns they need."""
    rows = complete(roles.keep(data.rows), [*roles.asked, roles.sensitive])
    for name in roles.codes:
        column = pc.cast(rows[name], pa.string())
        rows = rows.set_column(rows.column_names.index(name), name, column)
    return rows


def schema(key: str, density: float) -> Schema:
    """Return the roles of the paper; that share of semi-sensitive cells is flagged."""
    roles = ROLES[key]
    if key == "census":
        whole = census_schema(roles.asked, (roles.sensitive,))
        attributes = [whole[name] for name in (*roles.asked, roles.sensitive)]
    else:
        attributes = [Attribute(name, Role.QUASI_IDENTIFIER) for name in roles.asked]
        attributes.append(Attribute(roles.sensitive, Role.SENSITIVE))
    return Schema(
        tuple(
            replace(each, role=Role.SEMI_SENSITIVE, density=density)
            if each.name in roles.semi
            else each
            for each in attributes
        )
    )
