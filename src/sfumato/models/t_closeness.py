"""t-closeness: a group's sensitive values are distributed like the whole table's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from sfumato.errors import ParameterError
from sfumato.measures.emd import ordered_reference
from sfumato.models import kernels
from sfumato.models.kernels import Ints
from sfumato.models.model import BoundModel, Model, one_of, positive_number, shares, skipped
from sfumato.models.statistics import Total
from sfumato.schema.attribute import Missing
from sfumato.schema.hierarchy import Tree

Distance = Literal["equal", "ordered", "hierarchical"]


@dataclass(frozen=True, slots=True)
class TCloseness(Model):
    """The earth mover's distance of a group to the whole is at most t.

    `ordered` needs numeric or ordinal values, `hierarchical` a hierarchy. Missing values are left
    out of both distributions unless `missing` is "value": then they are a value of their own, far
    from all others, which `ordered` has no place for. Source: Li, Li, Venkatasubramanian 2007.
    """

    name: ClassVar[str] = "t-closeness"
    compares_with_whole: ClassVar[bool] = True
    at_least: ClassVar[bool] = False
    attribute: str
    t: float
    distance: Distance = "equal"
    missing: Missing = "excluded"

    def __post_init__(self) -> None:
        positive_number(self.t, "t", self.name, most=1)
        one_of(self.distance, ("equal", "ordered", "hierarchical"), "distance", self.name)
        one_of(self.missing, ("excluded", "value"), "missing", self.name)
        if self.distance == "ordered" and self.missing == "value":
            raise ParameterError(
                f"{self.name}: a missing value has no place in an order; "
                "use `missing: excluded` or `distance: equal`"
            )

    def claim(self) -> dict[str, Any]:
        """Return the manifest's claim."""
        return {
            "model": self.name,
            "attribute": self.attribute,
            "t": self.t,
            "distance": self.distance,
            "missing": self.missing,
        }

    def bind(self, totals: Mapping[str, Total]) -> BoundModel:
        """Return the predicate."""
        total = totals[self.attribute]
        skip = skipped(total, self.missing)
        whole = shares(total, skip=skip)
        if self.distance == "equal":
            return self._bound(kernels.T_EQUAL, real=self.t, skip=skip, reals=whole)
        if self.distance == "ordered":
            if not total.ordered:
                raise ParameterError(
                    f"{self.name}: `{self.attribute}` has no order; "
                    "make it numeric or ordinal, or use `distance: equal`"
                )
            reference = ordered_reference(whole[: total.null_code])
            return self._bound(kernels.T_ORDERED, real=self.t, skip=skip, reals=reference)
        if total.tree is None:
            raise ParameterError(
                f"{self.name}: `{self.attribute}` has no hierarchy; "
                "give it one, or use `distance: equal`"
            )
        return self._bound(
            kernels.T_HIERARCHICAL,
            real=self.t,
            skip=skip,
            reals=whole,
            links=_tree_links(total.tree),
        )


def _tree_links(tree: Tree) -> Ints:
    """Return parents, then levels, of all nodes, a missing value added as a child of the root.

    A node's level is where the paths of its leaves first meet; a missing value meets at the top.
    """
    missing = len(tree.order)  # its code, and so its node: the inner nodes move up by one
    root = len(tree.parent)
    parents = np.insert(np.asarray(tree.parent, dtype=np.int64) + 1, missing, root)
    levels = np.insert(np.asarray(tree.levels, dtype=np.int64), missing, 0)
    return np.concatenate([parents, levels])
