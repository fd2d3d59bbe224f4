"""All that is known of a table's risk, in numbers and names of columns: no cell is in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.markup import join, table
from sfumato.risk.adversaries import Levels
from sfumato.risk.classes import Bar, Below
from sfumato.risk.estimate import Estimate
from sfumato.risk.households import Households
from sfumato.risk.k_map import KMap
from sfumato.risk.sampling import Sampling
from sfumato.risk.uniques import Uniques

# Of each size, so many combinations are listed in JSON.
_LISTED = 100


@dataclass(frozen=True, slots=True)
class Risk:
    """The risk of a table; `assess` makes it.

    `journalist` has the risks by how the people of the population were found: `counted`, or
    estimated by a model; the first is the one that the marketer's and the households' rest on.
    `population_uniques` are counted ones, and None where they can only be estimated.
    """

    columns: tuple[str, ...]
    rows: int
    people: int
    records: int
    is_weighted: bool
    sampling: Sampling
    classes: int
    smallest: int
    below: tuple[Below, ...]
    histogram: tuple[Bar, ...]
    prosecutor: Levels
    journalist: Mapping[str, Levels]
    marketer: float
    population_uniques: int | None
    uniques_in_sample: int | None
    estimates: tuple[Estimate, ...]
    k_map: tuple[KMap, ...]
    households: Households | None
    uniques: Uniques
    notes: tuple[str, ...] = ()

    @property
    def sample_uniques(self) -> Below:
        """The records that nobody else's equals."""
        return self.below[0]

    def _repr_html_(self) -> str:
        """Return the classes and the risk of being recognised as tables, for notebooks."""
        classes = [[f"fewer than {e.k}", f"{e.records:,}", f"{e.share:.2%}"] for e in self.below]
        rows = [["prosecutor", f"{self.prosecutor.highest:.4f}", f"{self.prosecutor.mean:.4f}"]]
        rows += [
            [f"journalist ({how})", f"{each.highest:.4f}", f"{each.mean:.4f}"]
            for how, each in self.journalist.items()
        ]
        title = f"{self.records:,} records, by {', '.join(self.columns)}"
        return join(
            [
                table(["people with the same values", "records", "share"], classes, title),
                table(["adversary", "highest risk", "mean risk"], rows),
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {
            "columns": list(self.columns),
            "rows": self.rows,
            "people": self.people,
            "records": self.records,
            "weighted": self.is_weighted,
            "sampling": self.sampling.to_dict(),
            "classes": {
                "count": self.classes,
                "smallest": self.smallest,
                "below": [each.to_dict() for each in self.below],
                "histogram": [each.to_dict() for each in self.histogram],
            },
            "sample_uniques": self.sample_uniques.to_dict(),
            "prosecutor": self.prosecutor.to_dict(),
            "journalist": [
                {"how": how, "estimated": how != "counted", **each.to_dict()}
                for how, each in self.journalist.items()
            ],
            "marketer": self.marketer,
            "population_uniques": {
                "counted": self.population_uniques,
                "counted_in_sample": self.uniques_in_sample,
                "estimates": [each.to_dict() for each in self.estimates],
            },
            "k_map": [each.to_dict() for each in self.k_map],
            "households": None if self.households is None else self.households.to_dict(),
            "uniques": self.uniques.to_dict(_LISTED),
            "notes": list(self.notes),
        }
