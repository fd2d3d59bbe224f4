"""The schema room: what each column is, and how its values may be generalised."""

from sfumato.schema.attribute import Attribute, Kind, Role
from sfumato.schema.builders import (
    Bins,
    Dates,
    EqualWidth,
    HierarchyBuilder,
    Mask,
    Quantiles,
    builder_from_policy,
)
from sfumato.schema.frames import as_arrow
from sfumato.schema.hierarchy import ROOT, Hierarchy, HierarchyReport, Tree
from sfumato.schema.infer import Proposal, propose, propose_unit
from sfumato.schema.schema import Schema

__all__ = [
    "ROOT",
    "Attribute",
    "Bins",
    "Dates",
    "EqualWidth",
    "Hierarchy",
    "HierarchyBuilder",
    "HierarchyReport",
    "Kind",
    "Mask",
    "Proposal",
    "Quantiles",
    "Role",
    "Schema",
    "Tree",
    "as_arrow",
    "builder_from_policy",
    "propose",
    "propose_unit",
]
