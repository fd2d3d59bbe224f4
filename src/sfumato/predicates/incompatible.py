"""What no person is: two attributes whose values never go together, as everybody knows.

A rule is a condition on a row that no row of a person meets, such as
`sex = 'M' AND disease IN ('Ovarian Cancer', 'Breast Cancer')`. It reads two attributes and says
which values of the one exclude which values of the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.predicates.evaluate import mask_of_codes
from sfumato.predicates.expression import And, Predicate, negation_normal_form
from sfumato.predicates.parse import parse
from sfumato.table.column import Column

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Incompatible:
    """Conditions on two attributes, by name, that no person meets both of."""

    conditions: Mapping[str, Predicate]

    @classmethod
    def parse(cls, text: str) -> Incompatible:
        """Return the rule that a text says.

        Refuses (ParameterError) what is not `A AND B` with each side about one attribute.

        >>> rule = Incompatible.parse("sex = 'M' and disease like 'Ovarian%'")
        >>> {name: str(condition) for name, condition in rule.conditions.items()}
        {'sex': "sex = 'M'", 'disease': "disease LIKE 'Ovarian%'"}
        """
        predicate = negation_normal_form(parse(text))
        parts: dict[str, list[Predicate]] = {}
        if isinstance(predicate, And):
            for part in predicate.parts:
                if len(part.attributes) == 1:
                    parts.setdefault(next(iter(part.attributes)), []).append(part)
        if len(parts) != 2 or parts.keys() != predicate.attributes:
            raise ParameterError(
                "an incompatible pair is a condition on a quasi-identifier AND one on a "
                "sensitive attribute, such as: sex = 'M' AND disease = 'Ovarian Cancer'"
            )
        return cls(
            {name: each[0] if len(each) == 1 else And(tuple(each)) for name, each in parts.items()}
        )

    @property
    def attributes(self) -> frozenset[str]:
        """The names of the two attributes."""
        return frozenset(self.conditions)

    def meets(self, column: Column) -> Mask:
        """Return which codes of a column, the missing one last, meet the rule's condition on it."""
        return mask_of_codes(self.conditions[column.name], column)
