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
from sfumato.schema.frames import as_arrow, as_columns
from sfumato.schema.hierarchy import ROOT, Hierarchy, HierarchyReport, Tree
from sfumato.schema.infer import Proposal, propose, propose_unit
from sfumato.schema.lazy_table import Columns, LazyTable
from sfumato.schema.schema import Schema

__all__ = [
    "ROOT",
    "Attribute",
    "Bins",
    "Columns",
    "Dates",
    "EqualWidth",
    "Hierarchy",
    "HierarchyBuilder",
    "HierarchyReport",
    "Kind",
    "LazyTable",
    "Mask",
    "Proposal",
    "Quantiles",
    "Role",
    "Schema",
    "Tree",
    "as_arrow",
    "as_columns",
    "builder_from_policy",
    "propose",
    "propose_unit",
]
