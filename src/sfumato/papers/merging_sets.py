"""The disjoint sets with people in common that the Merging paper attacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.papers.data import Data, complete
from sfumato.randomness import repeatable
from sfumato.schema import Attribute, Hierarchy, Role, Schema

SECRETS = ("occupation", "education")


def _grouped(name: str, **labels: Sequence[str]) -> Hierarchy:
    """Return a hierarchy of two levels: values under their labels."""
    rows = [(value, label) for label, values in labels.items() for value in values]
    return Hierarchy.from_rows(rows, name)


def _ages(name: str) -> Hierarchy:
    """Return years in fives, tens and twenties."""
    rows = [
        [str(age), *(f"{age // n * n}-{age // n * n + n - 1}" for n in (5, 10, 20))]
        for age in range(120)
    ]
    return Hierarchy.from_rows(rows, name)


@dataclass(frozen=True, slots=True)
class Attributes:
    """The six quasi-identifiers of its Table 9, some with hierarchies, and a target to learn."""

    quasi: tuple[str, ...]
    target: str
    hierarchies: Mapping[str, Hierarchy]


ATTRIBUTES: Mapping[str, Attributes] = {
    "adult": Attributes(
        ("age", "sex", "marital-status", "workclass", "relationship", "salary-class"),
        "relationship",
        {
            "age": _ages("age"),
            "marital-status": _grouped(
                "marital-status",
                together=("Married-civ-spouse", "Married-AF-spouse"),
                alone=(
                    *("Never-married", "Divorced", "Separated", "Widowed"),
                    "Married-spouse-absent",
                ),
            ),
            "workclass": _grouped(
                "workclass",
                private=("Private", "Self-emp-not-inc", "Self-emp-inc"),
                government=("Federal-gov", "Local-gov", "State-gov"),
                unpaid=("Without-pay", "Never-worked"),
            ),
        },
    ),
    "census": Attributes(
        ("age", "sex", "marital_status", "employment", "relationship", "birthplace"),
        "relationship",
        {
            "age": _ages("age"),
            "marital_status": _grouped(
                "marital_status",
                together=("Married",),
                alone=("Never married", "Divorced", "Separated", "Widowed"),
            ),
            "employment": _grouped(
                "employment",
                working=("Employee", "Self-employed"),
                other=("Retired", "Student", "Unemployed", "Homemaker"),
            ),
        },
    ),
}


@dataclass(frozen=True, slots=True, eq=False)
class Sets:
    """Rows without missing values, cut into disjoint sets and a pool of further rows.

    Every person has a number. A missing value is not protected, so nothing is said of it.
    """

    about: Attributes
    rows: pa.Table
    order: npt.NDArray[np.int64] = field(repr=False)

    @classmethod
    def of(cls, data: Data) -> Sets:
        """Return the sets of the data, always the same ones."""
        about = ATTRIBUTES[data.about.key]
        rows = complete(data.rows, [*about.quasi, *SECRETS])
        order = repeatable(6).permutation(rows.num_rows)
        return cls(about, rows.append_column("person", pa.array(range(rows.num_rows))), order)

    def set_of(self, number: int, overlap: int, secret: str, rows: int) -> pa.Table:
        """Return a disjoint set with so many rows of the pool, which all sets have in common."""
        own = self.order[number * rows : (number + 1) * rows]
        common = self.order[::-1][:overlap]  # the pool begins at the other end
        return self.rows.select(["person", *self.about.quasi, secret]).take(np.append(own, common))

    def schema(self, secret: str, *, identified: bool = True) -> Schema:
        """Return the roles, with hierarchies and the domains that differential privacy needs."""
        attributes = [Attribute("person", Role.IDENTIFIER)] if identified else []
        for name in (*self.about.quasi, secret):
            role = Role.SENSITIVE if name == secret else Role.QUASI_IDENTIFIER
            if name in self.about.hierarchies:
                hierarchy = self.about.hierarchies[name]
                attributes.append(Attribute(name, role, hierarchy=hierarchy))
                continue
            values = sorted(self.rows[name].unique().to_pylist())
            attributes.append(Attribute(name, role, domain=tuple(values)))
        return Schema(tuple(attributes))
